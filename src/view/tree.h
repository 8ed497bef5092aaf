/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of the rows that pass: threads below their process, processes below their parent,
 * cgroups below the group above. A task's row also represents its branch: the row and all rows
 * below it, each counted once. (Rows of a tree of groups already include the groups below: see
 * group.h.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "view/query.h"

/* No row there. */
#define NO_ROW SIZE_MAX

/* A row's place, as indexes of the frame's rows. */
struct tree_node {
	bool in; /* the row passes the filters */
	size_t parent, first, last, next; /* NO_ROW: there is none */
	size_t at; /* the start of its branch in the order */
	struct branch *branch; /* NULL: nothing is below the row, or it is a group's */
};

/* The memory of a tree, reused from frame to frame. Zero-initialised: empty. */
struct tree {
	struct tree_node *nodes; /* parallel to the frame's rows */
	size_t cap;
	struct branch *branches; /* of the rows with rows below */
	size_t branches_cap;
	const struct row **rows; /* scratch: the next order, and the sort values of its rows */
	struct value *values;
};

/* Starts with the rows that pass: all are roots. */
void tree_start(struct tree *tree, const struct frame *frame, const struct order *order);

/* The index of a task's row that passes, or NO_ROW. start_ns 0: any task with that pid. */
size_t tree_find(const struct tree *tree, const struct frame *frame, pid_t tgid, pid_t pid,
		 uint64_t start_ns);

/*
 * Makes the tree of an order in which query_run() answered `query`, and sorts the order as the
 * tree: each row before the rows below it. Siblings are sorted by their branches' values; with
 * `held` they keep their places.
 */
void tree_build(struct tree *tree, const struct query *query, const struct view *view, bool held,
		struct order *order);

/*
 * The sum shown by the row at that index while the rows below it are folded; names and
 * ids are the row's own. NULL: nothing is below it, or it is a group's row. Valid until the order
 * changes.
 */
const struct row *tree_branch(const struct tree *tree, size_t index);

void tree_free(struct tree *tree);
