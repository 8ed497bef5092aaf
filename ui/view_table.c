/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view_table.h"

#include <stdlib.h>
#include <string.h>

#include "header.h"
#include "pattern.h"
#include "util.h"

/* Cells that the last column is to have before others give way to it: a task's name, a path. */
#define NAME_CELLS 10
#define PATH_CELLS 18

/* Delays from which they stand out: shares in percent, single waits in ms. */
#define SHARE_WARM 10.0
#define SHARE_HOT 50.0
#define WAIT_WARM 10.0
#define WAIT_HOT 100.0

/* Values below that are shown as 0.0. */
#define SHARE_SHOWN 0.05

/* How far a tree is indented at most, in steps of two cells. */
#define DEPTH_SHOWN 12

struct table *table_new(void)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->rows.fold_all = FOLD_CHILDREN;
	return table;
}

/* The sort column: the names, where the rows have nothing of the one that was chosen. */
static const struct column *sort_of(const struct ui *ui)
{
	const struct column *sort = ui->settings->query.sort;

	if (!sort || layout_applies(sort, ui_rows_are(ui)))
		return sort;
	return layout_name(ui_rows_are(ui));
}

bool table_sorts_by(const struct ui *ui, const struct column *column)
{
	const struct column *sort = sort_of(ui);

	return column == sort || (sort && column->last && sort->last);
}

/* Takes a column out, unless it is the one sorted by. */
static void take_out(struct ui *ui, const struct column *column)
{
	struct layout *layout = &ui->table->layout;
	size_t kept = 0;

	if (table_sorts_by(ui, column))
		return;
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i] != column)
			layout->columns[kept++] = layout->columns[i];
	layout->n = kept;
}

/* Cells that all columns take, with the least for the last. */
static int cells_wanted(const struct ui *ui)
{
	int name = ui_rows_are(ui) == GROUP_CGROUP ? PATH_CELLS : NAME_CELLS, cells = 0;
	const struct layout *layout = &ui->table->layout;

	for (size_t i = 0; i < layout->n; i++)
		cells += layout->columns[i]->last ? name : (int)layout->columns[i]->width + 1;
	return cells;
}

/* Leaves out of the default columns what the screen has no room for. */
static void make_room(struct ui *ui)
{
	const struct layout *layout = &ui->table->layout;

	for (unsigned turn = 1; turn <= COLUMN_TURNS; turn++)
		for (size_t i = layout->n; i-- > 0 && cells_wanted(ui) > ui->term.columns;)
			if (layout->columns[i]->yields == turn)
				take_out(ui, layout->columns[i]);
}

/* Adds the sort column where it is not among the default ones. */
static void add_sort(struct ui *ui)
{
	struct layout *layout = &ui->table->layout;
	const struct column *sort = sort_of(ui);

	if (!sort || sort->last || layout_has(layout, sort) || layout->n == LAYOUT_MAX)
		return;
	layout->columns[layout->n] = layout->columns[layout->n - 1];
	layout->columns[layout->n++ - 1] = sort;
}

/* Shows the command line for the name, where that is switched so. */
static void swap_command(struct ui *ui)
{
	struct layout *layout = &ui->table->layout;

	for (size_t i = 0; ui->settings->command_line && i < layout->n; i++) {
		const struct column *longer = column_longer(layout->columns[i]);

		if (longer && !layout_has(layout, longer))
			layout->columns[i] = longer;
	}
}

void table_fields(const struct ui *ui, struct layout *layout)
{
	enum group_by by = ui_rows_are(ui);
	struct layout_frame frame = { .width = (unsigned)ui->term.columns,
				      .kinds = ui->frame ? ui->frame->kinds : DELAY_ALL,
				      .reads = NEED_STAT | layout_reads(by, ui->frame),
				      .group_by = by };

	layout_resolve_table(layout, ui->settings->fields, &frame);
}

