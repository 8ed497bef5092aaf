/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/futex_owner.h"
#include "kernel/proc.h"

#include <linux/futex.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The word of a lock with waiters, where it counts: 0 free, 1 held, 2 held and wanted. */
#define WANTED 2

/* No task has a larger id (include/linux/threads.h: PID_MAX_LIMIT). */
#define TID_MOST (1U << 22)

/* The beginning of glibc's pthread_mutex_t: its futex is the first word. */
struct mutex {
	uint32_t lock;
	uint32_t count;
	uint32_t owner;
};

/* Whether the operation is one of locks whose word the kernel keeps: the owner and some bits. */
static bool kernel_keeps(const struct procwait_syscall *call)
{
	int operation = (int)call->args[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2, since 5.14 */;
}

/* Whether a word that is waited for says who holds it. */
static bool names_owner(uint32_t word)
{
	uint32_t owner = word & FUTEX_TID_MASK;

	return word & FUTEX_WAITERS && owner && owner <= TID_MOST;
}

bool futex_is_lock(const struct procwait_syscall *call)
{
	uint32_t value = (uint32_t)call->args[2];

	if (call->number != SCMP_SYS(futex))
		return false;
	if (kernel_keeps(call))
		return true;
	return ((int)call->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
	       (value == WANTED || names_owner(value));
}

/* Reads a mutex, as much as the kind of lock has. False: it cannot be, or is no such. */
static bool read_mutex(struct proc *proc, pid_t tid, const struct procwait_syscall *call,
		       bool counts, struct mutex *mutex)
{
	size_t size = counts ? sizeof(*mutex) : sizeof(mutex->lock);

	memset(mutex, 0, sizeof(*mutex));
	return procwait_memory(proc, tid, call->args[0], mutex, size) == (int)size &&
	       (!counts || mutex->lock == WANTED);
}

pid_t futex_owner(struct proc *proc, pid_t tgid, pid_t tid, const struct procwait_syscall *call)
{
	bool counts = !kernel_keeps(call) && (uint32_t)call->args[2] == WANTED;
	struct mutex mutex, again;
	char path[64];
	uint32_t owner;

	if (!futex_is_lock(call))
		return 0;
	if (!read_mutex(proc, tid, call, counts, &mutex) ||
	    !read_mutex(proc, tid, call, counts, &again) ||
	    memcmp(&mutex, &again, sizeof(mutex)) != 0)
		return 0;
	owner = counts ? mutex.owner : mutex.lock & FUTEX_TID_MASK;
	if (!owner || owner > TID_MOST || (pid_t)owner == tid)
		return 0;
	snprintf(path, sizeof(path), "%d/task/%u", (int)tgid, owner);
	return faccessat(proc->fd, path, F_OK, 0) ? 0 : (pid_t)owner;
}
