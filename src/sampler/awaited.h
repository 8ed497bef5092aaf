/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that wait for one stopped by a signal or a debugger, or frozen: at the other end
 * of a pipe, a connection or a terminal, holding a lock, or as a child. While no process is stopped
 * it reads nothing; then the call of each sleeping process, once per wait.
 */
#pragma once

#include "frame/frame.h"

struct proc;
struct wait_targets;

/* Maximum number of stopped processes, and of processes waiting for them. */
#define STOPPED_MAX 8
#define AWAITING_MAX 8

/* A process that is stopped or frozen. */
struct stopped {
	struct task_key key;
	struct buf links; /* wait_target_links() */
};

/* A process that did not run for a sample or more. */
struct awaiting {
	uint64_t order, run_ns; /* task_order(); if both are equal: the same wait */
	uint64_t since_ns; /* it slept then (CLOCK_MONOTONIC) */
	bool judged;
	pid_t on; /* the stopped process that it waits for; 0: none */
};

/* Zero-initialised: no process was looked at. */
struct awaited {
	struct wait_targets *targets; /* NULL: not opened yet */
	struct stopped stopped[STOPPED_MAX];
	size_t nstopped;
	struct awaitings {
		struct awaiting *all; /* in the frame's order */
		size_t n, cap;
	} before, now;
};

/*
 * Checks a frame's rows. Sets the hang of rows that wait for a stopped process, and appends them to
 * the n rows given, up to `most`. Returns their number.
 */
size_t awaited_find(struct awaited *awaited, struct proc *proc, const struct frame *frame,
		    const struct row **rows, size_t n, size_t most);

void awaited_free(struct awaited *awaited);
