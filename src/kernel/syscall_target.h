/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target of a system call in progress, from its arguments. */
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
	uint64_t futex; /* the address of its futex; 0: none */
};

/*
 * Appends the target of a thread's call, nothing if unknown; a futex is only named in the answer,
 * as its waiters must be counted first.
 */
struct syscall_wait syscall_target(struct wait_targets *targets, struct proc *proc, pid_t tid,
				   const struct procwait_syscall *call, struct buf *out);

/*
 * System calls that block a thread, as opposed to those in which it sleeps because it is idle: only
 * the former are a hang when they last. There is no exact criterion; the tables in syscall_target.c
 * have the rule.
 */

/* True if a thread that sleeps in that call for long is hung. */
bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call);
