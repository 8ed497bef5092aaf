/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stuck.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/symbols.h"

/* Tasks that are looked at at a time. */
#define LOOKS_MAX 32

/* For how long those that slept before the first sample are looked at: in it, and in others. */
#define FIRST_LOOKS_NS (40 * NSEC_PER_MSEC)
#define LOOKS_NS (2 * NSEC_PER_MSEC)

/* Whether a row's task sleeps, and has since it was noted. */
static bool sleeps_since(const struct row *row, const struct stuck_task *task)
{
	char state = row->raw->now.state;

	return row->raw->counters.run_ns == task->run_ns && (!state || state == 'S');
}

/* Sockets and terminals sleep in this function: only its caller says why.
 */
#define WOKEN "wait_woken"

/* The function of the kernel in which a task sleeps; NULL: not known. */
static const char *sleep_function(struct stuck *stuck, struct proc *proc,
				  const struct stuck_task *task)
{
	const struct procwait_stack *stack = &stuck->stack;
	size_t telling;

	stuck->text.len = 0;
	if (proctask_wchan(proc, task->tgid, task->pid, &stuck->text) || !stuck->text.len)
		return NULL;
	if (strcmp(buf_cstr(&stuck->text), WOKEN) != 0 ||
	    procwait_stack(proc, task->tgid, task->pid, &stuck->stack))
		return buf_cstr(&stuck->text);
	telling = symbols_telling(stack->functions, stack->n);
	stuck->text.len = 0;
	if (telling < stack->n)
		buf_add(&stuck->text, stack->functions[telling],
			symbol_length(stack->functions[telling]));
	return buf_cstr(&stuck->text);
}

/* Whether a task sleeps until a server answers, or somebody takes what it sends. */
static bool waits_for_other(struct stuck *stuck, struct proc *proc, const struct stuck_task *task)
{
	const char *function = sleep_function(stuck, proc, task);

	return wait_for_server(function) || wait_for_taker(function);
}

/* A row's task, as it was found asleep. */
static struct stuck_task stuck_of(const struct row *row)
{
	return (struct stuck_task){ .tgid = row->raw->tgid,
				    .pid = row->raw->pid,
				    .start_ns = row->task->key.start_ns,
				    .run_ns = row->raw->counters.run_ns,
				    .since_ns = row->raw->read_ns };
}

/* Whether a row is a thread of the kernel: their parent is the first of them. */
static bool is_kernel_row(const struct row *row)
{
	return row->task->ppid == 2 || row->raw->pid == 2;
}

/*
 * Looks at up to LOOKS_MAX tasks that sleep on. Those that hang within execve(), in closing a file,
 * have no function that can be read.
 */
static void look_at(struct stuck *stuck, struct proc *proc, const struct stuck_task *tasks,
		    size_t n)
{
	bool executes[LOOKS_MAX];

	proc_ahead_begin(proc);
	for (size_t i = 0; i < n; i++) {
		executes[i] = proctask_executes(proc, tasks[i].tgid);
		if (!executes[i])
			proctask_prefetch(proc, tasks[i].tgid, tasks[i].pid, PROCTASK_WCHAN);
	}
	for (size_t i = 0; i < n && stuck->nstuck < STUCK_MAX; i++)
		if (executes[i] || waits_for_other(stuck, proc, &tasks[i]))
			stuck->stuck[stuck->nstuck++] = tasks[i];
}

/* Looks at tasks that ran before and do not now. Those left over for want of time stay. */
static void look_at_recent(struct stuck *stuck, struct proc *proc, const struct frame *frame)
{
	struct stuck_task tasks[LOOKS_MAX];
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < stuck->n; i++) {
		const struct stuck_task *task = &stuck->recent[i];
		const struct row *row =
			frame_find_living(frame, task->tgid, task->pid, task->start_ns);

		/* A task that ran again is noted again. */
		if (!row || !sleeps_since(row, task))
			continue;
		if (n == LOOKS_MAX)
			stuck->recent[kept++] = *task;
		else
			tasks[n++] = *task;
	}
	stuck->n = kept;
	look_at(stuck, proc, tasks, n);
}

