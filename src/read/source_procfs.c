/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters from procfs, for users without access to taskstats: run time and cpu delay from
 * schedstat, blkio from field 42 of stat. Both files in /proc/PID cover the leader thread only, so
 * a process row is the sum over task/, plus the counters of threads that have exited since
 * (procfs_threads).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/procfs_threads.h"
#include "kernel/proctask.h"
#include "read/source.h"
#include "read/states.h"

struct procfs_source {
	struct source_env env;
	struct pidlist processes, threads;
	struct procfs_threads memory; /* the threads' last figures, if rows are processes */
	struct states states;
	uint64_t tick_ns;
};

/* The figures of one thread's files. */
struct reading {
	struct proctask_stat stat;
	bool sched_valid;
	struct thread_figures figures;
};

/* True if the error can mean a missing schedstat: the kernel has none, or we may not read it. */
static bool is_without(int err)
{
	return proctask_gone(err) || err == -EACCES || err == -EPERM || err == -EBADMSG;
}

/* Reads a thread. 0 or -errno. */
static int read_thread(struct procfs_source *source, pid_t tgid, pid_t tid, struct reading *reading)
{
	struct proc *proc = source->env.proc;
	struct proctask_stat *stat = &reading->stat;
	struct proctask_schedstat sched = { 0 };
	uint64_t start_ns, now_ns;
	int err = proctask_stat_part(proc, tgid, tid, stat), missing;

	reading->figures.tid = tid;
	if (err || stat->partial)
		return err;
	/* schedstat is missing without CONFIG_SCHED_INFO, or because the thread just exited. */
	missing = proctask_schedstat(proc, tgid, tid, &sched);
	reading->sched_valid = !missing;
	if (missing) {
		err = is_without(missing) ? proctask_stat_part(proc, tgid, tid, stat) : missing;
		if (err)
			return err;
	}
	start_ns = stat->start * source->tick_ns;
	now_ns = clock_ns(CLOCK_BOOTTIME);
	/* Field 42 is in ticks; the number of waits is unknown. */
	reading->figures = (struct thread_figures){
		.tid = tid,
		.start_ns = start_ns,
		.count = { [THREAD_RUN] = sched.run,
			   [THREAD_WAIT] = sched.wait,
			   [THREAD_SLICES] = sched.slices,
			   [THREAD_BLKIO] = stat->blkio * source->tick_ns,
			   [THREAD_USER] = stat->utime * source->tick_ns,
			   [THREAD_SYSTEM] = stat->stime * source->tick_ns,
			   [THREAD_LIFE] = now_ns > start_ns ? now_ns - start_ns : 0 },
	};
	return 0;
}

/* Gives the element its counters. */
static void set_counters(struct counters *counters, const uint64_t *count, bool sched_valid)
{
	counters->run_ns = count[THREAD_RUN];
	counters->delay[DELAY_CPU].ns = count[THREAD_WAIT];
	counters->delay[DELAY_CPU].count = count[THREAD_SLICES];
	counters->delay[DELAY_BLKIO].ns = count[THREAD_BLKIO];
	counters->user_ns = count[THREAD_USER];
	counters->system_ns = count[THREAD_SYSTEM];
	counters->life_ns = count[THREAD_LIFE];
	if (!sched_valid)
		counters->valid &= ~(VALID_RUN | DELAY_BOTH(DELAY_BIT(DELAY_CPU)));
}

/* A new task. Field 22 counts from boot, suspended time included. */
static struct task *new_task(const struct procfs_source *source, uint64_t since_boot_ns, pid_t tgid,
			     pid_t pid)
{
	/* This order keeps the difference from falling below 0. */
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);
	uint64_t suspended = clock_ns(CLOCK_BOOTTIME) - monotonic;
	uint64_t start = since_boot_ns > suspended ? since_boot_ns - suspended : 0;
	struct task *task = task_new((struct task_key){ pid, start }, tgid);

	task->latest_ns = start + source->tick_ns;
	task->start_lo = task->start_hi = since_boot_ns;
	return task;
}

/* Counts a task that could not be read, unless it has exited. */
static void count_unread(struct sample *cur, int err)
{
	if (proctask_gone(err))
		return;
	sample_count_unread(cur, err);
	debug_log("task in /proc: %s", strerror(-err));
}

/*
 * Gives the element its task: the one known from the previous sample, or a new one; none, and
 * counts it as unread, if its user is unknown. moved: whether any thread without its own row ran,
 * started or exited.
 */
