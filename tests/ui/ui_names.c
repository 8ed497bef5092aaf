// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of tasks are untrusted bytes: nothing of them acts on the terminal. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name, and how it begins when it is shown; NULL: as it is. */
struct name {
	const char *raw;
	const char *shown;
};

/* None of the raw ones may reach the terminal where the second is given. */
static const struct name names[] = {
	{ "\x1b[31mE1", "\\x1b[31mE1" }, /* a colour */
	{ "\x1b[9;9HE2", "\\x1b[9;9HE2" }, /* a movement */
	{ "\x1b]0;E3\x07", "\\x1b]0;E3\\x07" }, /* a title */
	{ "\x1b"
	  "cE4",
	  "\\x1b"
	  "cE4" }, /* a reset */
	{ "\xc2\x9b"
	  "31mE5",
	  "\\u{009b}31mE5" }, /* the same as C1 */
	{ "\x9b"
	  "31mE6",
	  "\\x9b31mE6" }, /* and as a byte */
	{ "e7\nE\tE\rE", "e7\\x0aE\\x09E\\x0dE" }, /* lines */
	{ "e8\b\b\x7f"
	  "E",
	  "e8\\x08\\x08\\x7fE" }, /* erasing */
	{ "e9\xe2\x80\xae"
	  "cba",
	  "e9\\u{202e}cba" }, /* right to left */
	{ "e10\xe2\x80\x8b"
	  "z",
	  "e10\\u{200b}z" }, /* of no width */
	{ "e11\xff\xfe\xc3(", "e11\\xff\\xfe\\xc3(" }, /* no UTF-8 */
	{ "e12\\x41", "e12\\\\x41" }, /* a backslash */
	{ "e13\x0e\x0f", "e13\\x0e\\x0f" }, /* another character set */
	{ "e14%s%n%99999d", NULL }, /* a format */
	{ "e15\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97", NULL }, /* wide */
	{ "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", NULL },
	{ "e16\xd8\xb9\xd9\x8e\xd8\xb1\xd9\x8e", NULL }, /* with marks */
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* A sleeper a name; their ids as an argument. */
static const char *start_named(void)
{
	const char *pids = NULL;

	for (size_t i = 0; i < NAMES; i++) {
		int pid = (int)crowd_sleeper(names[i].raw);

		pids = pids ? scratch_format("%s,%d", pids, pid) : scratch_format("%d", pid);
	}
	return pids;
}

/* Nothing of a name was written to the terminal raw. */
static void check_nothing_raw(struct screen *s)
{
	size_t len;
	const char *output = screen_output(s, &len);

	for (size_t i = 0; i < NAMES; i++)
		if (names[i].shown && memmem(output, len, names[i].raw, strlen(names[i].raw)))
			screen_fail(s, names[i].shown, __FILE__, __LINE__);
	/* nor any control of the second set, nor a byte that is no UTF-8 */
	for (size_t i = 0; i + 1 < len; i++) {
		unsigned char a = (unsigned char)output[i], b = (unsigned char)output[i + 1];

		screen_check(s, !(a == 0xC2 && b < 0xA0));
		screen_check(s, a != 0xFF && a != 0xFE);
	}
	screen_check(s, !memmem(output, len, "\xe2\x80\xae", 3));
	screen_check(s, !memmem(output, len, "\xe2\x80\x8b", 3));
}

/* There are as many rows as names, and figures stand under their heads. */
static void check_straight(struct screen *s)
{
	struct table t;

	table_must(s, &t);
	screen_check(s, t.last - t.first + 1 == (int)NAMES);
	for (int row = t.first; row <= t.last; row++)
		for (size_t i = 0; i < t.columns; i++)
			screen_check(s, *table_cell(s, &t, row, t.column[i].text));
	screen_check(s, t.sum == t.last + 1 || !*screen_line(s, t.last + 1));
}

/* As many rows as there are names. */
static bool shows_all(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_has_figures(s, NULL) && table_read(s, &t) &&
	       t.last - t.first + 1 == (int)NAMES;
}

/* Starts with the named tasks only. */
static struct screen *start(int cols, const char *args, const char *const *env)
{
	struct screen *s = screen_start(&(struct screen_how){
		.rows = 40,
		.cols = cols,
		.env = env,
		.args = scratch_format("-d 60 %s -s +pid -p %s", args, start_named()) });

	screen_await(s, shows_all, NULL);
	screen_settle(s);
	return s;
}

/* Names are shown escaped, or as they are where they are harmless. */
SCREEN_TEST(escapes_names)
{
	struct screen *s = start(120, "", NULL);

	check_straight(s);
	check_nothing_raw(s);
	for (size_t i = 0; i < NAMES; i++) {
		const char *shown = names[i].shown ? names[i].shown : names[i].raw;

		if (screen_find(s, shown, 0) < 0)
			screen_fail(s, shown, __FILE__, __LINE__);
	}
}

/* Where names are cut, no wide character is halved and no line is wrapped. */
SCREEN_TEST(cuts_names)
{
	struct screen *s = start(120, "", NULL);

	for (int cols = 60; cols >= 40; cols--) {
		screen_resize(s, 40, cols);
		screen_await(s, shows_all, NULL);
		screen_settle(s);
		check_straight(s);
	}
	check_nothing_raw(s);
}

/* A terminal of ASCII gets ASCII. */
SCREEN_TEST(keeps_to_ascii)
{
	static const char *const env[] = { "LC_ALL=C", NULL };
	struct screen *s = start(120, "", env);
	const char *output;
	size_t len;

	check_straight(s);
	screen_check(s, screen_shows(s, "e15\\u{6f22}\\u{5b57}"));
	output = screen_output(s, &len);
	for (size_t i = 0; i < len; i++)
		screen_check(s, (unsigned char)output[i] < 0x80);
}

/* What is asked and told of a task names it escaped, too. */
SCREEN_TEST(escapes_everywhere)
{
	struct screen *s = start(120, "", NULL);

	for (size_t i = 0; i < NAMES; i++) {
		screen_type(s, "\r");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_await(s, shows_all, NULL);
		screen_type(s, "k");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_await(s, shows_all, NULL);
		screen_type(s, "r");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_await(s, shows_all, NULL);
		screen_key(s, VTERM_KEY_DOWN);
	}
	screen_settle(s);
	check_straight(s);
	check_nothing_raw(s);
}

/* Names behind which another column stands: it begins at the same place in each row. */
SCREEN_TEST(keeps_columns_behind)
{
	struct screen *s = start(120, "-F pid,run,comm,command", NULL);
	struct table t;
	int begin;

	table_must(s, &t);
	screen_check(s, t.columns == 4);
	begin = t.column[3].start;
	screen_check(s, begin >= t.column[2].start + 16);
	for (int row = t.first; row <= t.last; row++) {
		/* the command line is the test's own */
		screen_check(s, screen_char(s, row, begin) == screen_char(s, t.first, begin));
		screen_check(s, screen_char(s, row, begin) > ' ');
		screen_check(s, screen_char(s, row, begin - 1) <= ' ');
	}
	check_nothing_raw(s);
}

/* Command lines are no better than names. */
SCREEN_TEST(escapes_command_lines)
{
	static const char *const argv[] = { "cmd \x1b[41mE1 \xc2\x9b"
					    "7mE5\nE",
					    "9999", NULL };
	int pid = (int)crowd_command(argv);
	struct screen *s;
	const char *output;
	size_t len;

	s = screen_start(
		&(struct screen_how){ .cols = 130, .args = scratch_format("-d 60 -p %d", pid) });
	/* From the page of the only process to the table. */
	screen_await_text(s, "Delays");
	screen_type(s, "\x1b");
	screen_await(s, table_has_figures, NULL);
	screen_await_text(s, "sleep");
	screen_type(s, "c");
	screen_await_text(s, "cmd \\x1b[41mE1 \\u{009b}7mE5\\x0aE 9999");
	screen_type(s, "\r");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
	screen_resize(s, 24, 80);
	screen_settle(s);
	output = screen_output(s, &len);
	screen_check(s, !memmem(output, len, "\x1b[41mE1", 7));
	screen_check(s, !memmem(output, len, "\xc2\x9b", 2));
}
