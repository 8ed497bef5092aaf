/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tasks do right now, for sources whose counters do not say: read from /proc of those that
 * ran since the sample before. The others do what they did then, as nobody gets into
 * uninterruptible sleep, or out of it, without running.
 */
#ifndef STALLTOP_MODEL_STATES_H
#define STALLTOP_MODEL_STATES_H

#include "base/buf.h"
#include "data/sample.h"
#include "kernel/proctask.h"

/* A thread in state D of a process that has several. */
struct thread_wait {
	pid_t tgid, tid;
	uint64_t slices; /* how often it had run (schedstat): while that stays, it is one wait */
	uint64_t since_ns;
	enum wait_seen kind;
};

/* Those of a sample, in its order. */
struct thread_waits {
	struct thread_wait *all;
	size_t n, cap;
};

/* Zero-initialised but for procfd. */
struct states {
	int procfd;
	bool rows; /* of threads */
	struct pidlist threads;
	struct thread_waits before, now;
	size_t at; /* the walk through those before */
	int64_t in_io; /* tasks of the machine that wait for I/O; -1: not read yet */
	struct buf text;
	uint64_t syscalls; /* for files; the list counts its own */
};

/*
 * Gives the elements of a sample their task_now, but for what cannot be read. A wait is taken to
 * begin at the reading that first met it: its true begin is less than a sample earlier.
 */
void states_take(struct states *states, const struct sample *prev, struct sample *cur);

/* Frees the memory. */
void states_free(struct states *states);

#endif
