/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holder of a file's lock that a process waits for with flock() or fcntl(): by /proc/locks,
 * which is read at most once between two renewals, on demand.
 */
#ifndef STALLTOP_KERNEL_FILE_LOCKS_H
#define STALLTOP_KERNEL_FILE_LOCKS_H

#include <stdint.h>
#include <sys/types.h>

#include "kernel/procwait.h"

struct file_locks;

/* The sorts of locks: each blocks its own only, but FILE_LOCK_OFD those of POSIX, too. */
enum file_lock { FILE_LOCK_NONE, FILE_LOCK_FLOCK, FILE_LOCK_POSIX, FILE_LOCK_OFD };

/* The sort of lock that the call with that first argument waits for; FILE_LOCK_NONE: none. */
enum file_lock file_lock_of(const struct procwait_syscall *call);

struct file_locks *file_locks_open(int procfd);

/* Forgets what was read. */
void file_locks_renew(struct file_locks *locks);

/* A lock that is waited for. */
struct file_lock_wait {
	pid_t holder; /* the process that took it; 0: not known */
	unsigned waiters; /* requests that wait for it; 0: not known */
};

/*
 * Finds what a process waits for: a lock of that sort of the file with that inode (0: any). The
 * holder is the process that took the lock. It is not known where that process has ended, as with
 * an inherited descriptor, nor for FILE_LOCK_OFD: these belong to a descriptor (file_owner.h).
 * Locks that another machine holds are not known.
 */
struct file_lock_wait file_locks_find(struct file_locks *locks, pid_t tgid, enum file_lock sort,
				      uint64_t ino);

void file_locks_close(struct file_locks *locks);

#endif