void table_layout(struct ui *ui)
{
	struct table *table = ui->table;

	table_fields(ui, &table->layout);
	if (!ui->settings->fields) {
		add_sort(ui);
		make_room(ui);
	}
	swap_command(ui);
	if (table->skip >= table->layout.n)
		table->skip = table->layout.n ? table->layout.n - 1 : 0;
}

/* Brings the query in line with the settings. */
static void set_query(struct ui *ui)
{
	ui->query = ui->settings->query;
	ui->query.sort = sort_of(ui);
	ui->query.match = ui->match;
	if (ui->opened)
		ui_only_group(&ui->group, &ui->query);
}

/* Puts the selection where its task is now. One that has gone leaves it where it is. */
static void follow(struct ui *ui)
{
	const struct ui_task *task = &ui->table->selected;
	const struct rows *rows = &ui->table->rows;
	struct list *list = &ui->pages[0].list;

	list->n = rows->n;
	if (!ui->table->pinned) {
		list->top = 0;
		list_select(list, 0);
		return;
	}
	for (size_t i = 0; i < rows->n; i++) {
		const struct item *item = &rows->items[i];
		struct task_key key = row_key(item->row);

		if (key.pid == task->key.pid && item->thread == task->thread &&
		    key.start_ns == task->key.start_ns) {
			list_select(list, i);
			return;
		}
	}
	list_select(list, list->selected);
	table_pin(ui);
}

void table_sort(struct ui *ui)
{
	struct table *table = ui->table;

	set_query(ui);
	table->rows.order.life =
		layout_needs(&table->layout, ui->settings->unit) & NEED_LIFE;
	rows_build(&table->rows, ui);
	follow(ui);
}

const struct item *table_item(struct ui *ui)
{
	const struct rows *rows = &ui->table->rows;
	size_t selected = ui->pages[0].list.selected;

	return selected < rows->n ? &rows->items[selected] : NULL;
}

bool ui_selected(struct ui *ui, struct ui_task *task)
{
	const struct item *item = table_item(ui);

	if (!item || !item->row->task)
		return false;
	task->key = item->row->task->key;
	task->tgid = item->row->task->tgid;
	task->thread = item->thread || ui->settings->group_by == GROUP_THREAD;
	memcpy(task->comm, item->row->task->comm, sizeof(task->comm));
	return true;
}

const struct frame *ui_rows_frame(const struct ui *ui)
{
	return ui->table->rows.frame;
}

const struct row *ui_group_row(struct ui *ui, uint64_t id)
{
	return ui_folds(ui) ? group_find(&ui->table->rows.grouping, id) : NULL;
}

void table_pin(struct ui *ui)
{
	const struct item *item = table_item(ui);

	ui->table->pinned = item;
	if (item)
		ui->table->selected = (struct ui_task){ .key = row_key(item->row),
							.thread = item->thread };
}

void table_unpin(struct ui *ui)
{
	ui->table->pinned = false;
	ui->pages[0].list.top = 0;
	list_select(&ui->pages[0].list, 0);
}

/* Has the kernel asked for what costs a read a row, of these rows only. */
static void fill(struct ui *ui, const struct item *items, size_t n, unsigned needs)
{
	struct table *table = ui->table;
	size_t processes = 0, threads = 0;

	needs &= NEED_PROC | NEED_INFO | NEED_GROUP_PARTS;
	if (table->visible_cap < n) {
		table->visible_cap = n * 2;
		table->visible = xreallocarray(table->visible, table->visible_cap,
					       sizeof(*table->visible));
	}
	for (size_t i = 0; i < n; i++)
		if (!items[i].thread)
			table->visible[processes++] = items[i].row;
	sampler_fill(ui->sampler, table->visible, processes, needs);
	for (size_t i = 0; i < n; i++)
		if (items[i].thread)
			table->visible[threads++] = items[i].row;
	if (threads)
		sampler_fill_threads(ui->sampler, &table->rows.threads, table->visible, threads,
				     needs);
}

