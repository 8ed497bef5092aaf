/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as lines of text, one word a cell: tables of tasks, of groups, and of sites. */
#pragma once

#include "view/layout.h"

/* The cell of the row above, and its place in the buffer; end 0: there is none. */
struct above {
	struct value value;
	size_t begin, end;
};

/* A table that is written. Members but `above` are the caller's and set before. */
struct text_table {
	const struct layout *layout;
	const struct view *view;
	bool whole; /* the last text has no width, whatever its column is */
	struct buf *out, *scratch;
	struct above above[LAYOUT_MAX]; /* zeroed before the first row */
};

/* Ends a line, without trailing spaces. */
void text_end_line(struct buf *out);

/* Appends headings and units. */
void text_table_heads(struct text_table *table);

/*
 * Appends one row. The last column has its whole text, others a word in their width, so that lines
 * can be split at blanks.
 */
void text_table_row(struct text_table *table, const struct row *row);
