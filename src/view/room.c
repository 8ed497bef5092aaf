/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/room.h"

#include <string.h>

/* Cells wanted for the last column, a task's name or a path, before others give way to it. */
#define NAME_CELLS ROOM_NAME_LEAST
#define PATH_CELLS 16

bool room_grows(const struct column *column)
{
	return column->format == FORMAT_TEXT && !column->bar && column->width > 1;
}

unsigned room_least(const struct column *column)
{
	return column->least ? column->least : column->width;
}

/* How many more cells a column wants. */
static unsigned missing(const struct layout *layout, const unsigned *wants, size_t i)
{
	if (!room_grows(layout->columns[i]) || wants[i] <= layout->cells[i])
		return 0;
	return wants[i] - layout->cells[i];
}

/* The parts of what is left that a column has: the name comes first. */
static unsigned parts_of(const struct column *column)
{
	return column->last ? 3 : 1;
}

/* Gives each column that wants more up to `share` cells a part. Returns how many are left. */
static unsigned grow_cells(struct layout *layout, const unsigned *wants, unsigned share,
			   unsigned left)
{
	for (size_t i = 0; i < layout->n; i++) {
		unsigned more = missing(layout, wants, i);

		if (more > share * parts_of(layout->columns[i]))
			more = share * parts_of(layout->columns[i]);
		if (more > left)
			more = left;
		layout->cells[i] += more;
		left -= more;
	}
	return left;
}

/* Takes the cells that are missing from the last column, a name or a text that may be cut. */
static void cut_last(struct layout *layout, unsigned over)
{
	size_t last = layout->n - 1;

	if (room_grows(layout->columns[last]) && layout->cells[last] >= over + ROOM_NAME_LEAST)
		layout->cells[last] -= over;
	else
		memset(layout->cells, 0, sizeof(layout->cells));
}

void room_share(struct layout *layout, const unsigned wants[LAYOUT_MAX], unsigned width)
{
	unsigned used = layout->n ? (unsigned)layout->n - 1 : 0, left;

	for (size_t i = 0; i < layout->n; i++)
		used += layout->cells[i] = room_least(layout->columns[i]);
	if (used > width) {
		cut_last(layout, used - width);
		return;
	}
	for (left = width - used; left;) {
		unsigned n = 0, before = left;

		for (size_t i = 0; i < layout->n; i++)
			n += missing(layout, wants, i) ? parts_of(layout->columns[i]) : 0;
		if (n)
			left = grow_cells(layout, wants, left / n ? left / n : 1, left);
		if (left == before)
			return;
	}
}

void room_share_usual(struct layout *layout, unsigned width)
{
	unsigned wants[LAYOUT_MAX] = { 0 };

	for (size_t i = 0; i < layout->n; i++)
		wants[i] = layout->columns[i]->width;
	room_share(layout, wants, width);
}

/* Removes a column, unless it is the sort column. */
static void leave_column_out(struct layout *layout, const struct column *column,
			     const struct column *sort)
{
	size_t kept = 0;

	if (column_sorts_alike(sort, column))
		return;
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i] != column)
			layout->columns[kept++] = layout->columns[i];
	layout->n = kept;
}

/* Cells of all columns, with the least for the last; cut: and for other texts. */
static int cells_wanted(const struct layout *layout, enum group_by by, bool cut)
{
	int name = by == GROUP_CGROUP ? PATH_CELLS : NAME_CELLS, cells = 0;

	for (size_t i = 0; i < layout->n; i++) {
		const struct column *column = layout->columns[i];

		cells += column->last ? name : (int)(cut ? room_least(column) : column->width) + 1;
	}
	/* No blank follows the last one. */
	return layout->n && !layout->columns[layout->n - 1]->last ? cells - 1 : cells;
}

void room_make(struct layout *layout, enum group_by by, const struct column *sort, int cells)
{
	for (unsigned turn = 1; turn <= COLUMN_TURNS; turn++)
		for (size_t i = layout->n; i-- > 0 && cells_wanted(layout, by, true) > cells;)
			if (layout->columns[i]->yields == turn)
				leave_column_out(layout, layout->columns[i], sort);
	room_share_usual(layout, (unsigned)cells);
}

void room_leave_out(struct layout *layout, const char *ids, enum group_by by,
		    const struct column *sort, int cells)
{
	struct layout room;

	layout_named(&room, ids);
	/* A field asked for by name is worth more than columns that it may displace. */
	for (size_t i = 0; i < room.n && cells_wanted(layout, by, false) > cells; i++)
		leave_column_out(layout, room.columns[i], sort);
	room_share_usual(layout, (unsigned)cells);
}
