/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc, and its files that may wait for their task. The kernel takes a lock of the task for them:
 * mmap_lock for cmdline and mem, exec_update_lock for stat, wchan, syscall, stack, io, auxv and the
 * links, a file's own for fdinfo, cgroup_mutex for cgroup. A task hung with such a lock hangs every
 * reader of the file, some of them beyond SIGKILL. doc/HACKING.md has the table. So a helper
 * process reads them: one that does not answer is killed, or left behind if that does not end it,
 * and replaced.
 *
 * Files that take no such lock (comm, status, statm, sched, schedstat, the list of threads) are
 * read directly, below `fd`.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct proc_helper;

struct proc {
	int fd; /* of /proc, or of a similar tree */
	struct proc_helper *helper; /* NULL: the caller itself reads, as in a tree of plain files */
};

/*
 * Makes a helper read the files of a real /proc. It starts with the first read, with the privileges
 * of that time. The caller keeps fd open.
 */
void proc_open(struct proc *proc, int fd);

/* Starts the helper now, while the program has little memory, all of which is shared with it. */
void proc_start(struct proc *proc);

/* Ends the helper without waiting for it. */
void proc_close(struct proc *proc);

/*
 * True if an error of the functions below means that the file cannot be read because its task, or
 * too many others, hang: now (-ETIMEDOUT) or since an earlier read (-EBUSY). -EBUSY is also
 * returned while no helper can be started: the program itself reads nothing that can hang.
 */
static inline bool proc_hung(int err)
{
	return err == -ETIMEDOUT || err == -EBUSY;
}

/*
 * Reads a file from its beginning, as file_read() does. The number of bytes or -errno. A path
 * begins with the id of a process or thread: after a hung read of it, others that need the same
 * lock return -EBUSY until it is tried again, after 5 s and ever longer times.
 */
int proc_read(struct proc *proc, const char *path, void *text, size_t size);

/* The same from an offset (/proc/PID/mem, and the rest of long texts). */
int proc_read_at(struct proc *proc, const char *path, uint64_t at, void *text, size_t size);

/* Reads a link, without a NUL. The number of bytes or -errno. */
int proc_readlink(struct proc *proc, const char *path, char *text, size_t size);

/* stat() of a file, or of a link itself. 0 or -errno. */
int proc_lstat(struct proc *proc, const char *path, struct stat *out);

/* Lists the numeric names in a directory, at most max. Their number or -errno. */
int proc_numbers(struct proc *proc, const char *path, int *numbers, size_t max);

/*
 * Prefetches files: proc_prefetch_begin() drops the earlier list, proc_prefetch() adds a file
 * (false: no room), and the first proc_read() of one of them with that size reads all of them at
 * once. To be read in this order.
 */
void proc_prefetch_begin(struct proc *proc);
bool proc_prefetch(struct proc *proc, const char *path, size_t size);

/* Recently hung reads that are not tried at present. */
unsigned proc_hangs(const struct proc *proc);

/*
 * True if its pids are those of this process: it is of the same pid namespace (NSpid of
 * /proc/self/status, 4.1). Else signals would reach other processes than those shown.
 */
bool proc_is_ours(const struct proc *proc);

/* True if a process is a helper. */
bool proc_is_helper(const struct proc *proc, pid_t pid);

/* CPU time of the helper so far, in ns. */
uint64_t proc_cpu_ns(const struct proc *proc);
