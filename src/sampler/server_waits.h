/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes in interruptible sleep on a file system server (FUSE, NFS, 9p), or on a receiver
 * that takes nothing from a socket, a terminal or a queue. Each task is checked once, in the first
 * sample after it last ran.
 */
#pragma once

#include "frame/frame.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"

struct proc;

/* Maximum number tracked. */
#define SERVER_WAITS_MAX 16

/* A task that ran and is to be checked, or that waits for a server. */
struct server_waiter {
	pid_t tgid, pid;
	uint64_t start_ns, run_ns;
	uint64_t since_ns; /* it was asleep then (CLOCK_MONOTONIC) */
};

/* Zero-initialised: no task was checked. */
struct server_waits {
	struct server_waiter *recent; /* by task_order() */
	size_t n, cap;
	size_t scanned; /* number of the first sample's tasks already checked */
	struct server_waiter waiters[SERVER_WAITS_MAX];
	size_t nwaiters;
	struct procwait_stack stack;
	struct buf text;
};

/*
 * Checks a frame's rows. Sets the hang of blocked tasks, and stores their rows in `rows`
 * (SERVER_WAITS_MAX). Returns their number.
 */
size_t server_waits_find(struct server_waits *waits, struct proc *proc, const struct frame *frame,
			 const struct row **rows);

void server_waits_free(struct server_waits *waits);
