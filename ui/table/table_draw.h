/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a table of rows in its columns: the table of tasks or groups, or of a process's threads. */
#pragma once

#include "ui/table/rows.h"
#include "ui/term/term.h"
#include "view/layout.h"

/* A table to be drawn. The caller keeps all of it. */
struct table_draw {
	struct term *term; /* over its whole width */
	const struct layout *layout;
	size_t skip; /* columns scrolled away, after the first */
	const struct column *sort; /* the sort column; NULL: not sorted */
	bool descending;
	bool of_process; /* the rows are threads of one process, and no keys sort them */
	bool counts; /* the sum's last cell has the number of rows, even if it is no name */
	unsigned unread; /* NEED_ bits of data read for some rows only: it has no sum */
	struct view view;
	struct buf *cell, *scratch;
	uint64_t still; /* see table_still(); 0: all rows are redrawn */
	/* The highest figures of delay columns in the rows shown, to be emphasised; 0: none. */
	double highest[LAYOUT_MAX];
};

/* The highlighting of a row. */
enum row_mark { ROW_PLAIN, ROW_SELECTED, ROW_BOLD };

/*
 * A hash of everything that the cells of unchanged rows depend on, besides the rows: equal hash,
 * equal cells. 0: a column shows more, such as data read per sample.
 */
uint64_t table_still(const struct table_draw *draw);

/*
 * Each of these draws a line of the screen (none below 0): the headings, with the sort column and
 * its direction; a row; the sum over the rows that pass (`plural`: their name), with its row.
 */
void table_draw_heads(const struct table_draw *draw, int line);
void table_draw_row(const struct table_draw *draw, int line, const struct item *item,
		    enum row_mark mark);
void table_draw_sum(const struct table_draw *draw, int line, const struct order *order,
		    const struct row *sum, const char *plural);

/* The column shown at that cell; NULL: none. */
const struct column *table_draw_column_at(const struct table_draw *draw, int at);

/* The screen width that the texts of a table need. */

struct table_draw;

/*
 * The widths that columns want, by the longest text shown recently: so they do not move to and fro,
 * and shrink when less is needed. Zero-initialised: unknown.
 */
struct table_wants {
	const struct column *columns[LAYOUT_MAX]; /* the columns measured */
	size_t n;
	int width; /* of the screen */
	uint64_t since_ns; /* CLOCK_REALTIME of the frame with which the current period began */
	unsigned cells[LAYOUT_MAX], before[LAYOUT_MAX]; /* in this period, and in the previous
							 * one */
};

/*
 * Measures the rows to be drawn: shares the screen's width among the layout's columns, and finds
 * the highest figures.
 */
void table_room(struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n);
