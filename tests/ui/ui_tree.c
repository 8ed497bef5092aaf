// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of processes on the screen: who is below whom, and what a folded row stands for. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <string.h>

#define OURS "-d 60 -m ^crowd "

/* The line whose name ends so, in a tree; -1: none. */
static int tree_line(struct screen *s, const char *name)
{
	struct table t;

	if (!table_read(s, &t))
		return -1;
	name = scratch_ours(name);
	for (int line = t.first; line <= t.last; line++) {
		const char *cell = table_cell(s, &t, line, "COMMAND");

		if (strlen(cell) >= strlen(name) &&
		    !strcmp(cell + strlen(cell) - strlen(name), name))
			return line;
	}
	return -1;
}

/* A row of that name is in the tree, or not. */
static bool in_tree(struct screen *s, const void *name)
{
	return tree_line(s, name) >= 0;
}

/* The opposite. */
static bool not_in_tree(struct screen *s, const void *name)
{
	return tree_line(s, name) < 0;
}

/* V makes a tree of the rows; - folds, + unfolds, * all. */
SCREEN_TEST(shows_tree)
{
	struct screen *s;
	struct table t;

	assert_int_not_equal(crowd_sleepers("crowd-child", 2), 0);
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 30, .cols = 120 });
	screen_await(s, table_has_name, "crowd-child");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "V");
	/* it is seen whose they are */
	screen_await(s, table_lacks_name, "crowd-child");
	screen_check(s, in_tree(s, "crowd-child"));
	screen_check(s, tree_line(s, "crowd-child") == tree_line(s, "crowd-keeper") + 1);
	table_must(s, &t);
	screen_check(s, t.last - t.first == 2);
	screen_key(s, VTERM_KEY_HOME);
	screen_type(s, "-");
	screen_await(s, not_in_tree, "crowd-child");
	screen_check(s, in_tree(s, "crowd-keeper"));
	screen_type(s, "+");
	screen_await(s, in_tree, "crowd-child");
	screen_type(s, "-");
	screen_await(s, not_in_tree, "crowd-child");
	screen_type(s, "*");
	screen_await(s, in_tree, "crowd-child");
	screen_type(s, "V");
	screen_await(s, table_has_name, "crowd-child");
}

/* In the tree a process's threads are unfolded below it. */
SCREEN_TEST(unfolds_threads)
{
	struct screen *s;
	struct table t;

	crowd_threads("crowd-team", "crowd-thread");
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 30, .cols = 120 });
	screen_await(s, table_has_name, "crowd-team");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "V");
	for (int i = 0; i < 3 && not_in_tree(s, "crowd-thread"); i++) {
		screen_type(s, "+");
		screen_wait_until(s, 1, in_tree, "crowd-thread");
	}
	screen_check(s, in_tree(s, "crowd-thread"));
	table_must(s, &t);
	screen_check(s, table_find_name(s, &t, "crowd-thread") < 0);
	screen_check(s, tree_line(s, "crowd-thread") > tree_line(s, "crowd-team"));
	screen_type(s, "-");
	screen_await(s, not_in_tree, "crowd-thread");
	screen_check(s, in_tree(s, "crowd-team"));
}

/* How long the row of that name was on a CPU, in percent; -1: there is none. */
static double run_of(struct screen *s, const char *name)
{
	struct table t;

	if (!table_read(s, &t) || tree_line(s, name) < 0)
		return -1;
	return table_number(s, &t, tree_line(s, name), "RUN");
}

/* It ran, by its row. */
static bool ran(struct screen *s, const void *name)
{
	return run_of(s, name) > 1;
}

/* The one comes right before the other. */
static bool is_before(struct screen *s, const char *one, const char *other)
{
	return tree_line(s, one) >= 0 && tree_line(s, one) < tree_line(s, other);
}

/* A folded row shows the sum of what is below it, and brothers are sorted by that. */
SCREEN_TEST(sums_up_branches)
{
	struct screen *s;

	crowd_family("crowd-calm", "crowd-rests", false);
	crowd_family("crowd-lord", "crowd-works", true);
	crowd_family("crowd-meek", "crowd-naps", false);
	s = screen_start(
		&(struct screen_how){ .args = "-d 0.3 -m ^crowd", .rows = 30, .cols = 120 });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "VP");
	screen_await(s, ran, "crowd-works");
	screen_settle(s);
	/* Unfolded it shows what is its own: a process that sleeps. */
	screen_check(s, run_of(s, "crowd-lord") < 1);
	screen_check(s, tree_line(s, "crowd-works") == tree_line(s, "crowd-lord") + 1);
	screen_check(s, is_before(s, "crowd-lord", "crowd-calm"));
	screen_check(s, is_before(s, "crowd-lord", "crowd-meek"));
	screen_type(s, "*");
	screen_await(s, not_in_tree, "crowd-works");
	screen_await(s, ran, "crowd-lord");
	screen_settle(s);
	screen_check(s, run_of(s, "crowd-calm") < 1);
	screen_check(s, is_before(s, "crowd-lord", "crowd-calm"));
	screen_check(s, is_before(s, "crowd-lord", "crowd-meek"));
	screen_type(s, "R");
	screen_settle(s);
	screen_check(s, is_before(s, "crowd-calm", "crowd-lord"));
	screen_check(s, is_before(s, "crowd-meek", "crowd-lord"));
	/* Held, all stay where they are, folded or not. */
	screen_type(s, "OR*");
	screen_await(s, in_tree, "crowd-works");
	screen_settle(s);
	screen_check(s, tree_line(s, "crowd-works") == tree_line(s, "crowd-lord") + 1);
}

/* Some tasks began in the interval. */
static bool counts_more(struct screen *s, const void *arg)
{
	const char *line = screen_line(s, 1);

	(void)arg;
	return strstr(line, "new") && !strstr(line, " 0 new");
}

/* Lines that come above the selected one do not move it. */
SCREEN_TEST(selection_is_steady)
{
	struct screen *s;
	struct table t;
	double pid;
	int line, row;

	assert_int_not_equal(crowd_sleepers("crowd-old", 60), 0);
	s = screen_start(
		&(struct screen_how){ .args = "-d 1 -m ^crowd -s -pid", .rows = 24, .cols = 120 });
	screen_await(s, table_has_name, "crowd-old");
	screen_type(s, "V");
	screen_await(s, in_tree, "crowd-old");
	screen_key(s, VTERM_KEY_PAGEDOWN);
	screen_key(s, VTERM_KEY_PAGEDOWN);
	screen_key(s, VTERM_KEY_UP);
	screen_key(s, VTERM_KEY_UP);
	screen_key(s, VTERM_KEY_UP);
	screen_settle(s);
	table_must(s, &t);
	line = table_selected(s, &t);
	row = line - t.first;
	pid = table_number(s, &t, line, "PID");
	assert_int_not_equal(crowd_sleepers("crowd-new", 9), 0);
	screen_await(s, counts_more, NULL);
	screen_settle(s);
	table_must(s, &t);
	line = table_selected(s, &t);
	screen_check(s, line - t.first == row);
	screen_check(s, table_number(s, &t, line, "PID") == pid);
}