/*
 * Looks at tasks that slept before the first sample, as many as there is time for: who starts the
 * program when something hangs wants to see it soon, and after that it costs nothing.
 */
static void look_at_old(struct stuck *stuck, struct proc *proc, const struct frame *frame)
{
	size_t living = frame_living(frame);
	uint64_t most_ns = stuck->scanned ? LOOKS_NS : FIRST_LOOKS_NS, end_ns = 0;

	while (stuck->scanned < living && (!end_ns || clock_ns(CLOCK_MONOTONIC) < end_ns)) {
		struct stuck_task tasks[LOOKS_MAX];
		size_t n = 0;

		if (!end_ns)
			end_ns = clock_ns(CLOCK_MONOTONIC) + most_ns;
		for (; stuck->scanned < living && n < LOOKS_MAX; stuck->scanned++) {
			const struct row *row = &frame->rows[stuck->scanned];

			tasks[n] = stuck_of(row);
			n += !is_kernel_row(row) && sleeps_since(row, &tasks[n]) &&
			     !row->deltas->grown.run_ns;
		}
		look_at(stuck, proc, tasks, n);
	}
}

/* Notes those that ran in the interval, to be looked at when they have not. */
static void note_recent(struct stuck *stuck, const struct frame *frame)
{
	const struct sample *cur = frame->info->cur;
	size_t living = frame_living(frame);

	for (size_t i = sample_next_changed(cur, 0); i < living;
	     i = sample_next_changed(cur, i + 1)) {
		const struct row *row = &frame->rows[i];

		if (row->unchanged || row->exited || is_kernel_row(row) ||
		    (row->interval_ns && !row->deltas->grown.run_ns))
			continue;
		GROW(stuck->recent, stuck->n, stuck->cap);
		stuck->recent[stuck->n++] = stuck_of(row);
	}
}

/* Reports tasks that are still stuck. */
static size_t tell_stuck(struct stuck *stuck, const struct frame *frame, const struct row **rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < stuck->nstuck; i++) {
		const struct stuck_task *task = &stuck->stuck[i];
		const struct row *row =
			frame_find_living(frame, task->tgid, task->pid, task->start_ns);

		if (!row || !sleeps_since(row, task))
			continue;
		sample_add_extra(frame->info->cur, row->place)->hang =
			(struct task_hang){ .tid = task->pid, .since_ns = task->since_ns };
		stuck->stuck[kept] = *task;
		rows[kept++] = row;
	}
	stuck->nstuck = kept;
	return kept;
}

size_t stuck_find(struct stuck *stuck, struct proc *proc, const struct frame *frame,
		  const struct row **rows)
{
	look_at_recent(stuck, proc, frame);
	look_at_old(stuck, proc, frame);
	note_recent(stuck, frame);
	return tell_stuck(stuck, frame, rows);
}

void stuck_free(struct stuck *stuck)
{
	free(stuck->recent);
	procwait_stack_free(&stuck->stack);
	buf_free(&stuck->text);
	*stuck = (struct stuck){ 0 };
}

/* Bounds in a sample: rows passed, threads looked at, threads of one process. */
#define PASSED_MAX 1000
#define THREADS_LOOKED_AT 18
#define PROCESS_LOOKS 3

/* How many waiters of a process are followed, as the first of them may have the lock next. */
#define FOLLOWED_LEAST 2

/* Tells that a row's task is kept waiting, unless that is told of it already. */
static bool tell(const struct frame *frame, const struct row *row,
		 const struct locked_thread *thread)
{
	struct task_hang *hang = &sample_add_extra(frame->info->cur, row->place)->hang;

	if (hang->tid)
		return false;
	*hang = (struct task_hang){ .tid = thread->tid, .since_ns = thread->since_ns };
	return true;
}

