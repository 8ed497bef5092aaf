/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/table_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/util.h"
#include "data/wait_state.h"
#include "ui/table/table_draw.h"
#include "view/column_words.h"
#include "view/layout.h"

/* Number of lines searched for figures not yet known of any group. */
#define GROUPS_LOOKED_AT 64

struct table *table_new(void)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->rows.fold_all = FOLD_CHILDREN;
	return table;
}

void table_free(struct table *table)
{
	rows_free(&table->rows);
	buf_free(&table->cell);
	buf_free(&table->scratch);
	free(table->visible);
	free(table);
}

const struct column *table_sort_column(const struct ui *ui)
{
	const struct column *sort = ui->settings->query.sort;

	if (!sort || layout_applies(sort, ui_rows_are(ui)))
		return sort;
	return layout_name(ui_rows_are(ui));
}

/* Adds the sort column if it is not among the default columns. */
static void add_sort(struct ui *ui)
{
	struct layout *layout = &ui->table->layout;
	const struct column *sort = table_sort_column(ui);

	if (!sort || sort->last || layout_has(layout, sort) || layout->n == LAYOUT_MAX)
		return;
	layout->columns[layout->n] = layout->columns[layout->n - 1];
	layout->columns[layout->n++ - 1] = sort;
}

bool table_has_command_lines(const struct ui *ui)
{
	return ui->settings->command_line ||
	       (!ui->settings->names && ui->term.columns >= LAYOUT_WIDER);
}

/* Shows the command line instead of the name, if switched on or if the width permits. */
static void swap_command(struct ui *ui)
{
	struct layout *layout = &ui->table->layout;

	for (size_t i = 0; table_has_command_lines(ui) && i < layout->n; i++) {
		const struct column *longer = column_longer(layout->columns[i]);

		if (longer && !layout_has(layout, longer))
			layout->columns[i] = longer;
	}
}

/* The needs of the shown rows for columns of a wide screen. */
static unsigned shown_reads(const struct ui *ui, enum group_by by)
{
	if (group_folds(by))
		return 0;
	/* The branches of a tree would need it for all tasks. */
	return NEED_WAITING | NEED_HANGS | NEED_CGROUP | (ui->settings->tree ? 0 : NEED_IO);
}

/* How long a kind keeps its column after a wait. */
#define SPOKE_KEPT_NS (300 * NSEC_PER_SEC)

/* True if a row has had a figure of a kind recently. */
static bool has_spoken(const struct ui *ui, unsigned kind)
{
	uint64_t spoke_ns = ui->table->spoke_ns[kind];

	return spoke_ns && ui->seen_ns - spoke_ns <= SPOKE_KEPT_NS;
}

/* The memory kinds without recent waits: they share a column. */
static uint32_t silent_kinds(const struct ui *ui)
{
	uint32_t kinds = 0;

	/* Other units are of the tasks' whole lives. */
	if (ui->settings->unit != UNIT_PERCENT && ui->settings->unit != UNIT_MS)
		return 0;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (DELAY_MEM_KINDS & DELAY_BIT(kind) && !has_spoken(ui, kind))
			kinds |= DELAY_BIT(kind);
	return kinds;
}

void table_fields(const struct ui *ui, struct layout *layout)
{
	enum group_by by = ui_rows_are(ui);
	struct layout_frame frame = { .width = (unsigned)ui->term.columns,
				      .kinds = ui->frame ? ui->frame->info->kinds : DELAY_ALL,
				      .reads = layout_reads(by, ui->frame, ui->table->seen) |
					       shown_reads(ui, by),
				      .group_by = by,
				      .screen = true,
				      .folded = silent_kinds(ui),
				      .spoken = has_spoken(ui, WAIT_DWAIT) ? VALID_DWAIT : 0 };

	layout_resolve_table(layout, ui->settings->fields, &frame);
}

