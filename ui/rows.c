/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define NONE SIZE_MAX

/* A row's place in the tree, by indexes of rows. */
struct node {
	bool in; /* passes the filters */
	size_t parent, first, last, next;
};

/* Makes room for a frame of n rows. */
static void reserve_nodes(struct rows *rows, size_t n)
{
	if (n <= rows->nodes_cap)
		return;
	rows->nodes_cap = n * 2;
	rows->nodes = xreallocarray(rows->nodes, rows->nodes_cap, sizeof(*rows->nodes));
	rows->spare = xreallocarray(rows->spare, rows->nodes_cap, sizeof(*rows->spare));
}

/* Starts all nodes; those of rows that pass are in. */
static void start_nodes(struct rows *rows, const struct frame *frame)
{
	reserve_nodes(rows, frame->n);
	for (size_t i = 0; i < frame->n; i++)
		rows->nodes[i] =
			(struct node){ .parent = NONE, .first = NONE, .last = NONE, .next = NONE };
	for (size_t i = 0; i < rows->order.n; i++)
		rows->nodes[rows->order.rows[i] - frame->rows].in = true;
}

/* The index of a group's row that passes, or NONE. */
static size_t find_group_row(const struct rows *rows, uint64_t id)
{
	const struct row *row = group_find(&rows->grouping, id);
	size_t index = row ? (size_t)(row - rows->frame->rows) : NONE;

	return row && rows->nodes[index].in ? index : NONE;
}

/* The index of a task's row that passes, or NONE. start_ns 0: whoever has the pid. */
static size_t find_node(const struct rows *rows, const struct frame *frame, pid_t tgid, pid_t pid,
			uint64_t start_ns)
{
	const struct task_raw *raw = sample_find(frame->info->cur, tgid, pid);
	size_t index = raw ? (size_t)(raw - frame->info->cur->raw) : NONE;

	if (!raw || !rows->nodes[index].in || (start_ns && raw->task->key.start_ns != start_ns))
		return NONE;
	return index;
}

/* Brings the rows into the order held; new ones come last, sorted. */
static void apply_held(struct rows *rows, const struct frame *frame)
{
	struct order *order = &rows->order;
	size_t n = 0;

	start_nodes(rows, frame);
	for (size_t i = 0; i < rows->nheld; i++) {
		const struct place *place = &rows->held[i];
		size_t index = place->key.pid ? find_node(rows, frame, place->tgid, place->key.pid,
							  place->key.start_ns)
					      : find_group_row(rows, place->key.start_ns);

		if (index == NONE)
			continue;
		rows->nodes[index].in = false;
		rows->spare[n++] = &frame->rows[index];
	}
	for (size_t i = 0; i < order->n; i++)
		if (rows->nodes[order->rows[i] - frame->rows].in)
			rows->spare[n++] = order->rows[i];
	memcpy(order->rows, rows->spare, n * sizeof(*order->rows));
}

/* Remembers the order. */
static void hold(struct rows *rows)
{
	const struct order *order = &rows->order;

	if (rows->held_cap < order->n) {
		rows->held_cap = order->n * 2;
		rows->held = xreallocarray(rows->held, rows->held_cap, sizeof(*rows->held));
	}
	for (size_t i = 0; i < order->n; i++) {
		const struct row *row = order->rows[i];

		rows->held[i] = (struct place){ .key = row_key(row),
						.tgid = row->task ? row->task->tgid : 0 };
	}
	rows->nheld = order->n;
}

/* How far a row is unfolded. */
static enum fold fold_of(const struct rows *rows, const struct row *row)
{
	struct task_key key = row_key(row);

	for (size_t i = 0; i < rows->nfolds; i++)
		if (rows->folds[i].key.pid == key.pid &&
		    rows->folds[i].key.start_ns == key.start_ns)
			return rows->folds[i].fold;
	return rows->fold_all;
}

/* Appends a line. */
static void add_item(struct rows *rows, const struct item *item)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? rows->cap * 2 : 256;
		rows->items = xreallocarray(rows->items, rows->cap, sizeof(*rows->items));
	}
	rows->items[rows->n++] = *item;
}

/* Appends a row's line, and its threads' where they are unfolded. */
static void add_row_item(struct rows *rows, const struct frame *frame, const struct row *row,
			 unsigned depth, bool more)
{
	struct item item = { .row = row, .frame = frame, .depth = depth, .more = more };

	add_item(rows, &item);
	if (!rows->threads.frame || row->group || fold_of(rows, row) != FOLD_THREADS)
		return;
	item = (struct item){ .frame = rows->threads.frame, .depth = depth + 1, .thread = true };
	for (size_t i = 0; i < rows->thread_order.n; i++) {
		item.row = rows->thread_order.rows[i];
		if (item.row->task->tgid == row->task->key.pid)
			add_item(rows, &item);
	}
}

