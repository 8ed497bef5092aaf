/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks that only idle: nothing happened to them in the interval. A screen folds those for which it
 * has no line, and all such threads of the kernel, into one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/frame.h"
#include "view/query.h"

/* A fold of an order's rows. */
struct idle_fold {
	const struct order *order;
	bool of_threads; /* rows are threads */
	bool kernel; /* the kernel's threads can be told from others */
	size_t left; /* idle tasks that are to be shown yet */
	size_t tasks, threads; /* folded: idle tasks, and idle threads of the kernel */
	/* Says which rows stay in any case. */
	bool (*keeps)(const void *arg, const struct row *row);
	const void *arg;
};

/* Whether a query's answer can be folded: of all tasks, with those first that did most. */
bool idle_folds(const struct query *query);

/*
 * Begins a fold (order, keeps and arg are set), so that no more than `room` lines remain, its own
 * included; `more`: the lines besides the rows.
 */
void idle_begin(struct idle_fold *fold, const struct frame *frame, size_t room, size_t more);

/* Whether the row at that index of the order is folded; to be asked of each once, in turn. */
bool idle_takes(struct idle_fold *fold, size_t index);

/* Appends what is folded, in words; nothing where nothing is. */
void idle_append(const struct idle_fold *fold, struct buf *out);

/* Which rows are threads of the kernel, by their parent. */

/* Whether a frame of tasks, in order of their pids, has the parent of the kernel's threads. */
bool kthreads_shown(const struct frame *frame);

/* Whether a row of a frame that has it is a thread of the kernel. */
bool kthread_row(const struct row *row);
