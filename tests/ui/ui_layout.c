// SPDX-License-Identifier: GPL-2.0-or-later
/* The layout of the table at every size, with many rows and none, without colour. */
#include "config.h"

#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOBODY 65534

/* Whether the kernel measures pressure. */
static bool has_pressure(void)
{
	return !access("/proc/pressure/memory", R_OK);
}

/* The first line that begins with the word and a space, or -1. */
static int line_of(struct screen *s, const char *word)
{
	size_t len = strlen(word);

	for (int row = 0; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		if (!strncmp(line, word, len) && line[len] == ' ')
			return row;
	}
	return -1;
}

/* The block of pressure: whole, or one line when there is little room. */
static void check_pressure(struct screen *s, const struct table *t)
{
	if (!has_pressure())
		return;
	screen_check(s, screen_find(s, "avg10", 0) >= 0);
	screen_check(s, screen_find(s, "avg10", 0) < t->head);
	if (screen_rows(s) < 16) {
		screen_check(s, line_of(s, "memory") < 0);
		screen_check(s, screen_find(s, "avg10", screen_find(s, "avg10", 0) + 1) < 0);
		return;
	}
	screen_check(s, line_of(s, "memory") > screen_find(s, "avg10", 0));
	screen_check(s, line_of(s, "cpu") >= 0 && line_of(s, "cpu") < line_of(s, "memory"));
	screen_check(s, line_of(s, "io") > line_of(s, "memory") && line_of(s, "io") < t->head);
}

/* The heads that the width asks for, in their order. */
static void check_heads(struct screen *s, const struct table *t)
{
	static const char *const narrow[] = { "PID", "RUN", "0TOTAL", "COMMAND", NULL };
	static const char *const middle[] = { "PID",  "USER",	"S",	"RUN",	   "0TOTAL",
					      "1CPU", "2BLKIO", "9MEM", "COMMAND", NULL };
	static const char *const wide[] = { "PID",   "USER",   "S",	  "RUN",   "0TOTAL",
					    "1CPU",  "2BLKIO", "3SWAP",	  "4RECL", "5THRA",
					    "6COMP", "7WPCP",  "COMMAND", NULL };
	const char *const *heads = screen_cols(s) < 80	  ? narrow
				   : screen_cols(s) < 110 ? middle
							  : wide;
	int end = -1;

	for (; *heads; heads++) {
		const struct table_head *head = table_head(t, *heads);

		screen_check(s, head != NULL);
		screen_check(s, head->start > end);
		end = head->end;
	}
	screen_check(s, !strcmp(t->column[t->columns - 1].text, "COMMAND"));
	/* a kind besides the total also where it is narrow */
	screen_check(s, table_head(t, "1CPU") || table_head(t, "2BLKIO"));
	screen_check(s, screen_cols(s) >= 110 || !table_head(t, "4RECL"));
	screen_check(s, screen_cols(s) < 110 || !table_head(t, "9MEM"));
}

/* Whether a cell under a head is what may stand there. */
static bool cell_is_right(const char *head, const char *cell)
{
	if (!strcmp(head, "USER") || !strcmp(head, "COMMAND") || !strcmp(head, "ON") ||
	    !strcmp(head, "CGROUP"))
		return *cell != '\0';
	if (!strcmp(head, "S"))
		return strlen(cell) == 1 && strchr("RSDTtZXIPW-", *cell);
	if (!strcmp(head, "PID"))
		return *cell && strspn(cell, "0123456789") == strlen(cell);
	return !strcmp(cell, "-") ||
	       (*cell && strspn(cell, ">0123456789.k") == strlen(cell) && strlen(cell) <= 8);
}

/* Unit row, rows and sum row stand under their heads. */
static void check_columns(struct screen *s, const struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		const char *head = t->column[i].text;

		for (int row = t->first; row <= t->last; row++)
			screen_check(s, cell_is_right(head, table_cell(s, t, row, head)));
		if (t->unit >= 0 && !strcmp(head, "RUN"))
			screen_check(s, !strcmp(table_cell(s, t, t->unit, head), "(%)"));
		if (t->sum >= 0 && !strcmp(head, "0TOTAL"))
			screen_check(s, table_number(s, t, t->sum, head) >= 0);
	}
}

/* The lines below the sum row: the hints, and on a high screen the words of the sort column. */
static int lines_below(struct screen *s)
{
	return screen_rows(s) >= 34 ? 2 : 1;
}

/* All that must hold of a table with more rows than fit. */
static void check_layout(struct screen *s)
{
	struct table t;
	int below;

	screen_check(s, screen_in_alt(s));
	screen_check(s, !screen_cursor_visible(s));
	screen_check(s, !strncmp(screen_line(s, 0), "stalltop ", 9));
	table_must(s, &t);
	screen_check(s, screen_find(s, "tasks ", 0) > 0 && screen_find(s, "tasks ", 0) < t.head);
	check_pressure(s, &t);
	check_heads(s, &t);
	screen_check(s, (t.unit >= 0) == (screen_rows(s) >= 12));
	screen_check(s, (t.sum >= 0) == (screen_rows(s) >= 12));
	screen_check(s, t.last - t.first + 1 >= 4);
	/* as many rows as there is room for, and what is folded of those that idle */
	below = t.sum >= 0 ? t.sum : screen_rows(s) - 1;
	screen_check(s, t.sum < 0 || t.fold == t.sum - 1 || t.last - t.first == 3);
	screen_check(s, t.last == (t.fold >= 0 ? t.fold : below) - 1);
	screen_check(s, t.sum < 0 || t.sum == screen_rows(s) - 1 - lines_below(s));
	screen_check(s, lines_below(s) == 1 || strstr(screen_line(s, t.sum + 1), "0TOTAL is "));
	screen_check(s, *screen_line(s, screen_rows(s) - 1));
	check_columns(s, &t);
	screen_check(s, !strcmp(table_sorted_by(s, &t), "0TOTAL"));
	screen_check(s, table_in_order(s, &t, "0TOTAL", true));
}

