/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A query of a frame: which rows, in which order, how many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/pattern.h"
#include "base/util.h"
#include "frame/frame.h"
#include "frame/group.h"
#include "view/column.h"

/* From then on a wait for a CPU counts as hanging. */
#define QUERY_HANG_NS NSEC_PER_SEC

struct query {
	const struct column *sort; /* NULL: the frame's order */
	bool descending;
	struct pattern *match; /* of name or command line; NULL: all */
	uid_t *users; /* NULL: all */
	size_t nusers;
	double over_ms; /* more total wait than this; negative: all */
	bool active; /* with any delay, run time or exit in the interval */
	/* In uninterruptible sleep; or QUERY_HANG_NS in a wait for a CPU, or kept in a call. */
	bool hangs;
	bool no_exited; /* without those of exited tasks */
	const char *below; /* only tasks of a cgroup at or below that path; NULL: all */
	bool within; /* only members of the group of that name: */
	enum group_by within_by;
	const char *within_name; /* raw bytes; NULL: tasks whose group is not known */
	size_t rows; /* at most; 0: all */
	bool no_rows; /* none, nor anything that is made of rows */
};

/* The answer. Rows point into the frame; kept from frame to frame to reuse its memory. */
struct order {
	const struct row **rows;
	size_t n; /* after the limit */
	size_t passed; /* rows that passed the filters, before the limit */
	size_t ranked; /* descending: those before the ones whose value is 0 or not known */
	bool life; /* asked for: the sum's counters since the start, which are unknown otherwise */
	struct row sum; /* over all that passed */
	struct deltas sum_deltas;
	struct task_raw sum_raw;
	struct key *keys; /* scratch: rows that must be sorted */
	const struct row **zeros, **unset; /* scratch: rows that need no sorting */
	size_t cap;
};

/* Whether anything happened to the row in the interval. What is not known might have. */
bool query_is_active(const struct row *row);

/* Whether there is no filter. */
bool query_takes_all(const struct query *query);

/* Answers the query. Equal rows stay in the frame's order, unset values come last. */
void query_run(const struct query *query, const struct view *view, struct order *order);

/*
 * Makes room for so many rows in an answer that the caller fills, as with rows that belong to no
 * frame; then sorts them like query_run(), where all pass.
 */
void order_reserve(struct order *order, size_t n);
void query_order(const struct query *query, const struct view *view, struct order *order);

/* Sorts the answer again like query_run(), by values parallel to its rows. */
void query_sort(struct order *order, const struct value *values, bool descending);

/* The NEED_ bits of every task that the sort field and the filters need. */
unsigned query_needs(const struct query *query, enum unit unit);

/* Whether a task's name or command line, where known, matches. */
bool query_matches(struct pattern *pattern, const struct task *task);

/*
 * Whether a task passes the filters that do not depend on its figures, and so belongs to its group.
 * `query` is a struct query: see struct grouping_options.
 */
bool query_takes(const void *query, const struct row *row);

void order_free(struct order *order);

/*
 * Tasks that only idle: nothing happened to them in the interval. A screen folds those for which it
 * has no line, and all such threads of the kernel, into one line.
 */

/* A fold of an order's rows. */
struct idle_fold {
	struct order *order;
	/* Rows that stay in any case: that of `keep`, and those that keeps (or NULL) is true of. */
	struct task_key keep;
	bool (*keeps)(const void *arg, const struct row *row);
	const void *arg;
	size_t tasks, threads; /* folded: idle tasks, and idle threads of the kernel */
	bool of_threads; /* rows are threads */
	/* Behind the ranked rows, in order->zeros: what is not folded; in order->unset: what idles.
	 */
	size_t others, left;
	size_t at, other, idle; /* how many of all, of these and of those were passed */
};

/* Whether a query's answer can be folded: of all tasks, with those first that did most. */
bool idle_folds(const struct query *query);

/*
 * Begins a fold (order, keep, keeps and arg are set), so that no more than `room` lines remain, its
 * own included; `more`: the lines besides the rows.
 */
void idle_begin(struct idle_fold *fold, const struct frame *frame, size_t room, size_t more);

/* The next row of the order that is not folded; NULL: there are no more. */
const struct row *idle_next(struct idle_fold *fold);

/* Appends what is folded, in words; nothing where nothing is. */
void idle_append(const struct idle_fold *fold, struct buf *out);

/* Which rows are threads of the kernel, by their parent. */

/* Whether a frame of tasks, in order of their pids, has the parent of the kernel's threads. */
bool kthreads_shown(const struct frame *frame);

/* Whether a row of a frame that has it is a thread of the kernel. */
bool kthread_row(const struct row *row);
