// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys that ask for something and act: filter, find, interval, signal, renice. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Empties the line that is edited. */
#define CLEAR "\x15"

#define NOBODY 65534

/* Starts with a few sleepers. */
static struct screen *start(const char *args)
{
	struct screen *s;

	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	crowd_sleeper("crowd-c");
	s = screen_start(&(struct screen_how){ .rows = 30, .cols = 120, .args = args });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	return s;
}

/* Only rows of that name are there, and at least one. */
static bool only(struct screen *s, const void *name)
{
	struct table t;

	if (!table_read(s, &t) || t.last < t.first)
		return false;
	name = scratch_ours(name);
	for (int line = t.first; line <= t.last; line++)
		if (strncmp(table_cell(s, &t, line, "COMMAND"), name, strlen(name)))
			return false;
	return true;
}

/* Many rows are there, of other names too. */
static bool unfiltered(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.last - t.first > 10 && !only(s, "crowd");
}

/* / and o filter, a bad expression says so where it was typed, = clears. */
static void check_filter(const char *key)
{
	struct screen *s = start("-d 60");

	screen_await(s, unfiltered, NULL);
	screen_type(s, key);
	screen_settle(s);
	screen_type(s, "^crowd-[ab]$\r");
	screen_await(s, only, "crowd-");
	screen_await(s, table_has_name, "crowd-a");
	screen_await(s, table_has_name, "crowd-b");
	screen_check(s, table_lacks_name(s, "crowd-c"));
	screen_type(s, "=");
	screen_await(s, unfiltered, NULL);
	/* what was typed stays there to be mended */
	screen_type(s, key);
	screen_type(s, "^crowd-(c\r");
	screen_await_text(s, "^crowd-(c");
	screen_settle(s);
	screen_check(s, screen_find(s, "^crowd-(c", 0) == screen_rows(s) - 1);
	screen_check(s, strstr(screen_line(s, screen_rows(s) - 1), "arenthes") ||
				strstr(screen_line(s, screen_rows(s) - 1), "nmatched") ||
				strstr(screen_line(s, screen_rows(s) - 1), "Invalid"));
	screen_check(s, unfiltered(s, NULL));
	screen_type(s, ")\r");
	screen_await(s, only, "crowd-c");
	/* it stands in the title, and Esc clears it */
	screen_check(s, strstr(screen_line(s, 0), scratch_ours("filter ^crowd-(c)")));
	screen_type(s, key);
	screen_type(s, "zzz");
	screen_await_text(s, "zzz");
	screen_type(s, "\x1b");
	screen_await(s, unfiltered, NULL);
	screen_check(s, !strstr(screen_line(s, 0), "filter"));
}

/* By slash. */
SCREEN_TEST(filters)
{
	check_filter("/");
}

/* By o, as top has it. */
SCREEN_TEST(filters_by_o)
{
	check_filter("o");
}

/* The prompt is a line editor of the usual kind. */
SCREEN_TEST(edits_text)
{
	struct screen *s = start("-d 60");

	screen_type(s, "/");
	screen_type(s, "^crowd-x");
	screen_await_text(s, "^crowd-x");
	screen_check(s, screen_cursor_visible(s));
	screen_type(s, "\x7f");
	screen_await_no_text(s, "^crowd-x");
	screen_type(s, "b");
	screen_await_text(s, "^crowd-b");
	screen_key(s, VTERM_KEY_LEFT);
	screen_key(s, VTERM_KEY_BACKSPACE);
	/* The row of that name may be on the screen, too. */
	screen_await_text(s, "^crowdb");
	screen_type(s, "-\r");
	screen_await(s, only, "crowd-b");
	screen_check(s, !screen_cursor_visible(s));
}

/* No rows are left. */
static bool no_rows(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.last < t.first;
}

