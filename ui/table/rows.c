/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The index of a group's row that passes, or NO_ROW. */
static size_t find_group_row(const struct rows *rows, uint64_t id)
{
	const struct row *row = group_find(&rows->grouping, id);
	size_t index = row ? (size_t)(row - rows->frame->rows) : NO_ROW;

	return row && rows->tree.nodes[index].in ? index : NO_ROW;
}

/* Sorts the rows in the held order; new rows come last, sorted. */
static void apply_held(struct rows *rows, const struct frame *frame)
{
	struct order *order = &rows->order;
	struct tree *tree = &rows->tree;
	size_t n = 0;

	tree_start(tree, frame, order);
	for (size_t i = 0; i < rows->nheld; i++) {
		const struct row_key *place = &rows->held[i];
		size_t index = place->key.pid ? tree_find(tree, frame, place->tgid, place->key.pid,
							  place->key.start_ns)
					      : find_group_row(rows, place->key.start_ns);

		if (index == NO_ROW)
			continue;
		tree->nodes[index].in = false;
		tree->rows[n++] = &frame->rows[index];
	}
	for (size_t i = 0; i < order->n; i++)
		if (tree->nodes[order->rows[i] - frame->rows].in)
			tree->rows[n++] = order->rows[i];
	memcpy(order->rows, tree->rows, n * sizeof(*order->rows));
}

