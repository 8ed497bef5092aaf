// SPDX-License-Identifier: GPL-2.0-or-later
/* What makes the screen easy to the hand: function keys, clicks on hints, finding by letters. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Empties the line that is edited. */
#define CLEAR "\x15"

/* Starts among a few tasks. */
static struct screen *start(int rows, int cols, const char *args)
{
	struct screen *s;

	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	s = screen_start(&(struct screen_how){ .rows = rows, .cols = cols, .args = args });
	screen_await(s, table_has_name, "crowd-a");
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	return s;
}

/* Presses one of F1 to F10. */
static void press_function(struct screen *s, int number)
{
	screen_key(s, VTERM_KEY_FUNCTION(number));
}

/* The last line of the screen. */
static const char *last_line(struct screen *s)
{
	return screen_line(s, screen_rows(s) - 1);
}

/* Whether a text is in the last line, or none of it. */
static bool is_below(struct screen *s, const void *text)
{
	return strstr(last_line(s), scratch_ours(text));
}

static bool is_not_below(struct screen *s, const void *text)
{
	return !is_below(s, text);
}

/* Whether the selected line of a list holds a word. */
static bool is_chosen(struct screen *s, const void *word)
{
	for (int row = 1; row < screen_rows(s) - 1; row++) {
		struct screen_look look = screen_look(s, row, 1);
		const char *line = screen_line(s, row);

		if ((look.reverse || look.bg != -1) && strstr(line, scratch_ours(word)))
			return true;
	}
	return false;
}

/* F1 to F10 do what those do who know them from htop. */
SCREEN_TEST(function_keys)
{
	struct screen *s = start(24, 100, "-d 60 -m ^crowd");

	press_function(s, 1);
	screen_await_text(s, "stalltop: help");
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);
	press_function(s, 2);
	screen_await_text(s, "shown, in this order");
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);
	press_function(s, 3);
	screen_await_text(s, "find expression");
	screen_type(s, "crowd-b\r");
	screen_await(s, table_selects, "crowd-b");
	press_function(s, 4);
	screen_await_text(s, "filter by expression");
	screen_type(s, CLEAR "crowd-a\r");
	screen_await(s, table_lacks_name, "crowd-b");
	press_function(s, 4);
	screen_type(s, CLEAR "crowd\r");
	screen_await(s, table_has_name, "crowd-b");
	press_function(s, 5);
	screen_await_text(s, "tree: +");
	press_function(s, 6);
	screen_await_text(s, "sort by");
	screen_type(s, "ppid");
	screen_await(s, is_chosen, "ppid");
	screen_type(s, "\r");
	screen_await(s, table_has_head, "PPID");
	screen_await(s, table_descends, "PPID");
	press_function(s, 9);
	screen_await_text(s, "signal to");
	screen_type(s, "\033");
	screen_await_no_text(s, "signal to");
	press_function(s, 10);
	assert_int_equal(screen_end(s, 5), 0);
}

/* F7 and F8 count the nice value down and up, in the prompt too; it is confirmed as ever. */
SCREEN_TEST(nice_keys)
{
	struct screen *s = start(24, 100, "-d 60 -m ^crowd");
	pid_t pid = crowd_sleeper("crowd-nice");

	screen_type(s, " ");
	screen_await(s, table_has_name, "crowd-nice");
	table_select(s, "crowd-nice");
	press_function(s, 8);
	screen_await_text(s, "crowd-nice): 1");
	press_function(s, 8);
	press_function(s, 8);
	screen_await_text(s, "crowd-nice): 3");
	press_function(s, 7);
	screen_await_text(s, "crowd-nice): 2");
	screen_type(s, "\r");
	screen_await_text(s, "to 2? [y/N]");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 0);
	screen_type(s, "y");
	screen_await_text(s, "is now 2");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 2);
	/* from what it is now, and not past the end of the scale */
	press_function(s, 7);
	screen_await_text(s, "crowd-nice): 1");
	screen_type(s, CLEAR "19");
	press_function(s, 8);
	screen_settle(s);
	screen_check(s, is_below(s, "crowd-nice): 19"));
	screen_type(s, "\033");
}

/* Clicks at a hint in the last line. */
static void click_hint(struct screen *s, const char *hint)
{
	const char *line = last_line(s), *at = strstr(line, hint);

	if (!at)
		screen_fail(s, hint, __FILE__, __LINE__);
	screen_click(s, screen_rows(s) - 1, (int)(at - line) + (int)strlen(hint) - 1, 1);
}

