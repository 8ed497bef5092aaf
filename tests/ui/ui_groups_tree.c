// SPDX-License-Identifier: GPL-2.0-or-later
/* Cgroups on the screen: as a list and as a tree, with their pressure, and one subtree alone. */
#include "tests/lib/box.h"
#include "tests/lib/crowd.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The cgroups of a test: their common name, and that of their hierarchy. */
static const char *top, *hierarchy;

/* A group below (or, without a name, of) the test's, in its hierarchy. */
static const char *make_group(const char *test, const char *name)
{
	char path[300];
	int err = box_group(hierarchy, scratch_format("%s%s", top, name), path, sizeof(path));

	if (err)
		scratch_skip_test(test, scratch_format("no cgroups of %s", hierarchy));
	return scratch_format("%s", path);
}

/* Puts a task there. */
static void put(const char *group, pid_t pid)
{
	assert_int_equal(write_text(scratch_format("%s/cgroup.procs", group),
				    scratch_format("%d", (int)pid)),
			 0);
}

/* Four tasks: one in left, two below that, of which one spins, one in right. */
static void make_tree(const char *test, const char *of)
{
	const char *left, *deep, *right;

	hierarchy = of;
	top = scratch_format("crowd-%d", (int)getpid());
	top = scratch_ours(top);
	make_group(test, "");
	left = make_group(test, "/left");
	deep = make_group(test, "/left/deep");
	right = make_group(test, "/right");
	put(left, crowd_sleeper("crowd-l"));
	put(deep, crowd_sleeper("crowd-d"));
	put(deep, crowd_spinner("crowd-d", 0));
	put(right, crowd_sleeper("crowd-r"));
}

/* Starts on that subtree and waits for figures. */
static struct screen *start(int rows, int cols, const char *args)
{
	return table_start(rows, cols,
			   scratch_format("-g cgroup --cgroup-hierarchy %s %s", hierarchy, args));
}

/* The line of the group whose name is (or, in the list, ends so), or -1. */
static int line_of(struct screen *s, const char *name)
{
	struct table t;

	if (!table_read(s, &t))
		return -1;
	for (int line = t.first; line <= t.last; line++) {
		const char *text = screen_line(s, line);
		size_t len = strlen(text), n = strlen(name);

		if (len > n && !strcmp(text + len - n, name) && strchr(" +/", text[len - n - 1]))
			return line;
	}
	return -1;
}

/* There is such a group, or none. */
static bool has_group(struct screen *s, const void *name)
{
	return line_of(s, name) >= 0;
}

static bool lacks_group(struct screen *s, const void *name)
{
	return table_has_head(s, "GROUP") && line_of(s, name) < 0;
}

/* How many tasks the group has, with all below it in a tree. */
static int members_of(struct screen *s, const char *name)
{
	struct table t;

	table_must(s, &t);
	screen_check(s, line_of(s, name) >= 0);
	return (int)table_number(s, &t, line_of(s, name), "N");
}

/* How long the group's tasks, with all below it, were on a CPU: in percent. */
static double run_of(struct screen *s, const char *name)
{
	struct table t;

	if (!table_read(s, &t) || line_of(s, name) < 0)
		return -1;
	return table_number(s, &t, line_of(s, name), "RUN");
}

/* The one that spins is seen, in its group. */
static bool spins(struct screen *s, const void *name)
{
	return run_of(s, name) > 1;
}

/* Where the name, which ends its line, begins: other parts of it may be like its beginning. */
static int indent_of(struct screen *s, const char *name)
{
	int line = line_of(s, name), col = screen_cols(s) - 1;

	screen_check(s, line >= 0);
	while (col > 0 && screen_char(s, line, col) <= ' ')
		col--;
	return col + 1 - (int)strlen(name);
}

/* Selects a group by keys. */
static void pick(struct screen *s, const char *name)
{
	screen_key(s, VTERM_KEY_HOME);
	for (int i = 0; i < 30; i++) {
		struct table t;

		screen_settle(s);
		table_must(s, &t);
		if (table_selected(s, &t) == line_of(s, name))
			return;
		screen_key(s, VTERM_KEY_DOWN);
	}
	screen_fail(s, name, __FILE__, __LINE__);
}

/* The number in the sum row. */
static int sum_of(struct screen *s)
{
	struct table t;

	table_must(s, &t);
	return (int)atof(strchr(screen_line(s, t.sum), '=') + 1);
}