void table_layout(struct ui *ui)
{
	struct table *table = ui->table;

	table_fields(ui, &table->layout);
	if (!ui->settings->fields || ui->settings->own_fields)
		add_sort(ui);
	if (!ui->settings->fields)
		room_make(&table->layout, ui_rows_are(ui), table_sort_column(ui), ui->term.columns);
	else if (ui->settings->own_fields)
		room_leave_out(&table->layout, view_preset(ui->settings)->room, ui_rows_are(ui),
			       table_sort_column(ui), ui->term.columns);
	swap_command(ui);
	if (table->skip >= table->layout.n)
		table->skip = table->layout.n ? table->layout.n - 1 : 0;
}

/* Updates the query from the settings. */
static void set_query(struct ui *ui)
{
	ui->query = ui->settings->query;
	ui->query.sort = table_sort_column(ui);
	ui->query.match = ui->match;
	if (ui->opened)
		ui_only_group(&ui->group, &ui->query);
}

/* The line of a row; `n` if it has none. */
static size_t line_of_row(const struct rows *rows, const struct task_key *key, bool thread)
{
	size_t i = 0;

	while (i < rows->n) {
		struct task_key at = row_key(rows->items[i].row);

		if (at.pid == key->pid && at.start_ns == key->start_ns &&
		    rows->items[i].thread == thread)
			break;
		i++;
	}
	return i;
}

/* Moves a line to the place of another. */
static void pull_up(struct rows *rows, size_t from, size_t to)
{
	struct item item = rows->items[from];

	memmove(&rows->items[to + 1], &rows->items[to], (from - to) * sizeof(item));
	rows->items[to] = item;
}

/*
 * Selects the line of the first finding, or else the first one. If the longest-waiting rows come
 * first it is then on the screen; any other order is kept.
 */
static void select_found(struct ui *ui)
{
	struct rows *rows = &ui->table->rows;
	struct list *list = &ui->pages[0].list;
	const struct task_key *found = &ui->table->found;
	size_t line = found->pid || found->start_ns ? line_of_row(rows, found, false) : rows->n;

	if (line < rows->n && list->height && line >= list->height && rows->idle.order &&
	    ui->query.sort && column_is_delay(ui->query.sort)) {
		pull_up(rows, line, list->height - 1);
		line = list->height - 1;
	}
	if (line == rows->n || (list->height && line >= list->height))
		line = 0;
	list->top = 0;
	list_select(list, line);
}

/*
 * Moves the selection to its task's line. It stays in place if the task has exited. In a tree,
 * where lines appear and disappear above it, the list is moved: its line on the screen stays.
 */
static void follow_selection(struct ui *ui)
{
	const struct ui_task *task = &ui->table->selected;
	const struct rows *rows = &ui->table->rows;
	struct list *list = &ui->pages[0].list;
	size_t line = list->selected - list->top, at;

	list->n = rows->n;
	if (!ui->table->pinned) {
		select_found(ui);
		return;
	}
	at = line_of_row(rows, &task->key, task->thread);
	if (at == rows->n) {
		list_select(list, list->selected);
		table_pin(ui);
		return;
	}
	if (ui->settings->tree)
		list->top = at > line ? at - line : 0;
	list_select(list, at);
}

/*
 * Checks whether a cgroup has figures of its CPU limit, until one has: only then they get a column.
 * Throttled groups wait, so they are among the first.
 */
static void look_for_limits(struct ui *ui)
{
	const struct rows *rows = &ui->table->rows;
	unsigned wanted = NEED_GROUP(CGROUP_THROTTLE) & ~ui->table->seen;

	if (ui_rows_are(ui) != GROUP_CGROUP || !wanted)
		return;
	table_fill(ui, rows->items, rows->n < GROUPS_LOOKED_AT ? rows->n : GROUPS_LOOKED_AT,
		   wanted);
	ui->table->seen |= group_parts(rows->frame) & wanted;
	if (!(wanted & ~ui->table->seen))
		table_layout(ui);
}

