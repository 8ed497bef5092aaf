// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Under the fingers: how soon rows are there, a key is answered, and what a refresh writes; and
 * with very many tasks, which would disturb all that runs beside.
 */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FIRST_ROWS 0.450 /* s; 0.27 to 0.36 were seen, 0.15 of them for what measures waits */
#define FIRST_ROWS_OF_MANY 1.500 /* the same among 10,000 tasks; 0.35 to 0.65 were seen */
#define ANSWER 0.100 /* s */
#define IDLE_BYTES 2048
#define MANY 10000
#define MAX_FIGURES 64

/* Who has all the tasks that there are many of; 0: there are none. */
static pid_t crowd;

/* Figures of one kind. */
struct figures {
	double value[MAX_FIGURES];
	size_t n;
};

/* Orders figures. */
static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Adds a figure. */
static void add(struct figures *f, double value)
{
	assert_true(f->n < MAX_FIGURES);
	f->value[f->n++] = value;
}

/* Prints median and extremes as a diagnostic; the median. */
static double tell(struct figures *f, const char *what, const char *unit, double factor)
{
	qsort(f->value, f->n, sizeof(*f->value), compare);
	printf("# %s: median %.1f %s (%.1f to %.1f, %zu times)\n", what,
	       f->value[f->n / 2] * factor, unit, f->value[0] * factor, f->value[f->n - 1] * factor,
	       f->n);
	fflush(stdout);
	return f->value[f->n / 2];
}

