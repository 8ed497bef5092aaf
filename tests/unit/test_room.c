// SPDX-License-Identifier: GPL-2.0-or-later
/* How columns share a screen's width: what texts need, as far as there is room. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/layout.h"

/* A layout of these ids, and what its columns want: nothing yet. */
struct room {
	struct layout layout;
	unsigned wants[LAYOUT_MAX];
};

/* Makes it. */
static struct room make(const char *ids)
{
	struct room room = { .layout.n = 0 };

	layout_named(&room.layout, ids);
	return room;
}

/* The index of a column. */
static size_t at(const struct room *room, const char *id)
{
	const struct column *column = column_by_id(id, strlen(id));
	size_t i = 0;

	while (room->layout.columns[i] != column)
		assert_true(++i < room->layout.n);
	return i;
}

/* Its cells. */
static unsigned cells(const struct room *room, const char *id)
{
	return room->layout.cells[at(room, id)];
}

/* All cells, with those between the columns. */
static unsigned all_cells(const struct room *room)
{
	unsigned sum = (unsigned)room->layout.n - 1;

	for (size_t i = 0; i < room->layout.n; i++)
		sum += room->layout.cells[i];
	return sum;
}

/* Where there is room enough, texts have what they want, and numbers their width. */
TEST(test_enough)
{
	struct room room = make("pid,user,total,on,cgroup,command");

	room.wants[at(&room, "user")] = 16;
	room.wants[at(&room, "cgroup")] = 60;
	room.wants[at(&room, "command")] = 40;
	room.wants[at(&room, "total")] = 40;
	room_share(&room.layout, room.wants, 200);
	assert_int_equal(cells(&room, "pid"), 7);
	assert_int_equal(cells(&room, "total"), 6);
	assert_int_equal(cells(&room, "user"), 16);
	assert_int_equal(cells(&room, "cgroup"), 60);
	assert_int_equal(cells(&room, "command"), 40);
	/* One that wants nothing more has the least. */
	assert_int_equal(cells(&room, "on"), 12);
}

/* Where there is too little, those that want a little get it, the name three parts of the rest, and
 * others one. */
TEST(test_shared)
{
	struct room room = make("pid,user,on,cgroup,command");

	room.wants[at(&room, "user")] = 10;
	room.wants[at(&room, "cgroup")] = 500;
	room.wants[at(&room, "command")] = 400;
	/* 58 cells and 4 between without growing: 7 + 8 + 12 + 12 + 15 */
	room_share(&room.layout, room.wants, 58 + 2 + 28);
	assert_int_equal(cells(&room, "user"), 10);
	assert_int_equal(cells(&room, "on"), 12);
	assert_int_equal(cells(&room, "cgroup"), 12 + 7);
	assert_int_equal(cells(&room, "command"), 15 + 21);
}

/* A name is cut; columns that do not fit have the width that they have everywhere. */
TEST(test_too_narrow)
{
	struct room room = make("pid,user,on,cgroup,command");

	room.wants[at(&room, "on")] = 50;
	room_share(&room.layout, room.wants, 52);
	for (size_t i = 0; i < room.layout.n; i++)
		assert_int_equal(room.layout.cells[i], 0);
	room_share(&room.layout, room.wants, 53);
	assert_int_equal(cells(&room, "on"), 12);
	assert_int_equal(cells(&room, "command"), 10);
	room_share(&room.layout, room.wants, 58);
	assert_int_equal(cells(&room, "on"), 12);
	assert_int_equal(cells(&room, "command"), 15);
}

/* However much is wanted of whatever width: no column has less than its least, none is left out
 * while there is room, and all together take no more than there is. */
TEST(test_any)
{
	static const char *const lists[] = { "pid,user,on,cgroup,command", "pid,comm", "user",
					     "waker,syscall,where,on,pid,worst,group", "on,total" };

	srand(16);
	for (int round = 0; round < 4000; round++) {
		struct room room = make(lists[round % (int)ARRAY_SIZE(lists)]);
		unsigned width = (unsigned)(rand() % 300), cut = 0;

		for (size_t i = 0; i < room.layout.n; i++)
			room.wants[i] = (unsigned)(rand() % 120);
		room_share(&room.layout, room.wants, width);
		if (!room.layout.cells[0])
			continue;
		assert_true(all_cells(&room) <= width);
		for (size_t i = 0; i < room.layout.n; i++) {
			const struct column *column = room.layout.columns[i];

			assert_true(room.layout.cells[i] >=
				    (column->last ? ROOM_NAME_LEAST : room_least(column)));
			cut += room_grows(column) && room.wants[i] > room.layout.cells[i];
		}
		assert_true(!cut || all_cells(&room) == width);
	}
}