/* Whether the line's name, or the command line where that is shown, matches. */
static bool is_wanted(const struct ui *ui, const struct item *item)
{
	const struct task *task = item->row->task;

	if (!task)
		return item->row->group->name &&
		       pattern_matches(ui->find, item->row->group->name);
	return query_matches(ui->find, task);
}

bool table_find_next(struct ui *ui)
{
	const struct rows *rows = &ui->table->rows;
	unsigned needs = layout_needs(&ui->table->layout, ui->settings->unit) & NEED_COMMAND;

	for (size_t i = 1; i <= rows->n; i++) {
		size_t at = (ui->pages[0].list.selected + i) % rows->n;

		if (needs)
			fill(ui, &rows->items[at], 1, needs);
		if (!is_wanted(ui, &rows->items[at]))
			continue;
		list_select(&ui->pages[0].list, at);
		table_pin(ui);
		return true;
	}
	return false;
}

/* Needs: of the filters and the sort column for all rows, and what only a sample can give. */
static unsigned table_needs(struct ui *ui, void *state)
{
	struct table *table = state;

	set_query(ui);
	/* Of groups all members' are wanted, of tasks only those of rows that are shown. */
	return query_needs(&ui->query, ui->settings->unit) |
	       group_table[ui_rows_are(ui)].needs |
	       (layout_needs(&table->layout, ui->settings->unit) &
		(ui_folds(ui) ? NEED_RECORD | NEED_RANGE | NEED_PROC : NEED_RECORD | NEED_RANGE));
}

/* A column and where it is on the screen. */
struct span {
	size_t index;
	const struct column *column;
	int at, cells; /* cells: with those that only the last column takes */
};

/* The column behind `span` on the screen (the first, of a zeroed one); false at the end. */
static bool next_span(const struct ui *ui, struct span *span)
{
	const struct table *table = ui->table;
	size_t index = span->column ? span->index + 1 : 0;
	int at = span->column ? span->at + span->cells + 1 : 0;

	if (span->column && !span->index)
		index += table->skip;
	if (index >= table->layout.n)
		return false;
	span->index = index;
	span->column = table->layout.columns[index];
	span->at = at;
	span->cells = (int)span->column->width;
	if (span->column->last && index + 1 == table->layout.n)
		span->cells = ui->term.columns - at;
	/* A column that is cut would show wrong figures. */
	return span->cells > 0 && (span->column->last || at + span->cells <= ui->term.columns);
}

/* Draws headings: the digit that sorts by it before each, and how it is sorted. */
static void draw_heads(struct ui *ui, int line)
{
	struct span span = { 0 };
	struct term *term = &ui->term;
	const char *up = term->charset == TEXT_UTF8 ? "▲" : "^";
	const char *down = term->charset == TEXT_UTF8 ? "▼" : "v";
	struct buf *cell = &ui->table->cell;

	term_put(term, line, 0, term->columns, "", 0, STYLE_HEAD);
	while (next_span(ui, &span)) {
		const struct column *column = span.column;
		bool sorted = table_sorts_by(ui, column);
		char heading[COLUMN_HEADING];

		column_heading(column, heading);
		cell->len = 0;
		column_append_label(column, heading, cell);
		if ((int)cell->len > span.cells)
			cell->len = (size_t)span.cells;
		term_put(term, line, span.at, (int)cell->len, cell->data, cell->len,
			 sorted ? STYLE_HEAD_SORT : STYLE_HEAD);
		if (sorted)
			term_puts(term, line, span.at + (int)cell->len,
				  ui->settings->query.descending ? down : up, STYLE_HEAD_SORT);
	}
	/* There is more at that side. */
	if (span.index + 1 < ui->table->layout.n)
		term_puts(term, line, term->columns - 1, ">", STYLE_HEAD_SORT);
}

