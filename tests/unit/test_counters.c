// SPDX-License-Identifier: GPL-2.0-or-later
/* The arithmetic of counters: what is unknown stays unknown, and the larger reading stays. */
#include "tests/lib/test.h"

#include <string.h>

#include "data/delay.h"

#define ALL (DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK)

/* Counters that are all known, each with a value of its own. */
static struct counters filled(uint64_t base)
{
	struct counters counters = { .run_ns = base + 100,
				     .user_ns = base + 200,
				     .system_ns = base + 300,
				     .life_ns = base + 400,
				     .valid = ALL,
				     .members = 1 };

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		counters.delay[kind] = (struct delay_sum){ base + 2 * kind, base + 2 * kind + 1 };
	return counters;
}

/* Asserts that both are the same, in all their figures. */
static void check_same(const struct counters *a, const struct counters *b)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		assert_int_equal(a->delay[kind].count, b->delay[kind].count);
		assert_int_equal(a->delay[kind].ns, b->delay[kind].ns);
	}
	assert_int_equal(a->run_ns, b->run_ns);
	assert_int_equal(a->user_ns, b->user_ns);
	assert_int_equal(a->system_ns, b->system_ns);
	assert_int_equal(a->life_ns, b->life_ns);
	assert_int_equal(a->valid, b->valid);
	assert_int_equal(a->members, b->members);
}

/* All figures add up. */
TEST(test_add)
{
	struct counters sum = filled(1000), more = filled(30), expected = filled(1000);

	counters_add(&sum, &more);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		expected.delay[kind].count = 1030 + 4 * kind;
		expected.delay[kind].ns = 1030 + 4 * kind + 2;
	}
	expected.run_ns = 1230;
	expected.user_ns = 1430;
	expected.system_ns = 1630;
	expected.life_ns = 1830;
	expected.members = 2;
	check_same(&sum, &expected);
}

/* What is not known of one is not known of the sum: neither a kind nor the length of its life. */
TEST(test_add_unknown)
{
	struct counters sum = filled(1000), more = filled(30);

	counters_mask(&sum, DELAY_BIT(DELAY_BLKIO));
	counters_mask(&more, DELAY_BIT(DELAY_IRQ));
	more.valid &= ~VALID_TICK;
	more.life_ns = 0;
	counters_add(&sum, &more);
	assert_int_equal(sum.valid,
			 (DELAY_BOTH(DELAY_ALL & ~DELAY_BIT(DELAY_BLKIO) & ~DELAY_BIT(DELAY_IRQ)) |
			  VALID_RUN));
	assert_int_equal(sum.life_ns, 0);
	/* Nor does it come back with the next. */
	more = filled(30);
	counters_add(&sum, &more);
	assert_int_equal(sum.life_ns, 0);
	assert_false(sum.valid & VALID_TICK);
	assert_int_equal(sum.members, 3);
}

/* A sum of what is known: the unknown adds nothing, and what is known of any is known. */
TEST(test_add_known)
{
	struct counters sum = { 0 }, a = filled(1000), b = filled(30);

	counters_add_known(&sum, &a, DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | VALID_RUN);
	assert_int_equal(sum.valid, DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | VALID_RUN);
	assert_int_equal(sum.delay[DELAY_CPU].count, 1000);
	assert_int_equal(sum.delay[DELAY_CPU].ns, 1001);
	assert_int_equal(sum.delay[DELAY_BLKIO].count, 0);
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, 0);
	assert_int_equal(sum.run_ns, 1100);
	assert_int_equal(sum.user_ns, 0);
	counters_add_known(&sum, &b, DELAY_BIT(DELAY_BLKIO) | VALID_TICK);
	assert_int_equal(sum.valid, DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO) |
					    VALID_RUN | VALID_TICK);
	assert_int_equal(sum.delay[DELAY_CPU].ns, 1001);
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, 33);
	assert_int_equal(sum.run_ns, 1100);
	assert_int_equal(sum.user_ns, 230);
	assert_int_equal(sum.system_ns, 330);
	assert_int_equal(sum.members, 2);
	/* How long all of them lived together bounds nothing. */
	assert_int_equal(sum.life_ns, 0);
}

/* A reading that went on is left as it is, and all of it can be compared. */
TEST(test_lift_forward)
{
	struct counters before = filled(30), now = filled(1000), expected = now;

	assert_int_equal(counters_lift(&now, &before), ALL);
	check_same(&now, &expected);
	/* So is one that stood still. */
	before = now;
	assert_int_equal(counters_lift(&now, &before), ALL);
	check_same(&now, &expected);
}