/* Stores the order. */
static void hold(struct rows *rows)
{
	const struct order *order = &rows->order;

	RESERVE(rows->held, order->n, rows->held_cap);
	for (size_t i = 0; i < order->n; i++) {
		const struct row *row = order->rows[i];

		rows->held[i] = (struct row_key){ .key = row_key(row),
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
	GROW(rows->items, rows->n, rows->cap);
	rows->items[rows->n++] = *item;
}

/* Appends a row's line, and its threads' if they are unfolded. */
static void add_row_item(struct rows *rows, const struct item *item)
{
	struct item thread = { .frame = rows->threads.frame,
			       .depth = item->depth + 1,
			       .thread = true };

	add_item(rows, item);
	if (!rows->threads.frame || item->row->group || fold_of(rows, item->row) != FOLD_THREADS)
		return;
	for (size_t i = 0; i < rows->thread_order.n; i++) {
		thread.row = thread.shown = rows->thread_order.rows[i];
		if (thread.row->task->tgid == item->row->task->key.pid)
			add_item(rows, &thread);
	}
}

/* The line of a row without those below. */
static struct item item_of(const struct frame *frame, const struct row *row)
{
	return (struct item){ .row = row, .shown = row, .frame = frame };
}

/* Appends a root's lines, without recursion: a tree may be as deep as there are rows. */
static void add_tree(struct rows *rows, const struct frame *frame, size_t root)
{
	const struct tree_node *nodes = rows->tree.nodes;
	unsigned depth = 0;
	size_t at = root;

	for (;;) {
		struct item item = item_of(frame, &frame->rows[at]);
		bool below = nodes[at].first != NO_ROW;
		const struct row *branch = tree_branch(&rows->tree, at);

		item.depth = depth;
		item.more = below && fold_of(rows, item.row) == FOLD_SHUT;
		if (item.more && branch)
			item.shown = branch;
		add_row_item(rows, &item);
		if (below && !item.more) {
			at = nodes[at].first;
			depth++;
			continue;
		}
		while (at != root && nodes[at].next == NO_ROW) {
			at = nodes[at].parent;
			depth--;
		}
		if (at == root)
			return;
		at = nodes[at].next;
	}
}

/* The frame of the rows shown: folded into groups if the rows are groups. */
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

/* Fills all rows if the sort field is otherwise read only for shown rows. */
static void fill_sorted(struct ui *ui, const struct frame *frame)
{
	unsigned needs = query_needs(&ui->query, ui->settings->unit) &
			 (frame == ui->frame ? NEED_SHOWN : NEED_GROUP_PARTS);

	for (size_t i = 0; needs && i < frame->n; i++)
		sampler_fill(ui->sampler, (const struct row *[]){ &frame->rows[i] }, 1, needs);
}

/* True if an idle row is not folded, as its threads are shown. */
static bool has_threads(const void *arg, const struct row *row)
{
	return fold_of(arg, row) == FOLD_THREADS;
}

/* Appends the lines of a list; without room, leaves out idle tasks. */
static void add_folded(struct rows *rows)
{
	size_t more = rows->threads.frame ? rows->thread_order.n : 0;
	const struct row *row;

	rows->idle.order = &rows->order;
	rows->idle.keep = rows->keep;
	rows->idle.keeps = rows->nfolds ? has_threads : NULL;
	rows->idle.arg = rows;
	idle_begin(&rows->idle, rows->frame, rows->room, more);
	while ((row = idle_next(&rows->idle))) {
		struct item item = item_of(rows->frame, row);

		add_row_item(rows, &item);
	}
}

/* True if idle tasks are folded: they are last, and the user chose no rows. */
static bool is_idle_folded(const struct rows *rows, const struct ui *ui)
{
	return rows->room && !ui->settings->all_idle && !ui_folds(ui) && !ui->settings->tree &&
	       !ui->held && !ui->sampler_config.npids && idle_folds(&ui->query);
}

/* Appends the lines of all rows: as a tree or as a list. */
static void add_lines(struct rows *rows, bool tree)
{
	const struct frame *frame = rows->frame;

	for (size_t i = 0; i < rows->order.n; i++) {
		const struct row *row = rows->order.rows[i];
		size_t index = (size_t)(row - frame->rows);
		struct item item = item_of(frame, row);

		if (!tree)
			add_row_item(rows, &item);
		else if (rows->tree.nodes[index].parent == NO_ROW)
			add_tree(rows, frame, index);
	}
}

/* True if the rows are shown as a tree: only tasks and cgroups have one. */
static bool is_tree(const struct ui *ui)
{
	return ui->settings->tree && (!ui_folds(ui) || ui->settings->group_by == GROUP_CGROUP);
}

void rows_build(struct rows *rows, struct ui *ui)
{
	struct view view = ui_view(ui);
	const struct frame *frame = rows->frame = fold_rows(rows, ui);
	struct order *order = &rows->order;

	rows->n = 0;
	view.frame = frame;
	fill_sorted(ui, frame);
	query_run(&ui->query, &view, order);
	if (ui->held && rows->nheld)
		apply_held(rows, frame);
	if (is_tree(ui))
		tree_build(&rows->tree, &ui->query, &view, ui->held && rows->nheld, order);
	if (ui->held)
		hold(rows);
	if (rows->threads.frame) {
		struct query query = { .sort = ui->query.sort,
				       .descending = ui->query.descending,
				       .over_ms = -1 };

		view.frame = rows->threads.frame;
		query_run(&query, &view, &rows->thread_order);
	}
	rows->idle = (struct idle_fold){ 0 };
	if (is_idle_folded(rows, ui))
		add_folded(rows);
	else
		add_lines(rows, is_tree(ui));
	/* Lines refer to rows, which have changed now. */
	ui->findings_due = true;
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

/* Compares process ids. */
static int compare_row_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Requests samples of the unfolded threads. */
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

	/* Without a tree only threads can be unfolded. */
	if (fold < floor)
		fold = floor;
	if (item->thread || (unfold ? fold >= ceiling : fold <= floor))
		return false;
	if (unfold && fold == FOLD_CHILDREN && ui->history.back) {
		ui_error(ui, "threads below processes are not recorded");
		return false;
	}
	set_fold(rows, &key, unfold ? fold + 1 : fold - 1);
	if (!ui->history.back)
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

/* Drops the folds of exited tasks, before their pids are reused. A group may return by name. */
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
	/* Threads below processes are not stored: they return with the present. */
	if (ui->history.back) {
		threads_close(&rows->threads);
		return 0;
	}
	if (rows->nfolds)
		forget_gone(rows, ui->frame);
	if (rows->nfolds || rows->threads.n)
		want_threads(rows, ui);
	return sampler_read_threads(ui->sampler, &rows->threads, needs);
}

void rows_reset(struct rows *rows)
{
	rows->n = 0;
	rows->frame = NULL;
	rows->idle = (struct idle_fold){ 0 };
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
	tree_free(&rows->tree);
	*rows = (struct rows){ 0 };
}