/* A click at a hint does what its key does; one at a message shows the hints again. */
SCREEN_TEST(clicks_hints)
{
	struct screen *s = start(24, 140, "-d 60 -m ^crowd");

	screen_await(s, is_below, "q quit");
	click_hint(s, "h help");
	screen_await_text(s, "stalltop: help");
	click_hint(s, "Esc back");
	screen_await(s, table_has_rows, NULL);
	screen_await(s, is_below, "0-9 sort");
	click_hint(s, "/ filter");
	screen_await_text(s, "filter by expression");
	/* a prompt is no hint */
	screen_click(s, screen_rows(s) - 1, 5, 1);
	screen_settle(s);
	screen_check(s, is_below(s, "filter by expression"));
	screen_type(s, "\033");
	screen_await(s, is_below, "U unit");
	click_hint(s, "U unit");
	screen_await(s, table_has_unit, "(ms)");
	screen_await(s, is_below, "unit ms");
	screen_click(s, screen_rows(s) - 1, 2, 1);
	screen_await(s, is_below, "q quit");
	screen_check(s, table_has_unit(s, "(ms)"));
	/* right of all hints there is none */
	screen_click(s, screen_rows(s) - 1, 139, 1);
	screen_settle(s);
	screen_check(s, table_has_rows(s, NULL));
	click_hint(s, "q quit");
	assert_int_equal(screen_end(s, 5), 0);
}

/* The head after that one. */
static const char *head_after(struct screen *s, const char *head)
{
	struct table t;

	table_must(s, &t);
	for (size_t i = 0; i + 1 < t.columns; i++)
		if (!strcmp(t.column[i].text, head))
			return scratch_format("%s", t.column[i + 1].text);
	return "";
}

/* Letters find a field; it comes where the selection was; what it is and costs is said. */
SCREEN_TEST(finds_fields)
{
	struct screen *s = start(24, 120, "-d 60 -m ^crowd -F pid,user,state,run,cpu,blkio,comm");

	screen_type(s, "f");
	screen_await_text(s, "7 shown, in this order");
	for (int i = 0; i < 3; i++)
		screen_key(s, VTERM_KEY_DOWN);
	screen_await_text(s, "the next goes after run");
	screen_type(s, "recl");
	screen_await_text(s, "find: recl");
	screen_await(s, is_chosen, "reclaim");
	screen_await_text(s, "memory reclaim: ");
	screen_await_text(s, "cost: none");
	screen_type(s, " ");
	screen_await_text(s, "8 shown, in this order; the next goes after reclaim");
	screen_await_no_text(s, "find:");
	/* by its meaning, and the next; letters that are keys elsewhere are letters here */
	screen_type(s, "storage");
	screen_await(s, is_chosen, "read ");
	screen_await_text(s, "cost: one read of /proc/PID/io");
	screen_type(s, "/");
	screen_await(s, is_chosen, "write ");
	screen_type(s, "\b\b\b\b\b\b\bpsi-q");
	screen_await_text(s, "find: psi-q");
	screen_type(s, "\033");
	screen_await_no_text(s, "find:");
	screen_type(s, "elap ");
	screen_await_text(s, "9 shown");
	screen_type(s, "q");
	screen_await(s, table_has_head, "ELAP");
	assert_string_equal(head_after(s, "RUN"), "RECL");
	assert_string_equal(head_after(s, "RECL"), "ELAP");
	assert_string_equal(head_after(s, "ELAP"), "CPU");
	/* who does not move the selection adds at the end */
	screen_type(s, "f");
	screen_await_text(s, "9 shown");
	screen_type(s, "ppid q");
	screen_await(s, table_has_head, "PPID");
	assert_string_equal(head_after(s, "PPID"), "COMMAND");
}

/* Whether the first line begins with a word. */
static bool is_about(struct screen *s, const void *word)
{
	return !strncmp(screen_line(s, 0), word, strlen(word));
}

