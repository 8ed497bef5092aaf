/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/view_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/finding.h"
#include "ui/header.h"
#include "ui/state/ui.h"
#include "ui/table/site_list.h"
#include "ui/table/table_draw.h"
#include "ui/table/table_state.h"

/* The selected row's current wait, in the room below few rows. */

/* Minimum lines, those with one row, and the maximum that idle rows leave to it. */
#define LINES_LEAST 4
#define LINES_LEFT 7

/* The room for a title's words. */
#define WORDS_MAX 64

struct selected {
	struct site_list list;
	struct site_table table;
};

/* The columns of a wait that is not traced. */
#define UNTRACED "syscall,on,where"

/* Adds the lines with most time; those of idle waits if there are no others. */
static struct table_draw add_site_lines(struct selected *selected, struct ui *ui, size_t most)
{
	struct site_list *list = &selected->list;
	struct table_draw draw;

	list->no_idle = true;
	site_list_take(list, ui);
	list->no_idle = list->lines.n;
	if (!list->no_idle)
		site_list_take(list, ui);
	draw = site_table_begin(&selected->table, ui, list->sites.several);
	for (size_t i = 0; i < list->lines.n && i < most; i++)
		site_table_add(&selected->table, ui, list->lines.rows[i]);
	return draw;
}

/* Adds the wait in progress, as just read. */
static struct table_draw add_waiting(struct selected *selected, struct ui *ui,
				     const struct item *item)
{
	const struct layout_frame frame = { .width = (unsigned)ui->term.columns, .screen = true };
	struct site_table *table = &selected->table;

	table_fill(ui, item, 1, NEED_WAITING);
	table->n = table->skip = 0;
	layout_resolve(&table->layout, UNTRACED, &frame);
	if (row_waiting(item->frame, item->shown))
		site_table_add(table, ui, item->shown);
	return (struct table_draw){ .term = &ui->term,
				    .layout = &table->layout,
				    .view = ui_view(ui),
				    .cell = &table->cell,
				    .scratch = &table->scratch };
}

/* Of so many lines, those that idle rows leave to it: its waits are more informative. */
static size_t selected_lines(const struct ui *ui, size_t room)
{
	size_t third = room / 3;

	if (third < LINES_LEAST)
		return 0;
	if (!ui->frame->info->trace)
		return LINES_LEAST;
	return third < LINES_LEFT ? third : LINES_LEFT;
}

/* Names the task, and describes what follows. */
static void draw_task_title(struct ui *ui, int line, const struct ui_task *task, const char *words)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	ui_escape(ui, text, task->comm);
	buf_printf(text, " %d %s", (int)task->key.pid, words);
	term_put(&ui->term, line, 0, ui->term.columns, text->data, text->len, STYLE_LABEL);
}

/* Draws the findings about a task whose wait is unknown, one per line. False: none. */
static bool draw_findings(struct ui *ui, int line, int lines, const struct row *row)
{
	const struct findings *findings = &ui->findings;
	struct buf *text = &ui->scratch;
	int end = line + lines;

	for (size_t i = 0; i < findings->n && line < end; i++) {
		if (!findings->all[i].row || findings->all[i].row->task != row->task)
			continue;
		text->len = 0;
		finding_append(text, findings, &findings->all[i], (unsigned)ui->term.columns,
			       ui->term.charset);
		term_put(&ui->term, line++, 0, ui->term.columns, text->data, text->len,
			 STYLE_LABEL);
	}
	return line > end - lines;
}

/* Tells whether the wait in progress is that of the process, or of which of its threads. */
static const char *waiting_words(char words[WORDS_MAX], const struct item *item)
{
	const struct task_waiting *waiting = row_waiting(item->frame, item->shown);

	if (!item->row->raw || item->row->raw->now.threads < 2 || !waiting)
		return "waiting now (w: time by site)";
	snprintf(words, WORDS_MAX, "waiting now in thread %d (w: all threads, by site)",
		 (int)waiting->tid);
	return words;
}

/*
 * Draws its sites while waits are traced, else the system call, its target, and the kernel
 * function, from `line` on, in at most so many lines. Nothing is drawn of a group or of an exited
 * task.
 */
