// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups on the screen: opened, left, looked into, followed while they move and vanish. */
#include "cgroup/hierarchy.h"
#include "tests/lib/ask.h"
#include "tests/lib/crowd.h"
#include "tests/lib/reader.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three names, of one, two and one tasks. */
static void start_crowd(void)
{
	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	crowd_sleeper("crowd-b");
	crowd_sleeper("crowd-c");
}

/* The number of rows there are on the screen. */
static int count_rows(struct screen *s)
{
	struct table t;

	return table_read(s, &t) ? t.last - t.first + 1 : -1;
}

/* There are so many rows. */
static bool has_rows(struct screen *s, const void *arg)
{
	return count_rows(s) == *(const int *)arg;
}

/* The number under a head in the row of a name; -1: none. */
static double figure_of(struct screen *s, const char *name, const char *head)
{
	struct table t;
	int line;

	line = table_read(s, &t) ? table_find_name(s, &t, name) : -1;
	return line < 0 ? -1 : table_number(s, &t, line, head);
}

/* The rows are of names, with so many processes each. */
static bool has_commands(struct screen *s, const void *arg)
{
	(void)arg;
	return (int)figure_of(s, "crowd-b", "N") == 2 && (int)figure_of(s, "crowd-c", "N") == 1;
}

/* g goes through all groupings, with a word on each at the bottom; heads and rows go along. */
SCREEN_TEST(goes_round)
{
	static const struct {
		const char *words, *head;
		int rows;
	} steps[] = {
		{ "one row per thread", "PID", 5 },
		{ "one row per user", "N", 1 },
		{ "one row for all tasks of a name", "N", 4 },
		{ "one row per cgroup", "N", 1 },
		{ "one row per process", "PID", 4 },
	};
	struct screen *s;

	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	crowd_sleeper("crowd-b");
	crowd_threads("crowd-c", "crowd-d");
	s = table_start(24, 80, "-d 0.3 -m ^crowd");
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		bool grouped = !strcmp(steps[i].head, "N");

		screen_type(s, "g");
		screen_await_at(s, screen_has, steps[i].words, steps[i].words, __FILE__, __LINE__);
		screen_await(s, table_has_head, steps[i].head);
		/* crowd-c's second thread is not its process: by commands of processes it is one */
		if (i != 2)
			screen_await(s, has_rows, &steps[i].rows);
		screen_await(s, table_has_head, grouped ? "GROUP" : "COMMAND");
		screen_check(s, !table_has_head(s, grouped ? "COMMAND" : "GROUP"));
		if (i == 2)
			screen_await(s, has_commands, NULL);
	}
}

/* Enter shows the members, and whose they are; Esc leads back to the same group. */
SCREEN_TEST(opens_members)
{
	int two = 2;
	struct screen *s;

	start_crowd();
	s = table_start(24, 80, "-d 0.3 -g command -m ^crowd -s +group");
	table_select(s, "crowd-b");
	screen_check(s, (int)figure_of(s, "crowd-b", "N") == 2);
	screen_type(s, "\r");
	screen_await(s, table_has_head, "COMMAND");
	screen_await(s, has_rows, &two);
	screen_settle(s);
	screen_check(s, strstr(screen_line(s, 0), scratch_ours("in command crowd-b")));
	screen_check(s, table_has_name(s, "crowd-b"));
	screen_check(s, !table_has_name(s, "crowd-a"));
	/* Of the members each has its own detail. */
	screen_type(s, "\r");
	screen_await_text(s, "this interval");
	screen_settle(s);
	screen_check(s, screen_shows(s, "process "));
	screen_type(s, "\x1b");
	screen_await(s, has_rows, &two);
	screen_type(s, "\x1b");
	screen_await(s, table_has_head, "GROUP");
	screen_await(s, table_selects, "crowd-b");
	screen_settle(s);
	screen_check(s, !screen_shows(s, "in command"));
	/* Esc among the groups does no harm, nor does another grouping while members are shown */
	screen_type(s, "\x1b\r");
	screen_await_text(s, "in command");
	screen_type(s, "g");
	screen_await_text(s, "one row per cgroup");
	screen_await_no_text(s, "in command");
}

/* The detail view of a group is there. */
static bool shows_detail(struct screen *s, const void *title)
{
	return strstr(screen_line(s, 0), scratch_ours(title)) && screen_word_line(s, "states") >= 0;
}

