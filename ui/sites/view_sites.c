/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/sites/view_sites.h"

#include <stdlib.h>
#include <time.h>

#include "base/pattern.h"
#include "base/util.h"
#include "frame/notes.h"
#include "trace/tracing.h"
#include "ui/detail/view_task.h"
#include "ui/sites/view_site.h"
#include "ui/table/site_list.h"
#include "ui/table/table_state.h"
#include "view/layout.h"
#include "view/remedies.h"

/* Minimum lines for the line of units and the sum, and for the line below the title. */
#define LINES_SUM 12
#define LINES_INFO 8

/* The columns of waits in progress, and those dropped first. */
#define NOW_FIELDS "pid,user,state,wait,syscall,on,where,comm"
#define NOW_ROOM "user,syscall,where"

struct sites_view {
	struct site_list sites;
	struct site_table table;
	uint64_t selected; /* its id: the selection stays on it, except on the first line */
	int head_line, first_line; /* on the screen; -1: none are shown */
	struct layout layout; /* of waits in progress */
	struct buf text, scratch;
};

/* The list of lines of this view's page. */
static struct list *list_of(struct ui *ui, const struct sites_view *view)
{
	for (unsigned i = 0; i < ui->depth; i++)
		if (ui->pages[i].state == view)
			return &ui->pages[i].list;
	return NULL;
}

/* Stores the selected line. */
static void note_selected(struct sites_view *view, const struct list *list)
{
	if (list && list->selected < view->sites.sites.n)
		view->selected =
			list->selected ? site_list_line(&view->sites, list->selected)->id : 0;
}

/* Selects it again, at its present place. */
static void select_noted(struct sites_view *view, struct list *list)
{
	size_t n = view->sites.sites.n;

	if (!list)
		return;
	list->n = n;
	for (size_t i = 0; i < n && view->selected; i++)
		if (site_list_line(&view->sites, i)->id == view->selected)
			list_select(list, i);
}

/* Collects the sites of the ui's frame again. The selection stays on its line. */
static void take_site_lines(struct sites_view *view, struct ui *ui)
{
	struct list *list = list_of(ui, view);

	note_selected(view, list);
	site_list_take(&view->sites, ui);
	select_noted(view, list);
}

/* Sorts the lines in the order chosen meanwhile. */
static void reorder(struct sites_view *view, struct ui *ui, struct list *list)
{
	note_selected(view, list);
	if (site_list_order(&view->sites, ui, false))
		select_noted(view, list);
}

/* Processes a new frame. */
static void sites_frame(struct ui *ui, void *state)
{
	take_site_lines(state, ui);
}

/* The needs of every task to identify its processes. */
static unsigned sites_needs(UNUSED struct ui *ui, void *state)
{
	const struct sites_view *view = state;

	return view->sites.of == SITES_OF_GROUP ? group_table[view->sites.group.by].needs : 0;
}

/* Sites are traced. */
static bool sites_trace(UNUSED struct ui *ui, UNUSED void *state)
{
	return true;
}

/* Draws a text in a line of its own. */
static void draw_text_line(struct ui *ui, int line, struct buf *text, enum style style)
{
	term_put(&ui->term, line, 0, ui->term.columns, text->data, text->len, style);
	text->len = 0;
}

/* Draws the amount traced in the interval, and its cost. */
static void draw_info(struct sites_view *view, struct ui *ui, int line)
{
	const struct trace_frame *trace = ui->frame->info->trace;
	double seconds = (double)trace->interval_ns / (double)NSEC_PER_SEC;
	struct buf *text = &view->text;

	buf_decimal(text, seconds, 2);
	buf_puts(text, " s   times in ms");
	if (seconds > 0)
		buf_printf(text, "   %.0f switches/s", (double)trace->switches / seconds);
	if (trace->cost >= 0) {
		buf_puts(text, "   overhead ");
		buf_decimal(text, trace->cost, 1);
		buf_puts(text, " %");
	}
	if (trace->lost)
		buf_printf(text, "   %llu %s unattributed", (unsigned long long)trace->lost,
			   plural(trace->lost, "wait", "waits"));
	draw_text_line(ui, line, text, trace->lost ? STYLE_NOTE : STYLE_DIM);
}

