// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that end, and what the machine's time went to. */
#include "tests/lib/crowd.h"
#include "tests/lib/reader.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Skips where there are no exit records. */
static void require_records(void)
{
	if (geteuid())
		scratch_skip("needs root");
	if (reader_listen())
		scratch_skip("no exit records");
	reader_unlisten();
}

/* A child that writes to a file and ends, under a name. */
static void write_and_end(const char *name)
{
	const char *path = scratch_path("written");
	char bytes[4096] = "";
	pid_t pid = fork();
	FILE *file;

	assert_true(pid >= 0);
	if (pid) {
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		return;
	}
	prctl(PR_SET_NAME, scratch_ours(name));
	file = fopen(path, "w");
	for (int i = 0; file && i < 256; i++)
		fwrite(bytes, sizeof(bytes), 1, file);
	_exit(!file || fclose(file));
}

/* The row says how its task ended. */
static bool shows_end(struct screen *s, const void *arg)
{
	(void)arg;
	return screen_shows(s, "crowd-ends (SIGKILL)");
}

/* A task that ended has a row for one interval: dimmed, X, and the way it ended. */
SCREEN_TEST(shows_the_end)
{
	struct screen_look look, alive;
	struct screen *s;
	struct table t;
	pid_t pid;
	int line;

	require_records();
	crowd_sleeper("crowd-stays");
	pid = crowd_sleeper("crowd-ends");
	s = screen_start(&(struct screen_how){ .cols = 100, .args = "-d 1 -m ^crowd -s +pid" });
	screen_await(s, table_has_name, "crowd-ends");
	screen_await(s, table_has_figures, NULL);
	kill(pid, SIGKILL);
	screen_await(s, shows_end, NULL);
	table_must(s, &t);
	line = table_find_pid(s, &t, pid);
	screen_check(s, line >= 0);
	/* as nobody waits for it yet it may be a zombie */
	screen_check(s, strchr("XZ", *table_cell(s, &t, line, "S")) != NULL);
	look = screen_look(s, line, table_head(&t, "S")->start);
	alive = screen_look(s, table_find_name(s, &t, "crowd-stays"),
			    table_head(&t, "COMMAND")->start);
	screen_check(s, line == table_selected(s, &t) || look.fg != alive.fg);
	screen_await_no_text(s, "SIGKILL");
}

/* What a task that ended has written is known by its record, though nothing of it is left in /proc.
 */
SCREEN_TEST(shows_bytes)
{
	const char *cell = "-";
	struct screen *s;
	struct table t;

	require_records();
	crowd_sleeper("crowd-stays");
	s = screen_start(
		&(struct screen_how){ .cols = 120, .args = "-d 60 -m ^crowd -F +read,write" });
	screen_await(s, table_has_name, "crowd-stays");
	screen_await(s, table_has_figures, NULL);
	write_and_end("crowd-writes");
	for (int i = 0; i < 100 && !table_has_name(s, "crowd-writes"); i++) {
		screen_type(s, " ");
		screen_settle(s);
	}
	table_must(s, &t);
	cell = table_cell(s, &t, table_find_name(s, &t, "crowd-writes"), "WRITE");
	screen_check(s, strcmp(cell, "-") != 0);
}

/* The detail that is opened of a row whose task has ended says so, and how. */
SCREEN_TEST(details_the_end)
{
	struct screen *s;
	pid_t pid;

	require_records();
	pid = crowd_sleeper("crowd-ends");
	s = screen_start(
		&(struct screen_how){ .cols = 100, .rows = 50, .args = "-d 60 -m ^crowd" });
	screen_await(s, table_has_name, "crowd-ends");
	screen_await(s, table_has_figures, NULL);
	kill(pid, SIGKILL);
	for (int i = 0; i < 100 && !shows_end(s, NULL); i++) {
		screen_type(s, " ");
		screen_pump(s, 0.2);
	}
	screen_type(s, "\r");
	screen_await_text(s, "ended before");
	screen_settle(s);
	screen_check(s, strstr(screen_line(s, 1), ", SIGKILL: its last figures"));
	screen_check(s, screen_shows(s, "state ended"));
	/* Nothing of it is as it was a moment ago. */
	screen_check(s, !screen_shows(s, "Z zombie") && !screen_shows(s, "S sleeping"));
}

/* A row of several that have ended opens the waits of all that are called so. */
SCREEN_TEST(opens_many)
{
	struct screen *s;

	require_records();
	crowd_sleeper("crowd-stays");
	s = screen_start(&(struct screen_how){ .cols = 100, .args = "-d 60 -m ^crowd" });
	screen_await(s, table_has_name, "crowd-stays");
	screen_await(s, table_has_figures, NULL);
	for (unsigned i = 0; i < 4; i++)
		write_and_end("crowd-many");
	for (int i = 0; i < 100 && !screen_shows(s, "(4 tasks)"); i++) {
		screen_type(s, " ");
		screen_pump(s, 0.2);
	}
	screen_await_text(s, "(4 tasks)");
	table_select(s, "crowd-many");
	screen_type(s, "w");
	screen_await_text(s, "waits of command c");
}

/* e leaves their rows out. */
SCREEN_TEST(hides_the_end)
{
	struct screen *s;
	pid_t pid;

	require_records();
	crowd_sleeper("crowd-stays");
	pid = crowd_sleeper("crowd-ends");
	s = screen_start(&(struct screen_how){ .args = "-d 0.5 -m ^crowd -s +pid" });
	screen_await(s, table_has_name, "crowd-ends");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "e");
	screen_await_text(s, "rows of exited tasks: off");
	kill(pid, SIGKILL);
	for (int i = 0; i < 30; i++) {
		screen_pump(s, 0.05);
		screen_check(s, !screen_shows(s, "SIGKILL"));
	}
}

/* What a line of the account says, in ms. */
static double account_ms(struct screen *s, const char *name)
{
	for (int row = 0; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
			return atof(line + strlen(name));
	}
	return NAN;
}

/* The account has what is recovered, for which it takes two samples. */
static bool shows_account(struct screen *s, const void *arg)
{
	int row = screen_find(s, "CPU time of the machine", 0);

	(void)arg;
	row = row < 0 ? -1 : screen_find(s, "recovered", row);
	return row >= 0 && !strstr(screen_line(s, row), " - ");
}

/* S opens the sum, which says what the machine's time went to; it adds up. */
SCREEN_TEST(accounts_for_all)
{
	static const char *const parts[] = { "recovered", "idle", "iowait", "steal", "rest" };
	struct screen *s;
	double sum;

	require_records();
	s = screen_start(&(struct screen_how){ .rows = 60, .cols = 120, .args = "-d 1" });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "S");
	screen_await(s, shows_account, NULL);
	screen_settle(s);
	/* "run" is a line of the delays, too: the account's is the last of them */
	sum = atof(screen_line(s, screen_find(s, "run ", screen_find(s, "machine ", 0))) + 3);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sum += account_ms(s, parts[i]);
	screen_check(s, account_ms(s, "machine") > 0);
	screen_check(s, fabs(sum - account_ms(s, "machine")) < 1);
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
}