/* The group above, or the nearest above that which passes. */
static size_t group_above(const struct rows *rows, const struct group *group)
{
	while (group->parent != NO_GROUP && !rows->nodes[group->parent].in)
		group = rows->frame->rows[group->parent].group;
	return group->parent == NO_GROUP ? NONE : group->parent;
}

/* The row's parent: a thread's is its process, a process's the one that it names. */
static size_t parent_row(const struct rows *rows, const struct frame *frame, const struct row *row)
{
	const struct task *task = row->task;
	pid_t pid = task->key.pid != task->tgid ? task->tgid : task->ppid;
	size_t index = find_node(rows, frame, pid, pid, 0);
	uint64_t start_ns;

	if (index == NONE)
		return NONE;
	/* A pid in use again is no parent. Nor can there be a ring, with one order for all. */
	start_ns = frame->rows[index].task->key.start_ns;
	if (start_ns > task->key.start_ns ||
	    (start_ns == task->key.start_ns && &frame->rows[index] >= row))
		return NONE;
	return index;
}

/* Links the rows that pass into a tree; brothers in the rows' order. */
static void link_tree(struct rows *rows, const struct frame *frame)
{
	start_nodes(rows, frame);
	for (size_t i = 0; i < rows->order.n; i++) {
		size_t index = (size_t)(rows->order.rows[i] - frame->rows);
		const struct group *group = rows->order.rows[i]->group;
		size_t parent = group ? group_above(rows, group)
				      : parent_row(rows, frame, rows->order.rows[i]);
		struct node *node = &rows->nodes[index];

		node->parent = parent;
		if (parent == NONE)
			continue;
		if (rows->nodes[parent].first == NONE)
			rows->nodes[parent].first = index;
		else
			rows->nodes[rows->nodes[parent].last].next = index;
		rows->nodes[parent].last = index;
	}
}

/* Appends a root's lines, without recursion: a tree may be as deep as there are rows. */
static void add_tree(struct rows *rows, const struct frame *frame, size_t root)
{
	const struct node *nodes = rows->nodes;
	unsigned depth = 0;
	size_t at = root;

	for (;;) {
		bool shut = fold_of(rows, &frame->rows[at]) == FOLD_SHUT;

		add_row_item(rows, frame, &frame->rows[at], depth, shut && nodes[at].first != NONE);
		if (!shut && nodes[at].first != NONE) {
			at = nodes[at].first;
			depth++;
			continue;
		}
		while (at != root && nodes[at].next == NONE) {
			at = nodes[at].parent;
			depth--;
		}
		if (at == root)
			return;
		at = nodes[at].next;
	}
}

/* The frame whose rows are shown: folded into groups where they are. */
static const struct frame *fold_rows(struct rows *rows, const struct ui *ui)
{
	struct grouping_options options = { .by = ui->settings->group_by,
					    .tree = ui->settings->tree,
					    .readable = true,
					    .life = rows->order.life,
					    .passes = query_takes,
					    .arg = &ui->query };

	return ui_folds(ui) ? group_fold(&rows->grouping, ui->frame, &options) : ui->frame;
}

/* To sort by what groups' own files have, all groups must have it. */
static void fill_groups(struct ui *ui, const struct frame *frame)
{
	unsigned needs = query_needs(&ui->query, ui->settings->unit) & NEED_GROUP_PARTS;

	for (size_t i = 0; needs && frame != ui->frame && i < frame->n; i++)
		sampler_fill(ui->sampler, (const struct row *[]){ &frame->rows[i] }, 1, needs);
}