void view_sites_reason(struct ui *ui, struct buf *text)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), due = ui->ticker.due_ns;

	if (ui->trace_error) {
		struct note why = tracing_note_of(ui->trace_error);

		remedy_append_note(text, &why);
		return;
	}
	if (ui->frame->info->trace) {
		buf_puts(text, note_table[NOTE_TRACE_STATES].text);
		return;
	}
	if (ui->history.back) {
		buf_puts(text, "waits were not traced in this sample");
		return;
	}
	buf_puts(text, "tracing: ");
	if (ui->paused) {
		buf_puts(text, "paused (p resumes)");
	} else {
		buf_puts(text, "first interval in ");
		buf_decimal(text, due > now ? (double)(due - now) / (double)NSEC_PER_SEC : 0, 1);
		buf_puts(text, " s");
	}
}

/* Sorts the rows of the view: longest wait first. */
static void order_rows(struct sites_view *view, struct ui *ui)
{
	struct query query = { .sort = column_by_id("wait", 4), .descending = true, .over_ms = -1 };
	struct view shown = ui_view(ui);

	if (view->sites.of == SITES_OF_GROUP)
		ui_only_group(&view->sites.group, &query);
	else if (view->sites.of == SITES_OF_ALL)
		query.match = ui->query.match;
	query_run(&query, &shown, &view->sites.order);
}

/* Draws the waits in progress of the rows, from that line on. */
static void draw_now(struct sites_view *view, struct ui *ui, struct list *list, int line,
		     int height)
{
	const struct order *order = &view->sites.order;
	struct table_draw draw = { .term = &ui->term,
				   .layout = &view->layout,
				   .view = ui_view(ui),
				   .cell = &view->text,
				   .scratch = &view->scratch };
	enum group_by by = ui->frame->info->threads ? GROUP_THREAD : GROUP_PROCESS;
	int shown = 0;

	layout_named(&view->layout, NOW_FIELDS);
	room_leave_out(&view->layout, NOW_ROOM, by, NULL, ui->term.columns);
	order_rows(view, ui);
	list_size(list, 0, 0);
	if (height > 0)
		table_draw_heads(&draw, line++);
	for (size_t i = 0; i < order->n && shown + 1 < height; i++) {
		const struct row *row = order->rows[i];
		const struct item item = { .row = row, .shown = row, .frame = ui->frame };

		if (view->sites.of == SITES_OF_TASK && !site_list_has(&view->sites, row))
			continue;
		table_fill(ui, &item, 1, layout_needs(&view->layout, ui->settings->unit));
		table_draw_row(&draw, line++, &item, ROW_PLAIN);
		shown++;
	}
	view->text.len = 0;
}

/* Draws the sites. */
static void draw_sites(struct sites_view *view, struct ui *ui, struct list *list, int line,
		       int height)
{
	const struct site_lines *sites = &view->sites.sites;
	bool roomy = line + height >= LINES_SUM;
	int end = line + height, rows = height - 1 - roomy;
	struct table_draw draw = site_table_begin(&view->table, ui, sites->several);

	reorder(view, ui, list);
	list_size(list, sites->n, rows > 0 ? (size_t)rows : 0);
	for (size_t i = list->top; i < sites->n && i < list->top + list->height; i++)
		site_table_add(&view->table, ui, view->sites.lines.rows[i]);
	site_table_fit(&view->table, &draw);
	view->head_line = height > 0 ? line : -1;
	if (height > 0)
		table_draw_heads(&draw, line++);
	view->first_line = line;
	for (size_t i = 0; i < view->table.n; i++)
		table_draw_row(&draw, line++, &view->table.items[i],
			       list->top + i == list->selected ? ROW_SELECTED : ROW_PLAIN);
	if (!sites->n && rows > 0) {
		if (ui->frame->info->trace->n)
			buf_puts(&view->text, "no waits in the last interval");
		else
			view_sites_reason(ui, &view->text);
		draw_text_line(ui, line, &view->text, STYLE_DIM);
	}
	if (roomy)
		table_draw_sum(&draw, end - 1, &view->sites.lines, &sites->all.row,
			       plural(sites->n, "line", "lines"));
}

