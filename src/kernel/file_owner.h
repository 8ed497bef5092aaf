/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process with the other end of a pipe or socket, or with a descriptor that has a lock: found
 * by scanning the descriptors of processes, which is expensive. So scans are bounded, and a known
 * owner is only checked again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/procwait.h"

struct proc;

struct file_owners;

struct file_owners *file_owners_open(struct proc *proc);

/* Permits as many more descriptors to be scanned as one sample may. */
void file_owners_renew(struct file_owners *owners);

/* Precedes the number of a connection: the link of a FUSE server's descriptor. */
#define FILE_OWNER_FUSE "fuse:"

/* Precedes the number of a pseudo-terminal: its master, which reads what is written to it. */
#define FILE_OWNER_PTY "pty:"

/* True if a descriptor's link is that of a pseudo-terminal's master. */
bool file_owner_is_master(const char *link);

/* Precedes a path: the link of the descriptor with a lock of that kind on this file. */
#define FILE_OWNER_FLOCK "FLOCK:"
#define FILE_OWNER_OFD "OFDLCK:"

/*
 * A process that has the file of this link ("pipe:[4711]"), opened for `access` (S_IRUSR, S_IWUSR,
 * both, or 0), but not the process of `tid`, near which the search begins: its parent, then
 * processes by distance of their ids. 0: not found.
 */
pid_t file_owners_find(struct file_owners *owners, pid_t tid, const char *link, mode_t access);

/*
 * Number of searches postponed so far, as others had used up the descriptors of a sample: they are
 * made if requested after the next renewal.
 */
uint64_t file_owners_put_off(const struct file_owners *owners);

void file_owners_close(struct file_owners *owners);

/*
 * The holder of a file's lock that a process waits for with flock() or fcntl(): from /proc/locks,
 * which is read at most once between two renewals, on demand.
 */

struct file_locks;

/* The kinds of locks: each blocks its own only, but FILE_LOCK_OFD also those of POSIX. */
enum file_lock { FILE_LOCK_NONE, FILE_LOCK_FLOCK, FILE_LOCK_POSIX, FILE_LOCK_OFD };

/* The kind of lock that the call with that first argument waits for; FILE_LOCK_NONE: none. */
enum file_lock file_lock_of(const struct procwait_syscall *call);

struct file_locks *file_locks_open(int procfd);

/* Drops the locks read. */
void file_locks_renew(struct file_locks *locks);

/* A lock with a waiter. */
struct file_lock_wait {
	pid_t holder; /* the process that took it; 0: unknown */
	unsigned waiters; /* requests waiting for it; 0: unknown */
};

/*
 * Finds what a process waits for: a lock of that kind of the file with that inode (0: any). The
 * holder is the process that took the lock. It is unknown if that process has exited, as with an
 * inherited descriptor, and for FILE_LOCK_OFD: these belong to a descriptor (file_owner.h). Locks
 * held by another machine are unknown.
 */
struct file_lock_wait file_locks_find(struct file_locks *locks, pid_t tgid, enum file_lock sort,
				      uint64_t ino);

void file_locks_close(struct file_locks *locks);
