/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A query of a frame: which rows, in which order, how many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/pattern.h"
#include "base/util.h"
#include "model/group.h"
#include "view/column.h"

/* From then on a wait for a CPU counts as hanging. */
#define QUERY_HANG_NS NSEC_PER_SEC

struct query {
	const struct column *sort; /* NULL: the frame's order */
	bool descending;
	struct pattern *match; /* of name or command line; NULL: all */
	uid_t *users; /* NULL: all */
	size_t nusers;
	double over_ms; /* more total delay than this; negative: all */
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
