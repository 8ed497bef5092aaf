/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time waited within an interval, as opposed to what the kernel booked in it. A wait is booked
 * as a whole when it ends: so waits in progress are added, and those that were in progress at the
 * reading before, and counted then, are taken off. The kernel may also book time that was not
 * waited: it takes some stamps from waits long past.
 */
#ifndef STALLTOP_MODEL_WAITED_H
#define STALLTOP_MODEL_WAITED_H

#include <stdbool.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"

/* Waits of tasks, in ns. The row says which kinds are known: DELAY_BIT()s and VALID_DWAIT. */
struct waited {
	uint64_t ns[WAIT_KINDS];
	uint64_t total, mem; /* as delay_total() and delay_mem(), total with dwait */
	bool beyond; /* of blkio more was booked than pressure allows */
};

/* The machine between two readings, which limits the time that a task can have waited. */
struct waited_machine {
	/* The idle part of its CPU time, in percent; 0: none, or not known. */
	double idle;
	struct io_pressure io;
	unsigned cpus; /* 0: not known */
};

/* The machine's limits between two readings; unknown if the former is NULL. */
struct waited_machine waited_machine(const struct system_sample *before,
				     const struct system_sample *now);

/*
 * Finds the kinds with more booked since the reading before (NULL: since the task's start) than is
 * possible by the clock and by what the threads did then. Returns those whose time is not known, as
 * the booking tells nothing: DELAY_BIT()s. Kernels since 6.12 book a little too much of many waits:
 * within twice of what is possible it is taken for all of that. Time to be left out of the task's
 * life is added to `excess`, and its kinds to excess->valid, which must be 0.
 */
uint32_t waited_impossible(const struct counters *grown, const struct task_raw *now,
			   const struct task_raw *before, const struct waited_machine *machine,
			   struct counters *excess);

/*
 * Whether what a thread was booked for a CPU was rather sleep: it sleeps at both readings, and was
 * booked much in few waits. 6.12 does so where a task that sleeps, but is not dequeued yet, is
 * moved to another CPU: the stamp that it gets there stands until it runs again
 * (kernel/sched/core.c:enqueue_task()).
 */
bool waited_asleep(const struct counters *grown, const struct task_raw *now,
		   const struct task_raw *before);

/*
 * Finds what was waited since then, from what was booked: at most the time that passed for all
 * threads, and of blkio at most what pressure allows: the machine's (NULL: none limits it), and
 * that of the group that all its threads were in (NULL: not known). `known` is as counters.valid.
 * Returns the kinds known in the result: DELAY_BIT()s and VALID_DWAIT.
 */
uint32_t waited_take(struct waited *waited, const struct counters *grown, uint32_t known,
		     const struct task_raw *now, const struct task_raw *before,
		     const struct waited_machine *machine, const struct io_pressure *group);

/* Sets what was waited of a kind, as it was measured. `known`: the kinds that are known then. */
void waited_set(struct waited *waited, unsigned kind, uint64_t ns, uint32_t known);

/* Adds the waits of another. */
void waited_add(struct waited *sum, const struct waited *more);

/* Leaves `excess` of `kinds` out of the task's life from now on. */
void waited_drop(struct task *task, const struct counters *excess, uint32_t kinds);

/*
 * A task's counters since its start, less what was left out of them. `valid` has the kinds that are
 * possible: no wait is longer than the task has lived. *wrong (or NULL) is set where some are not.
 * What they grow by from one reading to the next is what was waited between.
 */
struct counters waited_life(const struct task_raw *raw, bool *wrong);

/* Makes unknown the longest and shortest waits that are longer than the task has lived. */
void waited_check_range(const struct task_raw *raw, struct task_record *record);

#endif