/* Draws the whole view. */
static void sites_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct sites_view *view = state;
	const struct trace_frame *trace = ui->frame->info->trace;
	int line = 0;

	view->head_line = view->first_line = -1;
	view->text.len = 0;
	if (height < 1)
		return;
	site_list_title(&view->sites, ui, &view->text);
	draw_text_line(ui, line++, &view->text, STYLE_HEAD);
	if (!trace && line < height) {
		view_sites_reason(ui, &view->text);
		draw_text_line(ui, line++, &view->text, STYLE_NOTE);
	} else if (trace && height >= LINES_INFO)
		draw_info(view, ui, line++);
	if (trace)
		draw_sites(view, ui, list, line, height - line);
	else
		draw_now(view, ui, list, line, height - line);
}

/* The sheet that keys sort and scroll. */
static struct table_view sites_sheet(struct ui *ui, void *state)
{
	struct sites_view *view = state;
	struct site_choice *choice = &ui->settings->sites;

	if (!choice->sort) {
		choice->sort = site_choice_sort(choice);
		choice->descending = true;
	}
	return (struct table_view){ .columns = &site_columns,
				    .layout = &view->table.layout,
				    .skip = &view->table.skip,
				    .sorted = choice->sort,
				    .sort = &choice->sort,
				    .descending = &choice->descending };
}

/* True if a text of a line is searched for. */
static bool text_matches(const struct ui *ui, const struct row *line)
{
	const struct view view = ui_view(ui);

	for (size_t i = 0; i < site_columns.n; i++) {
		struct value value = column_get(&site_columns.columns[i], &view, line);

		if (value.type == VALUE_TEXT && pattern_matches(ui->find, value.text))
			return true;
	}
	return false;
}

/* Selects the next matching line. */
static bool sites_find(struct ui *ui, void *state, struct list *list)
{
	const struct order *lines = &((struct sites_view *)state)->sites.lines;

	for (size_t i = 1; i <= lines->n; i++) {
		size_t at = (list->selected + i) % lines->n;

		if (!text_matches(ui, lines->rows[at]))
			continue;
		list_select(list, at);
		return true;
	}
	return false;
}

/* The sort column is the one explained in help. */
static const struct column *sites_column(struct ui *ui, UNUSED void *state,
					 UNUSED const struct list *list)
{
	return site_choice_sort(&ui->settings->sites);
}

/* Handles a click: sorts at the headings, selects in the lines. */
static unsigned sites_click(struct ui *ui, void *state, struct list *list, int line, int column)
{
	struct sites_view *view = state;
	size_t index = list->top + (size_t)(line - view->first_line);

	if (view->head_line >= 0 && line == view->head_line) {
		struct table_draw draw = { .term = &ui->term,
					   .layout = &view->table.layout,
					   .skip = view->table.skip };
		const struct column *head = table_draw_column_at(&draw, column);

		return head ? ui_sort_by(ui, head) : REACT_NONE;
	}
	if (view->first_line < 0 || line < view->first_line ||
	    line >= view->first_line + (int)list->height || index >= list->n)
		return REACT_NONE;
	list_select(list, index);
	return REACT_REDRAW;
}

/* The process whose sites are shown. */
static pid_t sites_process(const void *state)
{
	const struct site_list *sites = &((const struct sites_view *)state)->sites;

	return sites->of == SITES_OF_TASK ? sites->task.tgid : 0;
}