/* v opens the group's detail: its figures are its members' added up, as the kernel has them. */
SCREEN_TEST(shows_sums)
{
	struct reader_record record[2];
	pid_t pid[2];
	const char *line, *text;
	struct screen *s;

	if (geteuid())
		scratch_skip("needs root");
	if (reader_open())
		scratch_skip("no taskstats");
	for (int i = 0; i < 2; i++)
		pid[i] = crowd_spinner("crowd-b", 0);
	crowd_spinner("crowd-a", 0);
	for (int i = 0; i < 2; i++)
		crowd_await_run(pid[i], 0.1);
	for (int i = 0; i < 2; i++)
		crowd_stop(pid[i]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(reader_tgid(pid[i], &record[i]), 0);
	reader_close();
	s = table_start(60, 120, "-d 0.3 -g command -m ^crowd -s +group");
	table_select(s, "crowd-b");
	screen_type(s, "v");
	screen_await(s, shows_detail, "2 tasks of command crowd-b");
	/* Below the figures of the interval are those of whole lives. */
	line = screen_line(s, screen_word_line_after(s, "cpu", screen_word_line(s, "cpu")));
	text = scratch_format(
		" %llu ", (unsigned long long)(record[0].kind[0].count + record[1].kind[0].count));
	if (!strstr(line, text))
		screen_fail(s, text, __FILE__, __LINE__);
	text = scratch_format(" %.3f ",
			      (double)(record[0].kind[0].ns + record[1].kind[0].ns) / 1e6);
	if (!strstr(line, text))
		screen_fail(s, text, __FILE__, __LINE__);
	screen_check(s, screen_word_line(s, "Group") >= 0);
	screen_check(s, strstr(screen_line(s, screen_word_line(s, "states")), " 2 stopped"));
	screen_check(s, strstr(screen_line(s, screen_word_line(s, "worst")), " -"));
	screen_type(s, "\x1b");
	screen_await(s, table_selects, "crowd-b");
	/* Of the one that waits the worst member is named. */
	kill(pid[0], SIGCONT);
	screen_type(s, "v");
	screen_await_text(s, scratch_ours("(crowd-b)"));
	screen_settle(s);
	screen_check(
		s, strstr(screen_line(s, screen_word_line(s, "worst")), scratch_ours("(crowd-b)")));
	screen_await_text(s, " 1 stopped");
	/* Filters of figures choose groups, not members of them. */
	screen_type(s, "\x1bi");
	screen_await_text(s, "only tasks that ran");
	screen_type(s, "v");
	screen_await(s, shows_detail, "2 tasks of command crowd-b");
}

/* Where a figure of groups chooses which are shown, the sum's detail is of those as well. */
SCREEN_TEST(sums_what_is_shown)
{
	struct screen *s;

	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	/* Together they wait for more than any of them. */
	for (int i = 0; i < 4; i++)
		crowd_spinner("crowd-b", 0);
	s = table_start(40, 100, "-d 1 -g command -m ^crowd -i -s +group");
	screen_await(s, table_lacks_name, "crowd-a");
	screen_settle(s);
	screen_check(s, (int)figure_of(s, "crowd-b", "N") == 5);
	screen_type(s, "S");
	screen_await_text(s, "sum of 5 tasks");
	screen_settle(s);
	screen_check(s, !strstr(screen_line(s, screen_word_line(s, "cpu")), " -"));
	screen_type(s, "\x1b\r");
	screen_await_text(s, "in command");
	screen_type(s, "S");
	screen_await_text(s, "sum of 4 tasks");
}

/* That row is the first. */
static bool is_first(struct screen *s, const void *name)
{
	struct table t;

	return table_read(s, &t) && table_find_name(s, &t, name) == t.first;
}

/* The group that was behind has run more. */
static bool is_overtaken(struct screen *s, const void *arg)
{
	double b = figure_of(s, "crowd-b", "RUN");

	(void)arg;
	return b >= 0 && figure_of(s, "crowd-a", "RUN") > b;
}

/* The selection stays on its group while that moves; O keeps groups where they are. */
SCREEN_TEST(follows)
{
	pid_t a = crowd_spinner("crowd-a", 0), b = crowd_spinner("crowd-b", 0);
	struct screen *s;

	kill(b, SIGSTOP);
	s = table_start(24, 80, "-d 0.3 -g command -m ^crowd -s run");
	screen_await(s, is_first, "crowd-a");
	table_select(s, "crowd-b");
	kill(a, SIGSTOP);
	kill(b, SIGCONT);
	screen_await(s, is_first, "crowd-b");
	screen_settle(s);
	screen_check(s, table_selects(s, "crowd-b"));
	screen_type(s, "O");
	screen_await_text(s, "row order frozen");
	kill(b, SIGSTOP);
	kill(a, SIGCONT);
	screen_await(s, is_overtaken, NULL);
	screen_settle(s);
	screen_check(s, is_first(s, "crowd-b"));
	screen_type(s, "O");
	screen_await(s, is_first, "crowd-a");
	screen_settle(s);
	screen_check(s, table_selects(s, "crowd-b"));
}

/* A group is no task to be killed; it is found by its name; N and names sort by the name. */
SCREEN_TEST(takes_keys)
{
	struct screen *s;

	start_crowd();
	s = table_start(24, 80, "-d 60 -g command -m ^crowd -s +group");
	screen_type(s, "k");
	screen_await_text(s, "this is a group");
	screen_type(s, "r");
	screen_await_text(s, "this is a group");
	screen_type(s, "L");
	screen_await_text(s, "find");
	screen_type(s, "crowd-c\r");
	screen_await(s, table_selects, "crowd-c");
	/* Groups have no pid: the order is that of names, and the head says so. */
	screen_type(s, "N");
	screen_await(s, is_first, "crowd-c");
	screen_type(s, "N");
	screen_await(s, is_first, "crowd-a");
	/* H leaves the groups, g goes on from there. */
	screen_type(s, "H");
	screen_await_text(s, "one row per thread");
	screen_await(s, table_has_head, "COMMAND");
	screen_type(s, "g");
	screen_await_text(s, "one row per user");
	screen_await(s, table_has_head, "GROUP");
}

/* A group whose tasks end: as the selected row, in its detail, while its members are shown. */
SCREEN_TEST(survives_ends)
{
	struct screen *s;
	pid_t pid;

	start_crowd();
	s = table_start(24, 100, "-d 0.3 -g command -m ^crowd -s +group");
	for (int i = 0; i < 3; i++) {
		pid = crowd_sleeper("crowd-bye");
		screen_await(s, table_has_name, "crowd-bye");
		table_select(s, "crowd-bye");
		if (i == 1)
			screen_type(s, "v");
		if (i == 1)
			screen_await_text(s, "1 task of command");
		if (i == 2)
			screen_type(s, "\r");
		if (i == 2)
			screen_await_text(s, "in command");
		scratch_kill(pid);
		if (i == 1) {
			screen_await_text(s, "0 tasks of command");
			screen_type(s, "\x1b");
		}
		if (i == 2) {
			screen_await_text(s, "no tasks of the group");
			screen_type(s, "\x1b");
		}
		screen_await(s, table_has_head, "GROUP");
		screen_await(s, table_lacks_name, "crowd-bye");
		screen_settle(s);
		screen_check(s, count_rows(s) == 3);
	}
	/* Something is selected, and opens. */
	screen_type(s, "\r");
	screen_await_text(s, "in command");
}

/* The table of groups is whole. */
static bool is_whole(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && table_head(&t, "N") && table_head(&t, "RUN") &&
	       table_head(&t, "TOTAL") && table_head(&t, "CPU") && table_head(&t, "GROUP") &&
	       count_rows(s) >= 3 && table_find_name(s, &t, "crowd-b") >= 0;
}

/* Sizes from large to none at all, in all that groups are shown in. */
SCREEN_TEST(fits_any_size)
{
	static const int sizes[][2] = { { 24, 80 }, { 10, 40 }, { 60, 200 }, { 3, 10 }, { 1, 1 } };
	struct screen *s;

	start_crowd();
	s = table_start(24, 80, "-d 0.2 -g command -m ^crowd -s +group");
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		if (sizes[i][0] >= 10)
			screen_await(s, is_whole, NULL);
		screen_type(s, "v");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_settle(s);
		screen_type(s, "\r");
		screen_settle(s);
		if (sizes[i][0] >= 10)
			screen_check(s, strstr(screen_line(s, 0), " in command"));
		screen_type(s, "\x1b");
		screen_settle(s);
	}
	screen_resize(s, 24, 80);
	screen_await(s, is_whole, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	screen_check_restored(s);
}

/* Names that would act on a terminal, or shift what is beside them, and how they begin. */
static const struct {
	const char *raw, *shown;
} names[] = {
	{ "\x1b[31mE1", "\\x1b[31mE1" },
	{ "\x1b]0;E2\x07", "\\x1b]0;E2\\x07" },
	{ "e3\nE\tE\rE", "e3\\x0aE\\x09E\\x0dE" },
	{ "\xc2\x9b"
	  "31mE4",
	  "\\u{009b}31mE4" },
	{ "e5\xff\xfe\xc3(", "e5\\xff\\xfe\\xc3(" },
	{ "e6\xe2\x80\xae"
	  "cba",
	  "e6\\u{202e}cba" },
	{ "e7\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", "e7" },
	{ "e8   a   b", "e8   a   b" },
	{ "e9%s%n%99999d", "e9%s%n%99999d" },
};

#define NAMES ((int)(sizeof(names) / sizeof(names[0])))

/* Groups are named by tasks: nothing of that reaches the terminal raw. */
SCREEN_TEST(tames_names)
{
	const char *pids = "", *output;
	int all = NAMES;
	struct screen *s;
	size_t len;

	for (int i = 0; i < NAMES; i++)
		pids = scratch_format("%s%s%d", pids, i ? "," : "",
				      (int)crowd_sleeper(names[i].raw));
	s = table_start(40, 100, scratch_format("-d 60 -g command -s +group -p %s", pids));
	screen_await(s, has_rows, &all);
	for (int i = 0; i < NAMES; i++) {
		table_select(s, names[i].shown);
		screen_check(s, (int)figure_of(s, names[i].shown, "N") == 1);
		screen_type(s, "\r");
		screen_await(s, table_has_head, "COMMAND");
		screen_settle(s);
		screen_check(s, strstr(screen_line(s, 0), " in command"));
		if (i < 6)
			screen_check(s, strstr(screen_line(s, 0), names[i].shown));
		screen_check(s, table_has_name(s, names[i].shown));
		screen_type(s, "\x1b");
		screen_await(s, table_has_head, "GROUP");
		screen_type(s, "v");
		screen_await_text(s, "1 task of command");
		screen_settle(s);
		screen_check(s, strstr(screen_line(s, 0), names[i].shown));
		screen_type(s, "\x1b");
		screen_await(s, table_has_head, "GROUP");
	}
	output = screen_output(s, &len);
	for (int i = 0; i < 6; i++)
		if (memmem(output, len, names[i].raw, strlen(names[i].raw)))
			screen_fail(s, names[i].shown, __FILE__, __LINE__);
}

/* The field chooser is there: a list of field ids. */
static bool shows_fields(struct screen *s, const void *field)
{
	struct table t;

	return !table_read(s, &t) && screen_shows(s, "fields: ") && screen_shows(s, field);
}

/* The line with that text is the selected one. */
static bool selects(struct screen *s, const void *text)
{
	int row = screen_find(s, text, 0);
	struct screen_look look = { 0 };

	if (row >= 0)
		look = screen_look(s, row, 8);
	return row >= 0 && (look.reverse || look.bg != -1);
}

/* Switches a field in the chooser and leaves it. */
static void toggle(struct screen *s, const char *field)
{
	const char *text = scratch_format("] %s ", field);
	int row;

	screen_type(s, "f");
	screen_await(s, shows_fields, text);
	screen_key(s, VTERM_KEY_HOME);
	screen_await(s, selects, "] ");
	/* Keys are taken in their order, however late. */
	row = screen_find(s, text, 0);
	for (int from = screen_find(s, "] ", 0); from < row; from++)
		screen_key(s, VTERM_KEY_DOWN);
	screen_await(s, selects, text);
	screen_type(s, " ");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_await_no_text(s, "fields: ");
}

/* The heads are those that are listed, with spaces between. */
static void check_heads(struct screen *s, const char *heads)
{
	const char *shown = "";
	struct table t;

	screen_settle(s);
	table_must(s, &t);
	for (size_t i = 0; i < t.columns; i++)
		shown = scratch_format("%s%s%s", shown, i ? " " : "", t.column[i].text);
	if (strcmp(shown, heads) != 0)
		screen_fail(s, scratch_format("%s, not %s", shown, heads), __FILE__, __LINE__);
}

/* Goes to the grouping with those words. */
static void regroup(struct screen *s, const char *words)
{
	for (int i = 0; i < 5 && !screen_shows(s, words); i++) {
		screen_type(s, "g");
		screen_settle(s);
	}
	screen_await_at(s, screen_has, words, words, __FILE__, __LINE__);
	screen_settle(s);
}

/* Fields are chosen for all that have them; tasks and groups keep what only they have. */
SCREEN_TEST(chooses_fields)
{
	struct screen *s;

	start_crowd();
	s = table_start(100, 100, "-d 60 -g command -m ^crowd");
	check_heads(s, "N RUN TOTAL CPU BLKIO MEM WORST GROUP");
	toggle(s, "nvcsw");
	check_heads(s, "N RUN TOTAL CPU BLKIO MEM WORST NVCSW GROUP");
	toggle(s, "worst");
	toggle(s, "members");
	toggle(s, "mem");
	screen_await_text(s, "   RUN  TOTAL");
	screen_settle(s);
	screen_check(s, screen_shows(s, " NVCSW GROUP"));
	regroup(s, "one row per process");
	check_heads(s, "PID USER S RUN TOTAL CPU BLKIO NVCSW COMMAND");
	toggle(s, "user");
	check_heads(s, "PID S RUN TOTAL CPU BLKIO NVCSW COMMAND");
	regroup(s, "one row for all tasks of a name");
	screen_check(s, screen_shows(s, " NVCSW GROUP"));
	screen_check(s, screen_shows(s, "   RUN  TOTAL"));
	screen_check(s, !screen_shows(s, "COMMAND"));
	screen_check(s, !screen_shows(s, "WORST"));
	screen_check(s, !screen_shows(s, "  S "));
	toggle(s, "cpu");
	regroup(s, "one row per process");
	check_heads(s, "PID S RUN TOTAL BLKIO NVCSW COMMAND");
}

/* W writes the grouping, and the next start has it. */
SCREEN_TEST(is_written)
{
	const char *path, *text;
	struct screen *s;

	start_crowd();
	s = table_start(24, 80, "-d 60 -m ^crowd");
	path = scratch_path("stalltop/config");
	regroup(s, "one row for all tasks of a name");
	toggle(s, "mem");
	screen_type(s, "W");
	screen_await_text(s, "stalltop/config");
	text = scratch_read(path);
	assert_non_null(text);
	assert_non_null(strstr(text, "group-by = command\n"));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = table_start(24, 80, "-d 60 -m ^crowd");
	screen_check(s, (int)figure_of(s, "crowd-b", "N") == 2);
	check_heads(s, "N RUN TOTAL CPU BLKIO WORST GROUP");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = table_start(24, 80, "-d 60 -g process -m ^crowd");
	check_heads(s, "PID USER S RUN TOTAL CPU BLKIO COMMAND");
}

/* Makes tables of a recording, and asks them for a number. */
static int64_t ask_tables(const char *recording, const char *options, const char *query)
{
	static unsigned made;
	const char *path = scratch_format("%s.%u", recording, made++);
	const char *command = scratch_format("\"$STALLTOP\" -b -R %s -o sqlite --output %s %s",
					     recording, path, options);

	assert_int_equal(system(command), 0);
	return ask(path, query);
}

/*
 * A recording that the screen makes has what one of -b has, though nothing is kept to look back at:
 * command lines, and figures of the groups that are shown.
 */
SCREEN_TEST(records_figures)
{
	static const char *const kept[] = { "", "--history 0" };
	struct hierarchy hierarchy = { 0 };
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* In a container groups may have no files, and those of version 1 have no pressure. */
	bool pressed = !hierarchy_open(&hierarchy, procfd, NULL) && hierarchy.fd >= 0 &&
		       hierarchy.version == 2;

	close(procfd);
	hierarchy_close(&hierarchy);
	for (size_t i = 0; i < 2; i++) {
		const char *path = scratch_format("%s/groups-%zu.db", scratch_folder(), i);
		struct screen *s = screen_start(&(struct screen_how){
			.args = scratch_format("-d 0.2 -g cgroup %s -w %s", kept[i], path) });

		screen_await(s, table_has_figures, NULL);
		screen_pump(s, 1);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 10), 0);
		if (pressed)
			assert_true(ask_tables(path, "-g cgroup -F +psi-cpu",
					       "SELECT count(\"psi-cpu\") FROM \"group\"") > 0);
		assert_true(ask_tables(path, "-F +command", "SELECT count(command) FROM task") > 0);
	}
}
