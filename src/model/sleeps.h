/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums of sleep in state D: those that are measured (exact.h), or those that the scheduler
 * keeps while kernel.sched_schedstats is on. With these a task's sleep without I/O is exact, and
 * the kernel's blkio is checked against the scheduler's.
 */
#pragma once

#include "data/sample.h"

/*
 * Applies a reading's sums to an element that has its task and its counters: sets SEEN_DWAIT since
 * the reading before, and cuts blkio to the scheduler's figure. known: the element of the same task
 * before; NULL: there was none, and `born` says whether the task is new since. Readings are
 * compared with that before if both have the same epoch. True if something was taken off that was
 * not before.
 */
bool sleeps_apply(struct task_raw *raw, const struct task_raw *known, bool born,
		  const struct task_sleeps *now);

/* Takes off counters as the kernel has them what was found to be too much before. */
void sleeps_correct(const struct task *task, struct counters *counters);