/* u filters by user; one that is not known is named. */
SCREEN_TEST(filters_by_user)
{
	struct screen *s = start("-d 60 -m ^crowd");

	if (geteuid())
		scratch_skip("needs root");
	screen_type(s, "unobody\r");
	screen_await(s, no_rows, NULL);
	screen_type(s, "u");
	screen_settle(s);
	screen_type(s, CLEAR "no-such-user\r");
	screen_await_text(s, "no-such-user");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_await_no_text(s, "no-such-user");
	screen_type(s, "u");
	screen_settle(s);
	screen_type(s, CLEAR "root\r");
	screen_await(s, table_has_name, "crowd-a");
	screen_type(s, "=");
	screen_await(s, unfiltered, NULL);
}

/* L finds, & goes on to the next, around the end too. */
SCREEN_TEST(finds)
{
	struct screen *s = start("-d 60 -m ^crowd -s +pid");

	screen_type(s, "L");
	screen_settle(s);
	screen_type(s, "crowd-[bc]\r");
	screen_await(s, table_selects, "crowd-b");
	screen_type(s, "&");
	screen_await(s, table_selects, "crowd-c");
	screen_type(s, "&");
	screen_await(s, table_selects, "crowd-b");
	screen_type(s, "L");
	screen_settle(s);
	screen_type(s, CLEAR "a[\r");
	screen_await_text(s, "a[");
	screen_settle(s);
	screen_check(s, screen_find(s, "a[", 0) == screen_rows(s) - 1);
	screen_type(s, "\x1b");
	screen_await_no_text(s, "a[");
	screen_type(s, "L");
	screen_settle(s);
	screen_type(s, CLEAR "no-such-name\r");
	screen_settle(s);
	/* it is said that there is none */
	screen_check(s, screen_shows(s, "no-such-name"));
	screen_check(s, table_selects(s, "crowd-b"));
}

/* The interval was taken over: the title tells it. */
static void check_interval(const char *key)
{
	struct screen *s = start("-d 60");

	screen_type(s, key);
	screen_settle(s);
	screen_type(s, CLEAR "0.5\r");
	screen_await_text(s, "0.50 s");
	screen_type(s, key);
	screen_settle(s);
	screen_type(s, CLEAR "never\r");
	screen_settle(s);
	/* it is said where it was typed, with what is allowed */
	screen_check(s, strstr(screen_line(s, screen_rows(s) - 1), "never"));
	screen_check(s, strstr(screen_line(s, screen_rows(s) - 1), "0.05"));
	screen_type(s, CLEAR "0.2\r");
	screen_await_text(s, "0.20 s");
	screen_type(s, key);
	screen_settle(s);
	screen_type(s, CLEAR "0.01\r");
	screen_settle(s);
	screen_type(s, "\x1b");
	screen_await_text(s, "0.20 s");
}

/* d and s ask for the interval. */
SCREEN_TEST(asks_interval)
{
	check_interval("d");
	check_interval("s");
}

/* Whether the child lives; the way it ended otherwise. */
static bool lives(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == 0;
}

/* Asks as `key` does, and answers until it is confirmed. */
static void ask(struct screen *s, const char *key, const char *answer, const char *confirmed)
{
	screen_type(s, key);
	screen_settle(s);
	screen_type(s, answer);
	screen_type(s, "\r");
	screen_settle(s);
	screen_type(s, confirmed);
	screen_settle(s);
}

