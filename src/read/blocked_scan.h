/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds tasks blocked in a system call outside state D: by a file system in user space, a peer, a
 * lock holder. No counter distinguishes them from idle ones, so the call of each thread that did
 * not run since the previous sample is read, once per wait.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/freezer.h"
#include "data/sample.h"
#include "kernel/proctask.h"
#include "kernel/wait_target.h"

/* A thread that has not run for a while; or, with tid 0, a process of several threads. */
struct sleeper {
	pid_t tgid, tid;
	uint64_t run_ns; /* of the thread or of all of them; if unchanged: the same wait */
	uint64_t since_ns; /* when it was first seen, or when its wait began */
	bool judged, hangs;
};

/* The sleepers of a sample, in its order. */
struct sleepers {
	struct sleeper *all;
	size_t n, cap;
};

/* How far a CPU's task clock is behind CLOCK_MONOTONIC. */
struct clock_lag {
	unsigned cpu;
	bool known;
	int64_t ns;
};

/* Zero-initialised but for proc and read_lag (proctask_clock_lag()). */
struct blocked_scan {
	struct proc *proc;
	int (*read_lag)(struct proc *proc, unsigned cpu, int64_t *ns);
	struct clock_lag *lags; /* of CPUs, for this sample */
	size_t nlags, lags_cap;
	struct wait_targets *targets; /* NULL: not opened yet */
	struct freezer freezer;
	struct pidlist threads;
	struct sleepers before, now;
	size_t at; /* position in `before` */
};

/* Finds the hung tasks of a sample (task_extra.hang); threads: its elements are threads. */
void blocked_scan_read(struct blocked_scan *scan, struct sample *sample, bool threads);

/* Frees its memory. */
void blocked_scan_free(struct blocked_scan *scan);

/* Tasks stopped on purpose: by a signal, a debugger, a cgroup freezer. Read only on request. */

struct proc;

/*
 * Reads what stops the tasks of a sample (task_extra.held), up to a limit of tasks; call once per
 * sample. Unreadable facts are not set.
 */
void stop_read(struct blocked_scan *scan, struct sample *sample);
