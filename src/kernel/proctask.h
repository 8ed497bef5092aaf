/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks listed in /proc, and the few files of /proc/PID that are read. tid 0 means the process
 * as a whole (/proc/TGID/FILE), else the thread (/proc/TGID/task/TID/FILE). All return 0 or -errno:
 * -ENOENT or -ESRCH for a task that has exited, -EACCES or -EPERM without the right to read,
 * -EBADMSG for a text that differs from the kernel's documentation, those of proc_hung() if the
 * task hangs with the lock that its file needs.
 *
 * libproc2 reads tasks, too, but by the path of /proc instead of a descriptor, a list of pids at a
 * time, and with memory of its own for each text.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/sample.h"
#include "kernel/proc.h"

/* Maximum length of a chain of parents; a longer one means that pids were reused meanwhile. */
#define PARENTS_MAX 4096

/* True if an error of these functions means that the task has exited, which is no failure. */
static inline bool proctask_gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

/* /proc/PID/stat (proc_pid_stat(5)): times in clock ticks (sysconf(_SC_CLK_TCK)). */
struct proctask_stat {
	char comm[TASK_COMM_MAX + 1]; /* raw bytes, NUL-terminated */
	char state;
	pid_t ppid;
	uint64_t utime, stime; /* of the task or of the whole process */
	uint64_t cutime, cstime; /* of exited and reaped children */
	uint64_t start; /* field 22, ticks since boot */
	uint64_t blkio; /* field 42: the leader's alone in /proc/TGID/stat */
	unsigned threads;
	uint32_t cpu; /* the last CPU that it ran on; the leader's only in /proc/TGID/stat */
	bool partial; /* it hangs: only comm, state, ppid and threads are known */
};

/* /proc/PID/schedstat, in ns. The leader's alone in /proc/TGID/schedstat. */
struct proctask_schedstat {
	uint64_t run, wait, slices;
};

int proctask_stat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out);

/*
 * The same if comm, state, ppid and threads are enough: for a task hung within execve() these come
 * from other files, and the rest is 0 (`partial`).
 */
int proctask_stat_part(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out);

int proctask_schedstat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_schedstat *out);

/*
 * True if the process is within an execve() that has dropped the old program and not started the
 * new one (/proc/PID/statm: it has memory, but no text). While that hangs, as in closing a file,
 * readers of its stat, wchan, syscall, stack, io or fd wait with it (exec_update_lock).
 */
bool proctask_executes(struct proc *proc, pid_t tgid);

/*
 * When the task ran last (/proc/PID/sched), in ns by the scheduler's task clock, which stops while
 * interrupts and other virtual machines take a CPU. tgid 0: of ourselves. Needs a kernel with
 * CONFIG_SCHED_DEBUG.
 */
int proctask_ran(struct proc *proc, pid_t tgid, pid_t tid, uint64_t *ns);

/*
 * Reads by how many ns a CPU's task clock is behind CLOCK_MONOTONIC (negative: ahead), to the
 * length of a tick. Each CPU has its own clock; after a day they are minutes apart. The calling
 * thread runs there meanwhile. proc: of the real /proc. 0 or -errno: -EINVAL if the thread may not
 * run on that CPU, -EOPNOTSUPP for CPUs beyond those of a cpu_set_t.
 */
int proctask_clock_lag(struct proc *proc, unsigned cpu, int64_t *ns);

/*
 * Appends the kernel function that the task sleeps in (/proc/PID/wchan). Nothing if it does not
 * sleep or the function is hidden (kernel.kptr_restrict, other users' tasks).
 */
int proctask_wchan(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out);

int proctask_io(struct proc *proc, pid_t tgid, pid_t tid, struct task_io *out);

/* The path below /proc of a file of a process, or of one of its threads (tid 0: none). */
struct proctask_path {
	char text[64];
};
struct proctask_path proctask_path(pid_t tgid, pid_t tid, const char *name);

/* Files that can be prefetched. */
enum proctask_file {
	PROCTASK_STAT,
	PROCTASK_IO,
	PROCTASK_CMDLINE,
	PROCTASK_CGROUP,
	PROCTASK_WCHAN
};

/* Prefetches a file of a task: see proc_prefetch(), and proc_prefetch_begin(). False: no room. */
bool proctask_prefetch(struct proc *proc, pid_t tgid, pid_t tid, enum proctask_file file);

/* Pure parser of a stat text; the name may hold any byte, also ") R 1". */
int proctask_stat_parse(const char *text, size_t len, struct proctask_stat *out);

/* The tracer of a task, such as a debugger; 0: none. */
int proctask_tracer(struct proc *proc, pid_t tgid, pid_t tid, pid_t *tracer);

/* Real uid and thread group of a task, from /proc/PID/status. Either may be NULL. */
int proctask_status(struct proc *proc, pid_t tgid, pid_t tid, uid_t *uid, pid_t *group);

/*
 * Appends the command line, arguments separated by spaces, raw bytes (at most 65536). Nothing for a
 * kernel thread or a zombie.
 */
int proctask_cmdline(struct proc *proc, pid_t tgid, struct buf *out);

/*
 * Appends the text with the task's group in each cgroup hierarchy, one line per hierarchy:
 * hierarchy_path() takes a path from it.
 */
int proctask_cgroup(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out);

/*
 * The numeric names of a directory: the processes of /proc, the threads of /proc/PID/task.
 * Zero-initialised: an empty list; reused from sample to sample for its memory.
 */
struct pidlist {
	pid_t *pids;
	size_t n;
	size_t cap;
	char *scratch;
};

/*
 * Reads the numeric entries of a directory from its start, in ascending order. 0, or -errno
 * (-ENOENT if the process behind the directory has exited).
 */
int pidlist_read(struct pidlist *list, int dirfd);

/* Opens /proc/TGID/task below procfd and reads it. 0, or -errno (-ENOENT: it has exited). */
int pidlist_read_threads(struct pidlist *list, int procfd, pid_t tgid);

/*
 * Turns ids given by the user into processes: ids of threads become their process's, others stay (a
 * process may get the id later). Ascending, without duplicates; n is the new length.
 */
void pidlist_processes(struct proc *proc, pid_t *pids, size_t *n);

/* Sorts ids in ascending order. */
void pidlist_sort(pid_t *pids, size_t n);

/* True if an ascending list contains the id. */
bool pidlist_has(const pid_t *pids, size_t n, pid_t pid);

/* Frees the memory, leaving an empty list. */
void pidlist_free(struct pidlist *list);