/* Starts again and again: the median time until rows are there. */
static double time_first_rows(const char *what)
{
	struct figures times = { .n = 0 };

	for (int i = 0; i < 7; i++) {
		struct screen *s = screen_start(
			&(struct screen_how){ .rows = 40, .cols = 120, .args = "-d 60" });

		screen_await(s, table_has_rows, NULL);
		add(&times, screen_now() - screen_started(s));
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
	return tell(&times, what, "ms", 1000);
}

/* On a machine with as many tasks as there happen to be. */
SCREEN_TEST(shows_rows_soon)
{
	assert_true(time_first_rows("first rows") < FIRST_ROWS * screen_slowness());
}

/* The second reading follows soon after the first, however long the interval is. */
SCREEN_TEST(shows_figures_soon)
{
	struct figures times = { .n = 0 };

	for (int i = 0; i < 5; i++) {
		struct screen *s = screen_start(&(struct screen_how){ .args = "-d 60" });
		double rows;

		screen_await(s, table_has_rows, NULL);
		rows = screen_now();
		screen_await(s, table_has_figures, NULL);
		add(&times, screen_now() - rows);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
	assert_true(tell(&times, "first figures behind the first rows", "ms", 1000) <
		    0.5 + 0.1 * screen_slowness());
}

/* Reads what two programs write, for so long. */
static void pump_both(struct screen *const *screens, double seconds)
{
	double until = screen_now() + seconds;

	while (screen_now() < until) {
		screen_pump(screens[0], 0.05);
		screen_pump(screens[1], 0.05);
	}
}

/* Notes what refreshes of each write, an interval of a second after the other. */
static void watch_refreshes(struct screen *const *screens, struct figures *bytes)
{
	size_t before[2], after[2];

	pump_both(screens, 2.5);
	for (int i = 0; i < 11; i++) {
		for (int k = 0; k < 2; k++)
			screen_output(screens[k], &before[k]);
		pump_both(screens, 1);
		for (int k = 0; k < 2; k++) {
			screen_output(screens[k], &after[k]);
			add(&bytes[k], (double)(after[k] - before[k]));
		}
	}
	for (int k = 0; k < 2; k++)
		screen_check(screens[k], after[k] > before[k]);
}

/* The share of the CPUs' time that the screen says was idle. */
static double idle_share(struct screen *s)
{
	const char *line = screen_line(s, 1), *at = strstr(line, " system ");

	return at ? strtod(at + strlen(" system "), NULL) : 0;
}

/* A refresh when little happens: in the rows at least, or on the whole machine if it is so. */
SCREEN_TEST(writes_little)
{
	static const char *const args[] = { "-d 1 -m ^crowd", "-d 1" };
	struct figures bytes[2] = { 0 };
	struct screen *screens[2];

	if (!crowd_sleepers("crowd-idle", 200))
		fail_msg("cannot start 200 processes");
	for (int k = 0; k < 2; k++) {
		screens[k] = screen_start(
			&(struct screen_how){ .rows = 40, .cols = 120, .args = args[k] });
		screen_await(screens[k], table_has_figures, NULL);
	}
	watch_refreshes(screens, bytes);
	screen_check(screens[0],
		     tell(&bytes[0], "a refresh of idle rows", "bytes", 1) < IDLE_BYTES);
	printf("# the machine is %.1f %% idle\n", idle_share(screens[1]));
	screen_check(screens[1],
		     tell(&bytes[1], "a refresh of the whole machine", "bytes", 1) < IDLE_BYTES ||
			     idle_share(screens[1]) < 95);
}

/* While it is paused nothing is written but the answers to keys. */
SCREEN_TEST(writes_nothing_when_paused)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 0.1" });
	size_t before, after;

	screen_await(s, table_has_figures, NULL);
	screen_type(s, "p");
	screen_pump(s, 1);
	screen_output(s, &before);
	screen_pump(s, 1);
	screen_output(s, &after);
	printf("# paused: %zu bytes in 1 s\n", after - before);
	screen_check(s, after - before < 100);
}

/* No more memory can be had: that is fatal, but the terminal is given back. */
SCREEN_TEST(ends_without_memory)
{
	const struct rlimit none = { 4096, 4096 };
	struct screen *s;

	if (screen_slowness() > 1)
		scratch_skip("sanitizers need address space of their own");
	s = screen_start(&(struct screen_how){ .args = "-d 60" });
	screen_await(s, table_has_rows, NULL);
	assert_int_equal(prlimit(screen_pid(s), RLIMIT_AS, &none, NULL), 0);
	assert_int_not_equal(crowd_sleepers("crowd-many", 3000), 0);
	screen_type(s, " ");
	assert_int_equal(screen_end(s, 5), 1);
	screen_check_restored(s);
	screen_check(s, screen_shows(s, "memory"));
}

/* Starts the tasks that all tests of many look at, with the first of these. */
static int set_up_many(void **state)
{
	static bool are_started;

	if (!are_started) {
		scratch_begin();
		crowd = crowd_sleepers("crowd-many", MANY);
		scratch_forget(crowd);
		scratch_end();
		are_started = true;
	}
	return screen_setup(state);
}

/* Ends them. */
static int end_crowd(void **state)
{
	(void)state;
	scratch_kill(scratch_child(crowd));
	return 0;
}

/* One of many tasks: these come last, so that the others are of a machine that has few. */
#define MANY_TEST(name) TEST_IN(name, set_up_many, screen_teardown, NULL, end_crowd)

/* Skips a test where there is no room for them. */
#define require_crowd() \
	do { \
		if (!crowd) \
			scratch_skip(CROWD_NO_ROOM); \
	} while (0)

/* And with many. */
MANY_TEST(shows_many_rows_soon)
{
	require_crowd();
	assert_true(time_first_rows("first rows of 10000 tasks") <
		    FIRST_ROWS_OF_MANY * screen_slowness());
}

/* A sum of what is shown from a line on: characters and looks. */
static uint64_t sum_of_cells(struct screen *s, int from, int to)
{
	uint64_t sum = 14695981039346656037U;

	for (int row = from; row < to; row++)
		for (int col = 0; col < screen_cols(s); col++) {
			struct screen_look look = screen_look(s, row, col);

			sum = (sum ^ screen_char(s, row, col)) * 1099511628211U;
			sum = (sum ^ (uint64_t)(look.bold + 2 * look.reverse + 4 * look.fg +
						2048 * look.bg)) *
			      1099511628211U;
		}
	return sum;
}

/* What was shown before, and where. */
struct before {
	int from, to;
	uint64_t sum;
};

/* Something else is shown there now. */
static bool has_changed(struct screen *s, const void *arg)
{
	const struct before *before = arg;

	return sum_of_cells(s, before->from, before->to) != before->sum;
}

/* Types, and measures until a cell of these lines has changed. */
static void time_answer(struct screen *s, const char *keys, int from, int to, struct figures *f)
{
	struct before before = { from, to, sum_of_cells(s, from, to) };
	double begun = screen_now();

	screen_type(s, keys);
	if (!screen_wait_until(s, SCREEN_PATIENCE, has_changed, &before))
		screen_fail(s, keys, __FILE__, __LINE__);
	add(f, screen_now() - begun);
}

/* Starts with busy tasks besides, until figures are there. */
static struct screen *start_busy(const char *args)
{
	struct screen *s;

	crowd_waiters();
	s = screen_start(&(struct screen_how){ .rows = 40, .cols = 120, .args = args });
	screen_await(s, table_has_figures, NULL);
	return s;
}

/* Moving, sorting, units: each key changes what is below the heads. */
MANY_TEST(answers_keys)
{
	static const char *const keys[] = { "\x1bOB",  "N",	  "R", "\x1bOB",  "P", "U",
					    "N",       "0",	  "U", "\x1b[6~", "N", "R",
					    "\x1b[6~", "\x1b[5~", "1", "c",	  "c", "N",
					    "U",       "\x1bOB",  "h", "\x1b" };
	struct figures times = { .n = 0 };
	struct screen *s;
	struct table t;

	require_crowd();
	s = start_busy("-d 60");
	table_must(s, &t);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		/* the selection may be at the end, with its task */
		if (!strcmp(keys[i], "\x1bOB") || !strcmp(keys[i], "\x1b[6~"))
			screen_key(s, VTERM_KEY_HOME);
		screen_settle(s);
		time_answer(s, keys[i], t.head, screen_rows(s) - 2, &times);
		screen_settle(s);
	}
	assert_true(tell(&times, "key to changed cell, 10000 tasks", "ms", 1000) <
		    ANSWER * screen_slowness());
}