/* The larger reading stays the baseline, counter by counter. */
TEST(test_lift_back)
{
	struct counters before = filled(1000), now = filled(30), expected = before;

	now.delay[DELAY_SWAPIN] = (struct delay_sum){ 5000, 6000 };
	now.system_ns = 7000;
	now.life_ns = expected.life_ns = 8000;
	expected.delay[DELAY_SWAPIN] = now.delay[DELAY_SWAPIN];
	expected.system_ns = 7000;
	assert_int_equal(counters_lift(&now, &before), ALL);
	check_same(&now, &expected);
	/* A zombie's record reads 0. */
	now = (struct counters){ .valid = ALL };
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(now.delay[DELAY_CPU].ns, before.delay[DELAY_CPU].ns);
	assert_int_equal(now.delay[DELAY_CPU].count, before.delay[DELAY_CPU].count);
	assert_int_equal(now.run_ns, before.run_ns);
}

/* Counts have 32 bits in the kernel, and are carried on wider. */
TEST(test_lift_modulo)
{
	struct counters before = filled(0), now = filled(0);
	struct delay_sum *cpu = &now.delay[DELAY_CPU];

	before.delay[DELAY_CPU].count = UINT64_C(0xfffffff0);
	*cpu = (struct delay_sum){ 5, 10 };
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, UINT64_C(0x100000005));
	/* From a wide one it goes on. */
	before = now;
	*cpu = (struct delay_sum){ 7, 12 };
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, UINT64_C(0x100000007));
	/* A little less than before has fallen, and not gone around. */
	before = now;
	*cpu = (struct delay_sum){ 6, 12 };
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, UINT64_C(0x100000007));
	/* Half of the way around and more is back. */
	before.delay[DELAY_CPU].count = 0;
	cpu->count = UINT64_C(0x7fffffff);
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, UINT64_C(0x7fffffff));
	cpu->count = UINT64_C(0x80000000);
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, 0);
}

/* A total that is 0 after more waits has overflowed: the interval is unknown, the next is not. */
TEST(test_lift_overflow)
{
	struct counters before = filled(1000), now = filled(1000);
	struct delay_sum *cpu = &now.delay[DELAY_CPU];

	*cpu = (struct delay_sum){ before.delay[DELAY_CPU].count + 3, 0 };
	assert_int_equal(counters_lift(&now, &before), ALL & ~DELAY_BOTH(DELAY_BIT(DELAY_CPU)));
	assert_int_equal(cpu->ns, 0);
	assert_int_equal(cpu->count, 1003);
	assert_int_equal(now.valid, ALL);
	before = now;
	*cpu = (struct delay_sum){ 1004, 50 };
	assert_int_equal(counters_lift(&now, &before), ALL);
	/* Waits of no length are none. */
	before.delay[DELAY_CPU] = (struct delay_sum){ 7, 0 };
	*cpu = (struct delay_sum){ 9, 0 };
	assert_int_equal(counters_lift(&now, &before), ALL);
	assert_int_equal(cpu->count, 9);
}

/* What is unknown of either is not lifted, and cannot be compared. */
TEST(test_lift_unknown)
{
	struct counters before = filled(1000), now = filled(30), expected = before;

	counters_mask(&before, DELAY_BIT(DELAY_CPU));
	counters_mask(&now, DELAY_BIT(DELAY_BLKIO));
	before.valid &= ~VALID_RUN;
	now.valid &= ~VALID_TICK;
	expected.delay[DELAY_CPU] = now.delay[DELAY_CPU];
	expected.delay[DELAY_BLKIO] = now.delay[DELAY_BLKIO];
	expected.run_ns = now.run_ns;
	expected.user_ns = now.user_ns;
	expected.system_ns = now.system_ns;
	expected.life_ns = now.life_ns;
	expected.valid = now.valid;
	assert_int_equal(counters_lift(&now, &before),
			 DELAY_BOTH(DELAY_ALL & ~DELAY_BIT(DELAY_CPU) & ~DELAY_BIT(DELAY_BLKIO)));
	check_same(&now, &expected);
}

/* Growth is of what is known; there is nothing else in it. */
TEST(test_diff)
{
	struct counters before = filled(30), now = filled(1000), grown, expected = { 0 };
	uint32_t known = DELAY_BIT(DELAY_CPU) | DELAY_BOTH(DELAY_BIT(DELAY_IRQ)) | VALID_RUN;

	memset(&grown, 0xa5, sizeof(grown));
	counters_diff(&grown, &now, &before, known);
	expected.valid = known;
	expected.delay[DELAY_CPU] = expected.delay[DELAY_IRQ] = (struct delay_sum){ 970, 970 };
	expected.run_ns = 970;
	check_same(&grown, &expected);
	counters_diff(&grown, &now, &before, VALID_TICK);
	expected = (struct counters){ .valid = VALID_TICK, .user_ns = 970, .system_ns = 970 };
	check_same(&grown, &expected);
	counters_diff(&grown, &now, &before, 0);
	expected = (struct counters){ 0 };
	check_same(&grown, &expected);
}

