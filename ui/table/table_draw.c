/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/table_draw.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "view/layout.h"

/* Maximum indentation of a tree, in steps of two cells. */
#define DEPTH_SHOWN 12

/* A column and its place on the screen. */
struct column_span {
	size_t index;
	const struct column *column;
	int at, cells; /* cells: including those that only the last column takes */
	bool rest; /* the last column */
};

/* The column after `span` on the screen (the first, for a zeroed one); false at the end. */
static bool next_span(const struct table_draw *draw, struct column_span *span)
{
	const struct layout *layout = draw->layout;
	size_t index = span->column ? span->index + 1 : 0;
	int at = span->column ? span->at + span->cells + 1 : 0;

	if (span->column && !span->index)
		index += draw->skip;
	if (index >= layout->n)
		return false;
	span->index = index;
	span->column = layout->columns[index];
	span->at = at;
	span->cells = (int)(layout->cells[index] ? layout->cells[index] : span->column->width);
	span->rest = span->column->last && index + 1 == layout->n;
	if (span->rest)
		span->cells = draw->term->columns - at;
	/* A cut column would show wrong figures. */
	return span->cells > 0 && (span->column->last || at + span->cells <= draw->term->columns);
}

/*
 * Puts the contents of `cell` into the span, from column `at` on. The blanks before a number stay
 * unstyled: they have neither the background of its style nor an underline.
 */
static void put_cell(const struct table_draw *draw, int line, const struct column_span *span,
		     int at, enum style style)
{
	const struct buf *cell = draw->cell;
	size_t blanks = 0, len = cell->len;

	/* A label of a column that is narrower here is not cut for its blanks. */
	while (len > 1 && cell->data[len - 1] == ' ')
		len--;
	while (span->column->format != FORMAT_TEXT && blanks + 1 < len && cell->data[blanks] == ' ')
		blanks++;
	at += (int)blanks;
	term_put(draw->term, line, at, span->at + span->cells - at, cell->data + blanks,
		 len - blanks, style);
}

/* True for the coloured styles of a bar. */
static bool is_of_bar(enum style style)
{
	return style >= STYLE_BAR_RUN && style <= STYLE_BAR_PEER;
}

/*
 * Puts the bar in `cell` into the span, each state in its style, or that style's look in the
 * selected row; others have the style of the cell.
 */
static void put_bar(const struct table_draw *draw, int line, const struct column_span *span,
		    enum style others, bool selected)
{
	const char *text = draw->cell->data;
	int n = (int)draw->cell->len < span->cells ? (int)draw->cell->len : span->cells;

	for (int from = 0, to; from < n; from = to) {
		enum style style = style_of_state(text[from]);

		if (!is_of_bar(style))
			style = others;
		else if (selected)
			style = style_selected(style);
		for (to = from + 1; to < n && text[to] == text[from];)
			to++;
		term_put(draw->term, line, span->at + from, to - from, text + from,
			 (size_t)(to - from), style);
	}
}

/* Cells of a label: a number's may be narrower here than elsewhere. */
static unsigned label_cells(const struct column_span *span)
{
	return span->cells < (int)span->column->width ? (unsigned)span->cells : 0;
}

/* Writes a column's heading. */
static void write_heading(const struct table_draw *draw, const struct column_span *span)
{
	const struct column *column = span->column;
	const char *heading = draw->of_process && column->thread_heading ? column->thread_heading
									 : column->heading;

	draw->cell->len = 0;
	column_append_label(column, heading, label_cells(span), draw->cell);
}

void table_draw_heads(const struct table_draw *draw, int line)
{
	struct column_span span = { 0 };
	struct term *term = draw->term;
	const char *up = term->charset == TEXT_UTF8 ? "▲" : "^";
	const char *down = term->charset == TEXT_UTF8 ? "▼" : "v";
	struct buf *cell = draw->cell;

	term_put(term, line, 0, term->columns, "", 0, STYLE_HEAD);
	while (next_span(draw, &span)) {
		bool sorted = column_sorts_alike(draw->sort, span.column);

		write_heading(draw, &span);
		if ((int)cell->len > span.cells)
			cell->len = (size_t)span.cells;
		term_put(term, line, span.at, (int)cell->len, cell->data, cell->len,
			 sorted ? STYLE_HEAD_SORT : STYLE_HEAD);
		if (sorted)
			term_puts(term, line, span.at + (int)cell->len,
				  draw->descending ? down : up, STYLE_HEAD_SORT);
	}
	/* Marks further columns on that side. */
	if (span.index + 1 < draw->layout->n)
		term_puts(term, line, term->columns - 1, ">", STYLE_HEAD_SORT);
}

