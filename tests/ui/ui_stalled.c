/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terminals that take nothing, and keyboards that give half or too much: nothing waits for them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#define CTRL_S "\x13"
#define CTRL_Z "\x1a"

/* On the way out of everything here, signals included. */
#define END_S 2

/* The program, when it has begun to show something. */
static struct screen *start(const char *args)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = args });

	screen_await(s, table_has_rows, NULL);
	screen_settle(s);
	return s;
}

/* It has ended, and left the terminal as it was. */
static void check_end(struct screen *s)
{
	assert_int_equal(screen_end(s, END_S), 0);
	screen_check_restored(s);
}

/* Half of something the keyboard sends is no reason to wait, nor to miss the next key. */
SCREEN_TEST(half_a_key)
{
	static const char *const halves[] = { "\x1b[<",	  "\x1b[<0;5", "\x1b[<0;5;", "\x1b[M",
					      "\x1b[M !", "\x1b[1;",   "\x1bO",	     "\xf0\x9f" };

	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		struct screen *s = start("-d 60");

		screen_type(s, halves[i]);
		screen_pump(s, 0.7);
		if (i % 2)
			kill(screen_pid(s), SIGTERM);
		else
			screen_type(s, "q");
		check_end(s);
	}
}

/* The keys go on behind it, and a report that comes in two parts is one. */
SCREEN_TEST(half_a_click)
{
	struct screen *s = start("-d 60");
	struct table t;
	const char *click;

	screen_await(s, table_has_figures, NULL);
	table_must(s, &t);
	click = scratch_format("\x1b[<0;%d;%dM", table_head(&t, "PID")->end + 1, t.head + 1);
	screen_type(s, scratch_format("%.6s", click));
	screen_pump(s, 0.1);
	screen_type(s, click + 6);
	screen_await(s, table_descends, "PID");
	screen_type(s, "\x1b[<0;");
	screen_type(s, "h");
	screen_await_text(s, "stalltop: help");
	screen_type(s, "q");
	screen_type(s, "q");
	check_end(s);
}

/* How often the program has taken a sample, as its log says. */
static int count_samples(const char *log)
{
	const char *text = scratch_read(log);
	int n = 0;

	for (; text && (text = strstr(text, " tick ")); text++)
		n++;
	return n;
}

/* The user has stopped the terminal: samples go on, and so do keys and signals. */
SCREEN_TEST(stopped_terminal)
{
	/* a prompt shows the cursor, and a key behind a new size has ncurses draw by itself */
	static const char *const keys[] = { "", "/", "", "h", "/abc" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *log = scratch_format("%s/log%zu", scratch_folder(), i);
		struct screen *s = start(scratch_format("-d 0.1 --debug-log %s", log));
		double until = screen_now() + SCREEN_PATIENCE;
		int samples;

		screen_type(s, CTRL_S);
		screen_pump(s, 0.2);
		screen_type(s, keys[i]);
		screen_pump(s, 0.1);
		screen_resize(s, 40, 132);
		screen_type(s, i % 2 ? "" : "\x0c");
		samples = count_samples(log);
		while (count_samples(log) < samples + 3 && screen_now() < until)
			screen_pump(s, 0.05);
		screen_check(s, count_samples(log) >= samples + 3);
		if (i < 2)
			screen_type(s, i ? "\x1bq" : "q");
		kill(screen_pid(s), i < 2 ? 0 : SIGTERM);
		check_end(s);
	}
}

/* What was not shown meanwhile is, when the terminal goes on. */
SCREEN_TEST(goes_on)
{
	struct screen *s = start("-d 60");

	screen_type(s, CTRL_S);
	screen_pump(s, 0.1);
	screen_type(s, "h");
	screen_pump(s, 0.3);
	screen_check(s, !screen_shows(s, "stalltop: help"));
	screen_type(s, "\x11");
	screen_await_text(s, "stalltop: help");
	screen_type(s, "q");
	screen_type(s, "q");
	check_end(s);
}

