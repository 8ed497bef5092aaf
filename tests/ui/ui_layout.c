// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of the table in odd sizes, with no rows, without colour; ui_golden has its layout.
 */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOBODY 65534

/* The lines below the sum row: the hints, and on a high screen the words of the sort column. */
static int lines_below(struct screen *s)
{
	return screen_rows(s) >= 34 ? 2 : 1;
}

/* Starts with so many tasks that they fill the terminal. */
static struct screen *start_full(const char *args)
{
	struct screen *s;

	if (!crowd_sleepers("crowd-many", 120))
		fail_msg("cannot start 120 processes");
	s = screen_start(&(struct screen_how){ .args = args });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	return s;
}

/* Where there is room the sum stands directly below the rows. */
SCREEN_TEST(sums_below_rows)
{
	struct screen *s;
	struct table t;

	crowd_sleepers("crowd-few", 3);
	s = screen_start(
		&(struct screen_how){ .rows = 60, .cols = 120, .args = "-d 60 -m ^crowd-few" });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.last - t.first + 1 == 3);
	screen_check(s, t.sum == t.last + 1);
	screen_type(s, "/^crowd-none\r");
	screen_await_text(s, "no tasks match");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.sum == t.first + 1);
}

/* The screen is drawn to the size that the terminal has now. */
static bool fills_terminal(struct screen *s, const void *arg)
{
	struct table t;
	int below;

	(void)arg;
	if (!table_read(s, &t) || !*screen_line(s, screen_rows(s) - 1))
		return false;
	below = screen_rows(s) - 1 - lines_below(s) - (screen_rows(s) >= 12 ? 2 : 0);
	below += t.fold < 0 && t.last == below + 1;
	/* Idle rows leave room for what the selected one waits for. */
	return t.last <= below && t.last >= below - 7 &&
	       table_head(&t, screen_cols(s) < 110 ? "PID" : "RECL") &&
	       (screen_cols(s) >= 110 || !table_head(&t, "RECL"));
}

/* What is too small for anything is survived, too. */
SCREEN_TEST(survives_tiny)
{
	static const int sizes[][2] = { { 5, 20 }, { 1, 1 }, { 3, 200 }, { 60, 2 }, { 2, 7 } };
	struct screen *s = start_full("-d 0.1");

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		screen_type(s, "U1\x1bOB");
		screen_pump(s, 0.3);
	}
	screen_resize(s, 24, 80);
	screen_await(s, fills_terminal, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	screen_check_restored(s);
}

/* Sizes faster than samples and drawing. */
SCREEN_TEST(survives_resize_storm)
{
	struct screen *s = start_full("-d 0.05");
	struct table t;

	for (int i = 0; i < 150; i++) {
		screen_resize(s, 10 + i * 7 % 41, 40 + i * 13 % 161);
		screen_pump(s, 0.004 * (i % 5));
	}
	screen_resize(s, 30, 100);
	screen_await(s, fills_terminal, NULL);
	screen_type(s, "p");
	screen_settle(s);
	screen_check(s, screen_in_alt(s));
	screen_check(s, !screen_cursor_visible(s));
	screen_check(s, !strncmp(screen_line(s, 0), "stalltop ", 9));
	table_must(s, &t);
	screen_check(s, !strcmp(table_sorted_by(s, &t), "TOTAL"));
	screen_check(s, table_in_order(s, &t, "TOTAL", true));
}

/* A filter that matches nothing leaves heads, a sum of nothing and working keys. */
SCREEN_TEST(shows_no_rows)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 0.2 -m ^no-such-task$" });
	struct table t;

	screen_await_text(s, "0 tasks");
	table_must(s, &t);
	screen_check(s, t.last < t.first);
	screen_check(s, t.sum == t.first + 1);
	screen_check(s, !strncmp(screen_line(s, 0), "stalltop ", 9));
	screen_key(s, VTERM_KEY_DOWN);
	screen_key(s, VTERM_KEY_PAGEDOWN);
	screen_key(s, VTERM_KEY_END);
	screen_type(s, "1RN&kr");
	screen_type(s, "\r");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_settle(s);
	screen_check(s, table_read(s, &t) && t.last < t.first);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Whether any cell has a colour of its own. */
static bool any_colour(struct screen *s)
{
	for (int row = 0; row < screen_rows(s); row++)
		for (int col = 0; col < screen_cols(s); col++) {
			struct screen_look look = screen_look(s, row, col);

			if (look.fg != -1 || look.bg != -1)
				return true;
		}
	return false;
}

