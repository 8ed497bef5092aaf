// SPDX-License-Identifier: GPL-2.0-or-later
/* Under the fingers: how soon rows are there, a key is answered, and what a refresh writes. */
#include "config.h"

#include "crowd.h"
#include "scratch.h"
#include "screen.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS	0.300	/* s */
#define ANSWER		0.100	/* s */
#define IDLE_BYTES	2048
#define MANY		10000
#define MAX_FIGURES	64

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
	       f->value[f->n / 2] * factor, unit, f->value[0] * factor,
	       f->value[f->n - 1] * factor, f->n);
	fflush(stdout);
	return f->value[f->n / 2];
}

/* Starts again and again: the median time until rows are there. */
static double time_first_rows(const char *what)
{
	struct figures times = { .n = 0 };

	for (int i = 0; i < 7; i++) {
		struct screen *s = screen_start(&(struct screen_how){
			.rows = 40, .cols = 120, .args = "-d 60" });

		screen_await(s, table_has_rows, NULL);
		add(&times, screen_now() - screen_started(s));
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
	return tell(&times, what, "ms", 1000);
}

/* On a machine with as many tasks as there happen to be. */
static void shows_rows_soon(void **state)
{
	(void)state;
	assert_true(time_first_rows("first rows") < FIRST_ROWS * screen_slowness());
}

/* And with many. */
static void shows_many_rows_soon(void **state)
{
	(void)state;
	if (!crowd_sleepers("crowd-many", MANY))
		scratch_skip(CROWD_NO_ROOM);
	assert_true(time_first_rows("first rows of 10000 tasks") <
		    FIRST_ROWS * screen_slowness());
}

/* The second reading follows soon after the first, however long the interval is. */
static void shows_figures_soon(void **state)
{
	struct figures times = { .n = 0 };

	(void)state;
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

/* A sum of what is shown from a line on: characters and looks. */
static uint64_t sum_of_cells(struct screen *s, int from, int to)
{
	uint64_t sum = 14695981039346656037U;

	for (int row = from; row < to; row++)
		for (int col = 0; col < screen_cols(s); col++) {
			struct screen_look look = screen_look(s, row, col);

			sum = (sum ^ screen_char(s, row, col)) * 1099511628211U;
			sum = (sum ^ (uint64_t)(look.bold + 2 * look.reverse + 4 * look.fg +
						2048 * look.bg)) * 1099511628211U;
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

/* Starts with many tasks, until figures are there. */
static struct screen *start_many(const char *args)
{
	struct screen *s;

	if (!crowd_sleepers("crowd-many", MANY))
		return NULL;
	crowd_waiters();
	s = screen_start(&(struct screen_how){ .rows = 40, .cols = 120, .args = args });
	screen_await(s, table_has_figures, NULL);
	screen_settle(s, 0.2);
	return s;
}

/* Moving, sorting, units: each key changes what is below the heads. */
static void answers_keys(void **state)
{
	static const char *const keys[] = { "\x1bOB", "N", "R", "\x1bOB", "P", "U", "N", "0", "U",
					    "\x1b[6~", "N", "R", "\x1b[6~", "\x1b[5~", "1",
					    "c", "c", "N", "U", "\x1bOB", "h", "\x1b" };
	struct figures times = { .n = 0 };
	struct screen *s = start_many("-d 60");
	struct table t;

	(void)state;
	if (!s)
		scratch_skip(CROWD_NO_ROOM);
	table_must(s, &t);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		/* the selection may be at the end, with its task */
		if (!strcmp(keys[i], "\x1bOB") || !strcmp(keys[i], "\x1b[6~"))
			screen_key(s, VTERM_KEY_HOME);
		screen_settle(s, 0.1);
		time_answer(s, keys[i], t.head, screen_rows(s) - 2, &times);
		screen_settle(s, 0.1);
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
static void answers_keys_while_sampling(void **state)
{
	struct figures units = { .n = 0 }, moves = { .n = 0 };
	struct screen *s = start_many("-d 0.05 -s +pid");
	struct table t;

	(void)state;
	if (!s)
		scratch_skip(CROWD_NO_ROOM);
	for (int i = 0; i < 24; i++) {
		/* at any point of a sample; a note that comes moves the table */
		screen_pump(s, 0.05 + 0.007 * i);
		table_must(s, &t);
		time_answer(s, "U", t.unit, t.unit + 1, &units);
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
static void answers_many_keys(void **state)
{
	struct figures times = { .n = 0 };
	struct screen *s = start_many("-d 60 -s +pid");
	int offset = 20;

	(void)state;
	if (!s)
		scratch_skip(CROWD_NO_ROOM);
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
		screen_settle(s, 0.1);
	}
	assert_true(tell(&times, "360 keys at once", "ms", 1000) < 5 * ANSWER * screen_slowness());
}

/* What refreshes write on 120x40, the median. */
static double bytes_of_refresh(const char *args, const char *what, struct screen **screen)
{
	struct figures bytes = { .n = 0 };
	struct screen *s = screen_start(&(struct screen_how){
		.rows = 40, .cols = 120, .args = args });
	size_t before, after;

	*screen = s;
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 2.5);
	for (int i = 0; i < 11; i++) {
		screen_output(s, &before);
		screen_pump(s, 1);
		screen_output(s, &after);
		add(&bytes, (double)(after - before));
	}
	screen_check(s, after > before);
	return tell(&bytes, what, "bytes", 1);
}

/* The share of the CPUs' time that the screen says was idle. */
static double idle_share(struct screen *s)
{
	const char *line = screen_line(s, 1), *at = strstr(line, " sy ");

	return at ? strtod(at + 4, NULL) : 0;
}

/* A refresh when little happens: in the rows at least, or on the whole machine if it is so. */
static void writes_little(void **state)
{
	struct screen *s;
	double bytes;

	(void)state;
	if (!crowd_sleepers("crowd-idle", 200))
		fail_msg("cannot start 200 processes");
	bytes = bytes_of_refresh("-d 1 -m ^crowd", "a refresh of idle rows", &s);
	screen_check(s, bytes < IDLE_BYTES);
	bytes = bytes_of_refresh("-d 1", "a refresh of the whole machine", &s);
	printf("# the machine is %.1f %% idle\n", idle_share(s));
	screen_check(s, bytes < IDLE_BYTES || idle_share(s) < 95);
}

/* While it is paused nothing is written but the answers to keys. */
static void writes_nothing_when_paused(void **state)
{
	struct screen *s = screen_start(&(struct screen_how){ .args = "-d 0.1" });
	size_t before, after;

	(void)state;
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "p");
	screen_pump(s, 1);
	screen_output(s, &before);
	screen_pump(s, 1);
	screen_output(s, &after);
	printf("# paused: %zu bytes in 1 s\n", after - before);
	screen_check(s, after - before < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		screen_test(shows_rows_soon), screen_test(shows_many_rows_soon),
		screen_test(shows_figures_soon), screen_test(answers_keys),
		screen_test(answers_keys_while_sampling), screen_test(answers_many_keys),
		screen_test(writes_little), screen_test(writes_nothing_when_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
