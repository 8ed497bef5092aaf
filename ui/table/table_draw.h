/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a table of rows in its columns: the table of tasks or groups, or of a process's threads. */
#pragma once

#include "ui/table/rows.h"
#include "ui/term/term.h"
#include "view/layout.h"

/* A table to be drawn. All of it stays the caller's. */
struct table_draw {
	struct term *term; /* over its whole width */
	const struct layout *layout;
	size_t skip; /* columns scrolled away, after the first */
	const struct column *sort; /* the sort column; NULL: not sorted */
	bool descending;
	bool of_process; /* the rows are threads of one process, and no keys sort them */
	bool counts; /* the sum's last cell has the number of rows, also if it is no name */
	unsigned unread; /* NEED_ bits of what was read of some rows only: it has no sum */
	struct view view;
	struct buf *cell, *scratch;
	uint64_t still; /* see table_still(); 0: all rows are drawn anew */
	/* The highest figures of delay columns in the rows shown, which stand out; 0: none. */
	double highest[LAYOUT_MAX];
};

/* The highlighting of a row. */
enum row_mark { ROW_PLAIN, ROW_SELECTED, ROW_BOLD };

/*
 * A hash of what the cells of rows depend on to which nothing happens, besides the rows: while it
 * is the same, so are they. 0: a column shows more, as what is read in each sample.
 */
uint64_t table_still(const struct table_draw *draw);

/*
 * Each of these draws a line of the screen (none below 0): the headings, with the sort column and
 * its direction; a row; the sum over the rows that pass (`plural`: their name), with the
 * row that has it.
 */
void table_draw_heads(const struct table_draw *draw, int line);
void table_draw_row(const struct table_draw *draw, int line, const struct item *item,
		    enum row_mark mark);
void table_draw_sum(const struct table_draw *draw, int line, const struct order *order,
		    const struct row *sum, const char *plural);

/* The column that is shown at that cell; NULL: none. */
const struct column *table_draw_column_at(const struct table_draw *draw, int at);

/* The width of the screen that the texts of a table need. */

struct table_draw;

/*
 * The widths that columns want, by the longest text shown lately: so they do not move to and fro,
 * and give back what they no longer need. Zero-initialised: unknown.
 */
struct table_wants {
	const struct column *columns[LAYOUT_MAX]; /* the columns measured */
	size_t n;
	int width; /* of the screen */
	uint64_t since_ns; /* CLOCK_REALTIME of the frame with which the present while began */
	unsigned cells[LAYOUT_MAX], before[LAYOUT_MAX]; /* in this period, and in the one before */
};

/*
 * Measures the rows to be drawn: shares out the screen's width among the layout's columns, and
 * finds the highest figures.
 */
void table_room(struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n);