/* Starts on a terminal of a size with so many tasks that they fill it. */
static struct screen *start_full(int rows, int cols, const char *args)
{
	struct screen *s;

	if (!crowd_sleepers("crowd-many", 120))
		fail_msg("cannot start 120 processes");
	s = screen_start(&(struct screen_how){ .rows = rows, .cols = cols, .args = args });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	return s;
}

/* Whether the footer has a hint, or not. */
static bool has_hint(struct screen *s, const void *hint)
{
	return strstr(screen_line(s, screen_rows(s) - 1), hint);
}

static bool lacks_hint(struct screen *s, const void *hint)
{
	return !has_hint(s, hint);
}

/* The usual terminal. */
SCREEN_TEST(fits_80x24)
{
	struct screen *s = start_full(24, 80, "-d 60");

	check_layout(s);
	screen_check(s, strstr(screen_line(s, 23), "quit") && strstr(screen_line(s, 23), "help"));
}

/* What leads to causes is in the footer at every usual width, and the way out at any. */
SCREEN_TEST(hints_at_what_matters)
{
	static const char *const keys[] = { "w on what", "Tab preset", "Enter open", "! why",
					    "g group",	 "h help",     "q quit" };
	struct screen *s = start_full(24, 80, "-d 60");

	for (int cols = 80; cols <= 200; cols += 60) {
		screen_resize(s, 24, cols);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			screen_await(s, has_hint, keys[i]);
	}
	screen_resize(s, 24, 40);
	screen_await(s, lacks_hint, "Enter open");
	screen_await(s, has_hint, "w on what");
	screen_await(s, has_hint, "Tab preset");
	screen_await(s, has_hint, "h help");
	screen_await(s, has_hint, "q quit");
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
	screen_await_text(s, "no task passes the filters");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.sum == t.first + 1);
}

/* The smallest that is promised. */
SCREEN_TEST(fits_40x10)
{
	check_layout(start_full(10, 40, "-d 60"));
}

/* A wide one: all kinds. */
SCREEN_TEST(fits_120x40)
{
	check_layout(start_full(40, 120, "-d 60"));
}

/* A large one. */
SCREEN_TEST(fits_200x60)
{
	check_layout(start_full(60, 200, "-d 60"));
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
	return t.last == below && table_head(&t, screen_cols(s) < 110 ? "PID" : "4RECL") &&
	       (screen_cols(s) >= 110 || !table_head(&t, "4RECL"));
}

/* Sizes one after the other, the borders of the rules among them. */
SCREEN_TEST(follows_resize)
{
	static const int sizes[][2] = { { 10, 40 },  { 60, 200 }, { 15, 80 }, { 16, 109 },
					{ 12, 110 }, { 11, 400 }, { 24, 80 }, { 100, 400 },
					{ 10, 41 },  { 40, 120 } };
	struct screen *s = start_full(24, 80, "-d 60");

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		screen_await(s, fills_terminal, NULL);
		screen_settle(s);
		check_layout(s);
	}
}

/* What is too small for anything is survived, too. */
SCREEN_TEST(survives_tiny)
{
	static const int sizes[][2] = { { 5, 20 }, { 1, 1 }, { 3, 200 }, { 60, 2 }, { 2, 7 } };
	struct screen *s = start_full(24, 80, "-d 0.1");

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
	struct screen *s = start_full(24, 80, "-d 0.05");

	for (int i = 0; i < 150; i++) {
		screen_resize(s, 10 + i * 7 % 41, 40 + i * 13 % 161);
		screen_pump(s, 0.004 * (i % 5));
	}
	screen_resize(s, 30, 100);
	screen_await(s, fills_terminal, NULL);
	screen_type(s, "p");
	screen_settle(s);
	check_layout(s);
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
	return a >= 0 && b >= 0 && table_number(s, &t, b, "1CPU") > 30;
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
	screen_check(s, look_of(s, "crowd-nicer", "1CPU").bold);
	screen_check(s, !look_of(s, "crowd-nicer", "2BLKIO").bold);
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
		int fg = look_of(s, "crowd-nicer", "1CPU").fg;

		screen_check(s, fg != -1);
		screen_check(s, fg != look_of(s, "crowd-nicer", "2BLKIO").fg);
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
	       !strcmp(table_cell(s, &t, t.first, "0TOTAL"), "-");
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
		screen_check(s, !strcmp(table_cell(s, &t, row, "4RECL"), "-"));
		screen_check(s, !strcmp(table_cell(s, &t, row, "7WPCP"), "-"));
	}
	screen_check(s, table_number(s, &t, table_find_name(s, &t, "crowd-spins"), "RUN") > 0);
	screen_check(s, table_number(s, &t, table_find_name(s, &t, "crowd-spins"), "1CPU") >= 0);
}
