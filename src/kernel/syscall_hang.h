/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls a thread sleeps in because somebody keeps it waiting, and not because it has
 * nothing to do: only the former are a hang when they last. There is no telling for sure; the rule
 * is that of the tables in syscall_hang.c.
 */
#ifndef STALLTOP_KERNEL_SYSCALL_HANG_H
#define STALLTOP_KERNEL_SYSCALL_HANG_H

#include <stdbool.h>

#include "kernel/procwait.h"
#include "kernel/wait_target.h"

/* Whether it is a hang when a thread sleeps in that call for long. */
bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call);

/*
 * Whether the call waits for a futex that is a lock, so that somebody holds it: by the operation,
 * or by the value that glibc, Go and others give to a lock with waiters. Threads that have nothing
 * to do wait for a condition or a semaphore, which take FUTEX_WAIT_BITSET or other values.
 */
bool syscall_is_lock(const struct procwait_syscall *call);

#endif
