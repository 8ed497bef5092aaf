/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/layout.h"

#include <errno.h>
#include <string.h>

/* An id of a list, and its sign (0, '+', '-'): its own or that of the previous id. */
struct layout_item {
	char sign;
	bool own; /* the sign directly precedes the id */
	const char *id;
	size_t len;
};

/*
 * Takes the next id off the list; returns false at its end. Spaces around ids are ignored. The item
 * must hold the previous one on entry, zeroed for the first.
 */
static bool next_item(const char **spec, struct layout_item *item)
{
	const char *at = *spec + strspn(*spec, ", ");
	size_t len = strcspn(at, ", ");

	if (!len)
		return false;
	*spec = at + len;
	item->own = *at == '+' || *at == '-';
	item->sign = item->own ? *at : item->sign;
	item->id = at + item->own;
	item->len = len - item->own;
	return true;
}

/* True if the list changes the default rather than replacing it. */
static bool is_relative(const char *spec)
{
	struct layout_item item = { 0 };

	return next_item(&spec, &item) && item.sign;
}

int layout_check_in(const struct column_table *table, const char *spec, struct buf *bad)
{
	bool relative = is_relative(spec);
	struct layout_item item = { 0 };
	size_t n = 0;

	while (next_item(&spec, &item)) {
		n++;
		if (column_in(table, item.id, item.len) && (item.sign != 0) == relative)
			continue;
		buf_add(bad, item.id - item.own, item.len + item.own);
		return -EINVAL;
	}
	return n ? 0 : -EINVAL;
}

/* Appends a column once. */
static void add_column(struct layout *layout, const struct column *column)
{
	if (column && layout->n < LAYOUT_MAX && !layout_has(layout, column))
		layout->columns[layout->n++] = column;
}

/* Removes a column. */
static void take_column_out(struct layout *layout, const struct column *column)
{
	size_t kept = 0;

	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i] != column)
			layout->columns[kept++] = layout->columns[i];
	layout->n = kept;
}

bool layout_applies(const struct column *column, enum group_by by)
{
	return column_rows(column) != (group_folds(by) ? ROWS_TASKS : ROWS_GROUPS);
}

const struct column *layout_name(enum group_by by)
{
	const struct column *column = columns;

	while (!column->names || !layout_applies(column, by))
		column++;
	return column;
}

/* True if a column of the default view is shown for this frame. */
static bool is_default(const struct column *column, const struct layout_frame *frame)
{
	unsigned width = frame->width ? frame->width : LAYOUT_WIDE;

	if ((width < column->from && !(column->kinds & ~DELAY_ALL & frame->spoken)) ||
	    (column->narrow && width >= LAYOUT_WIDE && !frame->folded))
		return false;
	if (column->kinds && !column->narrow && !(column->kinds & ~frame->folded))
		return false;
	if (column->from > LAYOUT_WIDE && !frame->screen)
		return false;
	/* Leaves out kinds that the source never has, but not those unknown for now. */
	if (column->given && !(column->kinds & frame->kinds))
		return false;
	if ((column->of_process && frame->of_process) || (column->stacked && !frame->stacked))
		return false;
	/* A default column must not cause reads of its own. */
	return !(column->needs & ~frame->reads) && layout_applies(column, frame->group_by);
}

/* The table of the columns. */
static const struct column_table *table_of(const struct layout_frame *frame)
{
	return frame->table ? frame->table : &task_columns;
}

/* Adds the columns shown without a list, by width if they are not named. */
static void add_default(struct layout *layout, const struct layout_frame *frame)
{
	const struct column_table *table = table_of(frame);

	if (frame->usual) {
		layout_named_in(layout, table, frame->usual);
		return;
	}
	for (enum column_place place = PLACE_LEFT; place <= PLACE_RIGHT; place++)
		for (size_t i = 0; i < table->n; i++)
			if (table->columns[i].place == place &&
			    is_default(&table->columns[i], frame))
				add_column(layout, &table->columns[i]);
}

/* Removes the names of tasks, and puts the group's name at the end. */
static void name_groups(struct layout *layout, enum group_by by)
{
	while (layout->n && layout->columns[layout->n - 1]->last)
		layout->n--;
	if (layout->n == LAYOUT_MAX)
		layout->n--;
	add_column(layout, layout_name(by));
}

/* Moves the columns that must be last to the end, keeping their order; groups have one such. */
static void settle_last(struct layout *layout, enum group_by by)
{
	const struct column *last[LAYOUT_MAX];
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < layout->n; i++) {
		if (layout->columns[i]->last)
			last[n++] = layout->columns[i];
		else
			layout->columns[kept++] = layout->columns[i];
	}
	memcpy(layout->columns + kept, last, n * sizeof(*last));
	if (group_folds(by))
		name_groups(layout, by);
}

unsigned layout_reads(enum group_by by, const struct frame *frame, unsigned seen)
{
	bool pressure = frame && frame->info->head.hierarchy_version == 2;

	if (by != GROUP_CGROUP)
		return 0;
	return (pressure ? NEED_GROUP_PRESSURE : 0) | (seen & NEED_GROUP_PARTS);
}