/* The selected line is so far below the heads. */
static bool has_selected(struct screen *s, const void *arg)
{
	const int *offset = arg;
	struct table t;

	return table_read(s, &t) && table_selected(s, &t) == t.first + *offset;
}

/* While one sample follows the other without a pause. */
MANY_TEST(answers_keys_while_sampling)
{
	struct figures units = { .n = 0 }, moves = { .n = 0 };
	struct screen *s;
	struct table t;

	require_crowd();
	s = start_busy("-d 0.05 -s +pid");
	for (int i = 0; i < 24; i++) {
		/* at any point of a sample; a note that comes moves the table */
		screen_pump(s, 0.05 + 0.007 * i);
		table_must(s, &t);
		time_answer(s, "U", 0, 1, &units);
		screen_pump(s, 0.05 + 0.005 * i);
	}
	for (int i = 0; i < 24; i++) {
		int offset = i < 12 ? i + 1 : 23 - i;
		double begun = screen_now();

		screen_key(s, i < 12 ? VTERM_KEY_DOWN : VTERM_KEY_UP);
		screen_await(s, has_selected, &offset);
		add(&moves, screen_now() - begun);
		screen_pump(s, 0.05 + 0.007 * i);
	}
	assert_true(tell(&units, "key to changed cell in the middle of samples", "ms", 1000) <
		    ANSWER * screen_slowness());
	assert_true(tell(&moves, "moved selection in the middle of samples", "ms", 1000) <
		    ANSWER * screen_slowness());
}

/* Keys that come faster than they can be drawn are all done, and not one a drawing. */
MANY_TEST(answers_many_keys)
{
	struct figures times = { .n = 0 };
	struct screen *s;
	int offset = 20;

	require_crowd();
	s = start_busy("-d 60 -s +pid");
	screen_settle(s);
	for (int i = 0; i < 5; i++) {
		double begun = screen_now();

		for (int key = 0; key < 220; key++)
			screen_key(s, key < 120 ? VTERM_KEY_DOWN : VTERM_KEY_UP);
		for (int key = 0; key < 120; key++)
			screen_key(s, VTERM_KEY_UP);
		for (int key = 0; key < offset; key++)
			screen_key(s, VTERM_KEY_DOWN);
		screen_await(s, has_selected, &offset);
		add(&times, screen_now() - begun);
		screen_key(s, VTERM_KEY_HOME);
		screen_settle(s);
	}
	assert_true(tell(&times, "360 keys at once", "ms", 1000) < 5 * ANSWER * screen_slowness());
}

/* The sum row counts so many tasks at least. */
static bool counts_10000(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && t.sum >= 0 &&
	       atoi(table_cell(s, &t, t.sum, "COMMAND")) >= 10000;
}

/* The first process is not among the rows shown. */
static bool is_scrolled(struct screen *s, const void *arg)
{
	struct table t;

	return table_read(s, &t) && table_find_pid(s, &t, *(const pid_t *)arg) < 0;
}

/* It is. */
static bool is_not_scrolled(struct screen *s, const void *arg)
{
	struct table t;

	return table_read(s, &t) && table_find_pid(s, &t, *(const pid_t *)arg) == t.first;
}

/* So many rows are counted, reached and left. */
MANY_TEST(shows_10000_rows)
{
	struct screen *s;
	struct table t;
	pid_t first;

	require_crowd();
	s = screen_start(&(struct screen_how){ .rows = 40, .cols = 120, .args = "-d 60 -s +pid" });
	screen_await(s, counts_10000, NULL);
	screen_await(s, table_has_figures, NULL);
	screen_settle(s);
	table_must(s, &t);
	/* A kernel was seen that hides its first process from the walk of the bpf source. */
	first = (pid_t)table_number(s, &t, t.first, "PID");
	screen_check(s, first <= 2);
	screen_check(s, table_in_order(s, &t, "PID", false));
	screen_key(s, VTERM_KEY_END);
	screen_await(s, is_scrolled, &first);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, table_selected(s, &t) == t.last);
	screen_check(s, t.last == t.sum - 1);
	screen_check(s, table_in_order(s, &t, "PID", false));
	screen_key(s, VTERM_KEY_HOME);
	screen_await(s, is_not_scrolled, &first);
	screen_settle(s);
	table_must(s, &t);
	screen_check(s, table_selected(s, &t) == t.first);
}
