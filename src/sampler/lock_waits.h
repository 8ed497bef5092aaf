/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds threads that wait in futex() for a lock held by another thread: no state or counter
 * distinguishes them from idle threads. Processes with several threads are checked in turn, a few
 * threads of a few of them per sample, so the cost does not depend on the number of tasks.
 */
#pragma once

#include "frame/frame.h"
#include "kernel/proctask.h"

struct proc;

/* Maximum number tracked. */
#define LOCK_WAITS_MAX 16

/* A thread of a row's task that waits for a lock. */
struct lock_waiter {
	pid_t tgid, pid; /* the row's */
	pid_t tid;
	uint64_t start_ns; /* the row's task's */
	uint64_t slices; /* number of its runs: if unchanged, the same wait */
	uint64_t since_ns; /* it was waiting then (CLOCK_MONOTONIC) */
};

/* Maximum number of tracked processes whose threads wait for locks repeatedly. */
#define CONTENDED_MAX 4

/* A process in which a thread waited for a lock. */
struct contended {
	pid_t tgid;
	uint64_t start_ns;
	unsigned looks; /* consecutive samples in which several did */
};

/* Zero-initialised: no task was checked. */
struct lock_waits {
	struct pidlist threads;
	uint64_t next; /* the next task to be checked, by task_order() */
	unsigned turn; /* samples so far: select the threads of a process */
	struct lock_waiter all[LOCK_WAITS_MAX];
	size_t n;
	struct contended contended[CONTENDED_MAX];
	size_t ncontended;
};

/*
 * Checks some of a frame's rows. Sets the hang of rows with a thread that waits for a lock for
 * long, or with several that do so in some consecutive samples, and appends them to the n rows
 * given, up to `most`. Returns their number.
 */
size_t lock_waits_find(struct lock_waits *waits, struct proc *proc, const struct frame *frame,
		       const struct row **rows, size_t n, size_t most);

void lock_waits_free(struct lock_waits *waits);