/* Draws the row of units. */
static void draw_units(struct ui *ui, int line)
{
	struct span span = { 0 };
	struct buf *cell = &ui->table->cell;

	while (next_span(ui, &span)) {
		cell->len = 0;
		column_append_label(span.column,
				    column_unit(span.column, ui->settings->unit), cell);
		term_put(&ui->term, line, span.at, span.cells, cell->data, cell->len, STYLE_DIM);
	}
}

/*
 * How a delay is shown: by its share of the interval, averages by their length. Longest waits of
 * whole lives stand out where they rose in the interval.
 */
static enum style delay_style(const struct column *column, struct view view,
			      const struct row *row, const struct value *value)
{
	bool single = view.unit == UNIT_AVG;
	double warm = single ? WAIT_WARM : SHARE_WARM, hot = single ? WAIT_HOT : SHARE_HOT;
	struct value share = *value;

	if (view.unit == UNIT_MAX)
		return column_rose(column, &view, row) ? STYLE_HOT : STYLE_NORMAL;
	if (!single && view.unit != UNIT_PERCENT) {
		view.unit = UNIT_PERCENT;
		share = column_get(column, &view, row);
	}
	if (share.type == VALUE_NUMBER && share.number >= hot)
		return STYLE_HOT;
	if (share.type == VALUE_NUMBER && share.number >= warm)
		return STYLE_WARM;
	return STYLE_NORMAL;
}

/* How a cell is shown. */
static enum style cell_style(const struct column *column, const struct view *view,
			     const struct row *row, const struct value *value)
{
	if (row->exited || value->type == VALUE_UNSET)
		return STYLE_DIM;
	if (value->type == VALUE_TEXT)
		return column_warns(column, value) ? STYLE_WARM : STYLE_NORMAL;
	if (column->format == FORMAT_SHARE && value->number < SHARE_SHOWN)
		return STYLE_DIM;
	if (column_is_delay(column))
		return delay_style(column, *view, row, value);
	return STYLE_NORMAL;
}

/* Draws what stands before a name in a tree. The column behind it. */
static int draw_branch(struct ui *ui, int line, int column, const struct item *item,
		       enum style style)
{
	unsigned depth = item->depth < DEPTH_SHOWN ? item->depth : DEPTH_SHOWN;
	const char *branch = ui->term.charset == TEXT_UTF8 ? "└─" : "`-";

	if (!depth && !item->more)
		return column;
	if (depth) {
		column = term_put(&ui->term, line, column, (int)(depth - 1) * 2, "", 0, style);
		column = term_puts(&ui->term, line, column, branch, style);
	}
	return term_puts(&ui->term, line, column, item->more ? "+" : " ", style);
}

/* Draws a row. */
static void draw_row(struct ui *ui, int line, const struct item *item, bool selected)
{
	struct table *table = ui->table;
	struct view view = ui_view(ui);
	struct span span = { 0 };

	view.frame = item->frame;
	if (selected)
		term_put(&ui->term, line, 0, ui->term.columns, "", 0, STYLE_SELECTED);
	while (next_span(ui, &span)) {
		struct value value = column_get(span.column, &view, item->row);
		enum style style = cell_style(span.column, &view, item->row, &value);
		int at = span.at;

		if (selected)
			style = style == STYLE_HOT || style == STYLE_WARM ? STYLE_SELECTED_HOT :
									    STYLE_SELECTED;
		if (span.column->last && span.index + 1 == table->layout.n)
			at = draw_branch(ui, line, at, item, style);
		if (at >= span.at + span.cells)
			continue;
		table->cell.len = 0;
		column_append(span.column, &view, &value, (unsigned)(span.at + span.cells - at),
			      &table->scratch, &table->cell);
		term_put(&ui->term, line, at, span.at + span.cells - at, table->cell.data,
			 table->cell.len, style);
	}
}