/* After so many samples it ends, though the last cannot be drawn. */
SCREEN_TEST(last_sample_undrawn)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 0.5 -n 3" });

	screen_await(s, table_has_rows, NULL);
	screen_type(s, CTRL_S);
	check_end(s);
}

/* It starts on a terminal that is stopped, and ends there. */
SCREEN_TEST(starts_stopped)
{
	const char *sh =
		scratch_file(scratch_path("run"), "read go; exec \"$STALLTOP_PATH\" -d 60\n");
	const char *program = getenv("STALLTOP") ? getenv("STALLTOP") : "./stalltop";
	const char *env[] = { scratch_format("STALLTOP_PATH=%s", program), NULL };
	struct screen *s =
		screen_start(&(struct screen_how){ .program = "/bin/sh", .args = sh, .env = env });

	screen_type(s, "\n" CTRL_S);
	screen_pump(s, 0.5);
	kill(screen_pid(s), SIGTERM);
	check_end(s);
}

/* Somebody pastes without an end: a signal is answered, and so is the end of it. */
SCREEN_TEST(endless_paste)
{
	static const char *const pasted[] = { "9", "/", "\x1b[<0;1;1M", "\x1b[A", "\x0c", "hq" };

	for (size_t i = 0; i < sizeof(pasted) / sizeof(pasted[0]); i++) {
		struct screen *s = start("-d 0.5");
		char bytes[4096];
		size_t len = strlen(pasted[i]), at = 0, given = 0;
		double killed = 0, end = screen_now() + SCREEN_PATIENCE * screen_slowness();

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = pasted[i][j % len];
		while (screen_now() < end) {
			size_t n = screen_offer(s, bytes + at, sizeof(bytes) - len - at);

			given += n;
			at = (at + n) % len;
			if (screen_wait_until(s, 0.001, screen_has_ended, NULL))
				break;
			if (!killed && given > 30000) {
				kill(screen_pid(s), SIGTERM);
				killed = screen_now();
				end = killed + SCREEN_PATIENCE * screen_slowness();
			}
		}
		/* while there is still more */
		screen_check(s, killed > 0 && screen_has_ended(s, NULL));
		check_end(s);
	}
}

/* Stopped, and told to end: it does, though the terminal is its shell's. */
SCREEN_TEST(ends_while_stopped)
{
	struct screen *s = start("-d 60");

	screen_type(s, CTRL_Z);
	screen_await_stop(s);
	screen_check_restored(s);
	kill(screen_pid(s), SIGTERM);
	kill(screen_pid(s), SIGCONT);
	check_end(s);
}

/* The same where it was stopped as nothing can prevent. */
SCREEN_TEST(ends_while_frozen)
{
	struct screen *s = start("-d 60");

	kill(screen_pid(s), SIGSTOP);
	screen_await_stop(s);
	kill(screen_pid(s), SIGTERM);
	kill(screen_pid(s), SIGCONT);
	assert_int_equal(screen_end(s, END_S), 0);
	screen_check(s, !screen_in_alt(s));
}

/* Started in the background it stops; told to end it does. */
SCREEN_TEST(ends_in_background)
{
	const char *program = getenv("STALLTOP");
	const char *script = scratch_format(
		"set -m\n"
		"%s -d 60 &\n"
		"until grep -q '^State:.T' /proc/$!/status; do sleep 0.1; done\n"
		"echo it has stopped\n"
		"kill $!; kill -CONT $!\n"
		"while kill -0 $! 2>/dev/null && ! grep -q '^State:.Z' /proc/$!/status; do\n"
		"sleep 0.1; done\n"
		"echo it has ended\n"
		"read line\n",
		program ? program : "./stalltop");
	struct screen *s;

	s = screen_start(&(struct screen_how){ .program = "/bin/sh",
					       .args = scratch_file("background.sh", script) });
	screen_await_text(s, "it has stopped");
	screen_await_text(s, "it has ended");
}
