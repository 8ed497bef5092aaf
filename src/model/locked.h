/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds threads that wait in futex() for a lock which another thread holds: for no state or counter
 * tells them from those with nothing to do. The processes of several threads are looked at in turn,
 * a few threads of a few of them in each sample, so that it costs the same whatever runs.
 */
#ifndef STALLTOP_MODEL_LOCKED_H
#define STALLTOP_MODEL_LOCKED_H

#include "kernel/proctask.h"
#include "model/frame.h"

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

/* Zero-initialised: no task was looked at. */
struct locked {
	struct pidlist threads;
	uint64_t next; /* the first task to be looked at next, by task_order() */
	unsigned turn; /* samples so far: which threads of a process are looked at */
	struct locked_thread all[LOCKED_MAX];
	size_t n;
};

/*
 * Looks at some of a frame's rows. Sets the task->hang of rows with a thread that waits for a lock,
 * and appends them to the n rows given, up to `most`. Returns their number.
 */
size_t locked_find(struct locked *locked, struct proc *proc, const struct frame *frame,
		   const struct row **rows, size_t n, size_t most);

void locked_free(struct locked *locked);

#endif
