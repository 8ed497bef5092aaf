/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns: one row a column. Every view and every format takes its cells from here. */
#ifndef STALLTOP_COLUMN_H
#define STALLTOP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "frame.h"
#include "text.h"
#include "value.h"

/* What delay columns show. */
enum unit { UNIT_PERCENT, UNIT_MS, UNIT_COUNT, UNIT_AVG, UNIT_MAX, UNIT_TOTAL, UNITS };

struct unit_row {
	const char *id;
	const char *label; /* in the unit row */
	const char *help;
};

extern const struct unit_row unit_table[UNITS];

/* The unit of that name, or -1. */
int unit_by_name(const char *name);

/* What is looked at, and how. */
struct view {
	const struct frame *frame;
	enum unit unit;
	enum text_charset charset;
};

enum column_sum {
	SUM_NONE,
	SUM_ROW, /* the getter works on a sum row too */
	SUM_ADD, /* the rows' values are added up */
	SUM_MOST /* the largest, of a group's members; of all rows there is none */
};

/* Delay columns that are no kind: their arg. */
enum { COLUMN_TOTAL = DELAY_KINDS, COLUMN_MEM };

struct column;

/* Gives the column's value of a row, unset where it is not known. */
typedef struct value column_get_fn(const struct column *column, const struct view *view,
				   const struct row *row);

struct column {
	const char *id;
	const char *heading;
	const char *unit;  /* NULL: the view's, as delay columns have it */
	unsigned width;	   /* cells, the heading included; of the last column: at least */
	enum value_format format;
	enum column_sum sum;
	char digit;	   /* the key that sorts by it, 0 for none */
	bool last;	   /* only at the end of a line, as wide as it gets */
	unsigned needs;	   /* NEED_ bits */
	int arg;	   /* of the getter: a kind or a field */
	column_get_fn *get;
	const char *help;
};

/* All columns, in the order they are listed. */
extern const struct column columns[];
extern const size_t columns_n;

/* The column of that id (of id_len bytes), or NULL. */
const struct column *column_by_id(const char *id, size_t id_len);

/* The column of that id, which there is. */
const struct column *column_known(const char *id);

/* The column of a delay kind. */
const struct column *column_of_kind(enum delay_kind kind);

/* Whether the column is a delay kind, mem or total, which go by the view's unit. */
bool column_is_delay(const struct column *column);

/* Which rows a column has something to say of. */
enum column_rows { ROWS_ALL, ROWS_TASKS, ROWS_GROUPS };
enum column_rows column_rows(const struct column *column);

/* The version of the taskstats record that brought what it shows; 0: it is not of the record. */
unsigned column_since(const struct column *column);

/* Whether the longest wait of a delay column's kinds was in this interval (unit max). */
bool column_rose(const struct column *column, const struct view *view, const struct row *row);

/* What must be read to fill the column in that unit. */
unsigned column_needs(const struct column *column, enum unit unit);

/* Whether it sorts descending unless told otherwise: numbers do, but ids as texts ascend. */
bool column_descends(const struct column *column);

/* The value of a group: its own, or what its members' add up to. */
struct value column_of_group(const struct column *column, const struct view *view,
			     const struct row *row);

static inline struct value column_get(const struct column *column, const struct view *view,
				      const struct row *row)
{
	return row->group ? column_of_group(column, view, row) : column->get(column, view, row);
}

/* The column's value of the sum row over n rows; unset where a sum has no meaning. */
struct value column_total(const struct column *column, const struct view *view,
			  const struct row *const *rows, size_t n, const struct row *sum);

/*
 * Appends a value as the column's cell, in exactly its width; `cells` above 0 replaces
 * that for the last column, 0 there means: all of the text. scratch is for escaping.
 */
void column_append(const struct column *column, const struct view *view,
		   const struct value *value, unsigned cells, struct buf *scratch,
		   struct buf *out);

/*
 * Appends a value of the sum row as the column's cell: blank where there is no sum. The first
 * column's is marked by "=" where the value leaves room for it.
 */
void column_append_total(const struct column *column, const struct view *view,
			 const struct value *total, bool first, struct buf *scratch,
			 struct buf *out);

/* Appends heading or unit as a cell, aligned as the column's values are. */
void column_append_label(const struct column *column, const char *label, struct buf *out);

/* The label of the unit row. */
const char *column_unit(const struct column *column, enum unit unit);

#endif
