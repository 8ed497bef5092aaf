/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tasks that a command ran as add up to. */
#ifndef STALLTOP_MODEL_RUN_SUM_H
#define STALLTOP_MODEL_RUN_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "data/counters.h"
#include "data/record.h"

/*
 * Adds the last counters of a task, or of a process, to a sum that began with all bits valid and
 * no task. What cannot have been waited in the life of all its threads is left out, and the rest of
 * the sum stands. life_ns 0: not known. Returns the kinds that were left out: DELAY_BIT()s.
 */
uint32_t run_sum_add(struct counters *sum, const struct counters *last, uint64_t life_ns);

/* Adds longest and shortest waits, but of kinds that were left out. `first`: the sum is empty. */
void run_sum_add_range(struct task_record *sum, const struct task_record *last, uint32_t left_out,
		       bool first);

/*
 * Settles the run time with the user and system time of all who were reaped. The exit records lack
 * up to a tick for each task; the times of the reaped lack whom nobody waited for. So the larger is
 * the run time, and user and system time divide it as they did.
 */
void run_sum_settle(struct counters *sum, uint64_t *user_ns, uint64_t *system_ns);

#endif