/* A thread in a detail is chosen by keys or a click, and opened. */
SCREEN_TEST(opens_threads)
{
	struct screen *s;

	crowd_threads("crowd-team", "crowd-thread");
	s = start(60, 120, "-d 60 -m ^crowd");
	table_select(s, "crowd-team");
	screen_type(s, "\r");
	screen_await_text(s, "Threads: 2");
	screen_check(s, !is_chosen(s, "crowd-t"));
	screen_type(s, "\r");
	screen_await_text(s, "Up and Down choose a thread");
	screen_await(s, is_chosen, "crowd-t");
	screen_key(s, is_chosen(s, "crowd-thread") ? VTERM_KEY_HOME : VTERM_KEY_DOWN);
	screen_settle(s);
	screen_click(s, screen_find(s, "crowd-team", screen_find(s, "Threads:", 0)), 3, 1);
	screen_await(s, is_chosen, "crowd-team");
	screen_click(s, screen_find(s, "crowd-thread", screen_find(s, "Threads:", 0)), 3, 1);
	screen_await(s, is_chosen, "crowd-thread");
	screen_type(s, "\r");
	screen_await(s, is_about, "thread ");
	screen_check(s, strstr(screen_line(s, 0), scratch_ours("crowd-thread")));
	screen_type(s, "\033");
	screen_await(s, is_about, "process ");
	/* one thread alone is no choice */
	screen_type(s, "\033");
	screen_await(s, table_selects, "crowd-team");
	table_select(s, "crowd-a");
	screen_type(s, "\r\r");
	screen_await_text(s, "no threads");
}

/* Whether the title names a preset. */
static bool is_titled(struct screen *s, const void *words)
{
	return strstr(screen_line(s, 0), words);
}

/* A saves what is shown under a name; the next start has it, and all else is not written. */
SCREEN_TEST(saves_presets)
{
	const char *path = scratch_path("stalltop/config");
	struct screen *s = start(24, 100, "-d 60 -m ^crowd");

	screen_type(s, "NR");
	screen_await(s, table_ascends, "PID");
	screen_type(s, "A");
	screen_await_text(s, "as a preset, named:");
	screen_type(s, "two words\r");
	screen_await_text(s, "up to 16 letters");
	screen_type(s, CLEAR "mine\r");
	screen_await(s, is_titled, "preset mine");
	screen_await_text(s, "preset mine: written");
	assert_string_equal(scratch_read(path),
			    "preset = mine: sort=+pid, unit=percent, group=process\n");
	/* changed and saved again, its name is there to be taken */
	screen_type(s, "felap q");
	screen_await(s, table_has_head, "ELAP");
	screen_type(s, "A\r");
	screen_await_text(s, "preset mine: written");
	screen_check(s, strstr(scratch_read(path), "preset = mine: fields=pid,"));
	screen_check(s, strstr(scratch_read(path), ",elap,"));
	screen_check(s, !strchr(scratch_read(path), '\n')[1]);
	/* groups, too, and back from them */
	screen_type(s, "gg");
	screen_await_text(s, "GROUP");
	screen_type(s, "A" CLEAR "grouped\r");
	screen_await(s, is_titled, "preset grouped");
	screen_await_text(s, "preset grouped: written");
	screen_type(s, "\t");
	screen_await_no_text(s, "preset grouped");
	screen_await(s, table_has_name, "crowd-a");
	screen_type(s, "\033[Z");
	screen_await(s, is_titled, "preset grouped");
	screen_await_text(s, "GROUP");
	screen_type(s, "\t");
	screen_await_no_text(s, "preset grouped");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);

	s = start(24, 100, "-d 60 -m ^crowd");
	screen_check(s, !table_has_head(s, "ELAP"));
	screen_type(s, "\033[Z\033[Z");
	screen_await(s, is_titled, "preset mine");
	screen_await(s, table_ascends, "PID");
	screen_check(s, table_has_head(s, "ELAP"));
}

