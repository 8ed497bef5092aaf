/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/stuck.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "data/wait_class.h"
#include "kernel/proctask.h"

/* Tasks that are looked at in a sample. */
#define LOOKS_MAX 32

/* Whether a row's task sleeps, and has since it was noted. */
static bool sleeps_since(const struct row *row, const struct stuck_task *task)
{
	char state = row->raw->now.state;

	return row->raw->counters.run_ns == task->run_ns && (!state || state == 'S');
}

/*
 * Whether the kernel's function in which a task sleeps waits for a server; or it hangs within
 * execve(), in closing a file: then its function cannot be read.
 */
static bool waits_for_server(struct stuck *stuck, struct proc *proc, const struct stuck_task *task)
{
	stuck->text.len = 0;
	if (proctask_executes(proc, task->tgid))
		return true;
	return !proctask_wchan(proc, task->tgid, task->pid, &stuck->text) && stuck->text.len &&
	       wait_for_server(buf_cstr(&stuck->text));
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

/* Looks at a task that sleeps on. */
static void judge_sleeper(struct stuck *stuck, struct proc *proc, const struct stuck_task *task)
{
	if (stuck->nstuck < STUCK_MAX && waits_for_server(stuck, proc, task))
		stuck->stuck[stuck->nstuck++] = *task;
}

/* Looks at tasks that ran before and do not now. Those left over for want of time stay. */
static unsigned look_at_recent(struct stuck *stuck, struct proc *proc, const struct frame *frame)
{
	unsigned looks = 0;
	size_t kept = 0;

	for (size_t i = 0; i < stuck->n; i++) {
		const struct stuck_task *task = &stuck->recent[i];
		const struct row *row =
			frame_find_living(frame, task->tgid, task->pid, task->start_ns);

		/* A task that ran again is noted again. */
		if (!row || !sleeps_since(row, task))
			continue;
		if (looks == LOOKS_MAX) {
			stuck->recent[kept++] = *task;
			continue;
		}
		looks++;
		judge_sleeper(stuck, proc, task);
	}
	stuck->n = kept;
	return looks;
}

/* Looks at tasks that slept before the first sample, some in each. */
static void look_at_old(struct stuck *stuck, struct proc *proc, const struct frame *frame,
			unsigned looks)
{
	for (; stuck->scanned < frame_living(frame) && looks < LOOKS_MAX; stuck->scanned++) {
		const struct row *row = &frame->rows[stuck->scanned];
		struct stuck_task task = stuck_of(row);

		if (is_kernel_row(row) || !sleeps_since(row, &task) || row->deltas->grown.run_ns)
			continue;
		looks++;
		judge_sleeper(stuck, proc, &task);
	}
}

/* Notes those that ran in the interval, to be looked at when they have not. */
static void note_recent(struct stuck *stuck, const struct frame *frame)
{
	for (size_t i = 0; i < frame_living(frame); i++) {
		const struct row *row = &frame->rows[i];

		if (row->still || row->exited || is_kernel_row(row) ||
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
		row->raw->task->hang = (struct task_hang){ .sample_ns = frame->info->cur->begin_ns,
							   .tid = task->pid,
							   .since_ns = task->since_ns };
		stuck->stuck[kept] = *task;
		rows[kept++] = row;
	}
	stuck->nstuck = kept;
	return kept;
}

size_t stuck_find(struct stuck *stuck, struct proc *proc, const struct frame *frame,
		  const struct row **rows)
{
	unsigned looks = look_at_recent(stuck, proc, frame);

	look_at_old(stuck, proc, frame, looks);
	note_recent(stuck, frame);
	return tell_stuck(stuck, frame, rows);
}

void stuck_free(struct stuck *stuck)
{
	free(stuck->recent);
	buf_free(&stuck->text);
	*stuck = (struct stuck){ 0 };
}
