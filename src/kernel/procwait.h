/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread sleeps, from /proc/TGID/task/TID/syscall and stack: the system call with its
 * arguments, and the kernel functions. Errors as in proctask.h.
 *
 * Both files wait while the thread is in a hung execve() (exec_update_lock).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct proc;

#define SYSCALL_ARGS 6

/* The system call that a thread sleeps in. */
struct procwait_syscall {
	bool running; /* it runs, or is about to: nothing else is known */
	int number; /* -1: none, as in a page fault, or in a kernel thread */
	uint64_t args[SYSCALL_ARGS];
	uint64_t stack_pointer; /* in user mode; 0: a kernel thread */
	uint64_t program_counter; /* likewise */
};

/*
 * Reads the system call; a 32-bit program's as the 64-bit one, else -1. 0 or -errno; needs what
 * ptrace(2) needs.
 */
int procwait_syscall(struct proc *proc, pid_t tgid, pid_t tid, struct procwait_syscall *out);

/* Prefetches it: see proc_prefetch(). False: no room. */
bool procwait_prefetch(struct proc *proc, pid_t tgid, pid_t tid);

/* Pure parser of its text. 0 or -EBADMSG. */
int procwait_syscall_parse(const char *text, size_t len, struct procwait_syscall *out);

/* Maximum functions of a stack: the kernel writes 64. */
#define STACK_FUNCTIONS 64

/* A stack: functions, innermost first, each followed by "+0x1a/0x20". */
struct procwait_stack {
	struct buf text; /* buffer that the functions point into */
	const char *functions[STACK_FUNCTIONS];
	size_t n;
};

/*
 * Reads the kernel stack, replacing the contents. 0 or -errno; needs CAP_SYS_ADMIN. A running
 * thread has none.
 */
int procwait_stack(struct proc *proc, pid_t tgid, pid_t tid, struct procwait_stack *out);

/* Parses the text of a stack in place: out->text. */
void procwait_stack_parse(struct procwait_stack *out);

/* Frees the memory. */
void procwait_stack_free(struct procwait_stack *stack);

/*
 * Reads a thread's memory at an address, as far as it is mapped. The bytes or -errno; needs what
 * ptrace(2) needs.
 */
int procwait_memory(struct proc *proc, pid_t tid, uint64_t address, void *to, size_t size);

/*
 * The holder of a lock that a thread waits for with futex(): only the kernel's PI futexes identify
 * the owner; C libraries store it where it can be read.
 */

/*
 * True if the call waits for a futex that is a held lock: by the operation, by the value 2 that
 * glibc, Go and others give to a lock with waiters, or by that of a lock whose value is its owner,
 * as musl's and glibc's robust ones. Idle threads wait for a condition or a semaphore, which take
 * FUTEX_WAIT_BITSET or other values.
 */
bool futex_is_lock(const struct procwait_syscall *call);

/*
 * The thread of the process that holds the lock that its thread tid waits for by that call. 0:
 * unknown. Needs what ptrace(2) needs. Returned only if the value is that of a lock with waiters,
 * two readings agree, and the process has that thread.
 */
pid_t futex_owner(struct proc *proc, pid_t tgid, pid_t tid, const struct procwait_syscall *call);