/* Up and Down go through earlier answers of the same kind of prompt, and back to what was typed. */
SCREEN_TEST(recalls_answers)
{
	struct screen *s = start(24, 100, "-d 60 -m ^crowd");

	screen_type(s, "/" CLEAR "crowd-a\r");
	screen_await(s, table_lacks_name, "crowd-b");
	screen_type(s, "/" CLEAR "crowd-b\r");
	screen_await(s, table_lacks_name, "crowd-a");
	screen_type(s, "/");
	screen_await_text(s, "expression: crowd-b");
	/* it is the last answer already: the step goes to the one before */
	screen_key(s, VTERM_KEY_UP);
	screen_await_text(s, "expression: crowd-a");
	screen_type(s, CLEAR "new");
	screen_await_text(s, "expression: new");
	screen_key(s, VTERM_KEY_DOWN);
	screen_await_text(s, "expression: crowd-b");
	screen_key(s, VTERM_KEY_UP);
	screen_await_text(s, "expression: crowd-a");
	screen_key(s, VTERM_KEY_UP);
	screen_settle(s);
	screen_check(s, is_below(s, "expression: crowd-a"));
	screen_type(s, "\r");
	screen_await(s, table_lacks_name, "crowd-b");
	screen_await(s, table_has_name, "crowd-a");
	/* another kind has none of these */
	screen_type(s, "L");
	screen_await_text(s, "find expression:");
	screen_key(s, VTERM_KEY_UP);
	screen_settle(s);
	screen_check(s, !is_below(s, "crowd"));
	/* what was typed is there again behind what was recalled */
	screen_type(s, "\033/" CLEAR "typed");
	screen_await_text(s, "expression: typed");
	screen_key(s, VTERM_KEY_UP);
	screen_await_text(s, "expression: crowd-");
	screen_key(s, VTERM_KEY_DOWN);
	screen_await_text(s, "expression: typed");
}

/* Where the sort column is unknown of the selected row, ? says why, and what mends it. */
SCREEN_TEST(explains_unknown)
{
	struct screen *s;

	crowd_sleeper("crowd-idle");
	s = start(24, 120, "-d 1 -m ^crowd --source procfs");
	screen_await(s, table_has_rows, NULL);
	screen_type(s, "4");
	screen_await(s, is_below, "RECL is memory reclaim: ");
	screen_type(s, "?");
	screen_await_text(s, "Why it is - in the selected row");
	screen_check(s, !screen_shows(s, "not yet: it needs"));
}

/* Where a figure of the selected row is not as the kernel booked it, ? says how it is known. */
SCREEN_TEST(explains_figure)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = 40, .cols = 120, .args = "-R demo" });

	screen_await_text(s, "mailserver");
	screen_type(s, "2");
	screen_await_text(s, "BLKIO\u25bc");
	screen_type(s, "?");
	screen_await_text(s, "Where the selected row's figure comes from");
	screen_check(s, screen_shows(s, "by the clock (--measure, or traced)"));
}

/* The head that is sorted by is spelled out, for a while or where there is height; ? says more. */
SCREEN_TEST(explains_columns)
{
	struct screen *s = start(24, 120, "-d 60 -m ^crowd");

	screen_type(s, "4");
	screen_await(s, is_below, "RECL is memory reclaim: ");
	screen_type(s, "?");
	screen_await_text(s, "What to try");
	screen_check(s, screen_shows(s, "RECL: memory reclaim"));
	screen_check(s, screen_shows(s, "memory.high"));
	screen_check(s, screen_shows(s, "costs"));
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);
	/* moving about in the heads spells each of them out */
	screen_type(s, "1");
	screen_await(s, is_below, "CPU is CPU delay: ");
	screen_type(s, ">");
	screen_await(s, is_below, "BLKIO is block I/O delay: ");
	screen_type(s, "?");
	screen_await_text(s, "ionice");
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);
	/* general help has no word of it at its top */
	screen_type(s, "h");
	screen_await_text(s, "stalltop: help");
	screen_check(s, !screen_shows(s, "What to try"));
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);

	screen_resize(s, 40, 120);
	screen_await(s, table_has_rows, NULL);
	/* a question takes away what was said before */
	screen_type(s, "L\033");
	screen_await(s, is_below, "q quit");
	screen_type(s, "4");
	screen_await_text(s, "RECL is memory reclaim: ");
	screen_await(s, is_below, "q quit");
	screen_check(s, screen_find(s, "RECL is memory reclaim: ", 0) == 38);
}

/* A message is not taken away by a key that came with the one that made it, but by a later one. */
SCREEN_TEST(keeps_messages)
{
	struct screen *s = start(24, 120, "-d 60 -m ^crowd");

	screen_type(s, "U\033[B");
	screen_await(s, is_below, "unit ms: ");
	screen_settle(s);
	screen_check(s, is_below(s, "unit ms: "));
	/* it may have been read by now, but not for so long that it goes by itself */
	screen_pump(s, 3.2);
	screen_check(s, is_below(s, "unit ms: "));
	screen_key(s, VTERM_KEY_DOWN);
	screen_settle(s);
	screen_check(s, is_not_below(s, "unit ms: "));
}