/* The kind of a delay column's figure: of several kinds the one with the longest wait. */
static unsigned main_kind(const struct column *column, const struct row *row)
{
	const uint64_t *ns = row->deltas->waited.ns;
	unsigned best = WAIT_KINDS;

	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		uint32_t bit = kind == WAIT_DWAIT ? VALID_DWAIT : DELAY_BIT(kind);

		if (column->kinds & bit && (best == WAIT_KINDS || ns[kind] > ns[best]))
			best = kind;
	}
	return best < WAIT_KINDS ? best : DELAY_CPU;
}

/* True if a value is the highest of its column. */
static bool is_highest(const struct table_draw *draw, const struct column_span *span,
		       const struct value *value)
{
	return draw->highest[span->index] > 0 && value->number >= draw->highest[span->index];
}

/*
 * The style of a delay: by its share of the interval, for averages by their length. The longest
 * waits of whole lives are highlighted if they rose in the interval.
 */
static enum style delay_style(const struct table_draw *draw, const struct column_span *span,
			      struct view view, const struct row *row, const struct value *value)
{
	bool single = view.unit == UNIT_AVG;
	struct value share = *value;
	enum style style;

	if (view.unit == UNIT_MAX)
		return column_rose(span->column, &view, row) ? STYLE_HOT : STYLE_NORMAL;
	if (!single && view.unit != UNIT_PERCENT) {
		view.unit = UNIT_PERCENT;
		share = column_get(span->column, &view, row);
	}
	if (share.type != VALUE_NUMBER)
		return STYLE_NORMAL;
	style = single ? style_of_wait(share.number) : style_of_share(share.number);
	if (style == STYLE_HOT && is_highest(draw, span, value))
		return STYLE_HOT;
	return style >= STYLE_WARM ? style_of_kind(main_kind(span->column, row)) : STYLE_NORMAL;
}

/* True if a value is an amount that is displayed as 0. */
static bool looks_zero(const struct column *column, enum unit unit, const struct value *value)
{
	enum value_format format = column_format(column, unit);

	if (value->type != VALUE_NUMBER)
		return false;
	/* A number may also be a name: of a user, of a CPU. */
	if (format == FORMAT_COUNT)
		return column->sum == SUM_ADD && value->number < 0.5;
	return format == FORMAT_WAIT ? value->number <= 0
	       : format == FORMAT_SHARE
		       ? value->number < SHARE_SHOWN && value->number > -SHARE_SHOWN
		       : false;
}

/* True if a row is of an exited task that did not wait much: others have the usual style. */
static bool is_quiet(const struct row *row)
{
	return row->exited && (!row->interval_ns || (double)row->deltas->waited.total * 100.0 <
							    SHARE_WARM * (double)row->interval_ns);
}

/* The style of a share of lost time. */
static enum style lost_style(struct value share)
{
	return share.type == VALUE_NUMBER ? style_of_share(share.number) : STYLE_NORMAL;
}

/* The style of a cell; `usual`: the one for cells without a highlight. */
static enum style cell_style(const struct table_draw *draw, const struct column_span *span,
			     const struct view *view, const struct row *row,
			     const struct value *value, enum style usual)
{
	const struct column *column = span->column;
	enum style style = STYLE_NORMAL;

	if (value->type == VALUE_UNSET || column->bar)
		return STYLE_DIM;
	if (value->type == VALUE_TEXT)
		return column_warns(column, value) ? STYLE_WARM : usual;
	if (looks_zero(column, view->unit, value))
		return STYLE_DIM;
	if (column_is_delay(column))
		style = delay_style(draw, span, *view, row, value);
	else if (column->stalls)
		style = lost_style(column->stalls(column, view, row));
	return style == STYLE_NORMAL ? usual : style;
}

/*
 * Replaces a cell that is displayed as 0 by a dot, and puts a mark before the highest figures if
 * the theme has one.
 */
static void finish_cell(const struct table_draw *draw, bool zero, enum style style)
{
	struct buf *cell = draw->cell;
	char mark = draw->term->styles.mark;

	if (!cell->len)
		return;
	if (zero) {
		memset(cell->data, ' ', cell->len - 1);
		cell->data[cell->len - 1] = '.';
	} else if (mark && (style == STYLE_HOT || style == STYLE_SELECTED_HOT)) {
		size_t blanks = 0;

		while (blanks < cell->len && cell->data[blanks] == ' ')
			blanks++;
		if (blanks)
			cell->data[blanks - 1] = mark;
	}
}

