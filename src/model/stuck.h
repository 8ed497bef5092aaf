/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that sleep in a request to a file system's server (FUSE, NFS, 9p), which is no
 * state D. A task is looked at once after it has run, when it has not run for a sample.
 */
#ifndef STALLTOP_MODEL_STUCK_H
#define STALLTOP_MODEL_STUCK_H

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
	struct buf text;
};

/*
 * Looks at a frame's rows. Sets the task->hang of stuck tasks, and puts their rows into `rows`
 * (STUCK_MAX). Returns their number.
 */
size_t stuck_find(struct stuck *stuck, struct proc *proc, const struct frame *frame,
		  const struct row **rows);

void stuck_free(struct stuck *stuck);

#endif
