/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/detail_threads.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "ui/table/table_draw.h"
#include "ui/table/table_state.h"
#include "view/layout.h"

/* No thread. */
#define NO_THREAD SIZE_MAX

/* The view on the threads' frame. */
static struct view threads_view(const struct detail *detail, const struct ui *ui)
{
	struct view view = ui_view(ui);

	view.frame = detail->threads.frame;
	return view;
}

/* Sorts the threads in the table's order. */
static void sort_threads(struct detail_threads *threads, const struct detail *detail,
			 const struct ui *ui)
{
	struct query query = { .sort = ui->query.sort,
			       .descending = ui->query.descending,
			       .over_ms = -1 };
	struct view view = threads_view(detail, ui);

	query_run(&query, &view, &threads->order);
}

/* True if the row is the chosen thread's. */
static bool is_chosen(const struct detail_threads *threads, const struct row *row)
{
	return threads->chosen.pid && threads->chosen.pid == row->task->key.pid &&
	       task_same_start(threads->chosen.start_ns, row->task->key.start_ns);
}

/* The highlight of a thread's row. */
static enum row_mark highlight_of(const struct detail_threads *threads, const struct detail *detail,
				  const struct row *row)
{
	if (is_chosen(threads, row))
		return ROW_SELECTED;
	return detail->who.thread && row->task->key.pid == detail->who.key.pid ? ROW_BOLD
									       : ROW_PLAIN;
}

/* Writes the rows. Skips lines out of sight: in a long list most are. */
static void write_rows(struct detail_threads *threads, const struct detail *detail, struct ui *ui,
		       struct pager *pager, const struct table_draw *draw)
{
	const struct frame *frame = detail->threads.frame;

	if (pager->line >= pager->last || pager->line + frame->n <= pager->first) {
		pager->line += frame->n;
		return;
	}
	sort_threads(threads, detail, ui);
	for (size_t i = 0; i < threads->order.n; i++, pager->line++) {
		const struct row *row = threads->order.rows[i];
		const struct item item = { .row = row, .shown = row, .frame = frame };

		if (pager_shows(pager))
			table_draw_row(draw, pager_screen_line(pager), &item,
				       highlight_of(threads, detail, row));
	}
}

void detail_threads_write(struct detail_threads *threads, const struct detail *detail,
			  struct ui *ui, struct pager *pager)
{
	const struct frame *frame = detail->threads.frame;
	struct layout_frame shown = { .width = (unsigned)pager->width, .of_process = true };
	struct table_draw draw = { .term = &ui->term,
				   .layout = &threads->layout,
				   .sort = ui->query.sort,
				   .descending = ui->query.descending,
				   .of_process = true,
				   .view = threads_view(detail, ui),
				   .cell = &threads->text,
				   .scratch = &threads->scratch };
	char title[64];

	threads->n = frame ? frame->n : 0;
	if (!threads->n)
		return;
	shown.kinds = frame->info->kinds;
	snprintf(title, sizeof(title), "Threads: %zu, delays in %s", threads->n,
		 unit_table[draw.view.unit].id);
	pager_part(pager, title);
	layout_resolve(&threads->layout, NULL, &shown);
	room_make(&threads->layout, GROUP_THREAD, draw.sort, pager->width);
	table_draw_heads(&draw, pager_screen_line(pager));
	pager->line++;
	threads->line = pager->line;
	write_rows(threads, detail, ui, pager, &draw);
}

/* Updates the order. False: there are no threads to choose from. */
static bool ready(struct detail_threads *threads, const struct detail *detail, const struct ui *ui)
{
	const struct frame *frame = detail->threads.frame;

	if (!frame || frame->n < 2 || frame->n != threads->n)
		return false;
	sort_threads(threads, detail, ui);
	return threads->order.n == threads->n;
}

/* Chooses a thread by its place in the order, and scrolls if it would be out of sight. */
static void choose_thread(struct detail_threads *threads, size_t i, struct list *list)
{
	size_t line = threads->line + i;

	threads->chosen = threads->order.rows[i]->task->key;
	if (line < list->top)
		list_scroll(list, -(long)(list->top - line));
	else if (line >= list->top + list->height)
		list_scroll(list, (long)(line - list->top - list->height + 1));
}

/* The place of the chosen thread, if it is in sight. */
static size_t place_in_sight(const struct detail_threads *threads, const struct list *list)
{
	for (size_t i = 0; i < threads->n; i++) {
		size_t line = threads->line + i;

		if (line >= list->top && line < list->top + list->height &&
		    is_chosen(threads, threads->order.rows[i]))
			return i;
	}
	return NO_THREAD;
}

/* The place of the first thread in sight, or (upwards) of the last. */
static size_t edge_in_sight(const struct detail_threads *threads, const struct list *list, bool up)
{
	size_t first = list->top > threads->line ? list->top - threads->line : 0;
	size_t end = list->top + list->height > threads->line
			     ? list->top + list->height - threads->line
			     : 0;

	if (end > threads->n)
		end = threads->n;
	if (first >= end)
		return NO_THREAD;
	return up ? end - 1 : first;
}

bool detail_threads_move(struct detail_threads *threads, const struct detail *detail, struct ui *ui,
			 struct list *list, enum list_move by)
{
	bool up = by == LIST_UP;
	size_t at;

	if ((!up && by != LIST_DOWN) || !ready(threads, detail, ui))
		return false;
	at = place_in_sight(threads, list);
	if (at == NO_THREAD)
		at = edge_in_sight(threads, list, up);
	else if (up ? at > 0 : at + 1 < threads->n)
		at = up ? at - 1 : at + 1;
	else
		at = NO_THREAD;
	if (at == NO_THREAD)
		return false;
	choose_thread(threads, at, list);
	return true;
}

bool detail_threads_choose(struct detail_threads *threads, const struct detail *detail,
			   struct ui *ui, size_t line)
{
	if (!ready(threads, detail, ui) || line < threads->line ||
	    line >= threads->line + threads->n)
		return false;
	threads->chosen = threads->order.rows[line - threads->line]->task->key;
	return true;
}

bool detail_threads_chosen(const struct detail_threads *threads, const struct detail *detail,
			   struct ui_task *task)
{
	const struct frame *frame = detail->threads.frame;

	for (size_t i = 0; frame && i < frame->n; i++) {
		const struct task *found = frame->rows[i].task;

		if (!is_chosen(threads, &frame->rows[i]))
			continue;
		*task = (struct ui_task){ .key = found->key, .tgid = found->tgid, .thread = true };
		memcpy(task->comm, found->comm, sizeof(task->comm));
		return true;
	}
	return false;
}

void detail_threads_free(struct detail_threads *threads)
{
	order_free(&threads->order);
	buf_free(&threads->text);
	buf_free(&threads->scratch);
}