/*
 * Records the kinds of which a displayed row has a figure: a tenth of a percent, rounded. They get
 * a column if they have none.
 */
static void look_for_kinds(struct ui *ui)
{
	const struct order *order = &ui->table->rows.order;
	uint32_t silent = silent_kinds(ui);
	bool dwait = has_spoken(ui, WAIT_DWAIT);

	for (size_t i = 0; i < order->n; i++) {
		const struct row *row = order->rows[i];

		if (row->unchanged)
			continue;
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
			if (row->deltas->waited.ns[kind] * 2000 > row->interval_ns)
				ui->table->spoke_ns[kind] = ui->seen_ns;
	}
	if (silent != silent_kinds(ui) || dwait != has_spoken(ui, WAIT_DWAIT))
		table_layout(ui);
}

/* Adds the waits before the shown frame, once. */
static void take_trends(struct ui *ui)
{
	struct history_view *history = &ui->history;
	uint64_t real_ns = ui->frame->info->real_ns;

	if (!history->past || history->trends_ns == real_ns)
		return;
	if (history->back || !history->trends_follow) {
		if (!history->back)
			cursor_want_threads(history->past, ui->sampler_config.threads);
		trends_read(&history->trends, history->past, real_ns);
	}
	history->trends_follow = false;
	history->trends_ns = real_ns;
}

void table_sort(struct ui *ui)
{
	struct table *table = ui->table;

	set_query(ui);
	if (layout_is_of_past(&table->layout) || (ui->query.sort && ui->query.sort->past))
		take_trends(ui);
	table->rows.order.life = layout_needs(&table->layout, ui->settings->unit) & NEED_LIFE;
	table->rows.keep = table->pinned ? table->selected.key : table->found;
	rows_build(&table->rows, ui);
	look_for_limits(ui);
	look_for_kinds(ui);
	follow_selection(ui);
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
		ui->table->selected =
			(struct ui_task){ .key = row_key(item->row), .thread = item->thread };
}

void table_unpin(struct ui *ui)
{
	ui->table->pinned = false;
	select_found(ui);
}

bool table_show_found(struct ui *ui, const struct row *row)
{
	struct table *table = ui->table;
	struct task_key was = table->found;

	table->found = row ? row_key(row) : (struct task_key){ 0 };
	if (table->pinned)
		return false;
	/* The row may be folded away. */
	if ((was.pid != table->found.pid || was.start_ns != table->found.start_ns) &&
	    rows_fold_idle(&table->rows) &&
	    line_of_row(&table->rows, &table->found, false) == table->rows.n) {
		table_sort(ui);
		return true;
	}
	select_found(ui);
	return false;
}

