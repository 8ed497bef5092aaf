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

/* From this age on a wait for a CPU counts as hanging. */
#define QUERY_HANG_NS NSEC_PER_SEC

struct query {
	const struct column *sort; /* NULL: the frame's order */
	bool descending;
	struct pattern *match; /* of name or command line; NULL: all */
	uid_t *users; /* NULL: all */
	size_t nusers;
	double over_ms; /* more total wait than this; negative: all */
	bool active; /* with any delay, run time or exit in the interval */
	/* In uninterruptible sleep; or QUERY_HANG_NS in a wait for a CPU, or blocked in a call. */
	bool hangs;
	bool no_exited; /* without those of exited tasks */
	const char *below; /* only tasks of a cgroup at or below that path; NULL: all */
	bool within; /* only members of the group of that name: */
	enum group_by within_by;
	const char *within_name; /* raw bytes; NULL: tasks without a known group */
	size_t rows; /* at most; 0: all */
	bool no_rows; /* none, nor data made from rows */
};

/* The answer. Rows point into the frame; its memory is reused. */
struct order {
	const struct row **rows;
	size_t n; /* after the limit */
	size_t passed; /* rows that passed the filters, before the limit */
	size_t ranked; /* descending: those before the ones whose value is 0 or unknown */
	bool life; /* wanted: the sum's counters since start, which are unknown otherwise */
	struct row sum; /* over all rows that passed */
	struct deltas sum_deltas;
	struct task_raw sum_raw;
	struct key *keys; /* scratch: rows that must be sorted */
	const struct row **zeros, **unset; /* scratch: rows that need no sorting */
	size_t cap;
};

/* True if anything happened to the row in the interval. Unknown counts as possible. */
bool query_is_active(const struct row *row);

/* True if there is no filter. */
bool query_takes_all(const struct query *query);

/* Answers the query. Equal rows stay in the frame's order, unset values come last. */
void query_run(const struct query *query, const struct view *view, struct order *order);

/*
 * Makes room for so many rows in an answer filled by the caller, such as rows of no frame; then
 * sorts them like query_run(), where all pass.
 */
void order_reserve(struct order *order, size_t n);
void query_order(const struct query *query, const struct view *view, struct order *order);

/* Sorts the answer again like query_run(), by values parallel to its rows. */
void query_sort(struct order *order, const struct value *values, bool descending);

/* The NEED_ bits of every task for the sort field and the filters. */
unsigned query_needs(const struct query *query, enum unit unit);

/* True if a task's name or command line, if known, matches. */
bool query_matches(struct pattern *pattern, const struct task *task);

/*
 * True if a task passes the filters that do not depend on its figures, and so belongs to its group.
 * `query` is a struct query: see struct grouping_options.
 */
bool query_takes(const void *query, const struct row *row);

void order_free(struct order *order);

/*
 * Idle tasks: nothing happened to them in the interval. A screen folds those for which it has no
 * line, and all idle kernel threads, into one line.
 */

/* A fold of an order's rows. */
struct idle_fold {
	struct order *order;
	/* Rows that always stay: that of `keep`, and those for which keeps (or NULL) is true. */
	struct task_key keep;
	bool (*keeps)(const void *arg, const struct row *row);
	const void *arg;
	size_t tasks, threads; /* folded: idle tasks, and idle kernel threads */
	bool of_threads; /* rows are threads */
	/* After the ranked rows, in order->zeros: those not folded; in order->unset: idle ones. */
	size_t others, left;
	size_t at, other, idle; /* number skipped: of all, of these and of those */
};

/* True if a query's answer can be folded: all tasks, most active first. */
bool idle_folds(const struct query *query);

/*
 * Starts a fold (order, keep, keeps and arg are set), so that at most `room` lines remain,
 * including its own; `more`: the lines besides the rows.
 */
void idle_begin(struct idle_fold *fold, const struct frame *frame, size_t room, size_t more);

/* The next unfolded row of the order; NULL: there are no more. */
const struct row *idle_next(struct idle_fold *fold);

/* Appends what is folded, in words; nothing if nothing is. */
void idle_append(const struct idle_fold *fold, struct buf *out);

/* Which rows are kernel threads, by their parent. */

/* True if a frame of tasks, in order of their pids, contains kthreadd. */
bool kthreads_shown(const struct frame *frame);

/* True if a row of a frame that contains it is a kernel thread. */
bool kthread_row(const struct row *row);