static void identify_process(const struct procfs_source *source, const struct sample *prev,
			     struct sample *cur, struct task_raw *raw,
			     const struct proctask_stat *stat, bool moved)
{
	const struct task_raw *known = sample_find(prev, raw->tgid, raw->pid);
	uint64_t start = stat->start * source->tick_ns;
	pid_t tid = source->env.threads ? raw->pid : 0;
	uid_t uid;
	int err;

	if (known && known->task->start_lo == start)
		raw->task = task_ref(known->task);
	else
		raw->task = new_task(source, start, raw->tgid, raw->pid);
	raw->task->ppid = stat->ppid;
	task_set_comm(raw->task, stat->comm, sizeof(stat->comm) - 1);
	/* A task that did not run called no setuid or exec; run times prove that. */
	if (!moved && known && known->task == raw->task && raw->counters.valid & VALID_RUN &&
	    known->counters.run_ns == raw->counters.run_ns)
		return;
	raw->task->fresh = true;
	err = proctask_status(source->env.proc, raw->tgid, tid, &uid, NULL);
	if (!err) {
		raw->task->uid = uid;
	} else if (!proctask_gone(err) && !(known && known->task == raw->task)) {
		count_unread(cur, err);
		task_unref(raw->task);
		raw->task = NULL;
	}
}

/*
 * Prefetches the stat of threads from `from` on, of one process or (tgid 0) of the first threads of
 * several. Returns the first for which there was no room.
 */
static size_t prefetch_stats(const struct procfs_source *source, pid_t tgid, const pid_t *tids,
			     size_t n, size_t from)
{
	size_t at = from;

	proc_prefetch_begin(source->env.proc);
	while (at < n &&
	       proctask_prefetch(source->env.proc, tgid ? tgid : tids[at], tids[at], PROCTASK_STAT))
		at++;
	return at > from ? at : n;
}

/* Starts an element for a task with no counters yet. */
static struct task_raw *add_element(struct sample *cur, pid_t tgid, pid_t pid)
{
	struct task_raw *raw = sample_add(cur, tgid, pid);

	raw->read_ns = clock_ns(CLOCK_MONOTONIC);
	raw->counters.valid =
		DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO) | VALID_RUN | VALID_TICK;
	return raw;
}

/*
 * Adds an element for a process, or a thread, hung within execve(): its figures are those of the
 * previous sample.
 */
static void add_hung(const struct procfs_source *source, const struct sample *prev,
		     struct sample *cur, pid_t tgid, const struct reading *reading)
{
	struct task_raw *raw = add_element(cur, tgid, reading->figures.tid);
	const struct task_raw *known = sample_find(prev, tgid, raw->pid);

	raw->single = source->env.threads || reading->stat.threads == 1;
	if (known) {
		raw->task = task_ref(known->task);
		raw->counters = known->counters;
		return;
	}
	raw->counters.valid = 0;
	raw->task = new_task(source, 0, tgid, raw->pid);
	raw->task->ppid = reading->stat.ppid;
	task_set_comm(raw->task, reading->stat.comm, sizeof(reading->stat.comm) - 1);
	raw->task->fresh = !proctask_status(
		source->env.proc, tgid, source->env.threads ? raw->pid : 0, &raw->task->uid, NULL);
}

/* Adds a row for each listed thread. */
static void read_rows(struct procfs_source *source, const struct sample *prev, struct sample *cur,
		      pid_t tgid)
{
	const struct pidlist *threads = &source->threads;

	for (size_t t = 0, ahead = 0; t < threads->n; t++) {
		struct reading reading;
		struct task_raw *raw;
		int err;

		if (t >= ahead)
			ahead = prefetch_stats(source, tgid, threads->pids, threads->n, t);
		err = read_thread(source, tgid, threads->pids[t], &reading);

		if (err) {
			count_unread(cur, err);
			continue;
		}
		if (reading.stat.partial) {
			add_hung(source, prev, cur, tgid, &reading);
			continue;
		}
		raw = add_element(cur, tgid, threads->pids[t]);
		raw->single = true;
		set_counters(&raw->counters, reading.figures.count, reading.sched_valid);
		identify_process(source, prev, cur, raw, &reading.stat, false);
	}
}

/*
 * Reads one thread of a process into its sum; `was` is its previous reading or NULL. False only if
 * its schedstat is missing.
 */
static bool add_thread(struct procfs_source *source, struct sample *cur,
		       const struct reading *leader, pid_t tid, const struct thread_figures *was)
{
	pid_t tgid = leader->figures.tid;
	struct reading reading = *leader;
	int err = tid == tgid ? 0 : read_thread(source, tgid, tid, &reading);

	if (!err && reading.stat.partial)
		err = -EBUSY;
	if (err) {
		count_unread(cur, err);
		/* The last figures are kept, so that the next sum does not count it again. */
		if (was && !proctask_gone(err))
			procfs_threads_add(&source->memory, was);
		return true;
	}
	if (was && !reading.sched_valid)
		memcpy(reading.figures.count, was->count,
		       (THREAD_SLICES + 1) * sizeof(*was->count));
	procfs_threads_add(&source->memory, &reading.figures);
	return reading.sched_valid;
}