/* V: indented below each other, sums going up; + - and * unfold and fold. */
SCREEN_ROOT_TEST(is_a_tree)
{
	struct screen *s;

	make_tree(__func__, "freezer");
	s = start(24, 100, scratch_format("-d 0.3 --cgroup /%s -s -members", top));
	/* Without the tree each group has what is its own, and the one on top nothing. */
	screen_check(s, members_of(s, "left") == 1);
	screen_check(s, members_of(s, "deep") == 2);
	screen_check(s, members_of(s, "right") == 1);
	screen_check(s, sum_of(s) == 4);
	screen_check(s, screen_shows(s, scratch_format("cgroup /%s", top)));
	screen_type(s, "V");
	screen_await(s, has_group, top);
	screen_settle(s);
	screen_check(s, members_of(s, top) == 4);
	screen_check(s, members_of(s, "left") == 3);
	screen_check(s, members_of(s, "deep") == 2);
	screen_check(s, members_of(s, "right") == 1);
	screen_check(s, sum_of(s) == 4);
	/* The spinner's time is that of all above, and of nobody else. */
	screen_await(s, spins, "deep");
	screen_settle(s);
	screen_check(s, run_of(s, "left") >= run_of(s, "deep"));
	screen_check(s, run_of(s, top) >= run_of(s, "left"));
	screen_check(s, run_of(s, "right") < run_of(s, "deep"));
	/* Each before what is below it, and sorted among its sisters. */
	screen_check(s, line_of(s, top) + 1 == line_of(s, "left"));
	screen_check(s, line_of(s, "left") + 1 == line_of(s, "deep"));
	screen_check(s, line_of(s, "deep") + 1 == line_of(s, "right"));
	screen_check(s, indent_of(s, top) < indent_of(s, "left"));
	screen_check(s, indent_of(s, "left") < indent_of(s, "deep"));
	screen_check(s, indent_of(s, "left") == indent_of(s, "right"));
	pick(s, "left");
	screen_type(s, "-");
	screen_await(s, lacks_group, "deep");
	screen_settle(s);
	screen_check(s, members_of(s, "left") == 3);
	screen_check(s, strstr(screen_line(s, line_of(s, "left")), "+left"));
	screen_check(s, sum_of(s) == 4);
	screen_type(s, "+");
	screen_await(s, has_group, "deep");
	screen_type(s, "+");
	screen_settle(s);
	screen_type(s, "*");
	screen_await(s, lacks_group, "left");
	screen_type(s, "*");
	screen_await(s, has_group, "deep");
	/* R turns the order among sisters round, and no more. */
	pick(s, "right");
	screen_type(s, "R");
	screen_settle(s);
	screen_check(s, line_of(s, top) + 1 == line_of(s, "right"));
	screen_check(s, line_of(s, "left") + 1 == line_of(s, "deep"));
	screen_type(s, "V");
	screen_await(s, lacks_group, top);
}

/* Members and detail of a tree's group are those of all below it, and of nothing else. */
SCREEN_ROOT_TEST(opens_below)
{
	struct screen *s;
	struct table t;

	make_tree(__func__, "freezer");
	s = start(60, 120, scratch_format("-d 0.3 --cgroup /%s -s -members", top));
	screen_type(s, "V");
	screen_await(s, has_group, top);
	pick(s, "left");
	screen_type(s, "v");
	screen_await_text(s, scratch_format("3 tasks of cgroup /%s/left and below", top));
	screen_await_text(s, "states");
	screen_type(s, "\x1b");
	screen_await(s, has_group, top);
	screen_type(s, "\r");
	screen_await(s, table_has_head, "COMMAND");
	screen_await(s, table_has_name, "crowd-l");
	screen_settle(s);
	screen_check(s, table_has_name(s, "crowd-d"));
	screen_check(s, !table_has_name(s, "crowd-r"));
	screen_check(
		s, strstr(screen_line(s, 0), scratch_format("in cgroup /%s/left and below", top)));
	screen_type(s, "\x1b");
	screen_await(s, has_group, top);
	/* The root has but what --cgroup leaves of it. */
	screen_key(s, VTERM_KEY_HOME);
	screen_settle(s);
	screen_type(s, "v");
	screen_await_text(s, "4 tasks of cgroup / and below");
	screen_type(s, "\x1b");
	screen_await(s, has_group, top);
	screen_type(s, "\r");
	screen_await(s, table_has_name, "crowd-r");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.last - t.first + 1 == 4);
}

/* A figure in a cell, to a tenth, between two readings of what it is of. */
static bool lies_between(double figure, double low, double high)
{
	return figure >= low - 1 && figure <= high + 1;
}

/* avg10 of a pressure file's `some` line. */
static double pressure_of(const char *group)
{
	const char *text = scratch_read(scratch_format("%s/cpu.pressure", group));

	if (!text)
		scratch_skip("no pressure of groups");
	return atof(strstr(text, "avg10=") + 6);
}

/* The group has CPU pressure to speak of, which takes the kernel some seconds to say. */
static bool waits_for_cpu(struct screen *s, const void *name)
{
	struct table t;

	return table_read(s, &t) && line_of(s, name) >= 0 &&
	       table_number(s, &t, line_of(s, name), "PCPU") > 5;
}

