/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/server_waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "data/wait_state.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/symbols.h"

/* Tasks checked at a time. */
#define LOOKS_MAX 32

/* Time spent on tasks asleep since before the first sample: in it, and in later ones. */
#define FIRST_LOOKS_NS (40 * NSEC_PER_MSEC)
#define LOOKS_NS (2 * NSEC_PER_MSEC)

/* True if a row's task has slept since it was queued. */
static bool sleeps_since(const struct row *row, const struct server_waiter *task)
{
	char state = row->raw->now.state;

	return row->raw->counters.run_ns == task->run_ns && (!state || state == 'S');
}

/* Sockets and terminals sleep in this function: only its caller shows why. */
#define WOKEN "wait_woken"

/* The kernel function in which a task sleeps; NULL: unknown. */
static const char *sleep_function(struct server_waits *waits, struct proc *proc,
				  const struct server_waiter *task)
{
	const struct procwait_stack *stack = &waits->stack;
	size_t telling;

	waits->text.len = 0;
	if (proctask_wchan(proc, task->tgid, task->pid, &waits->text) || !waits->text.len)
		return NULL;
	if (strcmp(buf_cstr(&waits->text), WOKEN) != 0 ||
	    procwait_stack(proc, task->tgid, task->pid, &waits->stack))
		return buf_cstr(&waits->text);
	telling = symbols_telling(stack->functions, stack->n);
	waits->text.len = 0;
	if (telling < stack->n)
		buf_add(&waits->text, stack->functions[telling],
			symbol_length(stack->functions[telling]));
	return buf_cstr(&waits->text);
}

/* True if a task sleeps until a server answers, or a peer takes sent data. */
static bool waits_for_other(struct server_waits *waits, struct proc *proc,
			    const struct server_waiter *task)
{
	const char *function = sleep_function(waits, proc, task);

	return wait_for_server(function) || wait_for_taker(function);
}

/* A sleeping row's task. */
static struct server_waiter sleeper_of(const struct row *row)
{
	return (struct server_waiter){ .tgid = row->raw->tgid,
				       .pid = row->raw->pid,
				       .start_ns = row->task->key.start_ns,
				       .run_ns = row->raw->counters.run_ns,
				       .since_ns = row->raw->read_ns };
}

/* True if a row is a kernel thread: their parent is kthreadd. */
static bool is_kernel_row(const struct row *row)
{
	return row->task->ppid == 2 || row->raw->pid == 2;
}

/*
 * Checks up to LOOKS_MAX sleeping tasks. Those hung within execve(), in closing a file, have no
 * readable function.
 */
static void look_at(struct server_waits *waits, struct proc *proc,
		    const struct server_waiter *tasks, size_t n)
{
	bool executes[LOOKS_MAX];

	proc_prefetch_begin(proc);
	for (size_t i = 0; i < n; i++) {
		executes[i] = proctask_executes(proc, tasks[i].tgid);
		if (!executes[i])
			proctask_prefetch(proc, tasks[i].tgid, tasks[i].pid, PROCTASK_WCHAN);
	}
	for (size_t i = 0; i < n && waits->nwaiters < SERVER_WAITS_MAX; i++)
		if (executes[i] || waits_for_other(waits, proc, &tasks[i]))
			waits->waiters[waits->nwaiters++] = tasks[i];
}

/*
 * Checks tasks that ran in the last interval but not in this one. Tasks not reached in time stay
 * queued.
 */
static void look_at_recent(struct server_waits *waits, struct proc *proc, const struct frame *frame)
{
	struct server_waiter tasks[LOOKS_MAX];
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < waits->n; i++) {
		const struct server_waiter *task = &waits->recent[i];
		const struct row *row =
			frame_find_living(frame, task->tgid, task->pid, task->start_ns);

		/* A task that ran again is queued again. */
		if (!row || !sleeps_since(row, task))
			continue;
		if (n == LOOKS_MAX)
			waits->recent[kept++] = *task;
		else
			tasks[n++] = *task;
	}
	waits->n = kept;
	look_at(waits, proc, tasks, n);
}

/*
 * Checks tasks asleep since before the first sample, as many as time permits: a user who starts the
 * program when something hangs wants to see it soon, and after that it costs nothing.
 */
static void look_at_old(struct server_waits *waits, struct proc *proc, const struct frame *frame)
{
	size_t living = frame_living(frame);
	uint64_t most_ns = waits->scanned ? LOOKS_NS : FIRST_LOOKS_NS, end_ns = 0;

	while (waits->scanned < living && (!end_ns || clock_ns(CLOCK_MONOTONIC) < end_ns)) {
		struct server_waiter tasks[LOOKS_MAX];
		size_t n = 0;

		if (!end_ns)
			end_ns = clock_ns(CLOCK_MONOTONIC) + most_ns;
		for (; waits->scanned < living && n < LOOKS_MAX; waits->scanned++) {
			const struct row *row = &frame->rows[waits->scanned];

			tasks[n] = sleeper_of(row);
			n += !is_kernel_row(row) && sleeps_since(row, &tasks[n]) &&
			     !row->deltas->grown.run_ns;
		}
		look_at(waits, proc, tasks, n);
	}
}

/* Queues tasks that ran in the interval, to be checked when they have not. */
static void note_recent(struct server_waits *waits, const struct frame *frame)
{
	const struct sample *cur = frame->info->cur;
	size_t living = frame_living(frame);

	for (size_t i = sample_next_changed(cur, 0); i < living;
	     i = sample_next_changed(cur, i + 1)) {
		const struct row *row = &frame->rows[i];

		if (row->unchanged || row->exited || is_kernel_row(row) ||
		    (row->interval_ns && !row->deltas->grown.run_ns))
			continue;
		GROW(waits->recent, waits->n, waits->cap);
		waits->recent[waits->n++] = sleeper_of(row);
	}
}

/* Reports tasks that still wait for a server. */
static size_t report_waiters(struct server_waits *waits, const struct frame *frame,
			     const struct row **rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < waits->nwaiters; i++) {
		const struct server_waiter *task = &waits->waiters[i];
		const struct row *row =
			frame_find_living(frame, task->tgid, task->pid, task->start_ns);

		if (!row || !sleeps_since(row, task))
			continue;
		sample_add_extra(frame->info->cur, row->place)->hang =
			(struct task_hang){ .tid = task->pid, .since_ns = task->since_ns };
		waits->waiters[kept] = *task;
		rows[kept++] = row;
	}
	waits->nwaiters = kept;
	return kept;
}

size_t server_waits_find(struct server_waits *waits, struct proc *proc, const struct frame *frame,
			 const struct row **rows)
{
	look_at_recent(waits, proc, frame);
	look_at_old(waits, proc, frame);
	note_recent(waits, frame);
	return report_waiters(waits, frame, rows);
}

void server_waits_free(struct server_waits *waits)
{
	free(waits->recent);
	procwait_stack_free(&waits->stack);
	buf_free(&waits->text);
	*waits = (struct server_waits){ 0 };
}
