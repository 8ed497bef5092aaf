/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the columns of a screen share its width. */
#ifndef STALLTOP_VIEW_ROOM_H
#define STALLTOP_VIEW_ROOM_H

#include "view/layout.h"

/* The least cells of a name in the last column, which is cut where there is too little room. */
#define ROOM_NAME_LEAST 10

/* Whether a column's cells are texts that may be longer than it. */
bool room_grows(const struct column *column);

/* The least cells of a column: of a text that may need less than its usual ones. */
unsigned room_least(const struct column *column);

/*
 * Gives the columns of a layout their cells on a screen of that width: each text as many as the
 * longest of those shown needs (wants[], parallel to the columns), as far as there is room; too
 * little room is shared evenly, with three parts for the last column. The last column also gets the
 * rest of the line; its name is cut before columns do not fit. Columns that do not fit keep their
 * usual cells, and are scrolled.
 */
void room_share(struct layout *layout, const unsigned wants[LAYOUT_MAX], unsigned width);

/* The same, where what is shown is not known: texts want their usual cells. */
void room_share_usual(struct layout *layout, unsigned width);

/*
 * Removes default columns that do not fit into `cells`, turn by turn, but never the sort column
 * (NULL: none). `by`: what the rows are. The others share the cells as above.
 */
void room_make(struct layout *layout, enum group_by by, const struct column *sort, int cells);

/* The same with columns in the order of a list of ids, until the others fit. */
void room_leave_out(struct layout *layout, const char *ids, enum group_by by,
		    const struct column *sort, int cells);

#endif
