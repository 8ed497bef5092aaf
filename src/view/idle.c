/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/idle.h"

#include <string.h>

#include "base/util.h"

/* The pid of kthreadd, the parent of all threads of the kernel. */
#define KTHREADD 2

/* Whether that is the kernel's kthreadd: in a container its pid may be anybody's. */
static bool is_kthreadd(const struct row *row)
{
	return row->task && row->task->key.pid == KTHREADD && !row->task->ppid &&
	       !strcmp(row->task->comm, "kthreadd");
}

bool kthreads_shown(const struct frame *frame)
{
	/* Only init's threads come before it. */
	for (size_t i = 0; i < frame->n && frame->rows[i].task->tgid <= KTHREADD; i++)
		if (is_kthreadd(&frame->rows[i]))
			return true;
	return false;
}

bool kthread_row(const struct row *row)
{
	return row->task && (row->task->tgid == KTHREADD || row->task->ppid == KTHREADD);
}

/* Whether the task of a row only idles, as far as it is known. */
static bool idle_row(const struct row *row)
{
	if (row->exited || !row->valid || query_is_active(row))
		return false;
	return !waits_in_d(&row->raw->now.waits);
}

bool idle_folds(const struct query *query)
{
	struct query others = *query;

	/* Rows of ended tasks are not idle. */
	others.no_exited = false;
	return query->descending && !query->rows && query_takes_all(&others);
}

/* Whether a row is a thread of the kernel. */
static bool is_of_kernel(const struct idle_fold *fold, const struct row *row)
{
	return fold->kernel && kthread_row(row);
}

/* Whether a row could be folded: it idles, and its place is at the end of the order. */
static bool can_fold(const struct idle_fold *fold, size_t index)
{
	const struct row *row = fold->order->rows[index];

	return index >= fold->order->ranked && row->task && idle_row(row) &&
	       !fold->keeps(fold->arg, row);
}

void idle_begin(struct idle_fold *fold, const struct frame *frame, size_t room, size_t more)
{
	size_t lines = more, idle = 0, kernel = 0;

	fold->tasks = fold->threads = 0;
	fold->of_threads = frame->info->threads;
	fold->kernel = kthreads_shown(frame);
	for (size_t i = 0; i < fold->order->n; i++) {
		if (!can_fold(fold, i))
			lines++;
		else if (is_of_kernel(fold, fold->order->rows[i]))
			kernel++;
		else
			idle++;
	}
	if (lines + idle + (kernel != 0) <= room)
		fold->left = idle;
	else
		fold->left = room > lines + 1 ? room - lines - 1 : 0;
}

bool idle_takes(struct idle_fold *fold, size_t index)
{
	if (!can_fold(fold, index))
		return false;
	if (is_of_kernel(fold, fold->order->rows[index])) {
		fold->threads++;
		return true;
	}
	if (!fold->left) {
		fold->tasks++;
		return true;
	}
	fold->left--;
	return false;
}

void idle_append(const struct idle_fold *fold, struct buf *out)
{
	const char *one = fold->of_threads ? "thread" : "task";
	const char *many = fold->of_threads ? "threads" : "tasks";

	if (fold->tasks)
		buf_printf(out, "%zu idle %s", fold->tasks, plural(fold->tasks, one, many));
	if (fold->tasks && fold->threads)
		buf_puts(out, " and ");
	if (fold->threads)
		buf_printf(out, "%zu idle %s", fold->threads,
			   plural(fold->threads, "kernel thread", "kernel threads"));
}
