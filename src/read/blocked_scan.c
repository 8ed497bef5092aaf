/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/blocked_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/symbols.h"
#include "kernel/syscall_target.h"

/* Adds a sleeper to the sample's. It is valid until the next is added. */
static struct sleeper *add_sleeper(struct sleepers *sleepers, const struct sleeper *sleeper)
{
	GROW(sleepers->all, sleepers->n, sleepers->cap);
	sleepers->all[sleepers->n] = *sleeper;
	return &sleepers->all[sleepers->n++];
}

/* The sleeper in the previous sample, or NULL. Ask in the sample's order. */
static const struct sleeper *sleeper_before(struct blocked_scan *scan, pid_t tgid, pid_t tid)
{
	const struct sleepers *before = &scan->before;
	uint64_t order = task_order(tgid, tid), at = 0;

	while (scan->at < before->n) {
		at = task_order(before->all[scan->at].tgid, before->all[scan->at].tid);
		if (at >= order)
			break;
		scan->at++;
	}
	return scan->at < before->n && at == order ? &before->all[scan->at] : NULL;
}

/* How far the clock of a CPU is behind: read once per sample. */
static const struct clock_lag *lag_of(struct blocked_scan *scan, unsigned cpu)
{
	struct clock_lag *lag;

	for (size_t i = 0; i < scan->nlags; i++)
		if (scan->lags[i].cpu == cpu)
			return &scan->lags[i];
	GROW(scan->lags, scan->nlags, scan->lags_cap);
	lag = &scan->lags[scan->nlags++];
	*lag = (struct clock_lag){ .cpu = cpu };
	lag->known = !scan->read_lag(scan->proc, cpu, &lag->ns);
	return lag;
}

/*
 * Moves the start of a wait back to when the thread last ran, as far as known: by the clock of its
 * CPU.
 */
static void date_back(struct blocked_scan *scan, struct sleeper *sleeper,
		      const struct task_raw *raw)
{
	const struct clock_lag *lag;
	struct proctask_stat stat;
	uint64_t ran, since;

	if (proctask_stat(scan->proc, sleeper->tgid, sleeper->tid, &stat) ||
	    proctask_ran(scan->proc, sleeper->tgid, sleeper->tid, &ran))
		return;
	lag = lag_of(scan, stat.cpu);
	if (!lag->known)
		return;
	since = (int64_t)ran + lag->ns > 0 ? (uint64_t)((int64_t)ran + lag->ns) : 0;
	if (since < raw->task->key.start_ns)
		since = raw->task->key.start_ns;
	if (since < sleeper->since_ns)
		sleeper->since_ns = since;
}

/* Decides whether a thread that has not run since the previous sample is hung. */
static void judge_call(struct blocked_scan *scan, struct sleeper *sleeper,
		       const struct task_raw *raw)
{
	bool executes = proctask_executes(scan->proc, sleeper->tgid);
	struct procwait_syscall call;
	int err = executes ? 0 : procwait_syscall(scan->proc, sleeper->tgid, sleeper->tid, &call);

	executes |= proc_hung(err);
	if (err && !executes) {
		/* The task has exited, or belongs to another user. */
		sleeper->judged = true;
		return;
	}
	if (!executes && call.running)
		return;
	sleeper->judged = true;
	/* Reading the call or CPU of a process hung within execve() would hang, too. */
	sleeper->hangs =
		executes || (call.number >= 0 && syscall_hangs(scan->targets, sleeper->tid, &call));
	if (sleeper->hangs && !executes)
		date_back(scan, sleeper, raw);
}

/* Makes a hung thread its task's, unless another has hung for longer. */
static void set_hang(struct task_hang *hang, const struct sleeper *sleeper)
{
	if (hang->tid && hang->since_ns <= sleeper->since_ns)
		return;
	hang->tid = sleeper->tid;
	hang->since_ns = sleeper->since_ns;
}

/* Checks a thread, whose run time is run_ns by now. */
static void check_sleeper(struct blocked_scan *scan, struct sample *sample, size_t place, pid_t tid,
			  uint64_t run_ns)
{
	const struct task_raw *raw = sample->raw[place];
	struct sleeper sleeper = {
		.tgid = raw->tgid, .tid = tid, .run_ns = run_ns, .since_ns = sample->end_ns
	};
	const struct sleeper *before = sleeper_before(scan, raw->tgid, tid);

	if (before && before->run_ns == run_ns) {
		sleeper = *before;
		if (!sleeper.judged)
			judge_call(scan, &sleeper, raw);
	}
	if (add_sleeper(&scan->now, &sleeper)->hangs)
		set_hang(&sample_add_extra(sample, place)->hang, &sleeper);
}