/* A masked kind has neither a time nor a number; all else stays. */
TEST(test_mask)
{
	struct counters counters = filled(1);

	counters_mask(&counters, 0);
	assert_int_equal(counters.valid, ALL);
	counters_mask(&counters, DELAY_BIT(DELAY_BLKIO) | DELAY_BIT(DELAY_IRQ));
	assert_int_equal(counters.valid,
			 ALL & ~DELAY_BIT(DELAY_BLKIO) & ~DELAY_COUNT_BIT(DELAY_BLKIO) &
				 ~DELAY_BIT(DELAY_IRQ) & ~DELAY_COUNT_BIT(DELAY_IRQ));
}

/* What was booked beyond a life of 100 ms, by how much it is and in how many waits. */
TEST(test_excess)
{
	static const struct {
		uint64_t ns, count, excess_ns, excess_count;
		bool wrong;
	} cases[] = {
		{ 103000000, 9, 0, 0, false },	       { 103000001, 9, 3000001, 0, false },
		{ 206000000, 9, 106000000, 0, false }, { 206000001, 9, 206000001, 9, true },
		{ 103000001, 1, 103000001, 1, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct counters counters = { .valid = ALL & ~DELAY_BOTH(DELAY_BIT(DELAY_SWAPIN)) };
		struct counters excess = { 0 };
		const uint32_t blkio = DELAY_BIT(DELAY_BLKIO);

		counters.delay[DELAY_CPU].ns = 100000000;
		counters.delay[DELAY_SWAPIN].ns = 900000000;
		counters.delay[DELAY_BLKIO] =
			(struct delay_sum){ .ns = cases[i].ns, .count = cases[i].count };
		assert_int_equal(counters_excess(&counters, 100000000, &excess),
				 cases[i].wrong ? blkio : 0);
		assert_int_equal(excess.valid, cases[i].excess_ns ? blkio : 0);
		assert_int_equal(excess.delay[DELAY_BLKIO].ns, cases[i].excess_ns);
		assert_int_equal(excess.delay[DELAY_BLKIO].count, cases[i].excess_count);
	}
}

/* Parts of a sum are taken off as far as it has them; what is cleared is none. */
TEST(test_take_off)
{
	struct counters sum = filled(30), part = filled(10), more = filled(40);

	counters_take_off(&sum, &part, DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(sum.delay[DELAY_BLKIO].ns,
			 filled(30).delay[DELAY_BLKIO].ns - part.delay[DELAY_BLKIO].ns);
	assert_int_equal(sum.delay[DELAY_BLKIO].count,
			 filled(30).delay[DELAY_BLKIO].count - part.delay[DELAY_BLKIO].count);
	assert_memory_equal(&sum.delay[DELAY_CPU], &filled(30).delay[DELAY_CPU],
			    sizeof(sum.delay[DELAY_CPU]));
	counters_take_off(&sum, &more, DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, 0);
	assert_int_equal(sum.delay[DELAY_BLKIO].count, 0);
	counters_clear(&sum, DELAY_BIT(DELAY_CPU) | DELAY_BIT(DELAY_IRQ));
	assert_int_equal(sum.delay[DELAY_CPU].ns + sum.delay[DELAY_CPU].count, 0);
	assert_int_equal(sum.delay[DELAY_IRQ].ns + sum.delay[DELAY_IRQ].count, 0);
	assert_int_not_equal(sum.delay[DELAY_SWAPIN].ns, 0);
	assert_int_equal(sum.valid, filled(30).valid);
}

/* Which of two is further on is told by the run time and the numbers of waits. */
TEST(test_below)
{
	struct counters a = filled(30), b = filled(30);

	assert_false(counters_below(&a, &b));
	b.delay[DELAY_IRQ].count++;
	assert_true(counters_below(&a, &b));
	assert_false(counters_below(&b, &a));
	a.run_ns++;
	assert_true(counters_below(&a, &b) && counters_below(&b, &a));
}

/* The scheduler keeps cpu whether delays are accounted or not: that alone says nothing. */
TEST(test_booked)
{
	struct counters counters = { .delay[DELAY_CPU] = { 1, 1 } };

	assert_false(counters_booked(&counters));
	assert_true(counters_any(&counters));
	counters = (struct counters){ .delay[DELAY_IRQ] = { 0, 1 } };
	assert_true(counters_booked(&counters) && counters_any(&counters));
	counters = (struct counters){ .delay[DELAY_BLKIO] = { 1, 0 } };
	assert_true(counters_booked(&counters) && counters_any(&counters));
	counters = (struct counters){ .valid = ALL, .members = 1, .life_ns = 1 };
	assert_false(counters_booked(&counters) || counters_any(&counters));
	counters.run_ns = 1;
	assert_true(counters_any(&counters));
	counters = (struct counters){ .user_ns = 1 };
	assert_true(counters_any(&counters));
	counters = (struct counters){ .system_ns = 1 };
	assert_true(counters_any(&counters) && !counters_booked(&counters));
}