/* Draws the tree's lines before a name. Returns the column after them. */
static int draw_branch(struct term *term, int line, int column, const struct item *item,
		       enum style style)
{
	unsigned depth = item->depth < DEPTH_SHOWN ? item->depth : DEPTH_SHOWN;
	const char *branch = term->charset == TEXT_UTF8 ? "└─" : "`-";

	if (!depth && !item->more)
		return column;
	if (depth) {
		column = term_put(term, line, column, (int)(depth - 1) * 2, "", 0, style);
		column = term_puts(term, line, column, branch, style);
	}
	return term_puts(term, line, column, item->more ? "+" : " ", style);
}

/* The style of a cell in a highlighted row. */
static enum style marked_style(enum row_mark mark, enum style style)
{
	if (mark == ROW_SELECTED)
		return style_selected(style);
	return mark == ROW_BOLD && style == STYLE_NORMAL ? STYLE_BOLD : style;
}

uint64_t table_still(const struct table_draw *draw)
{
	const struct layout *layout = draw->layout;
	const struct {
		size_t skip;
		int width;
		enum unit unit;
	} rest = { draw->skip, draw->term->columns, draw->view.unit };
	uint64_t hash = HASH_START;

	if (!layout_is_still(layout, draw->view.unit))
		return 0;
	hash = hash_bytes(hash, layout->columns, layout->n * sizeof(*layout->columns));
	hash = hash_bytes(hash, layout->cells, layout->n * sizeof(*layout->cells));
	return hash_bytes(hash, &rest, sizeof(rest));
}

/* A hash of everything that the cells of an unchanged line depend on; 0: not cacheable. */
static uint64_t hash_idle_line(const struct table_draw *draw, const struct item *item,
			       enum row_mark mark)
{
	uint64_t of[] = { draw->still, 0, item->depth, item->more };

	if (!draw->still || mark != ROW_PLAIN)
		return 0;
	of[1] = row_still(item->frame, item->shown);
	return of[1] ? hash_bytes(HASH_START, of, sizeof(of)) | 1 : 0;
}

void table_draw_row(const struct table_draw *draw, int line, const struct item *item,
		    enum row_mark mark)
{
	struct view view = draw->view;
	struct column_span span = { 0 };
	enum style usual = is_quiet(item->shown) ? STYLE_DIM : STYLE_NORMAL;
	uint64_t still = hash_idle_line(draw, item, mark);

	view.frame = item->frame;
	if (still && term_keep(draw->term, line, still))
		return;
	if (mark == ROW_SELECTED)
		term_put(draw->term, line, 0, draw->term->columns, "", 0, STYLE_SELECTED);
	while (next_span(draw, &span)) {
		struct value value = column_get(span.column, &view, item->shown);
		enum style style = marked_style(
			mark, cell_style(draw, &span, &view, item->shown, &value, usual));
		int at = span.at;

		if (span.rest)
			at = draw_branch(draw->term, line, at, item, style);
		if (at >= span.at + span.cells)
			continue;
		draw->cell->len = 0;
		column_append(span.column, &view, &value, (unsigned)(span.at + span.cells - at),
			      draw->scratch, draw->cell);
		finish_cell(draw, looks_zero(span.column, view.unit, &value), style);
		if (value.type == VALUE_BAR && !span.column->graph)
			put_bar(draw, line, &span, style, mark == ROW_SELECTED);
		else
			put_cell(draw, line, &span, at, style);
	}
}

void table_draw_sum(const struct table_draw *draw, int line, const struct order *order,
		    const struct row *sum, const char *plural)
{
	struct column_span span = { 0 };

	while (next_span(draw, &span)) {
		struct value total = value_unset();
		bool none,
			counts = span.rest || (draw->counts && span.index + 1 == draw->layout->n);

		/* Figures read only for the shown rows would be no sum. */
		if (!(span.column->needs & draw->unread))
			total = column_total(span.column, &draw->view, order->rows, order->passed,
					     sum);
		none = looks_zero(span.column, draw->view.unit, &total);
		draw->cell->len = 0;
		if (counts)
			buf_printf(draw->cell, "%zu %s", order->passed, plural);
		else
			column_append_total(span.column, &draw->view, &total, label_cells(&span),
					    !span.index, draw->scratch, draw->cell);
		if (span.index && !counts)
			finish_cell(draw, none, STYLE_SUM);
		if (total.type == VALUE_BAR && !span.column->graph)
			put_bar(draw, line, &span, STYLE_SUM, false);
		else
			put_cell(draw, line, &span, span.at, none ? STYLE_DIM : STYLE_SUM);
	}
}