void rows_build(struct rows *rows, struct ui *ui)
{
	struct view view = ui_view(ui);
	const struct frame *frame = rows->frame = fold_rows(rows, ui);
	struct order *order = &rows->order;

	rows->n = 0;
	view.frame = frame;
	fill_groups(ui, frame);
	query_run(&ui->query, &view, order);
	if (ui->held && rows->nheld)
		apply_held(rows, frame);
	if (ui->held)
		hold(rows);
	if (rows->threads.frame) {
		struct query query = { .sort = ui->query.sort,
				       .descending = ui->query.descending,
				       .over_ms = -1 };

		view.frame = rows->threads.frame;
		query_run(&query, &view, &rows->thread_order);
	}
	if (!ui->settings->tree || (ui_folds(ui) && ui->settings->group_by != GROUP_CGROUP)) {
		for (size_t i = 0; i < order->n; i++)
			add_row_item(rows, frame, order->rows[i], 0, false);
		return;
	}
	link_tree(rows, frame);
	for (size_t i = 0; i < order->n; i++) {
		size_t index = (size_t)(order->rows[i] - frame->rows);

		if (rows->nodes[index].parent == NONE)
			add_tree(rows, frame, index);
	}
}

void rows_release(struct rows *rows)
{
	rows->nheld = 0;
}

/* Sets how far a row is unfolded. */
static void set_fold(struct rows *rows, const struct task_key *key, enum fold fold)
{
	size_t i = 0;

	while (i < rows->nfolds &&
	       (rows->folds[i].key.pid != key->pid || rows->folds[i].key.start_ns != key->start_ns))
		i++;
	if (i == rows->nfolds)
		rows->folds = xreallocarray(rows->folds, ++rows->nfolds, sizeof(*rows->folds));
	rows->folds[i] = (struct folded){ .key = *key, .fold = fold };
}

/* Orders process ids. */
static int compare_row_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Has those threads sampled that are unfolded. */
static void want_threads(struct rows *rows, struct ui *ui)
{
	pid_t *pids = xcalloc(rows->nfolds + 1, sizeof(*pids));
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < rows->nfolds; i++)
		if (rows->folds[i].fold == FOLD_THREADS && rows->folds[i].key.pid)
			pids[n++] = rows->folds[i].key.pid;
	qsort(pids, n, sizeof(*pids), compare_row_pids);
	if (threads_want(&rows->threads, pids, n, ui->sampler_config.since_start))
		err = sampler_read_threads(ui->sampler, &rows->threads, 0);
	if (err)
		ui_error(ui, "no threads: %s", strerror(-err));
	free(pids);
}

bool rows_fold(struct rows *rows, struct ui *ui, const struct item *item, bool unfold)
{
	struct task_key key = row_key(item->row);
	enum fold floor = ui->settings->tree ? FOLD_SHUT : FOLD_CHILDREN;
	enum fold ceiling = ui_rows_are(ui) == GROUP_PROCESS ? FOLD_THREADS : FOLD_CHILDREN;
	enum fold fold = fold_of(rows, item->row);

	/* Without a tree there are threads only. */
	if (fold < floor)
		fold = floor;
	if (item->thread || (unfold ? fold >= ceiling : fold <= floor))
		return false;
	set_fold(rows, &key, unfold ? fold + 1 : fold - 1);
	want_threads(rows, ui);
	return true;
}

void rows_fold_all(struct rows *rows)
{
	bool shut = rows->fold_all == FOLD_SHUT;

	for (size_t i = 0; i < rows->nfolds; i++)
		shut = shut || rows->folds[i].fold == FOLD_SHUT;
	rows->fold_all = shut ? FOLD_CHILDREN : FOLD_SHUT;
	rows->nfolds = 0;
	threads_close(&rows->threads);
}

/*
 * Forgets the folds of tasks that have gone, before their pids are used again. A group may come
 * back under its name.
 */
static void forget_gone(struct rows *rows, const struct frame *frame)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->nfolds; i++)
		if (!rows->folds[i].key.pid || frame_find(frame, &rows->folds[i].key))
			rows->folds[kept++] = rows->folds[i];
	rows->nfolds = kept;
}

int rows_tick(struct rows *rows, struct ui *ui, unsigned needs)
{
	size_t before = rows->nfolds;

	if (before)
		forget_gone(rows, ui->frame);
	if (rows->nfolds != before)
		want_threads(rows, ui);
	return sampler_read_threads(ui->sampler, &rows->threads, needs);
}

void rows_reset(struct rows *rows)
{
	rows->n = 0;
	rows->frame = NULL;
	rows->order.n = rows->order.passed = 0;
	rows->nheld = 0;
	rows->nfolds = 0;
	threads_close(&rows->threads);
}

void rows_free(struct rows *rows)
{
	threads_close(&rows->threads);
	grouping_free(&rows->grouping);
	order_free(&rows->order);
	order_free(&rows->thread_order);
	free(rows->items);
	free(rows->held);
	free(rows->folds);
	free(rows->nodes);
	free(rows->spare);
	*rows = (struct rows){ 0 };
}
