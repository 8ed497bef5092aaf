// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, the field chooser, the mouse, and drawing anew. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every key of the program, by the name that help calls it. */
static const char *const key_names[] = {
	"1",	  "2",	 "3",	 "4",	  "5",	   "6",	 "7",	"8",	"9",	"0",
	"<",	  ">",	 "R",	 "P",	  "N",	   "T",	 "Up",	"Down", "PgUp", "PgDn",
	"Home",	  "End", "Left", "Right", "Enter", "v",	 "Esc", "U",	"H",	"g",
	"G",	  "i",	 "e",	 "c",	  "V",	   "+",	 "-",	"*",	"f",	"W",
	"t",	  "/",	 "o",	 "u",	  "=",	   "L",	 "&",	"d",	"s",	"Space",
	"p",	  "O",	 "k",	 "r",	  "D",	   "h",	 "?",	"F1",	"q",	"F10",
	"Ctrl-L", "A",	 "F2",	 "F3",	  "F4",	   "F5", "F6",	"F7",	"F8",	"F9",
};

#define KEYS (sizeof(key_names) / sizeof(key_names[0]))

/* Whether a line begins with names of keys among which it is. */
static bool names_key(const char *line, const char *key)
{
	size_t len = strlen(key);

	for (line += strspn(line, " "); *line;) {
		size_t word = strcspn(line, ", ");

		if (!word)
			word = 1;
		if (word == len && !strncmp(line, key, len))
			return true;
		line += word;
		/* two spaces end the names */
		if (*line == ',')
			line++;
		if (line[0] == ' ' && line[1] == ' ')
			return false;
		line += *line == ' ';
	}
	return false;
}

/* No table is there, but a text about keys. */
static bool shows_help(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return !table_read(s, &t) && (screen_shows(s, "reverse") || screen_shows(s, "sort by"));
}

/* h and F1 open it, Esc closes it; with ? it begins with the sort column. */
SCREEN_TEST(opens_help)
{
	struct screen *s = table_start(24, 80, "-d 60");

	screen_type(s, "h");
	screen_await(s, shows_help, NULL);
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
	screen_type(s, "?");
	screen_await_text(s, "TOTAL: total wait");
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
	screen_key(s, VTERM_KEY_FUNCTION(1));
	screen_await(s, shows_help, NULL);
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
}

/* Help names each key there is. */
SCREEN_TEST(names_all_keys)
{
	struct screen *s = table_start(24, 80, "-d 60");
	bool seen[KEYS] = { false };

	screen_type(s, "h");
	screen_await(s, shows_help, NULL);
	for (int page = 0; page < 15; page++) {
		screen_settle(s);
		for (int row = 0; row < screen_rows(s) - 1; row++)
			for (size_t i = 0; i < KEYS; i++)
				seen[i] |= names_key(screen_line(s, row), key_names[i]);
		screen_key(s, VTERM_KEY_PAGEDOWN);
	}
	for (size_t i = 0; i < KEYS; i++)
		if (!seen[i])
			screen_fail(s, key_names[i], __FILE__, __LINE__);
	screen_key(s, VTERM_KEY_HOME);
	screen_settle(s);
	screen_check(s, shows_help(s, NULL));
}

/* Ctrl-L wipes away what another program wrote. */
SCREEN_TEST(draws_anew)
{
	struct screen *s = table_start(24, 80, "-d 60");
	const char *before[24];

	for (int row = 0; row < 24; row++)
		before[row] = screen_line(s, row);
	screen_scribble(s, "\x1b[5;5Hrubbish\x1b[12;1Hmore of it\x1b[24;1Hand here\x1b[2;70Hxyz");
	screen_check(s, screen_shows(s, "rubbish"));
	screen_type(s, "\x0c");
	screen_await_no_text(s, "rubbish");
	screen_settle(s);
	for (int row = 0; row < 24; row++)
		screen_check(s, !strcmp(screen_line(s, row), before[row]));
}