/* k sends a signal to the selected task, when it is confirmed. */
SCREEN_TEST(sends_signals)
{
	struct screen *s = start("-d 60 -m ^crowd -s +pid");
	pid_t pid = crowd_sleeper("crowd-victim");
	int status = 0;

	screen_type(s, " ");
	screen_await(s, table_has_name, "crowd-victim");
	table_select(s, "crowd-victim");
	screen_type(s, "k");
	screen_await_text(s, scratch_format("%d", (int)pid));
	screen_settle(s);
	screen_check(s, strstr(screen_line(s, screen_rows(s) - 1), "crowd-victim") ||
				strstr(screen_line(s, screen_rows(s) - 1),
				       scratch_format("%d", (int)pid)));
	screen_type(s, "\x1b");
	screen_settle(s);
	screen_check(s, lives(pid, &status));
	ask(s, "k", "", "n");
	screen_check(s, lives(pid, &status));
	ask(s, "k", CLEAR "99999", "y");
	screen_check(s, lives(pid, &status));
	screen_type(s, "\x1b");
	screen_settle(s);
	ask(s, "k", "", "y");
	for (int i = 0; i < 50 && lives(pid, &status); i++)
		screen_pump(s, 0.05);
	screen_check(s, WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	scratch_kill(pid);
	/* what came of it */
	screen_check(s, screen_shows(s, scratch_format("%d", (int)pid)));
}

/* By number and by name. */
SCREEN_TEST(sends_named_signals)
{
	struct screen *s = start("-d 60 -m ^crowd -s +pid");
	static const char *const given[] = { "9", "KILL", "SIGUSR1" };
	static const int sent[] = { SIGKILL, SIGKILL, SIGUSR1 };

	for (size_t i = 0; i < 3; i++) {
		const char *name = scratch_format("crowd-%s", given[i]);
		pid_t pid = crowd_sleeper(name);
		int status = 0;

		screen_type(s, " ");
		screen_await(s, table_has_name, name);
		table_select(s, name);
		ask(s, "k", scratch_format(CLEAR "%s", given[i]), "y");
		for (int n = 0; n < 50 && lives(pid, &status); n++)
			screen_pump(s, 0.05);
		screen_check(s, WIFSIGNALED(status) && WTERMSIG(status) == sent[i]);
		scratch_kill(pid);
	}
}

/* The last line says so. */
static bool tells(struct screen *s, const void *words)
{
	return strstr(screen_line(s, screen_rows(s) - 1), words);
}

/* The last line says that there is no such task any more. */
static bool tells_gone(struct screen *s)
{
	return tells(s, "has exited");
}

/* What cannot be signalled is told: it is gone, or belongs to another. */
SCREEN_TEST(tells_failed_signals)
{
	struct screen *s = start("-d 60 -m ^crowd -s +pid");
	pid_t pid = crowd_sleeper("crowd-gone");
	const char *last;

	if (geteuid())
		scratch_skip("needs root");
	screen_type(s, " ");
	screen_await(s, table_has_name, "crowd-gone");
	table_select(s, "crowd-gone");
	/* it goes while it is asked about */
	screen_type(s, "k");
	screen_settle(s);
	screen_type(s, "\r");
	screen_settle(s);
	scratch_kill(pid);
	screen_type(s, "y");
	screen_settle(s);
	screen_check(s, tells_gone(s));
	/* and is gone already */
	screen_type(s, "k");
	screen_settle(s);
	screen_check(s, tells_gone(s));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = screen_start(&(struct screen_how){
		.rows = 30, .cols = 120, .uid = NOBODY, .args = "-d 60 -m ^crowd-a$" });
	screen_await(s, table_has_figures, NULL);
	screen_await(s, table_selects, "crowd-a");
	ask(s, "k", "", "y");
	last = screen_line(s, screen_rows(s) - 1);
	screen_check(s, strstr(last, "ermi") || strstr(last, "allowed"));
	screen_type(s, " ");
	screen_settle(s);
	screen_check(s, table_has_name(s, "crowd-a"));
}

/* The detail of that task is there, and no table. */
static bool shows_detail_of(struct screen *s, const void *name)
{
	struct table t;

	return !table_read(s, &t) && strstr(screen_line(s, 0), name);
}

/* Opens the detail of the task of that name. */
static void open_detail(struct screen *s, const char *name)
{
	screen_await(s, table_has_name, name);
	table_select(s, name);
	screen_type(s, "v");
	screen_await(s, shows_detail_of, scratch_ours(name));
}

/* The detail says that its task has ended. */
static bool tells_end(struct screen *s, const void *arg)
{
	(void)arg;
	return strstr(screen_line(s, 1), "ended");
}

/* In the detail of a task that ended nobody else is acted on, whoever is in its place now. */
SCREEN_TEST(spares_who_takes_the_place)
{
	struct screen *s = start("-d 0.2 -m ^crowd -s +pid");
	pid_t pid = crowd_sleeper("crowd-victim"), reaper = crowd_sleeper("crowd-reaper");
	int status;

	open_detail(s, "crowd-victim");
	scratch_kill(pid);
	screen_await(s, tells_end, NULL);
	screen_pump(s, 0.5);
	for (size_t i = 0; i < 2; i++) {
		screen_type(s, i ? "r" : "k");
		screen_await(s, tells, "has exited");
		screen_check(s, strstr(screen_line(s, screen_rows(s) - 1),
				       scratch_format("%d", (int)pid)));
		screen_type(s, i ? "5\ry" : "\ry");
		screen_pump(s, 0.3);
	}
	screen_check(s, lives(reaper, &status));
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)reaper), getpriority(PRIO_PROCESS, 0));
}