static void selected_draw(struct ui *ui, int line, int lines)
{
	struct selected *selected = ui->selected;
	const struct item *item = table_item(ui);
	const struct trace_frame *trace = ui->frame->info->trace;
	bool traced = trace && trace->n;
	const struct site_table *table;
	struct ui_task task;
	struct table_draw draw;
	char words[WORDS_MAX];

	if (lines < LINES_LEAST || !ui_selected(ui, &task) || item->row->exited)
		return;
	if (!selected)
		selected = ui->selected = xcalloc(1, sizeof(*selected));
	selected->list.task = task;
	table = &selected->table;
	/* Below a blank line, its title and the headings. */
	lines -= 3;
	draw = traced ? add_site_lines(selected, ui, (size_t)lines)
		      : add_waiting(selected, ui, item);
	/* Without a known wait it runs, or nothing is known. */
	if (!table->n) {
		if (!draw_findings(ui, line + 1, lines + 2, item->row) &&
		    row_state(item->row) == 'R')
			draw_task_title(ui, line + 1, &task, "running, or runnable");
		return;
	}
	draw_task_title(ui, line + 1, &task,
			traced ? "waits, times in ms (w: all)" : waiting_words(words, item));
	site_table_fit(&selected->table, &draw);
	table_draw_heads(&draw, line + 2);
	for (size_t i = 0; i < table->n; i++)
		table_draw_row(&draw, line + 3 + (int)i, &table->items[i], ROW_PLAIN);
}

/* Frees what was kept from drawing to drawing. */
static void selected_free(struct ui *ui)
{
	struct selected *selected = ui->selected;

	if (!selected)
		return;
	site_list_free(&selected->list);
	site_table_free(&selected->table);
	free(selected);
}

/* The table to be drawn: with the displayed sort order, and the frame of its rows. */
static struct table_draw table_drawing(struct ui *ui)
{
	struct table *table = ui->table;
	unsigned all = table_needs(ui, table);
	struct table_draw draw = { .term = &ui->term,
				   .layout = &table->layout,
				   .skip = table->skip,
				   .sort = table_sort_column(ui),
				   .descending = ui->settings->query.descending,
				   .unread = NEED_PROC & ~all,
				   .view = ui_view(ui),
				   .cell = &table->cell,
				   .scratch = &table->scratch };

	draw.view.frame = table->rows.frame;
	return draw;
}

/* Explains why there are no rows. */
static void draw_empty(struct ui *ui, int line)
{
	static const char *const words[2][2] = {
		{ "no tasks", "no tasks match (= clears the filters)" },
		{ "the group is empty now (Esc goes back)",
		  "no tasks of the group match (= clears the filters, Esc goes back)" },
	};
	const struct query *query = &ui->query;
	bool filtered = query->match || query->users || query->active || query->over_ms >= 0;
	const char *text = words[ui->opened][filtered];

	if (query->hangs)
		text = filtered ? "no matching task is hung (= clears the filters)"
				: "no hung tasks (Tab: next preset)";
	term_puts(&ui->term, line, 0, text, STYLE_DIM);
}

/* Minimum lines of rows from which one line may represent others. */
#define ROWS_FOLDED 5

/* Draws the line that represents idle tasks, after the rows. */
static void draw_idle(struct ui *ui, int line)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	buf_puts(text, "+ ");
	idle_append(&ui->table->rows.idle, text);
	buf_puts(text, " (z shows them)");
	term_put(&ui->term, line, 0, ui->term.columns, text->data, text->len, STYLE_DIM);
}

/* Makes the lines again if the screen has room for another number of them. */
static void take_room(struct ui *ui, const struct header_plan *plan)
{
	/* A small screen has no line to report what is folded. */
	size_t room = plan->sum && plan->rows >= ROWS_FOLDED ? (size_t)plan->rows : 0;

	room -= selected_lines(ui, room);
	if (room == ui->table->rows.room)
		return;
	ui->table->rows.room = room;
	table_sort(ui);
}

/* Draws the words of the sort column, if the height allows. Returns the remaining height. */
static int draw_sort_words(struct ui *ui, struct table *table, int height)
{
	const struct column *sort = table_sort_column(ui);
	struct buf *text = &table->cell;

	if (!ui_has_words(ui) || !sort)
		return height;
	text->len = 0;
	ui_append_words(ui, sort, text);
	term_put(&ui->term, height - 1, 0, ui->term.columns, text->data, text->len, STYLE_DIM);
	return height - 1;
}

/* The sort column is the one explained in help. */
static const struct column *table_column(struct ui *ui, UNUSED void *state,
					 UNUSED const struct list *list)
{
	return table_sort_column(ui);
}

/* The sheet that keys sort and scroll. */
static struct table_view table_sheet(struct ui *ui, void *state)
{
	struct table *table = state;
	struct query *query = &ui->settings->query;

	return (struct table_view){ .columns = &task_columns,
				    .layout = &table->layout,
				    .skip = &table->skip,
				    .sorted = table_sort_column(ui),
				    .sort = &query->sort,
				    .descending = &query->descending };
}

/* Selects the next matching row. */
static bool table_find(struct ui *ui, UNUSED void *state, UNUSED struct list *list)
{
	return table_find_next(ui);
}