const struct column *table_draw_column_at(const struct table_draw *draw, int at)
{
	struct column_span span = { 0 };

	while (next_span(draw, &span))
		if (at >= span.at && at <= span.at + span.cells)
			return span.column;
	return NULL;
}

/* How long wanted widths are remembered: so long, and twice that at most. */
#define WHILE_NS (10 * NSEC_PER_SEC)

/* Wanted widths are rounded up to steps of so many cells: columns move less often. */
#define STEP 4

/* Forgets what other columns wanted, or these on another screen. */
static void begin_wants(struct table_wants *wants, const struct layout *layout, int width)
{
	size_t bytes = layout->n * sizeof(*layout->columns);

	if (wants->n == layout->n && wants->width == width &&
	    !memcmp(wants->columns, layout->columns, bytes))
		return;
	*wants = (struct table_wants){ .n = layout->n, .width = width };
	memcpy(wants->columns, layout->columns, bytes);
}

/* Starts the next period when it is time, even if the frame is one of the past. */
static void go_on_wanting(struct table_wants *wants, uint64_t real_ns)
{
	if (real_ns >= wants->since_ns && real_ns - wants->since_ns < WHILE_NS)
		return;
	wants->since_ns = real_ns;
	memcpy(wants->before, wants->cells, sizeof(wants->before));
	memset(wants->cells, 0, sizeof(wants->cells));
}

/* The cells of a value's text; beyond the screen's width it does not matter. */
static unsigned width_of_value(const struct table_draw *draw, const struct value *value)
{
	size_t most = (size_t)draw->term->columns, len;
	struct buf *text = draw->scratch;

	if (value->type != VALUE_TEXT)
		return 1;
	len = strnlen(value->text, most);
	if (len == most)
		return (unsigned)most;
	text->len = 0;
	value_escape(text, value->text, value->more, draw->term->charset);
	return text_width(text->data, text->len, draw->term->charset);
}

/* Measures one column. */
static unsigned measure_column(const struct table_draw *draw, const struct column *column,
			       const struct item *items, size_t n)
{
	struct view view = draw->view;
	unsigned most = 0;

	for (size_t i = 0; i < n; i++) {
		struct value value;
		unsigned cells;

		view.frame = items[i].frame;
		value = column_get(column, &view, items[i].shown);
		cells = width_of_value(draw, &value);
		if (column->last)
			cells += 2 * items[i].depth + items[i].more;
		most = cells > most ? cells : most;
	}
	return (most + STEP - 1) / STEP * STEP;
}

/* Finds the highest figure of a delay column. */
static double find_highest(const struct table_draw *draw, const struct column *column,
			   const struct item *items, size_t n)
{
	struct view view = draw->view;
	double highest = 0;

	for (size_t i = 0; i < n; i++) {
		struct value value;

		if (items[i].shown->unchanged || !items[i].shown->deltas->waited.total)
			continue;
		view.frame = items[i].frame;
		value = column_get(column, &view, items[i].shown);
		if (value.type == VALUE_NUMBER && value.number > highest)
			highest = value.number;
	}
	return highest;
}

void table_room(struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n)
{
	unsigned wanted[LAYOUT_MAX] = { 0 };

	begin_wants(wants, layout, draw->term->columns);
	go_on_wanting(wants, draw->view.frame->info->real_ns);
	for (size_t i = 0; i < layout->n; i++) {
		const struct column *column = layout->columns[i];
		unsigned cells;

		if (column_is_delay(column))
			draw->highest[i] = find_highest(draw, column, items, n);
		/* The only text gets the rest anyway. */
		if (!room_grows(column) || (column->last && layout->n < 2))
			continue;
		cells = measure_column(draw, column, items, n);
		if (cells > wants->cells[i])
			wants->cells[i] = cells;
		wanted[i] = wants->cells[i] > wants->before[i] ? wants->cells[i] : wants->before[i];
	}
	room_share(layout, wanted, (unsigned)draw->term->columns);
}
