/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of the rows that pass: threads below their process, processes below their parent,
 * cgroups below the group above. A task's row stands for a branch, too: it and all below it, each
 * counted once. (The rows of a tree of groups have taken in those below already: see group.h.)
 */
#ifndef STALLTOP_VIEW_TREE_H
#define STALLTOP_VIEW_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "view/query.h"

/* No row there. */
#define NO_ROW SIZE_MAX

/* A row's place, by indexes of the frame's rows. */
struct tree_node {
	bool in; /* passes the filters */
	size_t parent, first, last, next; /* NO_ROW: there is none */
	size_t at; /* in the order: its branch begins there */
	struct branch *branch; /* NULL: nothing is below it, or it is a group's */
};

/* The memory of a tree, kept from frame to frame. Zero-initialised it is empty. */
struct tree {
	struct tree_node *nodes; /* parallel to the frame's rows */
	size_t cap;
	struct branch *branches; /* of the rows with something below */
	size_t branches_cap;
	const struct row **rows; /* scratch: the order to be, and the sort values of its rows */
	struct value *values;
};

/* Starts with the rows that pass: all are roots. */
void tree_start(struct tree *tree, const struct frame *frame, const struct order *order);

/* The index of a task's row that passes, or NO_ROW. start_ns 0: whoever has the pid. */
size_t tree_find(const struct tree *tree, const struct frame *frame, pid_t tgid, pid_t pid,
		 uint64_t start_ns);

/*
 * Makes the tree of an order that query_run() answered `query` with, and brings that into the
 * tree's: each row before what is below it. Brothers are sorted by what their branches come to;
 * with `held` they stay as they were.
 */
void tree_build(struct tree *tree, const struct query *query, const struct view *view, bool held,
		struct order *order);

/*
 * What the row at that index stands for while all below it is folded away: a sum, whose names and
 * ids are the row's own. NULL: nothing is below it, or it is a group's row. Valid until the order
 * changes.
 */
const struct row *tree_branch(const struct tree *tree, size_t index);

void tree_free(struct tree *tree);

#endif