/* Two that wait for one CPU are there with high figures. */
static bool shows_waiting(struct screen *s, const void *arg)
{
	struct table t;
	int a, b;

	(void)arg;
	if (!table_read(s, &t))
		return false;
	a = table_find_name(s, &t, "crowd-spins");
	b = table_find_name(s, &t, "crowd-nicer");
	return a >= 0 && b >= 0 && table_number(s, &t, b, "CPU") > 30;
}

/* Two tasks that wait for one CPU, and a third. */
static void make_waiting(void)
{
	crowd_sleeper("crowd-idle");
	crowd_spinner("crowd-spins", 0);
	crowd_spinner("crowd-nicer", 0);
}

/* Starts when these are there, the selection on the third. */
static struct screen *start_waiting(const char *term, const char *const *env)
{
	struct screen *s = screen_start(
		&(struct screen_how){ .term = term, .env = env, .args = "-d 1 -m ^crowd-" });

	screen_await(s, shows_waiting, NULL);
	screen_type(s, "p");
	screen_key(s, VTERM_KEY_DOWN);
	screen_key(s, VTERM_KEY_DOWN);
	screen_await(s, table_selects, "crowd-idle");
	screen_settle(s);
	return s;
}

/* How the number of the row of that name looks. */
static struct screen_look look_of(struct screen *s, const char *name, const char *head)
{
	struct table t;

	table_must(s, &t);
	screen_check(s, table_find_name(s, &t, name) >= 0);
	return screen_look(s, table_find_name(s, &t, name), table_head(&t, head)->end);
}

/* Without colour high values have weight, and there is no colour at all. */
static void check_without_colour(const char *term, const char *const *env)
{
	struct screen *s;

	make_waiting();
	s = start_waiting(term, env);
	screen_check(s, !any_colour(s));
	screen_check(s, look_of(s, "crowd-nicer", "CPU").bold);
	screen_check(s, !look_of(s, "crowd-nicer", "BLKIO").bold);
	screen_check(s, look_of(s, "crowd-idle", "COMMAND").reverse);
	screen_check(s, !look_of(s, "crowd-nicer", "COMMAND").reverse);
}

/* NO_COLOR, whatever the terminal can do. */
SCREEN_TEST(honours_no_color)
{
	static const char *const env[] = { "NO_COLOR=1", NULL };

	check_without_colour("xterm-256color", env);
}

/* A terminal without colours. */
SCREEN_TEST(needs_no_colours)
{
	check_without_colour("vt100", NULL);
}

/* High values have a colour of their own; terminals with few colours get but those. */
SCREEN_TEST(colours_high_values)
{
	static const char *const terms[] = { "xterm-256color", "xterm", "linux" };
	/* On Linux' console ncurses loads libgpm for the mouse, and that leaks. */
	static const char *const env[] = { "ASAN_OPTIONS=detect_leaks=0", NULL };

	make_waiting();
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		struct screen *s = start_waiting(terms[i], i == 2 ? env : NULL);
		int fg = look_of(s, "crowd-nicer", "CPU").fg;
		bool bold = look_of(s, "crowd-nicer", "CPU").bold;

		screen_check(s, fg != -1 || bold);
		screen_check(s, fg != look_of(s, "crowd-nicer", "BLKIO").fg ||
					bold != look_of(s, "crowd-nicer", "BLKIO").bold);
		screen_check(s, i == 0 || fg < 16);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}

/* Before anything could be measured nothing is made up. */
static bool shows_dashes(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.last >= t.first &&
	       !strcmp(table_cell(s, &t, t.first, "RUN"), "-") &&
	       !strcmp(table_cell(s, &t, t.first, "TOTAL"), "-");
}

/* The first screen has rows without figures, the second has them. */
SCREEN_TEST(begins_with_dashes)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 60" });

	screen_await(s, table_has_rows, NULL);
	screen_check(s, shows_dashes(s, NULL));
	screen_await(s, table_has_figures, NULL);
}

/* Who may not ask the kernel sees less, and why. */
SCREEN_TEST(tells_nobody_why)
{
	struct screen *s;
	struct table t;

	if (geteuid())
		scratch_skip("needs root");
	crowd_spinner("crowd-spins", 0);
	s = screen_start(
		&(struct screen_how){ .rows = 30, .cols = 120, .uid = NOBODY, .args = "-d 60" });
	screen_await(s, table_has_name, "crowd-spins");
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	screen_check(s, screen_shows(s, "CAP_NET_ADMIN"));
	table_must(s, &t);
	for (int row = t.first; row <= t.last; row++) {
		screen_check(s, !strcmp(table_cell(s, &t, row, "MEM"), "-"));
	}
	screen_check(s, table_number(s, &t, table_find_name(s, &t, "crowd-spins"), "RUN") > 0);
	screen_check(s, table_number(s, &t, table_find_name(s, &t, "crowd-spins"), "CPU") >= 0);
}