/* Plans a screen of so many lines, and reads the data of its rows. Returns their number. */
static size_t plan_rows(struct ui *ui, struct table *table, struct list *list, int lines,
			struct header_plan *plan)
{
	size_t shown;

	*plan = header_plan(ui, lines);
	take_room(ui, plan);
	list_size(list, table->rows.n,
		  (size_t)plan->rows - (plan->rows && rows_fold_idle(&table->rows)));
	shown = list->n - list->top < list->height ? list->n - list->top : list->height;
	table_fill(ui, table->rows.items + list->top, shown,
		   layout_needs(&table->layout, ui->settings->unit));
	return shown;
}

/* Draws the whole view. */
static void draw_table(struct ui *ui, void *state, struct list *list, int height)
{
	const struct group_row *counted = &group_table[ui_rows_are(ui)];
	struct table *table = state;
	int end = draw_sort_words(ui, table, height);
	struct header_plan plan;
	struct table_draw draw;
	const struct item *items;
	size_t shown = plan_rows(ui, table, list, end + 1, &plan);
	int line = finding_lines(ui);

	finding_take(ui);
	/* It may want another line, once the data of the rows is known, and a row of its own. */
	if (table_show_found(ui, finding_row(ui)) || finding_lines(ui) != line) {
		shown = plan_rows(ui, table, list, end + 1, &plan);
		finding_take(ui);
	}
	draw = table_drawing(ui);
	items = table->rows.items + list->top;
	table_room(&draw, &table->layout, &table->wants, items, shown);
	draw.still = table_still(&draw);
	line = header_draw(ui, &plan);
	table->head_line = plan.head ? line : -1;
	if (plan.head)
		table_draw_heads(&draw, line++);
	table->first_line = line;
	for (size_t i = 0; i < shown; i++)
		table_draw_row(&draw, line + (int)i, &items[i],
			       list->top + i == list->selected ? ROW_SELECTED : ROW_PLAIN);
	table->idle_line = rows_fold_idle(&table->rows) && plan.rows ? line + (int)shown : -1;
	if (table->idle_line >= 0)
		draw_idle(ui, table->idle_line);
	else if (!shown && plan.rows)
		draw_empty(ui, line);
	/* Directly below the rows that it sums up. */
	line += (int)shown + (table->idle_line >= 0 || !shown);
	if (plan.sum)
		table_draw_sum(&draw, line, &table->rows.order, &table->rows.order.sum,
			       plural(table->rows.order.passed, counted->one, counted->many));
	selected_draw(ui, line + plan.sum, end - line - plan.sum);
}

/* Handles a click: sorts at the headings, selects in the rows. */
static unsigned table_click(struct ui *ui, void *state, struct list *list, int line, int column)
{
	struct table *table = state;
	size_t index;

	if (line == table->head_line) {
		struct table_draw draw = table_drawing(ui);
		const struct column *head = table_draw_column_at(&draw, column);

		return head ? ui_sort_by(ui, head) : REACT_NONE;
	}
	if (ui->finding_line >= 0 && line >= ui->finding_line && line < ui->finding_end)
		return finding_open(ui, 0);
	if (line == table->idle_line)
		return cmd_idle(ui, 0);
	if (line < table->first_line || line >= table->first_line + (int)list->height)
		return REACT_NONE;
	index = list->top + (size_t)(line - table->first_line);
	if (index >= list->n)
		return REACT_NONE;
	list_select(list, index);
	table_pin(ui);
	return REACT_REDRAW;
}

/* Names the selected task; from now on the selection stays on it. */
static bool table_target(struct ui *ui, UNUSED void *state, struct ui_task *task)
{
	if (!ui_selected(ui, task)) {
		if (table_item(ui))
			ui_error(ui, "this is a group: Enter shows its members");
		return false;
	}
	table_pin(ui);
	/* The pid may already have been reused when the sample was taken. */
	if (table_item(ui)->row->exited)
		ui_error(ui, "%d has exited", (int)task->key.pid);
	return !table_item(ui)->row->exited;
}

/* True if the columns of a preset show traced data; those the user chose need --trace. */
static bool table_traces(struct ui *ui, void *state)
{
	const struct table *table = state;

	return ui->settings->presets.now && layout_traces(&table->layout);
}

/* Frees the state. */
static void close_table(struct ui *ui, void *state)
{
	selected_free(ui);
	table_free(state);
	ui->table = NULL;
}

const struct view_ops view_table = {
	.name = "table",
	.where = WHERE_TABLE,
	.needs = table_needs,
	.traces = table_traces,
	.draw = draw_table,
	.target = table_target,
	.sheet = table_sheet,
	.find = table_find,
	.column = table_column,
	.click = table_click,
	.close = close_table,
};
