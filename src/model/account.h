/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether it adds up: the time of the CPUs against what tasks ran.
 *
 * The record of an exiting task lacks the run time since the last clock tick, and a record may
 * be lost. What is lost there is not lost to its parent: the children's times of whoever
 * reaped it have its whole life. So the conserved figure is own run time and children's times
 * of all processes together, and what it grew by beyond the run time that rows show is
 * `recovered`. A child that is reaped automatically is in nobody's children's times: of those
 * its exit record counts.
 */
#ifndef STALLTOP_MODEL_ACCOUNT_H
#define STALLTOP_MODEL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"

/* The interval in ns of CPU time. */
struct account {
	bool valid; /* else nothing of it is known */
	uint64_t machine_ns; /* CPUs x interval */
	uint64_t run_ns; /* of all rows */
	uint64_t idle_ns, iowait_ns, steal_ns;
	uint64_t irq_ns; /* irq and softirq, where they are not in the tasks' run time */
	bool recovered_valid;
	int64_t recovered_ns;
	uint64_t children_ns; /* by which children's times grew: whole lives, at their reaping */
	int64_t rest_ns; /* what is left of the machine's time, of either sign */
};

/* What is needed from sample to sample: see account_reap(). */
struct account_reader {
	int procfd;
	uint64_t tick_ns; /* of /proc/PID/stat */
	bool primed; /* the children's times of all were read */
	uint64_t syscalls;
};

/* Of the processes that ended in the interval the sample has: */
enum account_seen {
	ACCOUNT_SEEN_ALL,
	ACCOUNT_SEEN_SOME, /* those that the sample before had: there are no exit records */
	ACCOUNT_SEEN_LOST /* not those whose exit records were lost */
};

/*
 * Reads children's times and finds what was recovered. `cur` must have all that exited in
 * place, with a row a process. The first call reads all processes' times, later ones those of
 * who may have reaped, after a loss all again. prev NULL: only reads.
 */
void account_reap(struct account_reader *reader, const struct sample *prev,
		  const struct sample *cur, enum account_seen seen, struct account *out);

/* Adds the system's side; run_ns is set. irq_apart: tasks' run times do not contain interrupts. */
void account_system(struct account *account, const struct system_sample *before,
		    const struct system_sample *now, uint64_t interval_ns, bool irq_apart);

#endif
