// SPDX-License-Identifier: GPL-2.0-or-later
/* How the screen's room is used, and what its colours say. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

/* Starts, and waits for figures. */
static struct screen *start(int rows, int cols, const char *args)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = rows, .cols = cols, .args = args });

	screen_await(s, table_has_figures, NULL);
	return s;
}

/* The number before the word in the line that stands for idle tasks; 0: there is none. */
static int folded(struct screen *s, const char *word)
{
	struct table t;
	const char *line, *at;

	if (!table_read(s, &t) || t.fold < 0)
		return 0;
	line = screen_line(s, t.fold);
	at = strstr(line, word);
	if (!at)
		return 0;
	while (at > line && strchr("0123456789 ", at[-1]))
		at--;
	return atoi(at + strspn(at, " "));
}

/* The number of tasks that the sum row has. */
static int summed(struct screen *s)
{
	struct table t;

	table_must(s, &t);
	screen_check(s, t.sum >= 0);
	return atoi(table_cell(s, &t, t.sum, "COMMAND"));
}

/* Idle tasks are folded. */
static bool folds_idle(struct screen *s, const void *arg)
{
	(void)arg;
	return folded(s, "idle task") > 0;
}

/* None are. */
static bool folds_nothing(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.last >= t.first && t.fold < 0;
}

/* Rows and what is folded add up to the tasks of the sum row. */
SCREEN_TEST(folds_what_idles)
{
	struct screen *s;
	struct table t;

	assert_true(crowd_sleepers("crowd-many", 60) > 0);
	s = start(24, 80, "-d 60");
	screen_await(s, folds_idle, NULL);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.fold == t.sum - 1 && t.last == t.fold - 1);
	/* All that did something has a row, on one screen or more. */
	screen_check(s, folded(s, "idle task") + folded(s, "idle kernel thread") + t.last -
					t.first + 1 <=
				summed(s));
	/* A key, and a click, unfold and fold. */
	screen_type(s, "z");
	screen_await(s, folds_nothing, NULL);
	screen_type(s, "z");
	screen_await(s, folds_idle, NULL);
	screen_settle(s);
	table_must(s, &t);
	screen_click(s, t.fold, 5, 1);
	screen_await(s, folds_nothing, NULL);
	screen_type(s, "z");
	screen_await(s, folds_idle, NULL);
}

/* In another order, with a filter, in a tree and by groups all have their rows. */
SCREEN_TEST(folds_nothing_elsewhere)
{
	static const char *const keys[][2] = {
		{ "N", "0" }, { "R", "R" }, { "V", "V" }, { "i", "i" }, { "O", "O" },
	};
	struct screen *s;

	assert_true(crowd_sleepers("crowd-many", 60) > 0);
	s = start(24, 80, "-d 60");
	screen_await(s, folds_idle, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		screen_type(s, keys[i][0]);
		screen_await(s, folds_nothing, NULL);
		screen_type(s, keys[i][1]);
		screen_await(s, folds_idle, NULL);
	}
	screen_type(s, "/many\r");
	screen_await(s, folds_nothing, NULL);
	screen_type(s, "=");
	screen_await(s, folds_idle, NULL);
}

/* What is searched for is found though it is folded, and the selected row stays. */
SCREEN_TEST(finds_what_is_folded)
{
	struct screen *s;

	assert_true(crowd_sleepers("crowd-many", 60) > 0);
	crowd_sleeper("crowd-idle");
	s = start(24, 80, "-d 60");
	screen_await(s, folds_idle, NULL);
	screen_type(s, scratch_format("L^%s\r", scratch_ours("crowd-idle")));
	screen_await(s, table_selects, "crowd-idle");
	/* It may be among the first, where pids have begun again. */
	if (folds_nothing(s, NULL))
		screen_type(s, "z");
	screen_await(s, folds_idle, NULL);
	screen_check(s, table_selects(s, "crowd-idle"));
}

/* The columns that come with width, and the command line, which a key takes away. */
SCREEN_TEST(uses_width)
{
	static const char *const argv[] = { "crowd-line", "86400000", NULL };
	struct screen *s;
	struct table t;

	crowd_command(argv);
	s = start(40, 159, "-d 60 -m crowd-line");
	table_must(s, &t);
	screen_check(s, !table_head(&t, "ON") && !table_head(&t, "WAIT"));
	screen_check(s, !screen_shows(s, "86400000"));
	screen_resize(s, 40, 160);
	screen_await(s, table_has_head, "ON");
	screen_await_text(s, "crowd-line 86400000");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, table_head(&t, "WAIT") && table_head(&t, "CGROUP"));
	screen_check(s, !table_head(&t, "READ"));
	screen_resize(s, 40, 200);
	screen_await(s, table_has_head, "READ");
	screen_await(s, table_has_head, "WRITE");
	/* What was read of these rows alone is no sum. */
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, !strcmp(table_cell(s, &t, t.sum, "READ"), "-"));
	screen_type(s, "c");
	screen_await_no_text(s, "86400000");
	screen_type(s, "c");
	screen_await_text(s, "86400000");
}

