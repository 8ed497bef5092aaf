/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "detail_threads.h"

#include <stdio.h>

/* Shares below that are shown as 0.0; from these on they stand out. */
#define SHARE_SHOWN 0.05
#define SHARE_WARM 10.0
#define SHARE_HOT 50.0

/* Cells of the column: the last takes the rest of the line. */
static int cells_of(const struct detail_threads *threads, size_t i, int column, int width)
{
	const struct column *shown = threads->layout.columns[i];

	if (shown->last && i + 1 == threads->layout.n)
		return width - column;
	return (int)shown->width;
}

/* Heads of the columns. */
static void write_heads(struct detail_threads *threads, struct paper *paper)
{
	struct buf *cell = &paper->cell;
	int column = 0;

	for (size_t i = 0; i < threads->layout.n; i++) {
		const struct column *shown = threads->layout.columns[i];

		const char *heading = shown->thread_heading;

		column_append_label(shown, heading ? heading : shown->heading, cell);
		paper_put(paper, column, (int)cell->len, cell->data, cell->len, STYLE_DIM);
		cell->len = 0;
		column += cells_of(threads, i, column, paper->width) + 1;
	}
	paper->line++;
}

/* How a cell is shown. */
static enum style cell_style(const struct column *column, const struct view *view,
			     const struct row *row, const struct value *value)
{
	struct view shares = *view;
	struct value share;

	if (value->type == VALUE_UNSET)
		return STYLE_DIM;
	if (column->format != FORMAT_SHARE)
		return STYLE_NORMAL;
	if (value->number < SHARE_SHOWN)
		return STYLE_DIM;
	if (!column_is_delay(column))
		return STYLE_NORMAL;
	shares.unit = UNIT_PERCENT;
	share = column_get(column, &shares, row);
	if (share.type != VALUE_NUMBER || share.number < SHARE_WARM)
		return STYLE_NORMAL;
	return share.number < SHARE_HOT ? STYLE_WARM : STYLE_HOT;
}

/* One thread. */
static void write_thread(struct detail_threads *threads, struct paper *paper,
			 const struct view *view, const struct row *row, bool marked)
{
	int column = 0;

	for (size_t i = 0; i < threads->layout.n && column < paper->width; i++) {
		const struct column *shown = threads->layout.columns[i];
		int cells = cells_of(threads, i, column, paper->width);
		struct value value = column_get(shown, view, row);
		enum style style = cell_style(shown, view, row, &value);

		if (marked && style == STYLE_NORMAL)
			style = STYLE_BOLD;
		column_append(shown, view, &value, (unsigned)cells, &threads->scratch,
			      &paper->cell);
		paper_put(paper, column, cells, paper->cell.data, paper->cell.len, style);
		paper->cell.len = 0;
		column += cells + 1;
	}
}

/* Puts the threads in the table's order, and reads the states of those in sight. */
static void prepare(struct detail_threads *threads, const struct detail *detail,
		    const struct paper *paper, const struct view *view, const struct ui *ui)
{
	struct query query = { .sort = ui->query.sort, .descending = ui->query.descending,
			       .over_ms = -1 };
	size_t from = paper->first > paper->line ? paper->first - paper->line : 0;
	size_t to = paper->last - paper->line;

	query_run(&query, view, &threads->order);
	if (to > threads->order.n)
		to = threads->order.n;
	if (from < to && !detail->ended)
		sampler_fill_threads(ui->sampler, &detail->threads, threads->order.rows + from,
				     to - from, NEED_STAT);
}

void detail_threads_write(struct detail_threads *threads, const struct detail *detail,
			  struct paper *paper, struct ui *ui)
{
	const struct frame *frame = detail->threads.frame;
	struct view view = { .frame = frame, .unit = ui->settings->unit,
			     .charset = ui->term.charset };
	struct layout_frame shown = { .width = (unsigned)paper->width,
				      .reads = NEED_STAT,
				      .of_process = true };
	char title[64];
	size_t n;

	if (!frame || !frame->n)
		return;
	n = frame->n;
	shown.kinds = frame->kinds;
	snprintf(title, sizeof(title), "Threads: %zu, delays in %s", n,
		 unit_table[view.unit].id);
	paper_part(paper, title);
	layout_resolve(&threads->layout, NULL, &shown);
	write_heads(threads, paper);
	/* Most of a long list is out of sight. */
	if (paper->line < paper->last && paper->line + n > paper->first) {
		prepare(threads, detail, paper, &view, ui);
		for (size_t i = 0; i < threads->order.n; i++, paper->line++) {
			const struct row *row = threads->order.rows[i];
			bool own = detail->who.thread &&
				   row->task->key.pid == detail->who.key.pid;

			if (paper_shows(paper))
				write_thread(threads, paper, &view, row, own);
		}
	} else {
		paper->line += n;
	}
}

void detail_threads_free(struct detail_threads *threads)
{
	order_free(&threads->order);
	buf_free(&threads->scratch);
}
