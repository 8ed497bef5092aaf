/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over the tasks of a command. */
#ifndef STALLTOP_MODEL_RUN_SUM_H
#define STALLTOP_MODEL_RUN_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "data/counters.h"
#include "data/record.h"

/*
 * Adds the last counters of a task, or of a process, to a sum that began with all bits valid and no
 * task. Leaves out delays, or the part of them, that are impossible in the life of all its threads
 * (life_ns; 0: not known); the rest of the sum stays valid. Returns the kinds that lost something:
 * DELAY_BIT()s.
 */
uint32_t run_sum_add(struct counters *sum, const struct counters *last, uint64_t life_ns);

/* Adds longest and shortest waits, except of kinds in left_out. `first`: the sum is empty. */
void run_sum_add_range(struct task_record *sum, const struct task_record *last, uint32_t left_out,
		       bool first);

/*
 * Settles the run time with the user and system time of all reaped processes. The exit records lack
 * up to a tick for each task; the times of the reaped lack processes that were never waited for. So
 * the larger figure is the run time, divided into user and system time in their ratio.
 */
void run_sum_settle(struct counters *sum, uint64_t *user_ns, uint64_t *system_ns);

#endif
