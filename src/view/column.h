/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns: one row per column. Every view and every format takes its cells from here. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "frame/frame.h"
#include "view/value.h"

/* The quantity that delay columns show. */
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

struct trends;

/* The frame to be shown, and how. */
struct view {
	const struct frame *frame;
	enum unit unit;
	enum text_charset charset;
	bool booked; /* shares and ms show accounted time, not time waited */
	const struct trends *trends; /* earlier waits; NULL: unknown */
};

enum column_sum {
	SUM_NONE,
	SUM_ROW, /* the getter works on a sum row, too */
	SUM_DELTAS, /* the same for the interval; since start the rows' values are added up */
	SUM_ADD, /* the rows' values are added up */
	SUM_MOST /* the largest of a group's members; none over all rows */
};

/* The column's place in the default view; columns with the same place stand in table order. */
enum column_place { PLACE_NONE, PLACE_LEFT, PLACE_MIDDLE, PLACE_RIGHT };

/* Kinds of rows. */
enum column_rows { ROWS_ALL, ROWS_TASKS, ROWS_GROUPS };

/* Formats with members of their own for a column in every row. */
enum { IN_CSV = 1, IN_JSON = 2 };

struct column;

/* Returns the column's value for a row, unset if unknown. */
typedef struct value column_get_fn(const struct column *column, const struct view *view,
				   const struct row *row);

/* A row of the table. An unset member does not apply to the column. */
struct column {
	const char *id;
	const char *heading;
	const char *thread_heading; /* for the threads of one process; NULL: the same */
	const char *name; /* the heading spelled out; NULL: see column_words.h */
	const char *unit; /* NULL: the view's unit, as for delay columns */
	const char *help;
	unsigned width; /* cells, the heading included; for the last column: at least */
	unsigned least; /* on a screen: a number's, a text's without room for more; 0: its width */
	enum value_format format; /* for a delay column the unit's is used: column_format() */
	const char *warm; /* a text value that is highlighted, NULL: none */
	enum column_sum sum;
	unsigned needs; /* NEED_ bits */
	unsigned since; /* version of the taskstats record that added it; 0: not in the record */
	uint32_t kinds; /* DELAY_BIT()s added up in a delay column; 0: no delay column */
	int arg; /* for the getter */
	column_get_fn *get;

	bool bar; /* its values are bars */
	bool graph; /* the bars are graphs: see value_graph() */
	bool past; /* known if earlier samples are kept */
	bool traced; /* known while waits are traced */
	/* Share of lost time, in percent, from which it is highlighted like delays; NULL: none. */
	column_get_fn *stalls;
	bool of_groups; /* has no value for a task */
	bool cgroup; /* the path of a cgroup: if too wide, replaced by its readable name */
	bool path; /* likewise of a text that is a path */
	bool below; /* may be negative, which is shown as a count */
	bool last; /* only at the end of a line, as wide as it gets */
	bool names; /* a name: breaks ties of rows without a value of the sort column */
	bool sort_default; /* the default sort column */
	char digit; /* the key that sorts by it, 0 for none; shown in the heading, too */
	char letter; /* another such key, a letter */
	const char *longer; /* id of the column that may replace it on the screen; NULL: none */
	unsigned formats; /* IN_ bits of the formats that always have it in every row */

	/* Members for the default view: */
	enum column_place place;
	unsigned from; /* only from that width on: see layout.h */
	bool narrow; /* only below LAYOUT_WIDE */
	bool given; /* only if the source has its kinds */
	bool of_process; /* equal for all threads of a process: not shown among them */
	bool stacked; /* by default only if user stacks are taken */
	unsigned yields; /* the turn in which it is dropped for lack of room, up to COLUMN_TURNS; 0:
			  * never */
};

/* Number of turns. Within a turn columns are dropped from the right. */
#define COLUMN_TURNS 11

/* A table of columns, in the order of lists: those for rows of one kind. */
struct column_table {
	const struct column *columns;
	size_t n;
};

/* The columns of tasks and groups; those of sites are in site_lines.h. */
extern const struct column columns[];
extern const size_t columns_n;
extern const struct column_table task_columns;

/* The column of that id (of id_len bytes), or NULL. */
const struct column *column_in(const struct column_table *table, const char *id, size_t id_len);

/* The column of tasks and groups with an id, or NULL. */
static inline const struct column *column_by_id(const char *id, size_t id_len)
{
	return column_in(&task_columns, id, id_len);
}