/* In the detail of a task that a filter hides in the table, it is that task that is acted on. */
SCREEN_TEST(acts_on_whom_a_filter_hides)
{
	pid_t pid = crowd_spinner("crowd-victim", 0), other = crowd_spinner("crowd-other", 1);
	struct screen *s = start("-d 0.2 -i -m ^crowd -s +pid");
	int status = 0;

	open_detail(s, "crowd-victim");
	/* idle from now on */
	kill(pid, SIGSTOP);
	screen_pump(s, 1);
	screen_type(s, "k");
	screen_await(s, tells, scratch_format("%d (%s)", (int)pid, scratch_ours("crowd-victim")));
	screen_type(s, CLEAR "KILL\r");
	screen_await(s, tells, scratch_format("%d (%s)", (int)pid, scratch_ours("crowd-victim")));
	screen_type(s, "y");
	for (int i = 0; i < 50 && lives(pid, &status); i++)
		screen_pump(s, 0.05);
	screen_check(s, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	screen_check(s, lives(other, &status));
	scratch_kill(pid);
}

/* Details of several tasks name none: nothing is asked, and a word says why, which goes by itself.
 */
SCREEN_TEST(refuses_for_several)
{
	static const char *const keys[] = { "k", "r" };
	struct screen *s = start("-d 60 -m ^crowd");

	/* A screen for each: what is said of one goes after some seconds. */
	for (size_t i = 0; i < 2; i++) {
		screen_type(s, "S");
		screen_await_text(s, "sum of");
		screen_type(s, keys[i]);
		screen_await(s, tells, "a sum cannot be signalled");
		screen_type(s, "\x1b");
		screen_await(s, table_has_name, "crowd-a");
		screen_type(s, "ggg");
		screen_await_text(s, "GROUP");
		screen_type(s, "v");
		screen_await_no_text(s, "GROUP");
		screen_type(s, keys[i]);
		screen_await(s, tells, "a group cannot be signalled");
		if (i) {
			screen_type(s, " ");
			screen_await_no_text(s, "a group cannot be signalled");
			break;
		}
		screen_type(s, "qq");
		assert_int_equal(screen_end(s, 5), 0);
		s = screen_start(
			&(struct screen_how){ .rows = 30, .cols = 120, .args = "-d 60 -m ^crowd" });
		screen_await(s, table_has_figures, NULL);
	}
}

/* r changes the niceness of the selected task. */
SCREEN_TEST(renices)
{
	struct screen *s = start("-d 60 -m ^crowd -s +pid");
	pid_t pid = crowd_sleeper("crowd-nice");
	/* As we were started, perhaps nice. */
	int before = getpriority(PRIO_PROCESS, (id_t)pid);

	screen_type(s, " ");
	screen_await(s, table_has_name, "crowd-nice");
	table_select(s, "crowd-nice");
	ask(s, "r", CLEAR "12", "n");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), before);
	ask(s, "r", CLEAR "nice", "y");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), before);
	screen_type(s, "\x1b");
	screen_settle(s);
	ask(s, "r", CLEAR "12", "y");
	for (int i = 0; i < 50 && getpriority(PRIO_PROCESS, (id_t)pid) != 12; i++)
		screen_pump(s, 0.05);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 12);
	screen_check(s, screen_shows(s, scratch_format("%d", (int)pid)));
	screen_check(s, table_selects(s, "crowd-nice"));
}
