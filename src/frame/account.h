/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The balance of CPU time and the run time of tasks.
 *
 * The record of an exiting task lacks the run time since the last clock tick, and a record may be
 * lost. The children's times of the process that reaped the task still have its whole life. So the
 * conserved figure is the sum of own run time and children's times over all processes; its growth
 * beyond the run time of rows is `recovered`. A child that is reaped automatically is in no
 * process's children's times: for such a child its exit record counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"

struct proc;

/* The CPU time of the interval, in ns. */
struct account {
	bool valid; /* else none of the members is known */
	uint64_t machine_ns; /* CPUs x interval */
	uint64_t run_ns; /* run time of all rows */
	uint64_t idle_ns, iowait_ns, steal_ns;
	uint64_t irq_ns; /* irq and softirq, where they are not in the tasks' run time */
	bool recovered_valid;
	int64_t recovered_ns;
	uint64_t children_ns; /* growth of children's times: whole lives, counted when reaped */
	int64_t unattributed_ns; /* the rest of the machine's time, of either sign */
};

/* The state kept from sample to sample: see account_reap(). */
struct account_reader {
	struct proc *proc;
	uint64_t tick_ns; /* the tick of /proc/PID/stat */
	bool primed; /* the children's times of all processes were read */
};

/* Which of the processes that exited in the interval the sample contains. */
enum account_seen {
	ACCOUNT_SEEN_ALL,
	ACCOUNT_SEEN_SOME, /* only those of the previous sample: there are no exit records */
	ACCOUNT_SEEN_LOST /* all except those whose exit records were lost */
};

/*
 * Reads children's times and finds the recovered time. `cur` must have a row for each process,
 * exited ones in place. The first call reads the times of all processes, later calls those of
 * processes that may have reaped, and after a loss all again. prev NULL: only reads.
 */
void account_reap(struct account_reader *reader, const struct sample *prev,
		  const struct sample *cur, enum account_seen seen, struct account *out);

/* Adds the system's figures; run_ns must be set. irq_apart: tasks' run times exclude interrupts. */
void account_system(struct account *account, const struct system_sample *before,
		    const struct system_sample *now, uint64_t interval_ns, bool irq_apart);
