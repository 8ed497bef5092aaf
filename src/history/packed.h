/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that have a row for each task in each sample. What SQLite spends on a row, its length,
 * key and place in the page, is as much as what such a row tells: so several of a sample stand in
 * one row of a packed table, beside each other, and a view has them one by one.
 */
#ifndef STALLTOP_HISTORY_PACKED_H
#define STALLTOP_HISTORY_PACKED_H

#include "base/buf.h"
#include "history/schema.h"

/* The packed tables, in the order of their views. */
enum packed {
	PACKED_ACTIVITY,
	PACKED_OTHER_WAIT,
	PACKED_STANDING,
	PACKED_TOTAL,
	PACKED_CHILDREN,
	PACKED_TABLES
};

/*
 * Appends the query for the rows of a sample, ?1: these columns (or constants) of the view, NULL
 * for all but the sample, of the rows in which the column `there` is not NULL.
 */
void packed_select(enum packed packed, const char *columns, const char *there, struct buf *sql);

/* Appends the same query of the view, or of what is a table of that name. */
void packed_select_view(enum packed packed, const char *columns, const char *there,
			struct buf *sql);

#endif