/* The pressure of v2's groups: in its columns, in the detail, and above the table for --cgroup. */
SCREEN_ROOT_TEST(shows_pressure)
{
	const char *group, *line;
	struct screen *s;
	struct table t;
	double low;

	hierarchy = "v2";
	top = scratch_ours(scratch_format("crowd-%d", (int)getpid()));
	group = make_group(__func__, "");
	for (int i = 0; i < 3; i++)
		put(group, crowd_spinner("crowd-s", 0));
	low = pressure_of(group);
	s = start(60, 140, scratch_format("-d 0.5 --cgroup /%s", top));
	screen_check(s, screen_shows(s, "by cgroup (v2)"));
	screen_await(s, waits_for_cpu, top);
	table_must(s, &t);
	screen_check(s, members_of(s, top) == 3);
	screen_check(s, lies_between(table_number(s, &t, line_of(s, top), "PCPU"), low,
				     pressure_of(group)));
	screen_check(s, table_number(s, &t, line_of(s, top), "PCPU") > 5);
	/* What stands above the table is the group's, not the machine's. */
	line = screen_line(s, screen_find(s, "cpu    ", 0));
	screen_check(s, lies_between(atof(line + 3), low, pressure_of(group)));
	screen_type(s, "v");
	screen_await_text(s, "Pressure of the group");
	screen_settle(s);
	line = screen_line(s, screen_find(s, "cpu    ", screen_find(s, "Pressure of", 0)));
	screen_check(s, lies_between(atof(line + 3), low, pressure_of(group)));
	screen_check(s, screen_shows(s, "3 running"));
	screen_check(s, screen_shows(s, "(counted here, processes)"));
}

/* Ends children and removes the group, as soon as it is empty. */
static void remove_group(const char *group, pid_t *pid, int n)
{
	for (int i = 0; i < n; i++)
		scratch_kill(pid[i]);
	for (int i = 0; i < 200 && rmdir(group); i++)
		usleep(10000);
}

/* A group that is removed under its row, under its detail, and under its members. */
SCREEN_ROOT_TEST(survives_removal)
{
	const char *group;
	struct screen *s;
	pid_t pid;

	make_tree(__func__, "v2");
	s = start(60, 140, scratch_format("-d 0.3 --cgroup /%s -s +group", top));
	for (int i = 0; i < 3; i++) {
		group = make_group(__func__, "/bye");
		pid = crowd_sleeper("crowd-x");
		put(group, pid);
		screen_await(s, has_group, "bye");
		pick(s, "bye");
		if (i == 1) {
			screen_type(s, "v");
			screen_await_text(s, "Pressure of the group");
		}
		if (i == 2) {
			screen_type(s, "\r");
			screen_await(s, table_has_name, "crowd-x");
		}
		remove_group(group, &pid, 1);
		if (i == 1) {
			screen_await_text(s, "0 tasks of cgroup");
			screen_await_no_text(s, "Pressure of the group");
		}
		if (i == 2)
			screen_await_text(s, "the group is empty now");
		if (i)
			screen_type(s, "\x1b");
		screen_await(s, lacks_group, "bye");
	}
	screen_check(s, members_of(s, "deep") == 2);
}

/* The subtree that all is restricted to goes: said, without rows; and comes again. */
SCREEN_ROOT_TEST(survives_its_subtree)
{
	const char *group;
	struct screen *s;
	pid_t pid;

	hierarchy = "v2";
	top = scratch_ours(scratch_format("crowd-%d", (int)getpid()));
	group = make_group(__func__, "");
	pid = crowd_sleeper("crowd-x");
	put(group, pid);
	s = start(24, 100, scratch_format("-d 0.3 --cgroup /%s", top));
	screen_check(s, members_of(s, top) == 1);
	remove_group(group, &pid, 1);
	screen_await_text(s, "the cgroup named by --cgroup does not exist");
	screen_await_text(s, "no tasks");
	make_group(__func__, "");
	put(group, crowd_sleeper("crowd-x"));
	screen_await(s, has_group, top);
	screen_await_no_text(s, "the cgroup named by --cgroup");
}

/* All narrow and wide sizes of a tree. */
SCREEN_ROOT_TEST(fits_any_size)
{
	static const int sizes[][2] = { { 24, 80 }, { 10, 40 }, { 60, 200 }, { 2, 7 }, { 1, 1 } };
	struct screen *s;

	make_tree(__func__, "freezer");
	s = start(24, 80, scratch_format("-d 0.2 --cgroup /%s", top));
	screen_type(s, "V");
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		if (sizes[i][0] >= 10)
			screen_await(s, has_group, "left");
		screen_type(s, "v");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_settle(s);
		screen_type(s, "\x1b[A\x1b[B*");
		screen_settle(s);
		screen_type(s, "*");
	}
	screen_resize(s, 24, 80);
	screen_await(s, has_group, "left");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	screen_check_restored(s);
}
