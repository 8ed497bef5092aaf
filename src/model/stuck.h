/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that sleep in a request to a file system's server (FUSE, NFS, 9p), or as nobody
 * takes what they send by a socket, a terminal or a queue, which is no state D. A task is looked at
 * once after it has run, when it has not run for a sample.
 */
#pragma once

#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "model/frame.h"

struct proc;

/* How many are followed. */
#define STUCK_MAX 16

/* A task that ran, and is to be looked at; or that is stuck. */
struct stuck_task {
	pid_t tgid, pid;
	uint64_t start_ns, run_ns;
	uint64_t since_ns; /* it was asleep then (CLOCK_MONOTONIC) */
};

/* Zero-initialised: no task was looked at. */
struct stuck {
	struct stuck_task *recent; /* by task_order() */
	size_t n, cap;
	size_t scanned; /* of the first sample's tasks so many were looked at */
	struct stuck_task stuck[STUCK_MAX];
	size_t nstuck;
	struct procwait_stack stack;
	struct buf text;
};

/*
 * Looks at a frame's rows. Sets the hang of stuck tasks, and puts their rows into `rows`
 * (STUCK_MAX). Returns their number.
 */
size_t stuck_find(struct stuck *stuck, struct proc *proc, const struct frame *frame,
		  const struct row **rows);

void stuck_free(struct stuck *stuck);

/*
 * Finds threads that wait in futex() for a lock which another thread holds: for no state or counter
 * tells them from those with nothing to do. The processes of several threads are looked at in turn,
 * a few threads of a few of them in each sample, so that it costs the same whatever runs.
 */

/* How many are followed. */
#define LOCKED_MAX 16

/* A thread of a row's task that waits for a lock. */
struct locked_thread {
	pid_t tgid, pid; /* the row's */
	pid_t tid;
	uint64_t start_ns; /* the row's task's */
	uint64_t slices; /* how often the thread had run: if unchanged, the same wait */
	uint64_t since_ns; /* it waited then (CLOCK_MONOTONIC) */
};

/* How many processes are followed whose threads wait for locks again and again. */
#define CONTENDED_MAX 4

/* A process in which a thread waited for a lock. */
struct contended {
	pid_t tgid;
	uint64_t start_ns;
	unsigned looks; /* samples in a row in which several did */
};

/* Zero-initialised: no task was looked at. */
struct locked {
	struct pidlist threads;
	uint64_t next; /* the first task to be looked at next, by task_order() */
	unsigned turn; /* samples so far: which threads of a process are looked at */
	struct locked_thread all[LOCKED_MAX];
	size_t n;
	struct contended contended[CONTENDED_MAX];
	size_t ncontended;
};

/*
 * Looks at some of a frame's rows. Sets the hang of rows with a thread that waits for a lock for
 * long, or with several that do so in each of some samples in a row, and appends them to the n rows
 * given, up to `most`. Returns their number.
 */
size_t locked_find(struct locked *locked, struct proc *proc, const struct frame *frame,
		   const struct row **rows, size_t n, size_t most);

void locked_free(struct locked *locked);
