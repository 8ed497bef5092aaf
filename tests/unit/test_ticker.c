// SPDX-License-Identifier: GPL-2.0-or-later
/* The grid of due times: absolute, without drift, and without a queue. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/ticker.h"

/* The first point is now, each next one an interval later, however long a sample took. */
static void test_steady(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 1000, 100);
	assert_true(ticker.due_ns == 1000);
	for (uint64_t i = 1; i < 1000; i++) {
		assert_true(ticker_advance(&ticker, 1000 + 100 * (i - 1) + i % 100) == 0);
		assert_true(ticker.due_ns == 1000 + 100 * i);
	}
}

/* Points that have passed are skipped and counted; the next one lies ahead, on the ticker. */
static void test_skipped(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 1000, 100);
	assert_true(ticker_advance(&ticker, 1099) == 0);
	assert_true(ticker.due_ns == 1100);
	/* The point of right now has passed. */
	assert_true(ticker_advance(&ticker, 1200) == 1);
	assert_true(ticker.due_ns == 1300);
	assert_true(ticker_advance(&ticker, 1755) == 4);
	assert_true(ticker.due_ns == 1800);
}

/* Who comes late takes the sample that is due, and the grid goes on behind it. */
static void test_late(void **state)
{
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 1000, 100);
	assert_true(ticker_late(&ticker, 900) == 0);
	assert_true(ticker_late(&ticker, 1099) == 0);
	assert_true(ticker.due_ns == 1000);
	assert_true(ticker_late(&ticker, 1350) == 3);
	assert_true(ticker.due_ns == 1300);
	assert_true(ticker_advance(&ticker, 1360) == 0);
	assert_true(ticker.due_ns == 1400);
}

/* A machine that slept for a year. */
static void test_long(void **state)
{
	static const uint64_t year = UINT64_C(31536000) * 1000000000;
	struct ticker ticker;

	(void)state;
	ticker_start(&ticker, 1, 50000000);
	assert_true(ticker_advance(&ticker, year) == year / 50000000 - 1);
	assert_true(ticker.due_ns > year && ticker.due_ns <= year + 50000000);
	assert_true(ticker.due_ns % 50000000 == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