/* Draws the sum row: "=" in the first cell, the number of rows in the last. */
static void draw_sum(struct ui *ui, int line)
{
	struct table *table = ui->table;
	const struct order *order = &table->rows.order;
	struct view view = ui_view(ui);
	struct span span = { 0 };

	view.frame = table->rows.frame;
	while (next_span(ui, &span)) {
		const struct column *column = span.column;
		struct value total = column_total(column, &view, order->rows, order->passed,
						  &order->sum);
		enum style style = STYLE_SUM;

		table->cell.len = 0;
		if (column->last && span.index + 1 == table->layout.n)
			buf_printf(&table->cell, "%zu %s", order->passed,
				   group_table[ui_rows_are(ui)].plural);
		else
			column_append_total(column, &view, &total, !span.index, &table->scratch,
					    &table->cell);
		if (total.type == VALUE_NUMBER && total.number < SHARE_SHOWN)
			style = STYLE_DIM;
		term_put(&ui->term, line, span.at, span.cells, table->cell.data, table->cell.len,
			 style);
	}
}

/* Says why there are no rows. */
static void draw_empty(struct ui *ui, int line)
{
	static const char *const words[2][2] = {
		{ "no tasks", "no task passes the filters (= clears them)" },
		{ "the group has no tasks any more (Esc goes back)",
		  "no task of the group passes the filters (= clears them, Esc goes back)" },
	};
	const struct query *query = &ui->query;
	bool filtered = query->match || query->users || query->active || query->over_ms >= 0;

	term_puts(&ui->term, line, 0, words[ui->opened][filtered], STYLE_DIM);
}

/* The whole view. */
static void table_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct table *table = state;
	struct header_plan plan = header_plan(ui, height + 1);
	int line = header_draw(ui, &plan);
	size_t shown;

	table->head_line = plan.head ? line : -1;
	if (plan.head)
		draw_heads(ui, line++);
	if (plan.unit)
		draw_units(ui, line++);
	table->first_line = line;
	list_size(list, table->rows.n, (size_t)plan.rows);
	shown = list->n - list->top < list->height ? list->n - list->top : list->height;
	fill(ui, table->rows.items + list->top, shown,
	     layout_needs(&table->layout, ui->settings->unit));
	for (size_t i = 0; i < shown; i++)
		draw_row(ui, line + (int)i, &table->rows.items[list->top + i],
			 list->top + i == list->selected);
	if (!shown && plan.rows)
		draw_empty(ui, line);
	if (plan.sum)
		draw_sum(ui, line + plan.rows);
}

/* A click: heads sort, rows are selected. */
static unsigned table_click(struct ui *ui, void *state, struct list *list, int line, int column)
{
	struct table *table = state;
	struct span span = { 0 };
	size_t index;

	if (line == table->head_line) {
		while (next_span(ui, &span))
			if (column >= span.at && column <= span.at + span.cells)
				return ui_sort_by(ui, span.column);
		return REACT_NONE;
	}
	if (line < table->first_line || line >= table->first_line + (int)list->height)
		return REACT_NONE;
	index = list->top + (size_t)(line - table->first_line);
	if (index >= list->n)
		return REACT_NONE;
	list_select(list, index);
	table_pin(ui);
	return REACT_REDRAW;
}

/* Names the selected task; from now on the selection stays at it. */
static bool table_target(struct ui *ui, void *state, struct ui_task *task)
{
	(void)state;
	if (!ui_selected(ui, task)) {
		if (table_item(ui))
			ui_complain(ui, "this is a group: Enter shows its members");
		return false;
	}
	table_pin(ui);
	return true;
}

/* Frees the state. */
static void table_close(struct ui *ui, void *state)
{
	struct table *table = state;

	rows_free(&table->rows);
	buf_free(&table->cell);
	buf_free(&table->scratch);
	free(table->visible);
	free(table);
	ui->table = NULL;
}

const struct view_ops view_table = {
	.name = "table",
	.where = WHERE_TABLE,
	.needs = table_needs,
	.draw = table_draw,
	.target = table_target,
	.click = table_click,
	.close = table_close,
};
