/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a task, or the sum of several tasks' counters, and their arithmetic. Unknown counters
 * are not in `valid`, and their values mean nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/delay.h"

/* Bits of counters.valid, above the delays' bits of time and of count. */
#define VALID_RUN (UINT32_C(1) << (2 * DELAY_KINDS)) /* run_ns */
#define VALID_TICK (UINT32_C(1) << (2 * DELAY_KINDS + 1)) /* user_ns and system_ns */
/* The children's times, in an element of a sample. */
#define VALID_CHILDREN (UINT32_C(1) << (2 * DELAY_KINDS + 2))
/* The time waited of WAIT_DWAIT, in a row. */
#define VALID_DWAIT (UINT32_C(1) << (2 * DELAY_KINDS + 3))
/* The time waited of blkio, in a row: measured, whether the booked time is known or not. */
#define VALID_BLKIO (UINT32_C(1) << (2 * DELAY_KINDS + 4))
_Static_assert(2 * DELAY_KINDS + 5 <= 32, "too many kinds for the valid masks");

/* Counters since a task's start, or their growth. */
struct counters {
	uint32_t valid; /* DELAY_BIT()s, DELAY_COUNT_BIT()s and VALID_... */
	unsigned members; /* number of tasks added up here, 1 for a single task */
	uint64_t run_ns;
	uint64_t user_ns, system_ns; /* counted in ticks: only their ratio is of use */
	uint64_t life_ns; /* elapsed since the start, of all threads added up; 0: not known */
	struct delay_sum delay[DELAY_KINDS];
};

/* Adds all of `more`. A counter of the sum is known only if it is known of both. */
void counters_add(struct counters *sum, const struct counters *more);

/*
 * Adds the counters in `known` (bits as in valid) to a sum that started zeroed. A counter of the
 * sum is known if it is known of any task: unknown values add nothing.
 */
void counters_add_known(struct counters *sum, const struct counters *more, uint32_t known);

/*
 * Makes a reading comparable with the one before: a counter that fell is lifted to what it was, so
 * that the larger reading stays the baseline. Counts have 32 bits in the kernel; they are compared
 * modulo 2^32 and carried on wider. Returns the bits of what can be compared: those known in both,
 * except totals that overflowed (the kernel sets such a total to 0, while its count goes on:
 * kernel/delayacct.c:delayacct_add_tsk).
 */
uint32_t counters_lift(struct counters *now, const struct counters *before);

/* Computes the growth of the counters in `known`; all else of `grown` becomes 0. */
void counters_diff(struct counters *grown, const struct counters *now,
		   const struct counters *before, uint32_t known);

/* Subtracts the waits of `kinds` (DELAY_BIT()s) from a sum that contains them, never below 0. */
void counters_take_off(struct counters *sum, const struct counters *part, uint32_t kinds);

/* Sets the waits of `kinds` (DELAY_BIT()s) to none. */
void counters_clear(struct counters *counters, uint32_t kinds);

/* Makes the times and counts of kinds unknown: a set of DELAY_BIT()s. */
static inline void counters_mask(struct counters *counters, uint32_t kinds)
{
	counters->valid &= ~DELAY_BOTH(kinds);
}

/*
 * Adds a booking's excess over what is possible: delay_judge() has judged it. Nothing where it
 * fits.
 */
void counters_add_excess(struct counters *excess, unsigned kind, enum delay_verdict verdict,
			 const struct delay_sum *booked, uint64_t possible_ns);

/*
 * Finds delays beyond the life of one thread. `excess`, zeroed, gets the surplus by kind, and its
 * kinds as `valid`. Returns the kinds that are unknown then: DELAY_BIT()s.
 */
uint32_t counters_excess(const struct counters *counters, uint64_t life_ns,
			 struct counters *excess);

/* Whether the run time or any kind's number of waits is below that of `other`. */
bool counters_below(const struct counters *counters, const struct counters *other);

/* Whether any delay but cpu was ever booked (procfs gives no counts). */
bool counters_booked(const struct counters *counters);

/* Whether any of the figures is not 0. */
bool counters_any(const struct counters *counters);
