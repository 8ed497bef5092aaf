/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The current states of tasks, for sources whose counters do not have them: read from /proc for
 * tasks that ran since the previous sample. The others keep their state, as a task cannot enter or
 * leave uninterruptible sleep without running.
 */
#pragma once

#include "base/util.h"
#include "cgroup/freezer.h"
#include "data/sample.h"
#include "kernel/proctask.h"

/* A thread in state D of a process that has several. */
struct thread_wait {
	pid_t tgid, tid;
	uint64_t slices; /* number of runs (schedstat); if unchanged: the same wait */
	uint64_t since_ns;
	enum wait_seen kind; /* WAITS_SEEN: none, it is frozen */
};

/* The waits of a sample's threads, in its order. */
struct thread_waits {
	struct thread_wait *all;
	size_t n, cap;
};

/* The state of the reader; zero-initialised but for proc and rows. */
struct states {
	struct proc *proc;
	bool rows; /* rows are threads, not processes */
	struct pidlist threads;
	struct thread_waits before, now;
	size_t at; /* position in `before` */
	int64_t in_io; /* tasks of the machine that wait for I/O; -1: not read yet */
	struct buf text;
	struct freezer freezer;
	bool ticks_read, ticks; /* run times of running tasks are current */
};

/*
 * Sets task_now of a sample's elements, except if unreadable. A wait is assumed to begin at the
 * first reading that saw it: it truly began less than a sample earlier.
 */
void states_read(struct states *states, const struct sample *prev, struct sample *cur);

/* Frees the memory. */
void states_free(struct states *states);