void layout_resolve(struct layout *layout, const char *spec, const struct layout_frame *frame)
{
	struct layout_item item = { 0 };

	layout->n = 0;
	if (!spec || is_relative(spec))
		add_default(layout, frame);
	while (spec && next_item(&spec, &item)) {
		const struct column *column = column_in(table_of(frame), item.id, item.len);

		if (item.sign == '-')
			take_column_out(layout, column);
		else
			add_column(layout, column);
	}
	settle_last(layout, frame->group_by);
}

/* True if a list names columns that only such rows have. */
static bool names_rows(const struct layout *named, enum column_rows rows)
{
	for (size_t i = 0; i < named->n; i++)
		if (column_rows(named->columns[i]) == rows)
			return true;
	return false;
}

/* Appends the `own` columns of `from` before (or after) its first column for all rows. */
static void add_own(struct layout *layout, const struct layout *from, enum column_rows own,
		    bool before)
{
	bool behind = false;

	for (size_t i = 0; i < from->n; i++) {
		behind |= column_rows(from->columns[i]) == ROWS_ALL;
		if (column_rows(from->columns[i]) == own && behind != before)
			add_column(layout, from->columns[i]);
	}
}

/* Adds the default columns that only such rows have around the others. */
static void add_default_own(struct layout *layout, const struct layout_frame *frame,
			    enum column_rows own)
{
	struct layout chosen = *layout, usual = { 0 };

	add_default(&usual, frame);
	layout->n = 0;
	add_own(layout, &usual, own, true);
	for (size_t i = 0; i < chosen.n; i++)
		add_column(layout, chosen.columns[i]);
	add_own(layout, &usual, own, false);
}

void layout_resolve_table(struct layout *layout, const char *spec, const struct layout_frame *frame)
{
	bool folds = group_folds(frame->group_by);
	enum column_rows own = folds ? ROWS_GROUPS : ROWS_TASKS;
	enum column_rows other = folds ? ROWS_TASKS : ROWS_GROUPS;
	struct layout named, all;

	layout_resolve(&all, spec, frame);
	layout_named(&named, spec);
	layout->n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (layout_applies(all.columns[i], frame->group_by))
			add_column(layout, all.columns[i]);
	if (spec && !is_relative(spec) && names_rows(&named, other) && !names_rows(&named, own))
		add_default_own(layout, frame, own);
	settle_last(layout, frame->group_by);
	if (!layout->n)
		*layout = all;
}

void layout_named_in(struct layout *layout, const struct column_table *table, const char *spec)
{
	struct layout_item item = { 0 };

	layout->n = 0;
	while (spec && next_item(&spec, &item))
		if (item.sign != '-')
			add_column(layout, column_in(table, item.id, item.len));
}

/* Needs that are constant while nothing happens to a task, or are extras of its row. */
#define NEEDS_STILL (NEED_COMMAND | NEED_CGROUP | NEED_WAITING | NEED_HANGS | NEED_LIFE)

bool layout_is_still(const struct layout *layout, enum unit unit)
{
	for (size_t i = 0; i < layout->n; i++) {
		const struct column *column = layout->columns[i];

		if (column->past || column->traced || column->format == FORMAT_DURATION ||
		    column_needs(column, unit) & ~NEEDS_STILL)
			return false;
	}
	return true;
}

unsigned layout_needs(const struct layout *layout, enum unit unit)
{
	unsigned needs = 0;

	for (size_t i = 0; i < layout->n; i++)
		needs |= column_needs(layout->columns[i], unit);
	return needs;
}

unsigned layout_sum_needs(const struct layout *layout, enum unit unit)
{
	unsigned needs = 0;

	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i]->sum != SUM_NONE)
			needs |= column_needs(layout->columns[i], unit);
	return needs;
}

bool layout_traces(const struct layout *layout)
{
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i]->traced)
			return true;
	return false;
}

bool layout_is_of_past(const struct layout *layout)
{
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i]->past)
			return true;
	return false;
}

bool layout_has(const struct layout *layout, const struct column *column)
{
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i] == column)
			return true;
	return false;
}

/* Cells wanted for the last column, a task's name or a path, before others are dropped for it. */
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

/* Number of further cells that a column wants. */
static unsigned missing(const struct layout *layout, const unsigned *wants, size_t i)
{
	if (!room_grows(layout->columns[i]) || wants[i] <= layout->cells[i])
		return 0;
	return wants[i] - layout->cells[i];
}

/* A column's share of the free cells: names and wait targets get most. */
static unsigned parts_of(const struct column *column)
{
	return column->last || column->needs & NEED_WAITING ? 3 : 1;
}

/* Gives each column that wants more up to `share` cells per part. Returns how many are left. */
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

/* Takes missing cells from the last column, a name or a text that may be cut. */
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

/* Shares the width for unknown contents: texts get their usual cells. */
static void room_share_usual(struct layout *layout, unsigned width)
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

/* Cells of all columns, with the minimum for the last; cut: and for other texts. */
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
	/* A field selected by name is worth more than columns that it may displace. */
	for (size_t i = 0; i < room.n && cells_wanted(layout, by, false) > cells; i++)
		leave_column_out(layout, room.columns[i], sort);
	room_share_usual(layout, (unsigned)cells);
}