/* Checks the threads of a process some of which ran. */
static void read_sleepers(struct blocked_scan *scan, struct sample *sample, size_t place)
{
	pid_t tgid = sample->raw[place]->tgid;
	struct proctask_schedstat sched;

	if (pidlist_read_threads(&scan->threads, scan->proc->fd, tgid))
		return;
	for (size_t i = 0; i < scan->threads.n; i++) {
		pid_t tid = scan->threads.pids[i];

		if (!proctask_schedstat(scan->proc, tgid, tid, &sched))
			check_sleeper(scan, sample, place, tid, sched.run);
	}
}

/* Checks a process of several threads. If none has run, only those not checked yet. */
static void check_sleepers(struct blocked_scan *scan, struct sample *sample, size_t place)
{
	const struct task_raw *raw = sample->raw[place];
	const struct sleeper process = { .tgid = raw->tgid, .run_ns = raw->counters.run_ns };
	const struct sleeper *before = sleeper_before(scan, raw->tgid, 0);
	const struct sleepers *all = &scan->before;
	size_t at = scan->at + 1;

	add_sleeper(&scan->now, &process);
	if (!before || before->run_ns != process.run_ns) {
		read_sleepers(scan, sample, place);
		return;
	}
	for (; at < all->n && all->all[at].tgid == raw->tgid; at++)
		check_sleeper(scan, sample, place, all->all[at].tid, all->all[at].run_ns);
}

void blocked_scan_read(struct blocked_scan *scan, struct sample *sample, bool threads)
{
	struct sleepers now = scan->before;

	if (!scan->targets)
		scan->targets = wait_targets_open(scan->proc);
	wait_targets_renew(scan->targets);
	scan->before = scan->now;
	scan->now = now;
	scan->now.n = scan->at = scan->nlags = 0;
	sample->hangs_read = true;
	for (size_t i = 0; i < sample->n; i++) {
		const struct task_raw *raw = sample->raw[i];
		char state = raw->now.state;

		if (!(raw->counters.valid & VALID_RUN) || (state && strchr("TtZX", state)))
			continue;
		if (threads || raw->single || raw->now.threads == 1)
			check_sleeper(scan, sample, i, raw->pid, raw->counters.run_ns);
		else
			check_sleepers(scan, sample, i);
	}
}

void blocked_scan_free(struct blocked_scan *scan)
{
	wait_targets_close(scan->targets);
	freezer_close(&scan->freezer);
	pidlist_free(&scan->threads);
	free(scan->lags);
	free(scan->before.all);
	free(scan->now.all);
}

/* Maximum tasks of a sample that are checked. */
#define HELD_LOOKS 256

/* Stores the debugger of a task stopped by it. */
static void find_tracer(struct proc *proc, const struct task_raw *raw, struct task_stop *held)
{
	struct proctask_stat stat;

	if (proctask_tracer(proc, raw->tgid, raw->pid, &held->tracer) || !held->tracer)
		return;
	if (!proctask_stat_part(proc, held->tracer, 0, &stat))
		memcpy(held->tracer_comm, stat.comm, sizeof(held->tracer_comm));
}

/* True if a sleeping task was frozen: by its group, or by the function that it sleeps in. */
static bool is_frozen(struct blocked_scan *scan, const struct task_raw *raw)
{
	struct buf function = { 0 };
	bool frozen;

	proctask_wchan(scan->proc, raw->tgid, raw->pid, &function);
	frozen = raw->now.state == 'D' ? symbol_freezes_in_d(buf_cstr(&function))
				       : symbol_freezes(buf_cstr(&function));
	buf_free(&function);
	return frozen || (raw->now.state == 'D' &&
			  freezer_holds(&scan->freezer, scan->proc, raw->tgid, raw->pid));
}

void stop_read(struct blocked_scan *scan, struct sample *sample)
{
	unsigned looks = 0;

	for (size_t i = 0; i < sample->n; i++) {
		const struct task_raw *raw = sample->raw[i];
		struct task_stop *held;

		if (!raw->now.state || !strchr("DSt", raw->now.state) || looks == HELD_LOOKS ||
		    proctask_executes(scan->proc, raw->tgid))
			continue;
		looks++;
		held = sample_add_extra(sample, i)->held = xcalloc(1, sizeof(*held));
		if (raw->now.state == 't')
			find_tracer(scan->proc, raw, held);
		else
			held->frozen = is_frozen(scan, raw);
	}
}