/*
 * Adds the process as one row. The threads of the previous reading are read besides the listed
 * ones: the kernel may skip some while others exit (proc_task_readdir() of fs/proc/base.c continues
 * by position).
 */
static void read_sum(struct procfs_source *source, const struct sample *prev, struct sample *cur,
		     pid_t tgid)
{
	const struct pidlist *threads = &source->threads;
	const struct process_figures *process;
	const struct thread_figures *old;
	struct reading leader;
	struct task_raw *raw;
	bool sched_valid = true, moved;
	size_t nold, ahead = 0;
	int err = read_thread(source, tgid, tgid, &leader);

	/* Without its leader the process has no name and no start. */
	if (err) {
		count_unread(cur, err);
		return;
	}
	if (leader.stat.partial) {
		add_hung(source, prev, cur, tgid, &leader);
		return;
	}
	raw = add_element(cur, tgid, tgid);
	old = procfs_threads_of(&source->memory, tgid, leader.figures.start_ns, raw->read_ns,
				&nold);
	for (size_t t = 0, o = 0; t < threads->n || o < nold;) {
		bool listed = t < threads->n && (o == nold || threads->pids[t] <= old[o].tid);
		pid_t tid = listed ? threads->pids[t] : old[o].tid;
		const struct thread_figures *was = o < nold && old[o].tid == tid ? &old[o] : NULL;

		if (listed && threads->n > 1 && t >= ahead)
			ahead = prefetch_stats(source, tgid, threads->pids, threads->n, t);

		sched_valid &= add_thread(source, cur, &leader, tid, was);
		t += listed;
		o += was != NULL;
	}
	moved = procfs_threads_end(&source->memory, &process);
	raw->single = !process->n;
	set_counters(&raw->counters, process->total, sched_valid);
	identify_process(source, prev, cur, raw, &leader.stat, moved);
	if (raw->task)
		raw->task->accounted |= leader.figures.count[THREAD_BLKIO] != 0;
}

/* Adds the process with its threads, as one row or as one row per thread. */
static void read_process(struct procfs_source *source, const struct sample *prev,
			 struct sample *cur, pid_t tgid)
{
	int err = pidlist_read_threads(&source->threads, source->env.proc->fd, tgid);

	if (err)
		count_unread(cur, err);
	else if (source->env.threads)
		read_rows(source, prev, cur, tgid);
	else
		read_sum(source, prev, cur, tgid);
}

/* Takes a sample. */
static int procfs_sample(void *state, struct sample *prev, struct sample *cur,
			 UNUSED unsigned needs)
{
	struct procfs_source *source = state;
	const pid_t *pids = source->env.pids;
	size_t n = source->env.npids;
	int err;

	sample_reset(cur);
	if (!pids) {
		err = pidlist_read(&source->processes, source->env.proc->fd);
		if (err)
			return err;
		pids = source->processes.pids;
		n = source->processes.n;
	}
	/* A start in ticks may be read up to a tick early. */
	procfs_threads_begin(&source->memory, clock_ns(CLOCK_BOOTTIME) - source->tick_ns);
	for (size_t i = 0, ahead = 0; i < n; i++) {
		if (i >= ahead)
			ahead = prefetch_stats(source, 0, pids, n, i);
		read_process(source, prev, cur, pids[i]);
		/* Its threads replaced the prefetched reads. */
		if (source->threads.n > 1)
			ahead = i + 1;
		if (source->env.between && i % 64 == 63)
			source->env.between(source->env.arg);
	}
	sample_compact(cur);
	states_read(&source->states, prev, cur);
	return 0;
}

/* Opens the source: any /proc will do. */
static int procfs_open(const struct source_env *env, void **state)
{
	struct procfs_source *source = xcalloc(1, sizeof(*source));
	long ticks = sysconf(_SC_CLK_TCK);

	source->env = *env;
	source->states = (struct states){ .proc = env->proc, .rows = env->threads };
	source->tick_ns = NSEC_PER_SEC / (uint64_t)(ticks > 0 ? ticks : 100);
	*state = source;
	return 0;
}

/* Closes the source. */
static void procfs_close(void *state)
{
	struct procfs_source *source = state;

	pidlist_free(&source->processes);
	pidlist_free(&source->threads);
	procfs_threads_free(&source->memory);
	states_free(&source->states);
	free(source);
}

const struct source_ops source_procfs = {
	.name = "procfs",
	.kinds = DELAY_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO),
	.open = procfs_open,
	.sample = procfs_sample,
	.close = procfs_close,
};
