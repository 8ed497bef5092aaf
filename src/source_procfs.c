/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters from procfs, for whoever may not ask taskstats: run time and cpu delay
 * from schedstat, blkio from field 42 of stat. Both files of /proc/PID are the leader
 * thread's alone, so a process row is the sum over task/.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pidlist.h"
#include "proctask.h"
#include "source.h"
#include "util.h"

struct procfs_source {
	struct source_env env;
	struct pidlist processes, threads;
	uint64_t tick_ns;
	uint64_t syscalls; /* for files; the lists count their own */
};

/* Three system calls a file: open, read, close. */
#define FILE_SYSCALLS 3

/* What one thread's files said. */
struct reading {
	struct proctask_stat stat;
	struct proctask_schedstat sched;
	bool sched_valid;
};

/* Reads a thread. 0 or -errno. */
static int read_thread(struct procfs_source *source, pid_t tgid, pid_t tid,
		       struct reading *reading)
{
	int procfd = source->env.procfd;
	int err = proctask_stat(procfd, tgid, tid, &reading->stat);

	source->syscalls += 2 * FILE_SYSCALLS;
	if (err)
		return err;
	/* schedstat is missing without CONFIG_SCHED_INFO. */
	reading->sched_valid = !proctask_schedstat(procfd, tgid, tid, &reading->sched);
	return 0;
}

/* Adds a thread's counters to the element. */
static void add_reading(const struct procfs_source *source, struct task_raw *raw,
			const struct reading *reading)
{
	const struct proctask_stat *stat = &reading->stat;

	/* Field 42 is ticks; the number of waits is not known. */
	raw->delay[DELAY_BLKIO].ns += stat->blkio * source->tick_ns;
	raw->user_ns += stat->utime * source->tick_ns;
	raw->system_ns += stat->stime * source->tick_ns;
	if (reading->sched_valid) {
		raw->run_ns += reading->sched.run;
		raw->delay[DELAY_CPU].ns += reading->sched.wait;
		raw->delay[DELAY_CPU].count += reading->sched.slices;
	} else {
		raw->valid &= ~(VALID_RUN | DELAY_BOTH(DELAY_BIT(DELAY_CPU)));
	}
}

/* A task that was not there before. Field 22 counts from boot, suspended time included. */
static struct task *new_task(const struct procfs_source *source, uint64_t since_boot_ns,
			     pid_t tgid, pid_t pid)
{
	/* In this order the difference cannot fall below 0. */
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);
	uint64_t suspended = clock_ns(CLOCK_BOOTTIME) - monotonic;
	uint64_t start = since_boot_ns > suspended ? since_boot_ns - suspended : 0;
	struct task *task = task_new((struct task_key){ pid, start }, tgid);

	task->latest_ns = start + source->tick_ns;
	task->start_lo = task->start_hi = since_boot_ns;
	return task;
}

/* Gives the element its task: the one known from the sample before, or a new one. */
static void identify(const struct procfs_source *source, const struct sample *prev,
		     struct task_raw *raw, const struct proctask_stat *stat)
{
	const struct task_raw *known = sample_find(prev, raw->tgid, raw->pid);
	uint64_t start = stat->start * source->tick_ns;
	pid_t tid = source->env.threads ? raw->pid : 0;
	uid_t uid;

	if (known && known->task->start_lo == start)
		raw->task = task_ref(known->task);
	else
		raw->task = new_task(source, start, raw->tgid, raw->pid);
	raw->task->ppid = stat->ppid;
	task_set_comm(raw->task, stat->comm, sizeof(stat->comm) - 1);
	/* Who did not run did not call setuid or exec; without run times nobody knows. */
	if (known && known->task == raw->task && raw->valid & VALID_RUN &&
	    known->run_ns == raw->run_ns)
		return;
	raw->task->fresh = true;
	if (!proctask_status(source->env.procfd, raw->tgid, tid, &uid, NULL))
		raw->task->uid = uid;
}

/* Starts an element for a task with no counters yet. */
static struct task_raw *add_element(struct sample *cur, pid_t tgid, pid_t pid)
{
	struct task_raw *raw = sample_add(cur, tgid, pid);

	raw->read_ns = clock_ns(CLOCK_MONOTONIC);
	raw->valid = DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO) | VALID_RUN |
		     VALID_TICK;
	return raw;
}

/* Adds the process and its threads, as one row or as a row each. */
static void read_process(struct procfs_source *source, const struct sample *prev,
			 struct sample *cur, pid_t tgid)
{
	struct pidlist *threads = &source->threads;
	struct task_raw *raw = NULL;
	struct proctask_stat leader;
	bool have_leader = false;

	if (pidlist_read_threads(threads, source->env.procfd, tgid))
		return;
	for (size_t t = 0; t < threads->n; t++) {
		pid_t tid = threads->pids[t];
		struct reading reading;

		if (read_thread(source, tgid, tid, &reading))
			continue;
		if (!raw || source->env.threads)
			raw = add_element(cur, tgid, source->env.threads ? tid : tgid);
		add_reading(source, raw, &reading);
		if (source->env.threads) {
			raw->single = true;
			identify(source, prev, raw, &reading.stat);
		}
		if (tid == tgid) {
			leader = reading.stat;
			have_leader = true;
		}
	}
	if (raw && !source->env.threads)
		raw->single = threads->n == 1;
	if (have_leader && !source->env.threads)
		identify(source, prev, raw, &leader);
}

/* Takes a sample. */
static int procfs_sample(void *state, const struct sample *prev, struct sample *cur,
			 unsigned needs)
{
	struct procfs_source *source = state;
	const pid_t *pids = source->env.pids;
	size_t n = source->env.npids;
	int err;

	(void)needs; /* a record is what this source does not have */
	if (!pids) {
		err = pidlist_read(&source->processes, source->env.procfd);
		if (err)
			return err;
		pids = source->processes.pids;
		n = source->processes.n;
	}
	for (size_t i = 0; i < n; i++) {
		read_process(source, prev, cur, pids[i]);
		if (source->env.between && i % 64 == 63)
			source->env.between(source->env.arg);
	}
	sample_compact(cur);
	return 0;
}

/* Opens the source: any /proc will do. */
static int procfs_open(const struct source_env *env, void **state)
{
	struct procfs_source *source = xcalloc(1, sizeof(*source));
	long ticks = sysconf(_SC_CLK_TCK);

	source->env = *env;
	source->tick_ns = NSEC_PER_SEC / (uint64_t)(ticks > 0 ? ticks : 100);
	*state = source;
	return 0;
}

/* System calls made so far. */
static uint64_t procfs_syscalls(const void *state)
{
	const struct procfs_source *source = state;

	return source->syscalls + source->processes.syscalls + source->threads.syscalls;
}

/* Closes the source. */
static void procfs_close(void *state)
{
	struct procfs_source *source = state;

	pidlist_free(&source->processes);
	pidlist_free(&source->threads);
	free(source);
}

const struct source_ops source_procfs = {
	.name = "procfs",
	.kinds = DELAY_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO),
	.open = procfs_open,
	.sample = procfs_sample,
	.syscalls = procfs_syscalls,
	.close = procfs_close,
};
