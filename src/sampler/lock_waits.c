/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/lock_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"

/* Limits per sample: rows passed, threads checked, threads of one process. */
#define PASSED_MAX 1000
#define THREADS_LOOKED_AT 18
#define PROCESS_LOOKS 3

/* Waiters of a process to be tracked, as the first of them may get the lock next. */
#define FOLLOWED_LEAST 2

/* Reports that a row's task is blocked, unless already reported. */
static bool report_blocked(const struct frame *frame, const struct row *row,
			   const struct lock_waiter *thread)
{
	struct task_hang *hang = &sample_add_extra(frame->info->cur, row->place)->hang;

	if (hang->tid)
		return false;
	*hang = (struct task_hang){ .tid = thread->tid, .since_ns = thread->since_ns };
	return true;
}

/* Keeps the waiters that have not run since they were first seen, and reports them. */
static size_t look_again(struct lock_waits *waits, struct proc *proc, const struct frame *frame,
			 const struct row **rows, size_t n, size_t most)
{
	struct proctask_schedstat sched;
	size_t kept = 0;

	for (size_t i = 0; i < waits->n; i++) {
		const struct lock_waiter *thread = &waits->all[i];
		const struct row *row =
			frame_find_living(frame, thread->tgid, thread->pid, thread->start_ns);

		if (!row || proctask_schedstat(proc, thread->tgid, thread->tid, &sched) ||
		    sched.slices != thread->slices)
			continue;
		waits->all[kept++] = *thread;
		if (n < most && report_blocked(frame, row, thread))
			rows[n++] = row;
	}
	waits->n = kept;
	return n;
}

/* True if a thread waits for a lock held by another; it has not run since. */
static bool waits_for_lock(struct lock_waiter *thread, struct proc *proc)
{
	struct proctask_schedstat sched;
	struct procwait_syscall call;

	if (procwait_syscall(proc, thread->tgid, thread->tid, &call) || call.running ||
	    !futex_is_lock(&call))
		return false;
	if (proctask_schedstat(proc, thread->tgid, thread->tid, &sched) ||
	    !futex_owner(proc, thread->tgid, thread->tid, &call))
		return false;
	thread->slices = sched.slices;
	return true;
}

/* Number of tracked threads of a row's task; *is_it: whether that one is among them. */
static unsigned followed(const struct lock_waits *waits, const struct row *row, pid_t tid,
			 bool *is_it)
{
	unsigned n = 0;

	*is_it = false;
	for (size_t i = 0; i < waits->n; i++) {
		const struct lock_waiter *thread = &waits->all[i];

		if (thread->tgid != row->raw->tgid || thread->pid != row->raw->pid)
			continue;
		*is_it |= thread->tid == tid;
		n++;
	}
	return n;
}

/* Threads checked per sample. */
struct looks {
	struct lock_waiter threads[THREADS_LOOKED_AT + PROCESS_LOOKS];
	size_t n;
};

/* Takes some of a row's threads, others each time. Returns the number of checks that costs. */
static unsigned take_threads(struct lock_waits *waits, struct proc *proc, const struct row *row,
			     uint64_t sample_ns, bool threads, struct looks *looks)
{
	struct lock_waiter thread = { .tgid = row->raw->tgid,
				      .pid = row->raw->pid,
				      .start_ns = row->task->key.start_ns,
				      .since_ns = sample_ns };
	unsigned n = 1, taken = 0;
	bool known;

	if (followed(waits, row, 0, &known) >= FOLLOWED_LEAST)
		return 0;
	/* More questions would hang with it. */
	if (proctask_executes(proc, thread.tgid))
		return 1;
	if (!threads) {
		if (pidlist_read_threads(&waits->threads, proc->fd, thread.tgid))
			return 1;
		n = (unsigned)waits->threads.n;
	}
	for (; taken < n && taken < PROCESS_LOOKS; taken++) {
		size_t at = ((size_t)waits->turn * PROCESS_LOOKS + taken) % n;

		thread.tid = threads ? thread.pid : waits->threads.pids[at];
		followed(waits, row, thread.tid, &known);
		if (known)
			continue;
		looks->threads[looks->n++] = thread;
		procwait_prefetch(proc, thread.tgid, thread.tid);
	}
	return taken + 1;
}

/*
 * Number of waiting threads, and of consecutive samples with them, from which a lock is contended,
 * not just taken.
 */
#define CONTENDED_THREADS 2
#define CONTENDED_LOOKS 3

/* Its threads checked per sample. */
#define CONTENDED_LOOKED_AT 32

