/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was waited within an interval, as against what the kernel booked in it. A wait is booked
 * when it ends, whole: so what is in progress now counts, and what was in progress at the reading
 * before has been counted. And what the kernel books need not have been: it takes some stamps
 * from waits long past.
 */
#ifndef STALLTOP_MODEL_WAITED_H
#define STALLTOP_MODEL_WAITED_H

#include <stdint.h>

#include "data/sample.h"

/* Waits of tasks, in ns. Which kinds are known the row says: DELAY_BIT()s and VALID_BLOCK. */
struct waited {
	uint64_t ns[WAIT_KINDS];
	uint64_t total, mem; /* as delay_total() and delay_mem(), total with block */
};

/*
 * The kinds of which more was booked since the reading before (NULL: since the task's start) than
 * the clock and what the threads did then allow: DELAY_BIT()s.
 */
uint32_t waited_impossible(const struct counters *grown, const struct task_raw *now,
			   const struct task_raw *before);

/*
 * What was waited since then, of what was booked: at most the time that passed for all threads.
 * `known` as counters.valid. Returns the kinds known of the result: DELAY_BIT()s and VALID_BLOCK.
 */
uint32_t waited_take(struct waited *waited, const struct counters *grown, uint32_t known,
		     const struct task_raw *now, const struct task_raw *before);

/* Adds the waits of another. */
void waited_add(struct waited *sum, const struct waited *more);

/* Leaves an impossible booking, `grown` of `kinds`, out of the task's life from now on. */
void waited_drop(struct task *task, const struct counters *grown, uint32_t kinds);

/*
 * A task's counters since its start, less what was left out of them. In `valid` are the kinds that
 * can be: no wait is longer than the task has lived.
 */
struct counters waited_life(const struct task_raw *raw);

/* Makes longest and shortest waits unknown that are longer than the task has lived. */
void waited_check_range(const struct task_raw *raw, struct task_record *record);

#endif