/* Appends a suggestion for an unknown id; nothing if none is near. */
void column_ask_near(const struct column_table *table, const char *id, size_t id_len,
		     struct buf *out);

/* The column that this key sorts by, or NULL. */
const struct column *column_by_key(char key);

/* The default sort column. */
const struct column *column_sort_default(const struct column_table *table);

/* True if both columns sort equally: comm and command replace each other. */
static inline bool column_sorts_alike(const struct column *a, const struct column *b)
{
	return a == b || (a && b && a->last && b->last);
}

/* The column with a longer text that can replace it, or NULL. */
const struct column *column_longer(const struct column *column);

/* True if the column is a delay kind, mem or total, which use the view's unit. */
static inline bool column_is_delay(const struct column *column)
{
	return column->kinds != 0;
}

/* True if its values are bars of states, not graphs. */
static inline bool column_is_bar(const struct column *column)
{
	return column->bar && !column->graph;
}

/* Kinds of rows for which the column has values. A column without a sum is for single tasks. */
static inline enum column_rows column_rows(const struct column *column)
{
	if (column->of_groups)
		return ROWS_GROUPS;
	return column->sum == SUM_NONE ? ROWS_TASKS : ROWS_ALL;
}

/* True if a task's row counts for that state: R, S, T, D or STATE_IOWAIT; unset: unknown. */
struct value row_in_state(const struct row *row, int state);

/* Not a letter of /proc/PID/stat: waits for block I/O. */
enum { STATE_IOWAIT = 'i' };

/* True if the longest wait of a delay column's kinds was in this interval (unit max). */
bool column_rose(const struct column *column, const struct view *view, const struct row *row);

/* The NEED_ bits of the column in that unit. */
unsigned column_needs(const struct column *column, enum unit unit);

/* The format of its values in that unit. */
static inline enum value_format column_format(const struct column *column, enum unit unit)
{
	return column_is_delay(column) ? unit_table[unit].format : column->format;
}

/* True if a value is the highlighted text. */
static inline bool column_warns(const struct column *column, const struct value *value)
{
	return column->warm && value->type == VALUE_TEXT && !strcmp(value->text, column->warm);
}

/* True if it sorts descending by default: numbers do, but ids as texts ascend. */
bool column_descends(const struct column *column);

/* The value of a group: its own, or the sum of its members' values. */
struct value column_of_group(const struct column *column, const struct view *view,
			     const struct row *row);

/* True if a sum is computed from its rows, added up or the largest, and not by the getter. */
bool column_adds(const struct column *column, const struct view *view);

/* Adds a row's value to a sum's, as the column requires; an unset value adds nothing. */
void column_add(const struct column *column, const struct view *view, struct value *total,
		const struct value *value);

static inline struct value column_get(const struct column *column, const struct view *view,
				      const struct row *row)
{
	return row->group ? column_of_group(column, view, row) : column->get(column, view, row);
}

/* The column's value of the sum row over n rows; unset if a sum is meaningless. */
struct value column_total(const struct column *column, const struct view *view,
			  const struct row *const *rows, size_t n, const struct row *sum);

/* In place of cells: as many as the whole text takes. */
#define COLUMN_WHOLE UINT_MAX

/*
 * Appends a value as the column's cell, in exactly its width; `cells` above 0 replaces that; 0
 * means for the last column: the whole text. scratch is for escaping.
 */
void column_append(const struct column *column, const struct view *view, const struct value *value,
		   unsigned cells, struct buf *scratch, struct buf *out);

/* Does the same in the width of any column, as one word without blanks: text_word(). */
void column_append_word(const struct column *column, const struct view *view,
			const struct value *value, struct buf *scratch, struct buf *out);

/*
 * Appends a value of the sum row as the column's cell: blank if there is no sum. The first column's
 * cell is marked by "=", and a long value is shortened for it. Cells as above.
 */
void column_append_total(const struct column *column, const struct view *view,
			 const struct value *total, unsigned cells, bool first, struct buf *scratch,
			 struct buf *out);

/* Appends heading or unit as a cell, aligned like the column's values. Cells: 0 for its width. */
void column_append_label(const struct column *column, const char *label, unsigned cells,
			 struct buf *out);

/* Cells of the longest heading with its digit, and a NUL. */
#define COLUMN_HEADING 32

/* Writes the heading with the digit that sorts by it. */
void column_heading(const struct column *column, char heading[COLUMN_HEADING]);

/* The label of the unit row. */
const char *column_unit(const struct column *column, enum unit unit);
