/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns: one row a column. Every view and every format takes its cells from here. */
#ifndef STALLTOP_VIEW_COLUMN_H
#define STALLTOP_VIEW_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "model/frame.h"
#include "view/value.h"

/* What delay columns show. */
enum unit { UNIT_PERCENT, UNIT_MS, UNIT_COUNT, UNIT_AVG, UNIT_MAX, UNIT_TOTAL, UNITS };

struct unit_row {
	const char *id;
	const char *label; /* in the unit row */
	enum value_format format; /* of delay columns */
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
	bool booked; /* shares and ms go by what was booked, not by what was waited */
};

enum column_sum {
	SUM_NONE,
	SUM_ROW, /* the getter works on a sum row too */
	SUM_DELTAS, /* the same of the interval; since the start the rows' values are added up */
	SUM_ADD, /* the rows' values are added up */
	SUM_MOST /* the largest, of a group's members; of all rows there is none */
};

/* Where a column stands in the default view; those of one place stand as they are listed. */
enum column_place { PLACE_NONE, PLACE_LEFT, PLACE_MIDDLE, PLACE_RIGHT };

/* Sorts of rows. */
enum column_rows { ROWS_ALL, ROWS_TASKS, ROWS_GROUPS };

/* Formats with members of their own in every row. */
enum { IN_CSV = 1, IN_JSON = 2 };

struct column;

/* Gives the column's value of a row, unset where it is not known. */
typedef struct value column_get_fn(const struct column *column, const struct view *view,
				   const struct row *row);

/* A row of the table. What is not said of a column does not hold for it. */
struct column {
	const char *id;
	const char *heading;
	const char *thread_heading; /* among one process's threads; NULL: the same */
	const char *unit; /* NULL: the view's, as delay columns have it */
	const char *help;
	unsigned width; /* cells, the heading included; of the last column: at least */
	enum value_format format; /* of a delay column the unit's: column_format() */
	const char *warm; /* a text that stands out, NULL for none */
	enum column_sum sum;
	unsigned needs; /* NEED_ bits */
	unsigned since; /* version of the taskstats record that brought it; 0: not of the record */
	uint32_t kinds; /* DELAY_BIT()s of what a delay column adds up; 0: it is none */
	int arg; /* of the getter */
	column_get_fn *get;

	bool stalls; /* a share of time that was lost: it stands out as those of delays do */
	bool of_groups; /* has nothing to say of a task */
	bool last; /* only at the end of a line, as wide as it gets */
	bool names; /* names rows: by it those are sorted that lack what all are sorted by */
	bool sort_default; /* rows are sorted by it unless told otherwise */
	char digit; /* the key that sorts by it, 0 for none; in the heading, too */
	char letter; /* one that is not */
	const char *longer; /* id of the column that the screen can show in its place; NULL: none */
	unsigned formats; /* IN_ bits of those that have it in every row anyway */

	/* In the default view: */
	enum column_place place;
	bool wide, narrow; /* only from LAYOUT_WIDE on, or only below */
	bool given; /* only where the source gives its kinds */
	bool of_process; /* the same for all threads of a process: not among those */
	unsigned yields; /* the turn in which it makes room, up to COLUMN_TURNS; 0: never */
};

/* In one turn columns make room from the right. */
#define COLUMN_TURNS 11

/* All columns, in the order they are listed. */
extern const struct column columns[];
extern const size_t columns_n;

/* The column of that id (of id_len bytes), or NULL. */
const struct column *column_by_id(const char *id, size_t id_len);

/* The column that this key sorts by, which there is. */
const struct column *column_by_key(char key);

/* The column that rows are sorted by unless told otherwise. */
const struct column *column_sort_default(void);

/* The column that can be shown in its place, with a longer text, or NULL. */
const struct column *column_longer(const struct column *column);

/* Whether the column is a delay kind, mem or total, which go by the view's unit. */
static inline bool column_is_delay(const struct column *column)
{
	return column->kinds != 0;
}

/* Which rows it has something to say of. What has no sum is of single tasks. */
static inline enum column_rows column_rows(const struct column *column)
{
	if (column->of_groups)
		return ROWS_GROUPS;
	return column->sum == SUM_NONE ? ROWS_TASKS : ROWS_ALL;
}

/* Whether a task's row counts for that state: R, S, T, D or STATE_IOWAIT; unset: not known. */
struct value row_in_state(const struct row *row, int state);

/* No letter of /proc/PID/stat: waits for block I/O. */
enum { STATE_IOWAIT = 'i' };

/* Whether the longest wait of a delay column's kinds was in this interval (unit max). */
bool column_rose(const struct column *column, const struct view *view, const struct row *row);

/* What must be read to fill the column in that unit. */
unsigned column_needs(const struct column *column, enum unit unit);

/* How its values are shown in that unit. */
static inline enum value_format column_format(const struct column *column, enum unit unit)
{
	return column_is_delay(column) ? unit_table[unit].format : column->format;
}

/* Whether a value is the text that stands out. */
static inline bool column_warns(const struct column *column, const struct value *value)
{
	return column->warm && value->type == VALUE_TEXT && !strcmp(value->text, column->warm);
}

/* Whether it sorts descending unless told otherwise: numbers do, but ids as texts ascend. */
bool column_descends(const struct column *column);

/* The value of a group: its own, or what its members' add up to. */
struct value column_of_group(const struct column *column, const struct view *view,
			     const struct row *row);

/* Whether a sum's value is that of its rows added up, or the largest: the getter has none. */
bool column_adds(const struct column *column, const struct view *view);

/* Adds a row's value to a sum's, as the column does it; an unset one adds nothing. */
void column_add(const struct column *column, const struct view *view, struct value *total,
		const struct value *value);

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
void column_append(const struct column *column, const struct view *view, const struct value *value,
		   unsigned cells, struct buf *scratch, struct buf *out);

/* The same in the column's width, whichever it is, as one word without blanks: text_word(). */
void column_append_word(const struct column *column, const struct view *view,
			const struct value *value, struct buf *scratch, struct buf *out);

/*
 * Appends a value of the sum row as the column's cell: blank where there is no sum. The first
 * column's is marked by "=", for which a long value is shortened.
 */
void column_append_total(const struct column *column, const struct view *view,
			 const struct value *total, bool first, struct buf *scratch,
			 struct buf *out);

/* Appends heading or unit as a cell, aligned as the column's values are. */
void column_append_label(const struct column *column, const char *label, struct buf *out);

/* Cells of the longest heading with its digit, and a NUL. */
#define COLUMN_HEADING 32

/* Writes the heading with the digit that sorts by it. */
void column_heading(const struct column *column, char heading[COLUMN_HEADING]);

/* The label of the unit row. */
const char *column_unit(const struct column *column, enum unit unit);

#endif
