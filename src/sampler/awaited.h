/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that sleep until one acts which is stopped by a signal or a debugger, or frozen:
 * at the other end of a pipe, a connection or a terminal, with a lock, as a child. While no process
 * is stopped it reads nothing; then the call of each process that sleeps on, once for each wait.
 */
#pragma once

#include "frame/frame.h"

struct proc;
struct wait_targets;

/* How many stopped processes, and how many that wait for them, are followed. */
#define STOPPED_MAX 8
#define AWAITING_MAX 8

/* A process that is stopped or frozen. */
struct stopped {
	struct task_key key;
	struct buf links; /* wait_target_links() */
};

/* A process that did not run for a sample or more. */
struct awaiting {
	uint64_t order, run_ns; /* task_order(); if both are the same: the same wait */
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
 * Looks at a frame's rows. Sets the hang of rows that wait for a stopped process, and appends them
 * to the n rows given, up to `most`. Returns their number.
 */
size_t awaited_find(struct awaited *awaited, struct proc *proc, const struct frame *frame,
		    const struct row **rows, size_t n, size_t most);

void awaited_free(struct awaited *awaited);
