/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks that /proc lists, and the few files of /proc/PID that are read. tid 0 means the process
 * as a whole (/proc/TGID/FILE), else the thread
 * (/proc/TGID/task/TID/FILE). All return 0 or -errno: -ENOENT or -ESRCH for a task that has gone,
 * -EACCES or -EPERM where we may not look, -EBADMSG for a text that is not what the kernel
 * documents, those of proc_hung() where the task hangs with the lock that its file needs.
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

/* The longest chain of parents; a longer one means that pids were used again meanwhile. */
#define PARENTS_MAX 4096

/* Whether an error of these functions says that the task has gone, which is no failure. */
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
	uint64_t cutime, cstime; /* of ended and reaped children */
	uint64_t start; /* field 22, ticks since boot */
	uint64_t blkio; /* field 42: the leader's alone in /proc/TGID/stat */
	unsigned threads;
	uint32_t cpu; /* the one that it ran on last; the leader's alone in /proc/TGID/stat */
	bool partial; /* it hangs: comm, state, ppid and threads alone are known */
};

/* /proc/PID/schedstat, in ns. The leader's alone in /proc/TGID/schedstat. */
struct proctask_schedstat {
	uint64_t run, wait, slices;
};

int proctask_stat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out);

/*
 * The same where comm, state, ppid and threads are enough: of a task that hangs within execve()
 * these come from other files, and the rest is 0 (`partial`).
 */
int proctask_stat_part(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out);

int proctask_schedstat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_schedstat *out);

/*
 * Whether the process is within an execve() that has given up the old program and not begun the new
 * one (/proc/PID/statm: it has memory, but no text). While that hangs, as in closing a file, who
 * reads its stat, wchan, syscall, stack, io or fd waits with it (exec_update_lock).
 */
bool proctask_executes(struct proc *proc, pid_t tgid);

/*
 * When the task ran last (/proc/PID/sched), in ns by the scheduler's clock of tasks, which stands
 * still while interrupts and other machines of the host take a CPU. tgid 0: of ourselves. Needs a
 * kernel with CONFIG_SCHED_DEBUG.
 */
int proctask_ran(struct proc *proc, pid_t tgid, pid_t tid, uint64_t *ns);

/*
 * Reads by how many ns a CPU's clock of tasks is slow against CLOCK_MONOTONIC (negative: fast), to
 * the length of a tick. Each CPU has its own clock; after a day they are minutes apart. The calling
 * thread runs there meanwhile. proc: of the real /proc. 0 or -errno:
 * -EINVAL where the thread may not run on that CPU, -EOPNOTSUPP for CPUs beyond those of a
 * cpu_set_t.
 */
int proctask_clock_lag(struct proc *proc, unsigned cpu, int64_t *ns);

/*
 * Appends the kernel function that the task sleeps in (/proc/PID/wchan). Nothing where it does not
 * sleep or the function is hidden (kernel.kptr_restrict, other users' tasks).
 */
int proctask_wchan(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out);

int proctask_io(struct proc *proc, pid_t tgid, pid_t tid, struct task_io *out);

/* The path below /proc of a file of a process, or of one of its threads (tid 0: none). */
struct proctask_path {
	char text[64];
};
struct proctask_path proctask_path(pid_t tgid, pid_t tid, const char *name);

/* Files that can be read ahead. */
enum proctask_file {
	PROCTASK_STAT,
	PROCTASK_IO,
	PROCTASK_CMDLINE,
	PROCTASK_CGROUP,
	PROCTASK_WCHAN
};

/* Has a file of a task read ahead: see proc_prefetch(), and proc_prefetch_begin(). False: no room.
 */
bool proctask_prefetch(struct proc *proc, pid_t tgid, pid_t tid, enum proctask_file file);

/* Pure parser of a stat text; the name may hold any byte, also ") R 1". */
int proctask_stat_parse(const char *text, size_t len, struct proctask_stat *out);

/* The process that traces a task, as a debugger does; 0: none. */
int proctask_tracer(struct proc *proc, pid_t tgid, pid_t tid, pid_t *tracer);

/* Real uid and thread group of a task, from /proc/PID/status. Either may be NULL. */
int proctask_status(struct proc *proc, pid_t tgid, pid_t tid, uid_t *uid, pid_t *group);

/*
 * Appends the command line, arguments separated by spaces, raw bytes (at most
 * 65536). Nothing is appended for a kernel thread or a zombie.
 */
int proctask_cmdline(struct proc *proc, pid_t tgid, struct buf *out);

/*
 * Appends the text that names the task's group in each cgroup hierarchy, one line for each
 * hierarchy: hierarchy_path() takes a path from it.
 */
int proctask_cgroup(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out);

/*
 * The numeric names of a directory: the processes of /proc, the threads of /proc/PID/task. When
 * zero-initialised, it is an empty list; kept from sample to sample for its memory.
 */
struct pidlist {
	pid_t *pids;
	size_t n;
	size_t cap;
	char *scratch;
};

/*
 * Reads the numeric entries of a directory from its start, in ascending order.
 * 0, or -errno (-ENOENT where the process behind the directory has gone).
 */
int pidlist_read(struct pidlist *list, int dirfd);

/* Opens /proc/TGID/task below procfd and reads it. 0, or -errno (-ENOENT: has gone). */
int pidlist_read_threads(struct pidlist *list, int procfd, pid_t tgid);

/*
 * Turns the ids that the user named into processes: ids of threads become their process's, others
 * stay (a process may get the id later). Ascending, each once; n is the new length.
 */
void pidlist_processes(struct proc *proc, pid_t *pids, size_t *n);

/* Puts ids into ascending order. */
void pidlist_sort(pid_t *pids, size_t n);

/* Whether an ascending list has the id. */
bool pidlist_has(const pid_t *pids, size_t n, pid_t pid);

/* Frees the memory and leaves an empty list. */
void pidlist_free(struct pidlist *list);
