/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target of a system call in progress, by its arguments. */
#pragma once

#include <stdbool.h>

#include "base/util.h"
#include "data/wait_state_table.h"
#include "kernel/procwait.h"
#include "kernel/wait_target.h"

/* Facts about a call in progress. */
struct syscall_wait {
	enum wait_state state; /* of a thread that sleeps interruptibly in it */
	enum wait_purpose about;
	uint64_t futex; /* the address of the futex that it is on; 0: on none */
};

/*
 * Appends the target of a thread's call, nothing where it is not known; a futex is only named in
 * the answer, as its waiters must be counted first.
 */
struct syscall_wait syscall_target(struct wait_targets *targets, struct proc *proc, pid_t tid,
				   const struct procwait_syscall *call, struct buf *out);

/*
 * System calls that a thread is blocked in, and does not sleep in because it has nothing
 * to do: only the former are a hang when they last. Nothing tells for sure; the tables in
 * syscall_target.c have the rule.
 */

/* Whether it is a hang when a thread sleeps in that call for long. */
bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call);