/* Frees the state. */
static void sites_close(UNUSED struct ui *ui, void *state)
{
	struct sites_view *view = state;

	site_list_free(&view->sites);
	site_table_free(&view->table);
	buf_free(&view->text);
	buf_free(&view->scratch);
	free(view);
}

static const struct view_ops view_sites = {
	.name = "sites",
	.where = WHERE_SITES,
	.frame = sites_frame,
	.needs = sites_needs,
	.traces = sites_trace,
	.process = sites_process,
	.draw = sites_draw,
	.sheet = sites_sheet,
	.find = sites_find,
	.column = sites_column,
	.click = sites_click,
	.close = sites_close,
};

bool view_sites_whose(struct ui *ui, struct site_list *list)
{
	const struct item *item;

	if (ui_page(ui)->ops->where == WHERE_TASK) {
		view_task_whose(ui, list);
		return true;
	}
	item = table_item(ui);
	if (!item)
		return false;
	table_pin(ui);
	if (item->row->group) {
		list->of = SITES_OF_GROUP;
		ui_take_group(ui, &list->group, item->row->group);
		return true;
	}
	/* Each of many exited ones is another in the next interval. */
	if (item->row->exited && item->row->raw->counters.members > 1) {
		list->of = SITES_OF_GROUP;
		list->group.by = GROUP_COMMAND;
		list->group.named = true;
		buf_puts(&list->group.name, item->row->task->comm);
		return true;
	}
	list->of = SITES_OF_TASK;
	return ui_selected(ui, &list->task);
}

/* Puts it on top. */
static unsigned open_view(struct ui *ui, struct sites_view *view)
{
	/* Several processes always include many idle ones. */
	view->sites.no_idle = view->sites.of != SITES_OF_TASK;
	ui_push(ui, &view_sites, view);
	take_site_lines(view, ui);
	return REACT_REDRAW;
}

COMMAND(view_sites_open)
{
	struct sites_view *view = xcalloc(1, sizeof(*view));

	if (view_sites_whose(ui, &view->sites))
		return open_view(ui, view);
	sites_close(ui, view);
	return REACT_NONE;
}

unsigned view_sites_open_task(struct ui *ui, const struct ui_task *task)
{
	struct sites_view *view = xcalloc(1, sizeof(*view));

	view->sites.of = SITES_OF_TASK;
	view->sites.task = *task;
	return open_view(ui, view);
}

unsigned view_sites_open_all(struct ui *ui)
{
	struct sites_view *view = xcalloc(1, sizeof(*view));

	view->sites.of = SITES_OF_ALL;
	return open_view(ui, view);
}

COMMAND(view_sites_group)
{
	struct sites_view *view = ui_page(ui)->state;
	struct list *list = &ui_page(ui)->list;

	view->sites.by = (view->sites.by + 1) % SITES_BYS;
	list->selected = list->top = 0;
	take_site_lines(view, ui);
	ui_say(ui, "%s", sites_by_table[view->sites.by].help);
	return REACT_REDRAW;
}

COMMAND(view_sites_idle)
{
	struct sites_view *view = ui_page(ui)->state;

	view->sites.no_idle = !view->sites.no_idle;
	take_site_lines(view, ui);
	ui_say(ui, view->sites.no_idle ? "idle waits are hidden: poll, timer, child, stop, other"
				       : "all waits");
	return REACT_REDRAW;
}

const struct site_line *view_sites_selected(struct ui *ui, struct site_list **list)
{
	struct sites_view *view = ui_page(ui)->state;
	size_t selected = ui_page(ui)->list.selected;

	*list = &view->sites;
	if (!ui->frame->info->trace || selected >= view->sites.sites.n)
		return NULL;
	return site_list_line(&view->sites, selected);
}

COMMAND(view_sites_enter)
{
	struct site_list *list;
	const struct site_line *line = view_sites_selected(ui, &list);

	return line ? view_site_open(ui, list, line->id) : REACT_NONE;
}
