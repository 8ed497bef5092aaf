// SPDX-License-Identifier: GPL-2.0-or-later
/* The ways out: the terminal is as it was, the exit status is right. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Starts and waits until rows are there. */
static struct screen *start(const char *args)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = args });

	screen_await(s, table_has_rows, NULL);
	screen_check(s, screen_in_alt(s));
	screen_check(s, !screen_cursor_visible(s));
	return s;
}

/* It ends by itself with that status and leaves the terminal as it was, and empty. */
static void check_end(struct screen *s, int status)
{
	assert_int_equal(screen_end(s, 3), status);
	screen_check_restored(s);
	for (int row = 0; row < screen_rows(s) - 1; row++)
		screen_check(s, !*screen_line(s, row));
}

/* The keys that quit. */
SCREEN_TEST(ends_by_key)
{
	struct screen *s = start("-d 60");

	screen_type(s, "q");
	check_end(s, 0);
	s = start("-d 60");
	screen_key(s, VTERM_KEY_FUNCTION(10));
	check_end(s, 0);
	/* typed before anything could be shown */
	s = screen_start(&(struct screen_how){ .args = "-d 60" });
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 3), 0);
	screen_check_restored(s);
}

/* While samples are taken all the time. */
SCREEN_TEST(ends_while_busy)
{
	struct screen *s = start("-d 0.05");

	screen_pump(s, 0.7);
	screen_type(s, "q");
	check_end(s, 0);
}

/* A signal is no failure. */
static void check_signal(int number, const char *keys)
{
	struct screen *s = start("-d 60");

	screen_type(s, keys);
	screen_settle(s);
	kill(screen_pid(s), number);
	check_end(s, 0);
}

/* In the table, with a prompt open, and in help. */
SCREEN_TEST(ends_by_signal)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		check_signal(numbers[i], "");
		check_signal(numbers[i], "/abc");
		check_signal(numbers[i], "h");
	}
}

/* A fault, and what else ends a program at once: the terminal is given back, and it says by what.
 */
SCREEN_TEST(ends_by_fault)
{
	const int numbers[] = { SIGSEGV, SIGABRT, SIGBUS,  SIGALRM,
				SIGUSR1, SIGXCPU, SIGUSR2, SIGRTMIN + 3 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct screen *s = screen_start(&(struct screen_how){
			.args = i % 2 ? "-d 60" : "-d 0.05", .term = i < 3 ? NULL : "vt100" });
		int status;

		screen_await(s, table_has_rows, NULL);
		screen_type(s, i % 3 ? "" : "/abc");
		screen_pump(s, 0.2);
		kill(screen_pid(s), numbers[i]);
		status = screen_end(s, 10);
		/* a sanitizer ends it its own way */
		if (screen_slowness() > 1)
			assert_int_not_equal(status, 0);
		else
			assert_int_equal(status, 128 + numbers[i]);
		screen_check_restored(s);
	}
}

/* Ctrl-C as it is typed. */
SCREEN_TEST(ends_by_interrupt)
{
	struct screen *s = start("-d 60");

	screen_type(s, "\x03");
	check_end(s, 0);
	s = start("-d 60");
	screen_type(s, "/abc");
	screen_await_text(s, "abc");
	screen_type(s, "\x03");
	check_end(s, 0);
}

/* Stopped: the terminal is as it was; back again: the screen is, too. */
static void check_stop_and_back(struct screen *s, bool typed)
{
	const char *heads;
	struct table t;

	table_must(s, &t);
	heads = screen_line(s, t.head);
	if (typed)
		screen_type(s, "\x1a");
	else
		kill(screen_pid(s), SIGTSTP);
	screen_await_stop(s);
	screen_check_restored(s);
	screen_check(s, !screen_shows(s, "COMMAND"));
	screen_foreground(s);
	screen_await(s, table_has_rows, NULL);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, screen_in_alt(s));
	screen_check(s, !screen_cursor_visible(s));
	screen_check(s, !strcmp(screen_line(s, t.head), heads));
}

/* Ctrl-Z and fg, again and again; keys work behind it. */
SCREEN_TEST(stops_and_comes_back)
{
	struct screen *s = start("-d 60");

	screen_await(s, table_has_figures, NULL);
	check_stop_and_back(s, true);
	check_stop_and_back(s, false);
	check_stop_and_back(s, true);
	screen_type(s, "N");
	screen_await(s, table_descends, "PID");
	screen_type(s, "q");
	check_end(s, 0);
}

