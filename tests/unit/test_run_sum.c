// SPDX-License-Identifier: GPL-2.0-or-later
/* What a command's tasks add up to: nothing that cannot be, nothing that contradicts itself. */
#include "tests/lib/test.h"

#include "base/util.h"
#include "sampler/run_trace.h"

#define TASKS 26
#define LIFE (100 * NSEC_PER_MSEC)
#define BOGUS (5000 * NSEC_PER_SEC)

/* A task that waited for all kinds, each for a tenth of its life. */
static struct counters make_task(void)
{
	struct counters task = { .valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK,
				 .members = 1,
				 .run_ns = LIFE / 5 };

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		task.delay[kind] = (struct delay_sum){ 2, LIFE / 10 };
	return task;
}

/* Of five tasks of 26 the kernel booked a wait that cannot be: the other 21 are there. */
TEST(test_impossible)
{
	struct counters sum = { .valid = UINT32_MAX };
	unsigned left_out = 0;

	for (unsigned i = 0; i < TASKS; i++) {
		struct counters task = make_task();

		if (i % 5 == 1)
			task.delay[DELAY_BLKIO].ns = BOGUS + i;
		left_out += run_sum_add(&sum, &task, LIFE) == DELAY_BIT(DELAY_BLKIO);
	}
	assert_int_equal(left_out, 5);
	assert_int_equal(sum.members, TASKS);
	assert_int_equal(sum.valid & DELAY_BOTH(DELAY_ALL), DELAY_BOTH(DELAY_ALL));
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		unsigned tasks = kind == DELAY_BLKIO ? TASKS - 5 : TASKS;

		assert_true(sum.delay[kind].count == 2 * tasks);
		assert_true(sum.delay[kind].ns == tasks * (LIFE / 10));
	}
	assert_true(sum.run_ns == TASKS * (LIFE / 5));
}

/* A little too much is cut to the life. */
TEST(test_cut)
{
	struct counters sum = { .valid = UINT32_MAX }, task = make_task();

	task.delay[DELAY_BLKIO].ns = LIFE + LIFE / 2;
	assert_int_equal(run_sum_add(&sum, &task, LIFE), DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, LIFE);
	assert_int_equal(sum.delay[DELAY_BLKIO].count, 2);
}

/* The whole life is possible; of what is not known nothing can be said to be impossible. */
TEST(test_possible)
{
	struct counters sum = { .valid = UINT32_MAX }, task = make_task();

	task.delay[DELAY_CPU].ns = LIFE;
	assert_int_equal(run_sum_add(&sum, &task, LIFE), 0);
	task.delay[DELAY_CPU].ns = BOGUS;
	assert_int_equal(run_sum_add(&sum, &task, 0), 0);
	assert_true(sum.delay[DELAY_CPU].ns == LIFE + BOGUS);
	/* What its record does not have is unknown of the sum. */
	task.valid &= ~DELAY_BOTH(DELAY_BIT(DELAY_IRQ));
	task.delay[DELAY_IRQ].ns = BOGUS;
	task.delay[DELAY_CPU].ns = 0;
	assert_int_equal(run_sum_add(&sum, &task, LIFE), 0);
	assert_int_equal(sum.valid & DELAY_BOTH(DELAY_BIT(DELAY_IRQ)), 0);
	assert_true(sum.valid & DELAY_BIT(DELAY_CPU));
}

/* Longest waits, too, first or later; where no other task tells it is unknown. */
TEST(test_range)
{
	struct task_record good = { .range_valid = DELAY_ALL, .stamp_valid = DELAY_ALL }, bad, sum;
	uint32_t blkio = DELAY_BIT(DELAY_BLKIO);

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		good.max[kind] = LIFE / 10;
		good.min[kind] = LIFE / 100;
		good.stamp[kind] = 7;
	}
	bad = good;
	bad.max[DELAY_BLKIO] = BOGUS;
	bad.stamp[DELAY_BLKIO] = 8;
	for (unsigned first = 0; first < 2; first++) {
		run_sum_add_range(&sum, first ? &good : &bad, first ? 0 : blkio, true);
		assert_int_equal(sum.range_valid, first ? DELAY_ALL : DELAY_ALL & ~blkio);
		run_sum_add_range(&sum, first ? &bad : &good, first ? blkio : 0, false);
		assert_int_equal(sum.range_valid, DELAY_ALL);
		assert_true(sum.max[DELAY_BLKIO] == LIFE / 10);
		assert_true(sum.min[DELAY_BLKIO] == LIFE / 100);
		assert_true(sum.stamp[DELAY_BLKIO] == 7);
	}
}

/* Settles these times and asserts what comes of them. */
static void check_times(bool known, uint64_t run, uint64_t user, uint64_t system,
			uint64_t expected_user, uint64_t expected_system)
{
	struct counters sum = { .valid = DELAY_ALL | (known ? VALID_RUN : 0),
				.run_ns = run,
				.user_ns = 1,
				.system_ns = 3 };

	run_sum_settle(&sum, &user, &system);
	assert_true(user == expected_user && system == expected_system);
	assert_true(sum.run_ns == user + system);
	assert_int_equal(sum.valid, DELAY_ALL | VALID_RUN);
}

/* The run time is user and system time. */
TEST(test_times)
{
	/* Records lack what came after the last tick. */
	check_times(true, 1059, 1000, 527, 1000, 527);
	check_times(true, 1527, 1000, 527, 1000, 527);
	/* Whom nobody waited for is in the records alone. */
	check_times(true, 3000, 1000, 500, 2000, 1000);
	/* So are all, then: the ratio is that of their ticks. */
	check_times(true, 4000, 0, 0, 1000, 3000);
	/* Without records. */
	check_times(false, 99999, 1000, 527, 1000, 527);
	check_times(false, 0, 0, 0, 0, 0);
}