/* Clicks at a head, wherever it is by now: notes that come move it. */
static void click_head(struct screen *s, const char *head)
{
	struct table t;

	table_must(s, &t);
	screen_click(s, t.head, table_head(&t, head)->end - 1, 1);
}

/* A click at a head sorts, at a row selects it; the wheel scrolls. */
SCREEN_TEST(takes_mouse)
{
	struct screen *s;
	struct table t;
	double first;

	assert_int_not_equal(crowd_sleepers("crowd-many", 60), 0);
	s = table_start(24, 80, "-d 60 -m ^crowd");
	screen_check(s, screen_has_mouse(s));
	/* the second reading, half a second later, has come */
	screen_await(s, table_has_figures, NULL);
	click_head(s, "PID");
	screen_await(s, table_descends, "PID");
	click_head(s, "PID");
	screen_await(s, table_ascends, "PID");
	click_head(s, "CPU");
	screen_await(s, table_descends, "CPU");
	click_head(s, "PID");
	screen_await(s, table_descends, "PID");
	table_must(s, &t);
	screen_click(s, t.first + 5, 30, 1);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, table_selected(s, &t) == t.first + 5);
	first = table_number(s, &t, t.first, "PID");
	for (int i = 0; i < 6; i++)
		screen_click(s, t.first + 2, 30, 5);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, table_number(s, &t, t.first, "PID") < first);
	for (int i = 0; i < 20; i++)
		screen_click(s, t.first + 2, 30, 4);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, (int)table_number(s, &t, t.first, "PID") == (int)first);
	/* clicks beside everything do no harm */
	screen_click(s, 0, 0, 1);
	screen_click(s, 23, 79, 1);
	screen_click(s, t.sum, 10, 1);
	screen_settle(s);
	screen_check(s, table_has_rows(s, NULL));
}

/* The line whose first words hold it, or -1. */
static int line_of(struct screen *s, const char *word)
{
	for (int row = 0; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row), *at = strstr(line, word);

		if (at && (at == line || at[-1] == ' ' || at[-1] == ']') &&
		    !isalnum((unsigned char)at[strlen(word)]))
			return row;
	}
	return -1;
}

/* The chooser is there: a list of field ids. */
static bool shows_fields(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return !table_read(s, &t) && line_of(s, "ppid") >= 0 && line_of(s, "tgid") >= 0;
}

/* f opens the chooser; fields are switched and are there when it is left. */
SCREEN_TEST(chooses_fields)
{
	struct screen *s = table_start(50, 120, "-d 60");

	screen_check(s, table_lacks_head(s, "PPID"));
	screen_type(s, "f");
	screen_await(s, shows_fields, NULL);
	for (int i = 0; i < 60; i++) {
		struct screen_look look = screen_look(s, line_of(s, "ppid"), 8);

		if (look.reverse || look.bg != -1)
			break;
		screen_key(s, VTERM_KEY_DOWN);
		screen_settle(s);
	}
	screen_type(s, " ");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_await(s, table_has_head, "PPID");
	screen_check(s, table_has_head(s, "PID"));
	screen_check(s, table_has_head(s, "COMMAND"));
	screen_type(s, "f");
	screen_await(s, shows_fields, NULL);
	screen_type(s, "\x1b");
	screen_await(s, table_has_head, "PPID");
}

/* The mouse can be left to the terminal. */
SCREEN_TEST(leaves_mouse)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 60 --no-mouse" });

	screen_await(s, table_has_rows, NULL);
	screen_check(s, !screen_has_mouse(s));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 3), 0);
}

/* A kind of xterm that this machine has no description of is shown on as an xterm. */
SCREEN_TEST(unknown_xterm)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .args = "-d 60", .term = "xterm-nosuch" });

	screen_await(s, table_has_rows, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 3), 0);
	s = screen_start(&(struct screen_how){ .args = "-d 60", .term = "nosuch-xterm" });
	assert_int_equal(screen_end(s, 3), 1);
	screen_check(s, screen_shows(s, "'nosuch-xterm' is unknown"));
}
