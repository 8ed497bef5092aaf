/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns that a view shows, and their order. */
#pragma once

#include <stdint.h>

#include "base/util.h"
#include "frame/group.h"
#include "view/column.h"

#define LAYOUT_MAX 120

struct layout {
	const struct column *columns[LAYOUT_MAX];
	size_t n;
	unsigned cells[LAYOUT_MAX]; /* on a screen: see room_share(); 0: the column's own width */
};

/* From this width on all kinds are shown in place of mem. */
#define LAYOUT_WIDE 110

/*
 * Widths from which a screen has further columns: the target of waits, and (the last) read and
 * write.
 */
#define LAYOUT_WIDER 160
#define LAYOUT_WIDEST 200

/* The facts that the default columns depend on. */
struct layout_frame {
	const struct column_table *table; /* whose columns; NULL: those of tasks and groups */
	const char *usual; /* the default as a list of ids; NULL: by width and place */
	unsigned width; /* of the screen in cells; 0: no limit */
	uint32_t kinds; /* DELAY_BIT()s of the source: other kinds are left out */
	unsigned reads; /* NEED_ bits of what is read anyway: columns that need more are left out */
	enum group_by group_by;
	bool of_process; /* rows are threads of one process */
	bool stacked; /* user stacks are taken */
	bool screen; /* from LAYOUT_WIDER on there are further columns */
	uint32_t spoken; /* VALID_DWAIT: some task waits so, which narrow screens show, too */
	uint32_t folded; /* DELAY_BIT()s of memory kinds without columns of their own, part of
			  * mem */
};

/*
 * The NEED_ bits that can be read for default columns of rows with that grouping: for cgroups their
 * own pressure in cgroup v2, and also the parts `seen`, as by group_parts(). frame: NULL if there
 * is none.
 */
unsigned layout_reads(enum group_by by, const struct frame *frame, unsigned seen);

/*
 * Checks a list of field ids (`id,id,...`, or `+id`/`-id` to change the default, where an id
 * without a sign takes the sign before). Returns 0, or -EINVAL with the bad id appended to `bad`.
 */
int layout_check_in(const struct column_table *table, const char *spec, struct buf *bad);

/* The same, for columns of tasks and groups. */
static inline int layout_check(const char *spec, struct buf *bad)
{
	return layout_check_in(&task_columns, spec, bad);
}

/*
 * Finds the columns of a checked list, NULL for the default. `comm` and `command` are moved to the
 * end, where the last of them takes the rest of the line; groups have only their name there.
 */
void layout_resolve(struct layout *layout, const char *spec, const struct layout_frame *frame);

/*
 * Does the same for a table that may later show other rows: leaves out columns without values for
 * its rows. A list made for the other kind of rows does not affect columns that only these rows
 * have: those are as in the default.
 */
void layout_resolve_table(struct layout *layout, const char *spec,
			  const struct layout_frame *frame);

/* True if a column has values for such rows. */
bool layout_applies(const struct column *column, enum group_by by);

/* The column with the names of such rows. */
const struct column *layout_name(enum group_by by);

/* The columns named in a list (except those removed by it), in its order. */
void layout_named_in(struct layout *layout, const struct column_table *table, const char *spec);

/* The same, for columns of tasks and groups. */
static inline void layout_named(struct layout *layout, const char *spec)
{
	layout_named_in(layout, &task_columns, spec);
}

/* The needs of all its columns. */
unsigned layout_needs(const struct layout *layout, enum unit unit);

/* True if its cells follow from row_still(): none depends on the time, or is read per sample. */
bool layout_is_still(const struct layout *layout, enum unit unit);

/* The needs of its columns whose sums add up rows' values, for all members of a sum. */
unsigned layout_sum_needs(const struct layout *layout, enum unit unit);

/* True if one of its columns is known only while waits are traced. */
bool layout_traces(const struct layout *layout);

/* True if one of its columns covers earlier samples, too. */
bool layout_is_of_past(const struct layout *layout);

/* True if the layout shows the column. */
bool layout_has(const struct layout *layout, const struct column *column);

/* How the columns of a screen share its width. */

/* Minimum cells of a name in the last column, which is cut if there is too little room. */
#define ROOM_NAME_LEAST 10

/* True if a column's cells are texts that may be longer than it. */
bool room_grows(const struct column *column);

/* Minimum cells of a column: of a text that may need less than its usual ones. */
unsigned room_least(const struct column *column);

/*
 * Assigns the columns of a layout their cells on a screen of that width: each text as many as the
 * longest shown one needs (wants[], parallel to the columns), as far as there is room; too little
 * room is shared evenly, with three parts for the last column. The last column also gets the rest
 * of the line; its name is cut before columns do not fit. Columns that do not fit keep their usual
 * cells, and are scrolled.
 */
void room_share(struct layout *layout, const unsigned wants[LAYOUT_MAX], unsigned width);

/*
 * Removes default columns that do not fit into `cells`, turn by turn, but never the sort column
 * (NULL: none). `by`: the kind of rows. The others share the cells as above.
 */
void room_make(struct layout *layout, enum group_by by, const struct column *sort, int cells);

/* The same with columns in the order of a list of ids, until the others fit. */
void room_leave_out(struct layout *layout, const char *ids, enum group_by by,
		    const struct column *sort, int cells);
