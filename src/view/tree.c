/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The sum of a row and all rows below it. */
struct branch {
	struct row sum;
	struct deltas deltas;
	struct task_raw raw;
	struct group group; /* with the members that columns need */
};

/* The index of a row. */
static size_t index_of(const struct frame *frame, const struct row *row)
{
	return (size_t)(row - frame->rows);
}

/* Makes room for a frame of n rows. */
static void reserve_nodes(struct tree *tree, size_t n)
{
	if (n <= tree->cap && tree->nodes)
		return;
	tree->cap = n * 2 + 1;
	tree->nodes = xreallocarray(tree->nodes, tree->cap, sizeof(*tree->nodes));
	tree->rows = xreallocarray(tree->rows, tree->cap, sizeof(*tree->rows));
	tree->values = xreallocarray(tree->values, tree->cap, sizeof(*tree->values));
}

void tree_start(struct tree *tree, const struct frame *frame, const struct order *order)
{
	reserve_nodes(tree, frame->n);
	for (size_t i = 0; i < frame->n; i++)
		tree->nodes[i] = (struct tree_node){
			.parent = NO_ROW, .first = NO_ROW, .last = NO_ROW, .next = NO_ROW
		};
	for (size_t i = 0; i < order->n; i++)
		tree->nodes[index_of(frame, order->rows[i])].in = true;
}

size_t tree_find(const struct tree *tree, const struct frame *frame, pid_t tgid, pid_t pid,
		 uint64_t start_ns)
{
	const struct sample *cur = frame->info->cur;
	size_t index = sample_place(cur, tgid, pid);

	if (index == NO_PLACE || !tree->nodes[index].in ||
	    (start_ns && cur->raw[index]->task->key.start_ns != start_ns))
		return NO_ROW;
	return index;
}

/* The parent group, or the nearest one above that passes. */
static size_t group_above(const struct tree *tree, const struct frame *frame,
			  const struct group *group)
{
	while (group->parent != NO_GROUP && !tree->nodes[group->parent].in)
		group = frame->rows[group->parent].group;
	return group->parent == NO_GROUP ? NO_ROW : group->parent;
}

/* The row's parent: a thread's is its process, a process's its parent process. */
static size_t parent_row(const struct tree *tree, const struct frame *frame, const struct row *row)
{
	const struct task *task = row->task;
	pid_t pid = task->key.pid != task->tgid ? task->tgid : task->ppid;
	size_t index = tree_find(tree, frame, pid, pid, 0);
	uint64_t start_ns;

	if (index == NO_ROW)
		return NO_ROW;
	/* A later start means a reused pid: no parent. The order rules out cycles, too. */
	start_ns = frame->rows[index].task->key.start_ns;
	if (start_ns > task->key.start_ns ||
	    (start_ns == task->key.start_ns && &frame->rows[index] >= row))
		return NO_ROW;
	return index;
}

/* Links the rows that pass; siblings keep the order's order. */
static void link_rows(struct tree *tree, const struct frame *frame, const struct order *order)
{
	tree_start(tree, frame, order);
	for (size_t i = 0; i < order->n; i++) {
		const struct row *row = order->rows[i];
		size_t index = index_of(frame, row);
		struct tree_node *node = &tree->nodes[index], *parent;

		node->parent = row->group ? group_above(tree, frame, row->group)
					  : parent_row(tree, frame, row);
		if (node->parent == NO_ROW)
			continue;
		parent = &tree->nodes[node->parent];
		if (parent->first == NO_ROW)
			parent->first = index;
		else
			tree->nodes[parent->last].next = index;
		parent->last = index;
	}
}

/* Appends a branch's rows, without recursion: a branch may be as deep as there are rows. */
static size_t append_branch(struct tree *tree, const struct frame *frame, size_t root, size_t n)
{
	struct tree_node *nodes = tree->nodes;
	size_t at = root;

	for (;;) {
		nodes[at].at = n;
		tree->rows[n++] = &frame->rows[at];
		if (nodes[at].first != NO_ROW) {
			at = nodes[at].first;
			continue;
		}
		while (at != root && nodes[at].next == NO_ROW)
			at = nodes[at].parent;
		if (at == root)
			return n;
		at = nodes[at].next;
	}
}

/* Links the rows and arranges them in the tree's order. */
static void grow(struct tree *tree, const struct frame *frame, struct order *order)
{
	size_t n = 0;

	link_rows(tree, frame, order);
	for (size_t i = 0; i < order->n; i++) {
		size_t index = index_of(frame, order->rows[i]);

		if (tree->nodes[index].parent == NO_ROW)
			n = append_branch(tree, frame, index, n);
	}
	if (n)
		memcpy(order->rows, tree->rows, n * sizeof(*order->rows));
}

