/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds tasks that are blocked in a system call outside state D: by a file system in
 * user space, a peer, a lock's holder. No counter tells them from those that have nothing to do, so
 * the call of each thread that did not run since the sample before is read, once for each wait.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/freezer.h"
#include "data/sample.h"
#include "kernel/proctask.h"
#include "kernel/wait_target.h"

/* A thread that did not run for a while; or, with tid 0, a process of several. */
struct sleeper {
	pid_t tgid, tid;
	uint64_t run_ns; /* of the thread or of all of them; if unchanged: the same wait */
	uint64_t since_ns; /* when it was seen first, or when its wait began */
	bool judged, hangs;
};

/* Those of a sample, in its order. */
struct sleepers {
	struct sleeper *all;
	size_t n, cap;
};

/* How far a CPU's clock of tasks is behind CLOCK_MONOTONIC. */
struct clock_lag {
	unsigned cpu;
	bool known;
	int64_t ns;
};

/* Zero-initialised but for proc and read_lag (proctask_clock_lag()). */
struct blocked_scan {
	struct proc *proc;
	int (*read_lag)(struct proc *proc, unsigned cpu, int64_t *ns);
	struct clock_lag *lags; /* of CPUs, as of this sample */
	size_t nlags, lags_cap;
	struct wait_targets *targets; /* NULL: not opened yet */
	struct freezer freezer;
	struct pidlist threads;
	struct sleepers before, now;
	size_t at; /* the position of the walk through `before` */
};

/* Finds the hangs of a sample's tasks (task_extra.hang); threads: its elements are threads. */
void blocked_scan_read(struct blocked_scan *scan, struct sample *sample, bool threads);

/* Frees what it holds. */
void blocked_scan_free(struct blocked_scan *scan);

/*
 * Tasks that were stopped on purpose: by a signal, a debugger, the freezer of a cgroup. Read only
 * of tasks that were asked about.
 */

struct proc;

/*
 * Reads what holds the tasks of a sample (task_extra.held), as far as they are not too many; called
 * once for a sample. What cannot be read is not set.
 */
void stop_read(struct blocked_scan *scan, struct sample *sample);
