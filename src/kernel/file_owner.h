/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process with the other end of a pipe or socket, or with a descriptor that has a lock: found
 * by looking through the descriptors of processes, which is expensive. So it is bounded, and a
 * known process is only checked again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/procwait.h"

struct proc;

struct file_owners;

struct file_owners *file_owners_open(struct proc *proc);

/* Allows as many descriptors to be looked at again as one sample may. */
void file_owners_renew(struct file_owners *owners);

/* In front of the number of a connection: the link of what a server of FUSE has. */
#define FILE_OWNER_FUSE "fuse:"

/* The same before the number of a pseudo-terminal: its master, which reads what is written to it.
 */
#define FILE_OWNER_PTY "pty:"

/* Whether a descriptor's link is that of a master. */
bool file_owner_is_master(const char *link);

/* The same in front of a path: the link of what has a lock of that sort on this file. */
#define FILE_OWNER_FLOCK "FLOCK:"
#define FILE_OWNER_OFD "OFDLCK:"

/*
 * A process that has the file of this link ("pipe:[4711]"), opened for what `access` says (S_IRUSR,
 * S_IWUSR, both, or 0), but not the process of `tid`, near which the search begins: its parent,
 * then processes in order of how far their ids are. 0: not found.
 */
pid_t file_owners_find(struct file_owners *owners, pid_t tid, const char *link, mode_t access);

/*
 * How many searches were put off so far, as others had used up what may be looked at: they are made
 * when they are asked for after the next renewal.
 */
uint64_t file_owners_put_off(const struct file_owners *owners);

void file_owners_close(struct file_owners *owners);

/*
 * The holder of a file's lock that a process waits for with flock() or fcntl(): by /proc/locks,
 * which is read at most once between two renewals, on demand.
 */

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
