/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a table of rows in its columns: that of the tasks or groups, and a process's threads. */
#ifndef STALLTOP_UI_TABLE_DRAW_H
#define STALLTOP_UI_TABLE_DRAW_H

#include "ui/rows.h"
#include "ui/term.h"
#include "view/layout.h"

/* A table as it is to be drawn. All of it stays the caller's. */
struct table_draw {
	struct term *term; /* over its whole width */
	const struct layout *layout;
	size_t skip; /* columns scrolled away, behind the first */
	const struct column *sort; /* what it is sorted by; NULL: nothing */
	bool descending;
	bool of_process; /* its rows are threads of one process, and no keys sort them */
	struct view view;
	struct buf *cell, *scratch;
};

/* How a row stands out. */
enum row_mark { ROW_PLAIN, ROW_SELECTED, ROW_BOLD };

/* Whether both sort alike: comm and command stand for each other. */
static inline bool table_sorts_alike(const struct column *a, const struct column *b)
{
	return a == b || (a && b && a->last && b->last);
}

/*
 * These draw a line of the screen; below 0, none: the bar of headings, what sorts and how; the
 * units; a row; the sum over the rows that pass, which are called `plural`.
 */
void table_draw_heads(const struct table_draw *draw, int line);
void table_draw_units(const struct table_draw *draw, int line);
void table_draw_row(const struct table_draw *draw, int line, const struct item *item,
		    enum row_mark mark);
void table_draw_sum(const struct table_draw *draw, int line, const struct order *order,
		    const char *plural);

/* The column that is shown at those cells; NULL: none. */
const struct column *table_draw_column_at(const struct table_draw *draw, int at);

#endif
