// SPDX-License-Identifier: GPL-2.0-or-later
/* The grid of due times: absolute, without drift, and without a queue. */
#include "tests/lib/test.h"

#include "base/clocks.h"

/* The first point is now, each next one an interval later, however long a sample took. */
TEST(test_steady)
{
	struct ticker ticker;

	ticker_start(&ticker, 1000, 100);
	assert_true(ticker.due_ns == 1000);
	for (uint64_t i = 1; i < 1000; i++) {
		assert_true(ticker_advance(&ticker, 1000 + 100 * (i - 1) + i % 100) == 0);
		assert_true(ticker.due_ns == 1000 + 100 * i);
	}
}

/* Points that have passed are skipped and counted; the next one lies ahead, on the ticker. */
TEST(test_skipped)
{
	struct ticker ticker;

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
TEST(test_late)
{
	struct ticker ticker;

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
TEST(test_long)
{
	static const uint64_t year = UINT64_C(31536000) * 1000000000;
	struct ticker ticker;

	ticker_start(&ticker, 1, 50000000);
	assert_true(ticker_advance(&ticker, year) == year / 50000000 - 1);
	assert_true(ticker.due_ns > year && ticker.due_ns <= year + 50000000);
	assert_true(ticker.due_ns % 50000000 == 1);
}
