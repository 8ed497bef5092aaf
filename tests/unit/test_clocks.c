// SPDX-License-Identifier: GPL-2.0-or-later
/* Times by the wall clock, while it is set and the machine is suspended. */
#include "tests/lib/test.h"

#include "base/clocks.h"
#include "base/util.h"

#define SEC(n) (NSEC_PER_SEC * (uint64_t)(n))
#define MS(n) (NSEC_PER_MSEC * (uint64_t)(n))

/* A machine that has been up for 100 s at midnight. */
static struct clock_times begin(void)
{
	return (struct clock_times){ SEC(100), SEC(100), SEC(86400) };
}

/* Lets time pass by all clocks, and reads them. */
static void pass(struct clocks *clocks, struct clock_times *now, uint64_t ns)
{
	now->monotonic_ns += ns;
	now->boot_ns += ns;
	now->real_ns += ns;
	clocks_read(clocks, now);
}

/* A start is the same from reading to reading, though clocks are not read at one time. */
TEST(test_steady)
{
	struct clocks clocks = { 0 };
	struct clock_times now = begin();

	for (unsigned i = 0; i < 100; i++) {
		now.real_ns += i * 1000;
		now.boot_ns += i * 500;
		pass(&clocks, &now, SEC(2));
		now.real_ns -= i * 1000;
		now.boot_ns -= i * 500;
		assert_int_equal(clocks_real_ns(&clocks, SEC(40)), SEC(86400 - 60));
		assert_int_equal(clocks_boot_ns(&clocks, SEC(40)), SEC(40));
	}
	assert_int_equal(clocks.n, 1);
	clocks_free(&clocks);
}

/* When the clock is set all starts move with it, either way, once. */
TEST(test_set)
{
	static const int64_t steps[] = { 3600, -7200, 1, -1 };
	struct clocks clocks = { 0 };
	struct clock_times now = begin();
	uint64_t expected = SEC(86400 - 60);

	clocks_read(&clocks, &now);
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		now.real_ns += (uint64_t)(steps[i] * (int64_t)NSEC_PER_SEC);
		expected += (uint64_t)(steps[i] * (int64_t)NSEC_PER_SEC);
		for (unsigned k = 0; k < 3; k++) {
			pass(&clocks, &now, SEC(2));
			assert_int_equal(clocks_real_ns(&clocks, SEC(40)), expected);
		}
	}
	/* By little at a time, too. */
	for (unsigned i = 0; i < 100; i++) {
		now.real_ns += MS(3);
		pass(&clocks, &now, SEC(2));
	}
	assert_in_range(clocks_real_ns(&clocks, SEC(40)), expected + MS(290), expected + MS(300));
	clocks_free(&clocks);
}

/* Who began before the machine was suspended keeps its start; who did after has the right one. */
TEST(test_suspended)
{
	struct clocks clocks = { 0 };
	struct clock_times now = begin();

	clocks_read(&clocks, &now);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t start, real;

		pass(&clocks, &now, SEC(2));
		now.boot_ns += SEC(3600);
		now.real_ns += SEC(3600);
		start = now.monotonic_ns + MS(500);
		real = now.real_ns + MS(500);
		pass(&clocks, &now, SEC(2));
		assert_int_equal(clocks_real_ns(&clocks, start), real);
		assert_int_equal(clocks_boot_ns(&clocks, start), start + SEC(3600) * (i + 1));
		assert_int_equal(clocks_real_ns(&clocks, SEC(40)), SEC(86400 - 60));
		/* What was right before is unmoved. */
		assert_int_equal(clocks_real_ns(&clocks, start - MS(2501)),
				 real - MS(2501) - SEC(3600));
	}
	assert_int_equal(clocks.n, 4);
	clocks_free(&clocks);
}

/* The clocks of this machine, read at one time. */
TEST(test_now)
{
	struct clocks clocks = { 0 };
	struct clock_times first = clocks_now(), second = clocks_now();

	assert_true(second.monotonic_ns >= first.monotonic_ns);
	clocks_read(&clocks, &first);
	assert_int_equal(clocks_real_ns(&clocks, first.monotonic_ns), first.real_ns);
	assert_int_equal(clocks_boot_ns(&clocks, first.monotonic_ns), first.boot_ns);
	clocks_free(&clocks);
	/* Nothing is known. */
	assert_int_equal(clocks_boot_ns(&clocks, SEC(5)), SEC(5));
}
