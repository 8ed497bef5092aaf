// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layout of all views in three sizes: what they show of a made-up recording is, cell by cell,
 * what tests/ui/golden has. GENERATE=1 writes that anew.
 */
#include "tests/lib/golden.h"
#include "tests/lib/scratch.h"
#include "tests/lib/story.h"
#include "tests/lib/table.h"

#include <string.h>

/* The views, in the order that the program is led through them. */
static const struct view {
	const char *name;
	const char *find; /* the row of this name is selected first */
	const char *open, *leave; /* keys */
	bool once; /* in the middle size alone */
} views[] = {
	{ "table", NULL, "", "", false },	 { "notes", NULL, "n", "n", true },
	{ "tree", NULL, "V", "V", true },	 { "states", NULL, "\x1b[Z", "\t", true },
	{ "hangs", NULL, "\t", "\x1b[Z", true }, { "detail", "mailserver", "\r", "q", false },
	{ "sites", NULL, "S\tw", "qq", false },	 { "fields", NULL, "f", "q", true },
	{ "help", NULL, "h", "q", false },	 { "groups", NULL, "ggg", "g", false },
	{ "past", NULL, "[[[", "]]]", false },
};

/* The player stands. */
static bool is_stopped(struct screen *s, const void *arg)
{
	(void)arg;
	return strstr(screen_line(s, 0), "replay, stopped");
}

/* The last line has what keys do, and no message any more. */
static bool has_hints(struct screen *s, const void *arg)
{
	const char *last = screen_line(s, screen_rows(s) - 1);

	(void)arg;
	return strstr(last, "q quit") || strstr(last, "Esc back");
}

/* Types keys; what the program then says on a table goes when a question is asked. */
static void type(struct screen *s, const char *keys)
{
	screen_type(s, keys);
	screen_settle(s);
	if (!has_hints(s, NULL))
		screen_type(s, "L\x1b");
	screen_await(s, has_hints, NULL);
}

/* Starts a replay of the story, and stops at its end. */
static struct screen *start(int rows, int cols)
{
	static const char *const env[] = { "TZ=UTC0", NULL };
	const char *path = scratch_path("story.db");
	struct screen *s;

	assert_int_equal(story_record(path), 0);
	s = screen_start(
		&(struct screen_how){ .rows = rows,
				      .cols = cols,
				      .env = env,
				      .args = scratch_format("-R %s --theme dark", path) });
	screen_await(s, table_has_rows, NULL);
	screen_settle(s);
	/* At its end it stops by itself. */
	if (!is_stopped(s, NULL))
		screen_type(s, "p");
	screen_settle(s);
	screen_type(s, "B10:00:20\r");
	screen_await(s, is_stopped, NULL);
	return s;
}

/* Compares all views in a size. */
static void check_views(int rows, int cols)
{
	struct screen *s = start(rows, cols);

	for (const struct view *v = views; v < views + sizeof(views) / sizeof(views[0]); v++) {
		if (v->once && cols != 120)
			continue;
		if (v->find)
			screen_type(s, scratch_format("L%s\r", v->find));
		type(s, v->open);
		golden_check(s, scratch_format("%s-%dx%d", v->name, cols, rows));
		type(s, v->leave);
	}
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

SCREEN_TEST(looks_80x24)
{
	check_views(24, 80);
}

SCREEN_TEST(looks_120x40)
{
	check_views(40, 120);
}

SCREEN_TEST(looks_200x60)
{
	check_views(60, 200);
}

/* Sizes one after the other, the borders of the rules among them: as if begun in each. */
SCREEN_TEST(follows_resize)
{
	static const int sizes[][2] = { { 10, 40 },  { 60, 200 }, { 15, 80 }, { 100, 400 },
					{ 16, 109 }, { 12, 110 }, { 24, 80 }, { 11, 80 },
					{ 10, 41 },  { 40, 120 } };
	struct screen *s = start(24, 80);

	type(s, "");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		golden_check(s, scratch_format("table-%dx%d", sizes[i][1], sizes[i][0]));
	}
}
