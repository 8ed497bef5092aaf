/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time waited within an interval, as opposed to what the kernel booked in it. A wait is booked
 * as a whole when it ends: so waits in progress are added, and those that were in progress at the
 * reading before, and counted then, are taken off. The kernel may also book time that was not
 * waited: it takes some stamps from waits long past. What a figure is, and why, is decided here
 * alone: by resolve_booked() once for each row, then by resolve_row().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"
#include "frame/row.h"

/* The machine between two readings, which limits the time that a task can have waited. */
struct wait_limits {
	/* The idle part of its CPU time, in percent; 0: none, or unknown. */
	double idle;
	struct io_pressure io;
	unsigned cpus; /* 0: unknown */
};

/* The machine's limits between two readings; unknown if the earlier one is NULL. */
struct wait_limits wait_limits(const struct system_sample *before, const struct system_sample *now);

/*
 * True if a thread's accounted cpu delay was rather sleep: it sleeps at both readings, and much was
 * accounted for few waits. 6.12 does so if a sleeping task, not yet dequeued, is moved to another
 * CPU: the stamp that it gets there stays until it runs again (kernel/sched/core.c:enqueue_task()).
 */
bool waited_asleep(const struct counters *grown, const struct task_raw *now,
		   const struct task_raw *before);

/*
 * Removes from a row's accounted delays (`grown` of its deltas) since `before` (NULL: since the
 * start of its task) what is impossible by the clock and by the threads' activity. Kinds whose
 * accounting proves nothing become invalid in `grown`; kernels since 6.12 account a little too much
 * for many waits: up to twice of what is possible it is taken as all of that. `excess`, zeroed,
 * receives the surplus. Returns its kinds: DELAY_BIT()s.
 */
uint32_t resolve_booked(struct row *row, struct deltas *deltas, const struct task_raw *before,
			const struct wait_limits *machine, struct counters *excess);

/*
 * Finds what was waited of each kind in a row's interval, and how that is known (waited.reason):
 * 1. what was booked, as resolve_booked() left it;
 * 2. with the part of waits in progress that is in the interval, of all that was booked that part;
 * 3. at most the time that passed, for all threads;
 * 4. of blkio at most what pressure allows: the machine's (NULL: none limits it), and that of the
 *    group that all its threads were in (NULL: not known);
 * 5. of blkio and dwait what was traced (row->traced): the kernel may book wrongly, and readings
 *    miss the waits between them.
 * Sets which kinds are valid in the row, and the sums. Called again where more is known of the row:
 * its trace, its group's pressure. `deltas`: the row's own, NULL: nothing happened to it. whole:
 * they span the task's life.
 */
void resolve_row(struct row *row, struct deltas *deltas, bool whole,
		 const struct wait_limits *machine, const struct io_pressure *group);

/* Adds the waits of another. */
void waited_add(struct waited *sum, const struct waited *more);

/* Excludes `excess` of `kinds` from the task's life from now on. */
void waited_drop(struct task *task, const struct counters *excess, uint32_t kinds);

/*
 * A task's counters since its start, without the excluded excess. `valid` has the possible kinds:
 * no wait is longer than the task has lived. *wrong (or NULL) is set if some are not. Their growth
 * between two readings is the time waited between them.
 */
struct counters waited_life(const struct task_raw *raw, bool *wrong);

/* Makes longest and shortest waits longer than the task's life unknown. */
void waited_check_range(const struct task_raw *raw, struct task_record *record);