void table_fill(struct ui *ui, const struct item *items, size_t n, unsigned needs)
{
	struct table *table = ui->table;
	size_t processes = 0, threads = 0;

	needs &= NEED_PROC | NEED_INFO | NEED_GROUP_PARTS | NEED_SHOWN;
	RESERVE(table->visible, n, table->visible_cap);
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

/* True if the line's name, or the command line if shown, matches. */
static bool is_looked_for(const struct ui *ui, const struct item *item)
{
	const struct task *task = item->row->task;

	if (!task)
		return item->row->group->name && pattern_matches(ui->find, item->row->group->name);
	return query_matches(ui->find, task);
}

/* Selects the next line that matches. */
static bool select_next(struct ui *ui)
{
	const struct rows *rows = &ui->table->rows;
	unsigned needs = layout_needs(&ui->table->layout, ui->settings->unit) & NEED_COMMAND;

	for (size_t i = 1; i <= rows->n; i++) {
		size_t at = (ui->pages[0].list.selected + i) % rows->n;

		if (needs)
			table_fill(ui, &rows->items[at], 1, needs);
		if (!is_looked_for(ui, &rows->items[at]))
			continue;
		list_select(&ui->pages[0].list, at);
		table_pin(ui);
		return true;
	}
	return false;
}

bool table_find_next(struct ui *ui)
{
	if (select_next(ui))
		return true;
	if (!rows_fold_idle(&ui->table->rows))
		return false;
	/* The row may be folded away. */
	ui->settings->all_idle = true;
	table_sort(ui);
	if (select_next(ui))
		return true;
	ui->settings->all_idle = false;
	table_sort(ui);
	return false;
}

unsigned table_needs(struct ui *ui, void *state)
{
	const struct layout *layout = &((const struct table *)state)->layout;
	enum unit unit = ui->settings->unit;
	unsigned needs;

	set_query(ui);
	needs = layout_needs(layout, unit) & (NEED_RECORD | NEED_RANGE | NEED_IO);
	/* Shown rows have it read, except exited ones. */
	if (needs & NEED_IO)
		needs ^= NEED_IO | NEED_ENDED_IO;
	/* Calls are read of all tasks: not for a column shown only by width, or by a preset. */
	if (ui->settings->fields && !ui->settings->presets.now)
		needs |= layout_needs(layout, unit) & NEED_HANGS;
	/* Sums need all their members; otherwise only the rows shown need theirs. */
	if (ui_folds(ui) || ui->settings->tree)
		needs |= layout_sum_needs(layout, unit) & NEED_PROC;
	return query_needs(&ui->query, unit) | group_table[ui_rows_are(ui)].needs | needs;
}

/* The prefix of a state in words, as in the headings of the columns of states. */
static const char share[] = "share ";

/* The column that shows time by state as a bar; of two the one of traced states. */
static const struct column *bar_of(const struct layout *layout)
{
	const struct column *found = NULL;

	for (size_t i = 0; i < layout->n; i++)
		if (column_is_bar(layout->columns[i]) && !(found && found->traced))
			found = layout->columns[i];
	return found;
}

int legend_lines(struct ui *ui, UNUSED int lines)
{
	return bar_of(&ui->table->layout) != NULL;
}

/* A state in words. */
static const char *spelled_out(unsigned state)
{
	const struct column *column;
	char id[32];
	int n = snprintf(id, sizeof(id), "s-%s", wait_state_table[state].id);
	const char *name;

	column = column_by_id(id, (size_t)n);
	name = column_name(column);
	return strncmp(name, share, strlen(share)) ? name : name + strlen(share);
}

/* The name of a state. */
static const char *short_name(unsigned state)
{
	return wait_state_table[state].id;
}

/* Cells of all states, each with its letter, and so many blanks between them. */
static int legend_cells(const char *(*name)(unsigned state), int gap)
{
	int cells = -gap;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		cells += (int)strlen(name(state)) + 2 + gap;
	return cells;
}

/* The letters of a bar of delays. */
static void draw_delays(struct ui *ui, int line)
{
	static const char letters[] = "rcimb";
	static const char *const words[] = { "running", "waits for a CPU", "for I/O", "for memory",
					     "blocked" };
	int column = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		term_put(&ui->term, line, column, 1, &letters[i], 1, style_of_state(letters[i]));
		column = term_puts(&ui->term, line, column + 2, words[i], STYLE_LABEL) + 2;
	}
}

void legend_draw(struct ui *ui, int line, UNUSED int lines)
{
	const char *(*name)(unsigned state) = spelled_out;
	int column = 0, end = ui->term.columns, gap;

	if (!bar_of(&ui->table->layout)->traced) {
		draw_delays(ui, line);
		return;
	}
	if (legend_cells(name, 1) > end)
		name = short_name;
	gap = legend_cells(name, 2) > end ? 1 : 2;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		char letter = wait_state_table[state].letter;

		/* A truncated word could be another. */
		if (column + 2 + (int)strlen(name(state)) > end)
			continue;
		term_put(&ui->term, line, column, 1, &letter, 1, style_of_state(letter));
		column = term_puts(&ui->term, line, column + 2, name(state), STYLE_LABEL) + gap;
	}
}