/* The node of a row of the order. */
static struct tree_node *node_at(const struct tree *tree, const struct frame *frame,
				 const struct order *order, size_t i)
{
	return &tree->nodes[index_of(frame, order->rows[i])];
}

/* Makes room for a branch per row with rows below it. */
static void reserve_branches(struct tree *tree, const struct frame *frame,
			     const struct order *order)
{
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++)
		n += node_at(tree, frame, order, i)->first != NO_ROW;
	RESERVE(tree->branches, n, tree->branches_cap);
}

/* Starts the sum of a branch with its first row. */
static void start_branch(struct branch *branch, const struct frame *frame,
			 const struct order *order, size_t i)
{
	const struct row *head = order->rows[i];

	memset(branch, 0, sizeof(*branch));
	branch->group = (struct group){
		.members = &order->rows[i], .n = 1, .own = 1, .head = head, .parent = NO_GROUP
	};
	/* Since start the intervals differ between members: see query.c. */
	branch->sum =
		(struct row){ .raw = &branch->raw,
			      .deltas = &branch->deltas,
			      .group = &branch->group,
			      .interval_ns = frame->info->since_start ? frame->info->cur->begin_ns
								      : frame->info->interval_ns,
			      .exited = head->exited };
}

/* Adds a row, or a branch's sum, to a branch. */
static void add_to_branch(struct branch *branch, const struct row *row, bool life)
{
	row_add(&branch->sum, &branch->deltas, row);
	if (life)
		row_add_totals(&branch->raw.counters, row);
}

/* Sums up all branches, from the lowest to the highest. */
static void sum_branches(struct tree *tree, const struct frame *frame, const struct order *order)
{
	size_t n = 0;

	reserve_branches(tree, frame, order);
	for (size_t i = 0; i < order->n; i++) {
		struct tree_node *node = node_at(tree, frame, order, i);

		if (node->first == NO_ROW)
			continue;
		node->branch = &tree->branches[n++];
		start_branch(node->branch, frame, order, i);
		add_to_branch(node->branch, order->rows[i], order->life);
	}
	for (size_t i = order->n; i-- > 0;) {
		const struct tree_node *node = node_at(tree, frame, order, i);
		struct branch *above;

		if (node->parent == NO_ROW)
			continue;
		above = tree->nodes[node->parent].branch;
		above->group.n += node->branch ? node->branch->group.n : 1;
		add_to_branch(above, node->branch ? &node->branch->sum : order->rows[i],
			      order->life);
	}
}

/* Determines the value of each branch in a column. */
static void find_values(struct tree *tree, const struct column *column, const struct view *view,
			const struct order *order)
{
	const struct frame *frame = view->frame;

	for (size_t i = order->n; i-- > 0;)
		tree->values[i] = column_get(column, view, order->rows[i]);
	if (!column_adds(column, view)) {
		for (size_t i = 0; i < order->n; i++) {
			const struct tree_node *node = node_at(tree, frame, order, i);

			if (node->branch)
				tree->values[i] = column_get(column, view, &node->branch->sum);
		}
		return;
	}
	/* Adds up the branches' values, not all members of each branch. */
	for (size_t i = order->n; i-- > 0;) {
		const struct tree_node *node = node_at(tree, frame, order, i);

		if (node->parent != NO_ROW)
			column_add(column, view, &tree->values[tree->nodes[node->parent].at],
				   &tree->values[i]);
	}
}

void tree_build(struct tree *tree, const struct query *query, const struct view *view, bool held,
		struct order *order)
{
	const struct frame *frame = view->frame;
	bool groups = order->n && order->rows[0]->group;

	grow(tree, frame, order);
	if (groups)
		return;
	sum_branches(tree, frame, order);
	if (held || !query->sort)
		return;
	/* The sums move with their rows. */
	find_values(tree, query->sort, view, order);
	query_sort(order, tree->values, query->descending);
	grow(tree, frame, order);
	sum_branches(tree, frame, order);
}

const struct row *tree_branch(const struct tree *tree, size_t index)
{
	const struct branch *branch = tree->nodes[index].branch;

	return branch ? &branch->sum : NULL;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	free(tree->branches);
	free(tree->rows);
	free(tree->values);
	*tree = (struct tree){ 0 };
}