/* Keeps those that have not run since they were seen to wait, and tells of them. */
static size_t look_again(struct locked *locked, struct proc *proc, const struct frame *frame,
			 const struct row **rows, size_t n, size_t most)
{
	struct proctask_schedstat sched;
	size_t kept = 0;

	for (size_t i = 0; i < locked->n; i++) {
		const struct locked_thread *thread = &locked->all[i];
		const struct row *row =
			frame_find_living(frame, thread->tgid, thread->pid, thread->start_ns);

		if (!row || proctask_schedstat(proc, thread->tgid, thread->tid, &sched) ||
		    sched.slices != thread->slices)
			continue;
		locked->all[kept++] = *thread;
		if (n < most && tell(frame, row, thread))
			rows[n++] = row;
	}
	locked->n = kept;
	return n;
}

/* Whether a thread waits for a lock that another holds; since then it has not run. */
static bool waits_for_lock(struct locked_thread *thread, struct proc *proc)
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

/* How many threads of a row's task are followed; *is_it: whether that one is among them. */
static unsigned followed(const struct locked *locked, const struct row *row, pid_t tid, bool *is_it)
{
	unsigned n = 0;

	*is_it = false;
	for (size_t i = 0; i < locked->n; i++) {
		const struct locked_thread *thread = &locked->all[i];

		if (thread->tgid != row->raw->tgid || thread->pid != row->raw->pid)
			continue;
		*is_it |= thread->tid == tid;
		n++;
	}
	return n;
}

/* Threads that are looked at in a sample. */
struct looks {
	struct locked_thread threads[THREADS_LOOKED_AT + PROCESS_LOOKS];
	size_t n;
};

/* Takes some of a row's threads, others each time. Returns how many looks that costs. */
static unsigned take_threads(struct locked *locked, struct proc *proc, const struct row *row,
			     uint64_t sample_ns, bool threads, struct looks *looks)
{
	struct locked_thread thread = { .tgid = row->raw->tgid,
					.pid = row->raw->pid,
					.start_ns = row->task->key.start_ns,
					.since_ns = sample_ns };
	unsigned n = 1, taken = 0;
	bool known;

	if (followed(locked, row, 0, &known) >= FOLLOWED_LEAST)
		return 0;
	/* Asking for more would hang with it. */
	if (proctask_executes(proc, thread.tgid))
		return 1;
	if (!threads) {
		if (pidlist_read_threads(&locked->threads, proc->fd, thread.tgid))
			return 1;
		n = (unsigned)locked->threads.n;
	}
	for (; taken < n && taken < PROCESS_LOOKS; taken++) {
		size_t at = ((size_t)locked->turn * PROCESS_LOOKS + taken) % n;

		thread.tid = threads ? thread.pid : locked->threads.pids[at];
		followed(locked, row, thread.tid, &known);
		if (known)
			continue;
		looks->threads[looks->n++] = thread;
		procwait_prefetch(proc, thread.tgid, thread.tid);
	}
	return taken + 1;
}

/* From how many threads in how many samples in a row on a lock is contended, not just taken. */
#define CONTENDED_THREADS 2
#define CONTENDED_LOOKS 3

/* Its threads that are looked at in a sample. */
#define CONTENDED_LOOKED_AT 32

/* Counts the threads of a row's process that wait for a lock; *tid: one of them. */
static unsigned count_waiting(struct locked *locked, struct proc *proc, const struct row *row,
			      pid_t *tid)
{
	struct locked_thread thread = { .tgid = row->raw->tgid };
	unsigned n = 0;
	size_t looks;

	if (proctask_executes(proc, thread.tgid) ||
	    pidlist_read_threads(&locked->threads, proc->fd, thread.tgid))
		return 0;
	looks = locked->threads.n < CONTENDED_LOOKED_AT ? locked->threads.n : CONTENDED_LOOKED_AT;
	proc_ahead_begin(proc);
	for (size_t i = 0; i < looks; i++)
		procwait_prefetch(proc, thread.tgid, locked->threads.pids[i]);
	for (size_t i = 0; i < looks; i++) {
		thread.tid = locked->threads.pids[i];
		if (!waits_for_lock(&thread, proc))
			continue;
		*tid = thread.tid;
		n++;
	}
	return n;
}

