/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The current wait of a task: its system call, that call's target, and where in the kernel. */
#ifndef STALLTOP_DATA_WAITING_H
#define STALLTOP_DATA_WAITING_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "data/wait_class.h"
#include "data/wait_state_table.h"

#define WAITING_ARGS 6

/*
 * The wait of a thread: of a process's threads the one that has been in state D for longest, else
 * the one that is kept waiting (struct task_hang), else the leader. Texts are raw bytes with a NUL
 * after them; empty: not known. Unset (tid 0): it does not wait, or that is not known.
 */
struct task_waiting {
	uint64_t sample_ns; /* begin_ns of the sample that it belongs to */
	uint64_t of_ns; /* read_ns of the task's element when it was read */
	pid_t tid;
	enum wait_state state; /* WAIT_STATES: not known */
	enum wait_class class;
	int number; /* of the system call; -1: none, or not known */
	uint64_t args[WAITING_ARGS];
	const char *syscall; /* its name, or "page fault"; NULL: not known */
	uint64_t futex; /* the address of the futex it waits for; 0: none */
	struct buf on; /* a path, a peer, a pipe, a child ... */
	struct buf where; /* a function of the kernel */
	struct buf stack; /* functions from the innermost on, each on a line: NEED_STACK */
};

#endif
