/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holder of a lock that a thread waits for with futex(): only the kernel's PI futexes name the
 * owner by themselves; C libraries keep it where it can be read.
 */
#ifndef STALLTOP_KERNEL_FUTEX_OWNER_H
#define STALLTOP_KERNEL_FUTEX_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/procwait.h"

/*
 * Whether the call waits for a futex that is a held lock: by the operation, by the value 2 that
 * glibc, Go and others give to a lock with waiters, or by that of a lock whose value is its owner,
 * as musl's and glibc's robust ones. Threads that have nothing to do wait for a condition or a
 * semaphore, which take FUTEX_WAIT_BITSET or other values.
 */
bool futex_is_lock(const struct procwait_syscall *call);

/*
 * The thread of the process that holds the lock that its thread tid waits for by that call. 0: not
 * known. Needs what ptrace(2) needs. The answer counts only if the word is that
 * of a lock with waiters, two readings agree, and the process has that thread.
 */
pid_t futex_owner(struct proc *proc, pid_t tgid, pid_t tid, const struct procwait_syscall *call);

#endif