/* Records how many threads of a row's process wait for locks. False: its row is listed already. */
static bool tell_contended(const struct frame *frame, const struct row *row, pid_t tid,
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

/* Looks at the processes in which a thread waited for a lock. */
static size_t look_at_contended(struct locked *locked, struct proc *proc, const struct frame *frame,
				const struct row **rows, size_t n, size_t most)
{
	size_t kept = 0;

	for (size_t i = 0; i < locked->ncontended; i++) {
		struct contended process = locked->contended[i];
		const struct row *row =
			frame_find_living(frame, process.tgid, process.tgid, process.start_ns);
		unsigned waiting;
		pid_t tid = 0;

		/* In one that does not run at all nothing is taken in turn. */
		if (!row || (row->interval_ns && !row->deltas->grown.run_ns))
			continue;
		waiting = count_waiting(locked, proc, row, &tid);
		if (waiting < CONTENDED_THREADS)
			continue;
		process.looks++;
		locked->contended[kept++] = process;
		if (process.looks >= CONTENDED_LOOKS && n < most &&
		    tell_contended(frame, row, tid, waiting))
			rows[n++] = row;
	}
	locked->ncontended = kept;
	return n;
}

/* Has a thread's process looked at in the samples that follow. */
static void follow_contended(struct locked *locked, const struct locked_thread *thread)
{
	size_t i = 0;

	while (i < locked->ncontended && locked->contended[i].tgid != thread->tgid)
		i++;
	if (i == locked->ncontended && i < CONTENDED_MAX)
		locked->contended[locked->ncontended++] =
			(struct contended){ .tgid = thread->tgid, .start_ns = thread->start_ns };
}

/* Whether a row may have threads that wait for one another. */
static bool has_others(const struct row *row, bool threads)
{
	if (threads)
		return row->raw->tgid != row->raw->pid;
	return !row->raw->single && row->raw->now.threads > 1;
}

/* Looks at the rows whose turn it is. */
static void look_on(struct locked *locked, struct proc *proc, const struct frame *frame)
{
	size_t living = frame_living(frame), at = frame_from(frame, locked->next), passed;
	bool threads = frame->info->threads;
	struct looks looks = { .n = 0 };
	unsigned cost = 0;

	if (at == living)
		at = 0;
	proc_ahead_begin(proc);
	for (passed = 0; passed < living && passed < PASSED_MAX; passed++) {
		const struct row *row = &frame->rows[at];

		if (cost >= THREADS_LOOKED_AT || locked->n == LOCKED_MAX)
			break;
		at = at + 1 < living ? at + 1 : 0;
		if (has_others(row, threads))
			cost += take_threads(locked, proc, row, frame->info->cur->end_ns, threads,
					     &looks);
	}
	for (size_t i = 0; i < looks.n && locked->n < LOCKED_MAX; i++) {
		if (!waits_for_lock(&looks.threads[i], proc))
			continue;
		locked->all[locked->n++] = looks.threads[i];
		if (!threads)
			follow_contended(locked, &looks.threads[i]);
	}
	if (living)
		locked->next = raw_order(frame->rows[at].raw);
	locked->turn++;
}

size_t locked_find(struct locked *locked, struct proc *proc, const struct frame *frame,
		   const struct row **rows, size_t n, size_t most)
{
	n = look_again(locked, proc, frame, rows, n, most);
	n = look_at_contended(locked, proc, frame, rows, n, most);
	look_on(locked, proc, frame);
	return n;
}

void locked_free(struct locked *locked)
{
	pidlist_free(&locked->threads);
	*locked = (struct locked){ 0 };
}
