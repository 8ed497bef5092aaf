// SPDX-License-Identifier: GPL-2.0-or-later
/* What is so only where nothing else runs: when a sample comes, whole percents, who is first. */
#include "tests/lib/parse.h"

#include <math.h>
#include <unistd.h>

/* Samples lie on a grid: being late once does not move the next. */
E2E_TEST(test_grid)
{
	struct e2e_result r;
	struct samples s;
	double first, at, worst = 0;
	int attempt;
	size_t i;

	e2e_require();
	/* the machine may be taken away from us for a while, but not every time */
	for (attempt = 0; attempt < 3; attempt++) {
		e2e_run(&r, NULL, "--measure no -b -n 20 -d 0.1 -o json -p 1");
		check_silent_success(&r);
		parse_json(&r, &s);
		assert_int_equal(s.n, 20);
		first = member_real(s.v[0], "time");
		worst = 0;
		for (i = 1; i < s.n; i++) {
			at = member_real(s.v[i], "time") - first;
			worst = fmax(worst, fabs(at - 0.1 * (double)i));
			assert_true(member_real(s.v[i], "interval") > 0);
		}
		if (worst < 0.03 && r.seconds > 1.99 && r.seconds < 2.3)
			return;
	}
	fail_msg("20 samples at 0.1 s took %f s, %f s off the grid", r.seconds, worst);
}

/* Each of twelve threads on one CPU either runs or waits: together 1200 %. */
E2E_TEST(test_percent_is_whole)
{
	double run = 0, wait = 0, slack;
	struct e2e_result r;
	struct text text;
	pid_t pid;
	int i;

	e2e_require();
	pid = e2e_load(NULL, "load_kind cpu");
	/* but for the waits in flight, which are long only on a busy machine */
	for (i = 0; i < 4; i++) {
		e2e_run(&r, NULL, "-b -n 1 -d 2 -p %d -F pid,run,cpu,comm", (int)pid);
		check_silent_success(&r);
		parse_text(r.out.data, r.out.len, &text);
		assert_true(cell_value(text_cell(&text.v[0], pid, "RUN"), &run, &slack));
		assert_true(cell_value(text_cell(&text.v[0], pid, "1CPU"), &wait, &slack));
		if (fabs(run + wait - 1200) < 48)
			return;
	}
	fail_msg("run %f %% and cpu %f %% of 12 spinning threads", run, wait);
}

/* -i and --over: who did nothing, or waited too little, is hidden. */
E2E_TEST(test_active)
{
	pid_t busy, idle;
	json_t *rows, *row;
	size_t i;

	e2e_require();
	busy = e2e_load(NULL, "load_kind cpu");
	idle = e2e_load(NULL, "load_sleepers 1");
	rows = parse_rows("-i");
	assert_true(rows_have_pid(rows, busy));
	assert_false(rows_have_pid(rows, idle));
	rows = parse_rows("--over 1000");
	assert_true(rows_have_pid(rows, busy));
	assert_false(rows_have_pid(rows, idle));
	json_array_foreach(rows, i, row) assert_true(kind_value(row, "delta", "cpu", "ns") > 0);
	rows = parse_rows("--over 100000");
	assert_false(rows_have_pid(rows, busy));
}

/* -r: no more rows than asked for; those that come first. */
E2E_TEST(test_rows)
{
	struct e2e_result r;
	struct text text;
	struct csv csv;
	json_t *rows;
	pid_t busy;

	e2e_require();
	busy = e2e_load(NULL, "load_kind cpu");
	rows = parse_rows("-r 2 -s cpu");
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(member_u64(json_array_get(rows, 0), "pid"), busy);
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 -r 3");
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	assert_int_equal(text.n, 2);
	assert_int_equal(text.v[0].rows, 3);
	assert_int_equal(text.v[1].rows, 3);
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 -r 3 -o csv");
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_int_equal(csv.rows, 1 + 2 * 3);
}
