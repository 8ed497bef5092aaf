/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of a frame: which rows, in which order, how many. */
#ifndef STALLTOP_VIEW_QUERY_H
#define STALLTOP_VIEW_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pattern.h"
#include "model/group.h"
#include "view/column.h"

struct query {
	const struct column *sort; /* NULL: the frame's order */
	bool descending;
	struct pattern *match; /* of name or command line; NULL: all */
	uid_t *users; /* NULL: all */
	size_t nusers;
	double over_ms; /* more total delay than this; negative: all */
	bool active; /* with any delay, run time or exit in the interval */
	bool no_exited; /* without those of exited tasks */
	const char *below; /* of a cgroup at or below that path; NULL: all */
	bool within; /* only members of the group of that name: */
	enum group_by within_by;
	const char *within_name; /* raw bytes; NULL: of those of whom it is not known */
	size_t rows; /* at most; 0: all */
};

/* The answer. Rows point into the frame; kept from frame to frame for its memory. */
struct order {
	const struct row **rows;
	size_t n; /* after the limit */
	size_t passed; /* by the filters, before the limit */
	bool life; /* asked for: the sum's counters since the start, else they are unknown */
	struct row sum; /* over all that passed */
	struct deltas sum_deltas;
	struct task_raw sum_raw;
	struct key *keys; /* scratch: of rows that must be sorted */
	const struct row **zeros, **unset; /* scratch: of those that need not be */
	size_t cap;
};

/* Answers the query. Equal rows stay in the frame's order, unset values come last. */
void query_run(const struct query *query, const struct view *view, struct order *order);

/* Sorts the answer anew, by values that lie parallel to its rows; as query_run() does. */
void query_sort(struct order *order, const struct value *values, bool descending);

/* What must be read of every task to answer it: for the sort field and the filters. */
unsigned query_needs(const struct query *query, enum unit unit);

/* Whether a task's name or command line, where that is known, match. */
bool query_matches(struct pattern *pattern, const struct task *task);

/*
 * Whether a task passes those that are not about its figures, so that it belongs to its group.
 * `query` is a struct query: see struct grouping_options.
 */
bool query_takes(const void *query, const struct row *row);

void order_free(struct order *order);

#endif