/* Who may not ask the kernel: one line says what is missing first, a key all of it. */
SCREEN_TEST(has_one_note)
{
	struct screen *s;
	struct table t;
	int head;

	if (geteuid())
		scratch_skip("needs root");
	s = screen_start(&(struct screen_how){ .rows = 40, .uid = NOBODY, .args = "-d 60" });
	screen_await(s, table_has_figures, NULL);
	screen_await_text(s, "more: n)");
	screen_settle(s);
	table_must(s, &t);
	head = t.head;
	screen_check(s, screen_find(s, "CAP_NET_ADMIN", 0) == head - 1);
	screen_type(s, "n");
	screen_await_no_text(s, "more: n)");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.head > head);
	screen_check(s, screen_find(s, "CAP_NET_ADMIN", 0) == head - 1);
	screen_type(s, "n");
	screen_await_text(s, "more: n)");
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, t.head == head);
}

/* Two that wait for one CPU are there with high figures. */
static bool shows_waiting(struct screen *s, const void *arg)
{
	struct table t;
	int row;

	(void)arg;
	if (!table_read(s, &t))
		return false;
	row = table_find_name(s, &t, "crowd-nicer");
	return row >= 0 && table_number(s, &t, row, "CPU") > 30;
}

/* How the end of a cell looks. */
static struct screen_look look_of(struct screen *s, const char *name, const char *head)
{
	struct table t;

	table_must(s, &t);
	screen_check(s, table_find_name(s, &t, name) >= 0);
	return screen_look(s, table_find_name(s, &t, name), table_head(&t, head)->end);
}

/* The selected row keeps the colours of its cells, and amounts of zero recede. */
SCREEN_TEST(keeps_colours)
{
	struct screen_look hot, selected;
	struct screen *s;
	struct table t;

	crowd_sleeper("crowd-idle");
	crowd_spinner("crowd-spins", 0);
	crowd_spinner("crowd-nicer", 0);
	s = start(24, 80, "-d 1 --theme dark -m ^crowd-");
	screen_await(s, shows_waiting, NULL);
	screen_type(s, "p");
	table_select(s, "crowd-idle");
	hot = look_of(s, "crowd-nicer", "CPU");
	screen_check(s, hot.fg != -1 && hot.bg == -1);
	table_must(s, &t);
	screen_check(s,
		     !strcmp(table_cell(s, &t, table_find_name(s, &t, "crowd-idle"), "CPU"), "."));
	table_select(s, "crowd-nicer");
	selected = look_of(s, "crowd-nicer", "CPU");
	screen_check(s, selected.fg == hot.fg && selected.bg != -1);
	screen_check(s, look_of(s, "crowd-nicer", "COMMAND").fg != hot.fg);
	screen_check(s, look_of(s, "crowd-nicer", "COMMAND").bg == selected.bg);
	screen_check(s, look_of(s, "crowd-idle", "COMMAND").bg == -1);
}

/* Without colours the highest figures have a mark; who asks for a theme has its colours. */
SCREEN_TEST(takes_theme)
{
	static const char *const env[] = { "NO_COLOR=1", NULL };
	struct screen *s;
	struct table t;
	double highest = 0;

	crowd_spinner("crowd-spins", 0);
	crowd_spinner("crowd-nicer", 0);
	s = start(24, 80, "-d 1 --theme mono -m ^crowd-");
	screen_await(s, shows_waiting, NULL);
	screen_type(s, "p");
	screen_settle(s);
	table_must(s, &t);
	for (int row = t.first; row <= t.last; row++)
		if (table_number(s, &t, row, "CPU") > highest)
			highest = table_number(s, &t, row, "CPU");
	for (int row = t.first; row <= t.last && highest > 50.5; row++)
		screen_check(s, (*table_cell(s, &t, row, "CPU") == '*') ==
					(table_number(s, &t, row, "CPU") >= highest));
	screen_check(s, screen_look(s, t.head, 0).bg == -1);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = screen_start(
		&(struct screen_how){ .env = env, .args = "-d 1 --theme dark -m ^crowd-" });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, screen_look(s, t.head, 0).bg != -1);
}

/* Whether the terminal was asked for its background. */
static bool is_asked(struct screen *s, const void *arg)
{
	size_t len;

	(void)arg;
	return strstr(screen_output(s, &len), "\033]11;?");
}

/* Whether texts that recede have that colour, of 256: of the theme. */
static bool dims_in(struct screen *s, const void *colour)
{
	struct table t;

	/* An unknown figure, or zero, of a row that is not selected. */
	return table_read(s, &t) && t.last > t.first &&
	       screen_look(s, t.last, table_head(&t, "MEM")->end).fg == *(const int *)colour;
}

