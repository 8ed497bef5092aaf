/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the descendants of a command spent their time and on what they waited, from the trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/delay.h"
#include "frame/frame.h"

struct exit_record;
struct proc;

/* Sums over all exited descendants. Empty if waits are not traced. */
struct run_traced {
	bool known;
	struct wait_states states;
	/*
	 * Sites of processes of one name are merged, with tgid 0, if state, system call, target and
	 * function are equal; targets of a single process, such as pids, are removed.
	 */
	struct site *const *sites;
	size_t n;
	uint64_t lost; /* waits that found no room for a site */
};

struct run_trace;

/* Starts tracing. 0, or -errno as tracing_open(). */
int run_trace_open(struct run_trace **out, struct proc *proc, uint32_t sites);

/* Stores threads' time by state in their exit records. */
void run_trace_exits(struct run_trace *trace, struct exit_record *records, size_t n);

/* Adds the times of a descendant, whose exit record has come, and marks its process as one. */
void run_trace_ours(struct run_trace *trace, const struct exit_record *record);

/* When the next run_trace_read() is due (CLOCK_MONOTONIC). */
uint64_t run_trace_due_ns(const struct run_trace *trace);

/*
 * Reads the trace; call when the exit records so far were read. Processes that exited some readings
 * ago, and are not known as descendants by now, are not.
 */
void run_trace_read(struct run_trace *trace);

/* Reads the rest, and returns the sums; they live until the trace is closed. */
void run_trace_end(struct run_trace *trace, struct run_traced *traced);

void run_trace_close(struct run_trace *trace);

/* Sums over the tasks of a command. */

/*
 * Adds the final counters of a task, or of a process, to a sum that started with all bits valid and
 * no task. Excludes delays, or the part of them, that are impossible in the life of all its threads
 * (life_ns; 0: unknown); the rest of the sum stays valid. Returns the reduced kinds: DELAY_BIT()s.
 */
uint32_t run_sum_add(struct counters *sum, const struct counters *last, uint64_t life_ns);

/* Adds longest and shortest waits, except of kinds in left_out. `first`: the sum is empty. */
void run_sum_add_range(struct task_record *sum, const struct task_record *last, uint32_t left_out,
		       bool first);

/*
 * Combines the run time with the user and system time of all reaped processes. The exit records
 * lack up to a tick per task; the times of the reaped lack processes that were never waited for. So
 * the larger figure is the run time, divided into user and system time in their ratio.
 */
void run_sum_settle(struct counters *sum, uint64_t *user_ns, uint64_t *system_ns);