/* It comes back to a terminal of another size. */
SCREEN_TEST(comes_back_resized)
{
	struct screen *s = start("-d 60");

	screen_await(s, table_has_figures, NULL);
	screen_type(s, "\x1a");
	screen_await_stop(s);
	screen_resize(s, 40, 120);
	screen_foreground(s);
	screen_await_text(s, " min ");
	screen_type(s, "q");
	check_end(s, 0);
}

/* The terminal is gone: nothing to put back, but it must end. */
SCREEN_TEST(ends_without_terminal)
{
	static const char *const args[] = { "-d 60", "-d 0.05" };

	for (size_t i = 0; i < 2; i++) {
		struct screen *s = start(args[i]);

		screen_hang_up(s);
		assert_in_range(screen_end(s, 3), 0, 1);
	}
}

/* Nobody reads what is written to the terminal: signals are answered all the same. */
SCREEN_TEST(ends_when_stalled)
{
	/* it may be caught anywhere: with a little room left, or in the middle of a screen */
	for (int round = 0; round < 8; round++) {
		struct screen *s = screen_start(
			&(struct screen_how){ .rows = 100, .cols = 400, .args = "-d 0.05" });

		screen_await(s, table_has_rows, NULL);
		for (int i = 0; i < 30 + round * 17; i++) {
			screen_type(s, "\x0c");
			usleep(3000);
		}
		kill(screen_pid(s), SIGTERM);
		screen_check(s, screen_ends_unread(s, 3));
		assert_int_equal(screen_end(s, 1), 0);
	}
}

/* The keyboard is a terminal of its own that goes away: the end of input. */
SCREEN_TEST(ends_with_input)
{
	struct screen *s;
	int master, slave;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	fcntl(master, F_SETFD, FD_CLOEXEC);
	s = screen_start(&(struct screen_how){ .args = "-d 60", .in = slave });
	close(slave);
	screen_await(s, table_has_rows, NULL);
	close(master);
	check_end(s, 0);
}

/* After so many samples it ends by itself. */
SCREEN_TEST(ends_after_samples)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-n 3 -d 0.3" });
	double begun = screen_now();

	check_end(s, 0);
	assert_true(screen_now() - begun >= 0.55);
}

/* Without a terminal it says so. */
SCREEN_TEST(wants_terminal)
{
	const char *program = getenv("STALLTOP") ? getenv("STALLTOP") : "./stalltop";
	const char *env[] = { scratch_format("STALLTOP_PATH=%s", program), NULL };
	struct screen *s;
	const char *sh;

	sh = scratch_file(scratch_path("run"),
			  "\"$STALLTOP_PATH\" </dev/null >\"$1\" 2>\"$2\"; echo status $?\n");
	s = screen_start(&(struct screen_how){
		.program = "/bin/sh",
		.args = scratch_format("%s %s/out %s/err", sh, scratch_folder(), scratch_folder()),
		.env = env });
	screen_await_text(s, "status 2");
	assert_string_equal(scratch_read(scratch_path("out")), "");
	assert_non_null(strstr(scratch_read(scratch_path("err")), "terminal"));
}

/* A terminal on which a screen cannot be drawn: that is said, and it stays as it was. */
SCREEN_TEST(wants_screen)
{
	struct screen *s = screen_start(&(struct screen_how){ .term = "dumb", .cols = 120 });
	const char *output;
	size_t len;

	assert_int_equal(screen_end(s, 3), 1);
	screen_check_restored(s);
	screen_check(s, screen_shows(s, "terminal type 'dumb' cannot show a screen: "));
	/* that line, and nothing else */
	output = screen_output(s, &len);
	assert_null(memchr(output, '\033', len));
}

/* A terminal that nobody knows: it is said, and the terminal stays as it was. */
SCREEN_TEST(wants_known_terminal)
{
	struct screen *s = screen_start(&(struct screen_how){ .term = "no-such-terminal" });
	int status = screen_end(s, 3);

	assert_in_range(status, 1, 2);
	screen_check_restored(s);
	screen_check(s, screen_shows(s, "TERM") || screen_shows(s, "no-such-terminal"));
}