/* The theme is that for the background which the terminal tells; keys are answered meanwhile. */
SCREEN_TEST(asks_for_background)
{
	static const int any = 243;
	static const struct {
		const char *answer;
		int dim;
	} cases[] = {
		{ "\033]11;rgb:1e1e/1e1e/1e1e\033\\", 246 },
		{ "\033]11;rgb:ffff/ffff/ffff\a", 241 },
		{ "\033]11;qqqq\a", 243 },
	};
	struct screen *s;

	crowd_sleeper("crowd-idle");
	crowd_sleeper("crowd-rests");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = screen_start(&(struct screen_how){ .args = "-d 60 -m ^crowd-" });
		screen_await(s, is_asked, NULL);
		screen_type(s, cases[i].answer);
		screen_await(s, dims_in, &cases[i].dim);
		/* A late one changes nothing, and is no key either. */
		screen_pump(s, 2.1);
		screen_type(s, "\033]11;rgb:qqqq\a\033]11;rgb:8/8");
		screen_pump(s, 0.7);
		screen_type(s, "\033]11;rgb:0000/0000/0000\a");
		screen_settle(s);
		screen_check(s, dims_in(s, &cases[i].dim));
		screen_type(s, "h");
		screen_await_text(s, "stalltop: help");
		screen_type(s, "qq");
		assert_int_equal(screen_end(s, 5), 0);
	}
	/* Without an answer it goes on, at once. */
	s = screen_start(&(struct screen_how){ .args = "-d 60 -m ^crowd-" });
	screen_await(s, table_has_name, "crowd-idle");
	screen_check(s, dims_in(s, &any));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Terminals that might show the question are not asked, nor where it makes no difference. */
SCREEN_TEST(asks_nobody_else)
{
	static const char *const told[] = { "COLORFGBG=15;0", NULL };
	static const char *const plain[] = { "NO_COLOR=1", NULL };
	static const struct screen_how hows[] = {
		{ .term = "linux", .args = "-d 60" },
		{ .term = "vt100", .args = "-d 60" },
		{ .term = "screen-256color", .args = "-d 60" },
		{ .env = told, .args = "-d 60" },
		{ .env = plain, .args = "-d 60" },
		{ .args = "-d 60 --theme any" },
	};

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		struct screen *s = screen_start(&hows[i]);

		screen_await(s, table_has_rows, NULL);
		screen_check(s, !is_asked(s, NULL));
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}

/* A terminal whose colours are values, not numbers. */
static const char direct[] =
	"direct|colours by value,\n"
	"	RGB, colors#0x1000000, pairs#0x7FFF,\n"
	"	setab=\\E[%?%p1%{8}%<%t4%p1%d%e48\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d"
	"\\:%p1%{255}%&%d%;m,\n"
	"	setaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d"
	"\\:%p1%{255}%&%d%;m,\n"
	"	use=xterm-256color,\n";

/* There the colours of the configuration are taken as they are. */
SCREEN_TEST(has_true_colours)
{
	const char *folder = scratch_folder(), *home = scratch_path("config");
	const char *source = scratch_file(scratch_path("direct"), direct);
	const char *const env[] = { scratch_format("TERMINFO=%s", folder), NULL };
	struct screen *s;
	size_t len;

	assert_int_equal(system(scratch_format("tic -x -o %s %s", folder, source)), 0);
	assert_int_equal(mkdir(home, 0755), 0);
	assert_int_equal(mkdir(scratch_format("%s/stalltop", home), 0755), 0);
	scratch_file(scratch_format("%s/stalltop/config", home),
		     "theme = dark\ncolour = dim: #123456\n");
	s = screen_start(&(struct screen_how){
		.term = "direct", .env = env, .config_home = home, .args = "-d 60" });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	assert_non_null(strstr(screen_output(s, &len), "38:2::18:52:86"));
	assert_non_null(strstr(screen_output(s, &len), "48:2::0:95:135"));
}

/* A graph of pressure is there where there is width, and its last cells are known. */
static bool has_graph(struct screen *s, const void *arg)
{
	int line = screen_find(s, " min ", 0);
	const char *at = line >= 0 ? strstr(screen_line(s, line), " min ") : NULL;

	(void)arg;
	return at && (unsigned char)at[strlen(" min ")] > ' ';
}

SCREEN_TEST(draws_pressure)
{
	struct screen *s;

	if (access("/proc/pressure/memory", R_OK))
		scratch_skip("this kernel does not measure pressure");
	s = start(24, 120, "-d 0.2");
	screen_await(s, has_graph, NULL);
	screen_resize(s, 24, 76);
	screen_await_no_text(s, " min ");
	screen_await_text(s, "now");
	screen_check(s, screen_shows(s, " avg300 "));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = start(24, 120, "-d 0.2 --history 0");
	screen_settle(s);
	screen_check(s, !screen_shows(s, " min "));
}
