/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times at which samples are due: an absolute grid, so that nothing drifts or queues. */
#ifndef STALLTOP_BASE_TICKER_H
#define STALLTOP_BASE_TICKER_H

#include <stdint.h>

struct ticker {
	uint64_t due_ns; /* CLOCK_MONOTONIC of the next sample */
	uint64_t interval_ns; /* above 0 */
};

/* A grid whose first point is now. */
void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns);

/*
 * To be called before a sample is taken: skips points that have passed without a sample, except the
 * last. Returns how many: the interval that this sample ends is longer by these.
 */
uint64_t ticker_late(struct ticker *ticker, uint64_t now_ns);

/*
 * Moves to the next point, to be called when a sample has been taken. Points that have
 * passed by now are skipped, not made up for: returns how many.
 */
uint64_t ticker_advance(struct ticker *ticker, uint64_t now_ns);

#endif