/* Counts the threads of a row's process that wait for a lock; *tid: one of them. */
static unsigned count_waiting(struct lock_waits *waits, struct proc *proc, const struct row *row,
			      pid_t *tid)
{
	struct lock_waiter thread = { .tgid = row->raw->tgid };
	unsigned n = 0;
	size_t looks;

	if (proctask_executes(proc, thread.tgid) ||
	    pidlist_read_threads(&waits->threads, proc->fd, thread.tgid))
		return 0;
	looks = waits->threads.n < CONTENDED_LOOKED_AT ? waits->threads.n : CONTENDED_LOOKED_AT;
	proc_prefetch_begin(proc);
	for (size_t i = 0; i < looks; i++)
		procwait_prefetch(proc, thread.tgid, waits->threads.pids[i]);
	for (size_t i = 0; i < looks; i++) {
		thread.tid = waits->threads.pids[i];
		if (!waits_for_lock(&thread, proc))
			continue;
		*tid = thread.tid;
		n++;
	}
	return n;
}

/* Records how many threads of a row's process wait for locks. False: its row is listed already. */
static bool report_contended(const struct frame *frame, const struct row *row, pid_t tid,
			     unsigned waiting)
{
	struct task_hang *hang = &sample_add_extra(frame->info->cur, row->place)->hang;

	hang->locked = waiting;
	if (hang->tid)
		return false;
	hang->tid = tid;
	hang->since_ns = frame->info->cur->end_ns;
	return true;
}

/* Checks the processes in which a thread waited for a lock. */
static size_t look_at_contended(struct lock_waits *waits, struct proc *proc,
				const struct frame *frame, const struct row **rows, size_t n,
				size_t most)
{
	size_t kept = 0;

	for (size_t i = 0; i < waits->ncontended; i++) {
		struct contended process = waits->contended[i];
		const struct row *row =
			frame_find_living(frame, process.tgid, process.tgid, process.start_ns);
		unsigned waiting;
		pid_t tid = 0;

		/* A process that does not run at all takes no locks in turn. */
		if (!row || (row->interval_ns && !row->deltas->grown.run_ns))
			continue;
		waiting = count_waiting(waits, proc, row, &tid);
		if (waiting < CONTENDED_THREADS)
			continue;
		process.looks++;
		waits->contended[kept++] = process;
		if (process.looks >= CONTENDED_LOOKS && n < most &&
		    report_contended(frame, row, tid, waiting))
			rows[n++] = row;
	}
	waits->ncontended = kept;
	return n;
}

/* Schedules checks of a thread's process in the following samples. */
static void follow_contended(struct lock_waits *waits, const struct lock_waiter *thread)
{
	size_t i = 0;

	while (i < waits->ncontended && waits->contended[i].tgid != thread->tgid)
		i++;
	if (i == waits->ncontended && i < CONTENDED_MAX)
		waits->contended[waits->ncontended++] =
			(struct contended){ .tgid = thread->tgid, .start_ns = thread->start_ns };
}

/* True if threads of a row may wait for one another. */
static bool has_others(const struct row *row, bool threads)
{
	if (threads)
		return row->raw->tgid != row->raw->pid;
	return !row->raw->single && row->raw->now.threads > 1;
}

/* Checks the rows whose turn it is. */
static void look_on(struct lock_waits *waits, struct proc *proc, const struct frame *frame)
{
	size_t living = frame_living(frame), at = frame_from(frame, waits->next), passed;
	bool threads = frame->info->threads;
	struct looks looks = { .n = 0 };
	unsigned cost = 0;

	if (at == living)
		at = 0;
	proc_prefetch_begin(proc);
	for (passed = 0; passed < living && passed < PASSED_MAX; passed++) {
		const struct row *row = &frame->rows[at];

		if (cost >= THREADS_LOOKED_AT || waits->n == LOCK_WAITS_MAX)
			break;
		at = at + 1 < living ? at + 1 : 0;
		if (has_others(row, threads))
			cost += take_threads(waits, proc, row, frame->info->cur->end_ns, threads,
					     &looks);
	}
	for (size_t i = 0; i < looks.n && waits->n < LOCK_WAITS_MAX; i++) {
		if (!waits_for_lock(&looks.threads[i], proc))
			continue;
		waits->all[waits->n++] = looks.threads[i];
		if (!threads)
			follow_contended(waits, &looks.threads[i]);
	}
	if (living)
		waits->next = raw_order(frame->rows[at].raw);
	waits->turn++;
}

size_t lock_waits_find(struct lock_waits *waits, struct proc *proc, const struct frame *frame,
		       const struct row **rows, size_t n, size_t most)
{
	n = look_again(waits, proc, frame, rows, n, most);
	n = look_at_contended(waits, proc, frame, rows, n, most);
	look_on(waits, proc, frame);
	return n;
}

void lock_waits_free(struct lock_waits *waits)
{
	pidlist_free(&waits->threads);
	*waits = (struct lock_waits){ 0 };
}
