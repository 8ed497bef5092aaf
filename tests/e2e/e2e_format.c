// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Formats, units and what chooses and orders rows. A stopped process's counters
 * stand still: what different runs print of it can be compared to the digit.
 */
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CSV_HEAD \
	"time,interval,pid,tgid,ppid,uid,user,comm,state,exited," \
	"cpu_count,cpu_ns,blkio_count,blkio_ns,swapin_count,swapin_ns," \
	"reclaim_count,reclaim_ns,thrash_count,thrash_ns," \
	"compact_count,compact_ns,wpcopy_count,wpcopy_ns,irq_count,irq_ns,run_ns," \
	"cpu_waited_ns,blkio_waited_ns,swapin_waited_ns,reclaim_waited_ns,thrash_waited_ns," \
	"compact_waited_ns,wpcopy_waited_ns,irq_waited_ns,dwait_waited_ns,wait_ns"

static const char *const headings[READER_KINDS] = { "1CPU",  "2BLKIO", "3SWAP", "4RECL",
						    "5THRA", "6COMP",  "7WPCP", "8IRQ" };

/* A process of four threads that has waited for several things, and now stands still. */
static pid_t stopped_load(struct reader_record *rec)
{
	pid_t pid = e2e_load(NULL, "load_kind -d %s mix", e2e_folder());

	assert_true(pid > 0);
	/* cpu, blkio and wpcopy */
	e2e_await_waits(pid, 1U << 0 | 1U << 1 | 1U << 6, rec);
	e2e_stop(pid);
	assert_int_equal(reader_tgid(pid, rec), 0);
	assert_true(rec->kind[0].ns > 0 && rec->kind[1].ns > 0 && rec->kind[6].ns > 0);
	return pid;
}

/* The printed totals of a row are those that were read. */
static void check_cumulative(json_t *task, const struct reader_record *rec)
{
	size_t i;

	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];

		/* what this kernel never gives may be left unset, but nothing else */
		if (kind_unset(task, "cumulative", kind, "ns")) {
			assert_true(!rec->kind[i].count || e2e_booked_wrongly(rec->kind[i].ns));
			continue;
		}
		assert_int_equal(kind_value(task, "cumulative", kind, "ns"), rec->kind[i].ns);
		assert_int_equal(kind_value(task, "cumulative", kind, "count"), rec->kind[i].count);
		if (e2e_booked_wrongly(rec->kind[i].ns))
			continue;
		assert_int_equal(kind_value(task, "delta", kind, "ns"), rec->kind[i].ns);
		assert_int_equal(kind_value(task, "delta", kind, "count"), rec->kind[i].count);
	}
	assert_int_equal(member_u64(task, "run_ns"), rec->run_ns);
}

/* JSON: every unit gives the same numbers, and they are the kernel's. */
E2E_TEST(test_json_since_start)
{
	static const char *const units[] = { "percent", "ms", "count", "avg", "max", "total" };
	struct reader_record rec;
	struct e2e_result r;
	struct samples s;
	pid_t pid;
	size_t i;

	e2e_require();
	pid = stopped_load(&rec);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		json_t *task;

		e2e_run(&r, NULL, "-b -n 1 --since-start -o json -p %d -U %s", (int)pid, units[i]);
		check_silent_success(&r);
		parse_json(&r, &s);
		assert_int_equal(s.n, 1);
		assert_int_equal(json_array_size(json_object_get(s.v[0], "tasks")), 1);
		task = task_must(s.v[0], pid);
		check_cumulative(task, &rec);
		assert_string_equal(member_text(task, "comm"), "load_kind");
		assert_string_equal(member_text(task, "user"), "root");
		assert_int_equal(member_u64(task, "tgid"), pid);
		assert_int_equal(member_u64(task, "ppid"), getpid());
		/* the longest wait is read of the threads only when it is asked for */
		assert_int_equal(kind_unset(task, "cumulative", "cpu", "max_ns"),
				 strcmp(units[i], "max") || rec.version < 15);
	}
}

/* The same for threads, each against its own record; and the longest wait. */
E2E_TEST(test_json_threads)
{
	struct reader_record rec;
	struct e2e_result r;
	struct samples s;
	pid_t tids[64], pid;
	json_t *task;
	size_t n, i;

	e2e_require();
	pid = stopped_load(&rec);
	n = e2e_threads(pid, tids, 64);
	e2e_run(&r, NULL, "-b -n 1 --since-start -o json -H -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_string_equal(member_text(s.v[0], "group_by"), "thread");
	assert_int_equal(json_array_size(json_object_get(s.v[0], "tasks")), n);
	for (i = 0; i < n; i++) {
		task = task_must(s.v[0], tids[i]);
		assert_int_equal(reader_pid(tids[i], &rec), 0);
		check_cumulative(task, &rec);
		assert_int_equal(member_u64(task, "tgid"), pid);
		if (rec.version >= 15)
			assert_int_equal(kind_value(task, "cumulative", "cpu", "max_ns"),
					 rec.kind[0].max_ns);
	}
}

/* CSV: the head row as the manual has it, and the kernel's numbers. */
E2E_TEST(test_csv_since_start)
{
	struct reader_record rec;
	struct e2e_result r;
	struct csv csv;
	size_t row, i;
	pid_t pid;

	e2e_require();
	pid = stopped_load(&rec);
	e2e_run(&r, NULL, "-b -n 1 --since-start -o csv -p %d", (int)pid);
	check_silent_success(&r);
	assert_int_equal(strncmp(r.out.data, CSV_HEAD "\r\n", strlen(CSV_HEAD) + 2), 0);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_int_equal(csv.rows, 2);
	row = csv_row(&csv, pid);
	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];
		const char *ns = csv_cell(&csv, row, e2e_format("%s_ns", kind));
		const char *count = csv_cell(&csv, row, e2e_format("%s_count", kind));

		if ((!*ns && !*count && !rec.kind[i].count) || e2e_booked_wrongly(rec.kind[i].ns))
			continue;
		assert_string_equal(ns, e2e_format("%ju", rec.kind[i].ns));
		assert_string_equal(count, e2e_format("%ju", rec.kind[i].count));
	}
	assert_string_equal(csv_cell(&csv, row, "run_ns"), e2e_format("%ju", rec.run_ns));
	assert_string_equal(csv_cell(&csv, row, "comm"), "load_kind");
	assert_string_equal(csv_cell(&csv, row, "tgid"), e2e_format("%d", (int)pid));
	assert_string_equal(csv_cell(&csv, row, "ppid"), e2e_format("%d", (int)getpid()));
	assert_string_equal(csv_cell(&csv, row, "uid"), "0");
	assert_string_equal(csv_cell(&csv, row, "user"), "root");
	assert_string_equal(csv_cell(&csv, row, "state"), "T");
}

/* One head row, however many samples; the same time in all rows of a sample. */
E2E_TEST(test_csv_samples)
{
	struct e2e_result r;
	struct csv csv;
	size_t i, times = 1;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 3 -d 0.2 -o csv");
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_string_equal(csv.cell[0][0], "time");
	for (i = 1; i < csv.rows; i++) {
		assert_string_not_equal(csv.cell[i][0], "time");
		times += i > 1 && strcmp(csv.cell[i][0], csv.cell[i - 1][0]) != 0;
		assert_true(atof(csv_cell(&csv, i, "interval")) > 0);
	}
	assert_int_equal(times, 3);
}

/* What a kind's cell must show in a unit; false if that is nothing. */
static bool expected(const char *unit, uint64_t ns, uint64_t count, uint64_t max, double age,
		     double *value)
{
	if (!strcmp(unit, "percent"))
		*value = (double)ns / 1e9 / age * 100;
	else if (!strcmp(unit, "count"))
		*value = (double)count;
	else if (!strcmp(unit, "avg"))
		*value = count ? (double)ns / (double)count / 1e6 : 0;
	else if (!strcmp(unit, "max"))
		*value = (double)max / 1e6;
	else
		*value = (double)ns / 1e6;
	return strcmp(unit, "avg") || count;
}

/* One cell against what it must show. */
static void check_cell(const struct text_sample *s, pid_t pid, const char *heading, double value,
		       double tolerance)
{
	const char *cell = text_cell(s, pid, heading);
	double shown, slack;

	if (!cell_value(cell, &shown, &slack))
		fail_msg("%s shows \"%s\" in place of %f", heading, cell, value);
	if (fabs(shown - value) > slack + tolerance)
		fail_msg("%s shows \"%s\" in place of %f", heading, cell, value);
}

/* The row of a stopped process in one unit. */
static void check_unit(pid_t pid, const char *unit, const struct reader_record *rec,
		       const uint64_t *max)
{
	struct e2e_result r;
	struct text text;
	struct reader_record later;
	double age, value, older, total = 0, waits = 0;
	bool wrong = false;
	size_t i;

	age = (double)rec->etime_us / 1e6;
	e2e_run(&r, NULL,
		"-b -n 1 --since-start -p %d -U %s "
		"-F pid,total,mem,cpu,blkio,swapin,reclaim,thrash,compact,wpcopy,comm",
		(int)pid, unit);
	check_silent_success(&r);
	/* the process is older by the time that the run took, and its shares smaller */
	assert_int_equal(reader_pid(pid, &later), 0);
	older = 0;
	if (!strcmp(unit, "percent"))
		older = 1 - (double)rec->etime_us / (double)later.etime_us;
	parse_text(r.out.data, r.out.len, &text);
	assert_int_equal(text.n, 1);
	for (i = 0; i < READER_KINDS - 1; i++) {
		const struct reader_kind *k = &rec->kind[i];

		if (e2e_booked_wrongly(k->ns) || e2e_booked_wrongly(max[i])) {
			wrong = true;
			continue;
		}
		if (!expected(unit, k->ns, k->count, max[i], age, &value))
			continue;
		check_cell(&text.v[0], pid, headings[i], value, value * older);
		total += strcmp(reader_kind_names[i], "thrash") ? value : 0;
		waits += strcmp(reader_kind_names[i], "thrash") ? (double)k->count : 0;
	}
	if (!strcmp(unit, "count") && !wrong)
		check_cell(&text.v[0], pid, "0TOTAL", waits, 0);
	else if (!wrong && strcmp(unit, "avg") && strcmp(unit, "max"))
		check_cell(&text.v[0], pid, "0TOTAL", total, total * older);
	assert_string_equal(text_cell(&text.v[0], pid, "COMMAND"), "load_kind");
}

/* Text: each unit of a process's row, by the kernel's numbers. */
E2E_TEST(test_text_units)
{
	uint64_t max[READER_KINDS] = { 0 };
	struct reader_record rec, thread;
	pid_t tids[64], pid;
	size_t n, i, k;

	e2e_require();
	pid = stopped_load(&rec);
	n = e2e_threads(pid, tids, 64);
	for (i = 0; i < n; i++) {
		assert_int_equal(reader_pid(tids[i], &thread), 0);
		for (k = 0; k < READER_KINDS; k++)
			if (thread.kind[k].max_ns > max[k])
				max[k] = thread.kind[k].max_ns;
	}
	check_unit(pid, "ms", &rec, max);
	check_unit(pid, "total", &rec, max);
	check_unit(pid, "count", &rec, max);
	check_unit(pid, "avg", &rec, max);
	if (rec.version >= 15)
		check_unit(pid, "max", &rec, max);
	/* of its own life, which only the leader's record knows */
	assert_int_equal(reader_pid(pid, &thread), 0);
	rec.etime_us = thread.etime_us;
	check_unit(pid, "percent", &rec, max);
}

/* The layout of batch text: what awk relies on. */
E2E_TEST(test_text_layout)
{
	struct e2e_result r;
	struct text text;
	size_t i;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 2 -d 0.3");
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	assert_int_equal(text.n, 2);
	for (i = 0; i < text.n; i++) {
		const struct text_sample *s = &text.v[i];

		assert_int_equal(strncmp(s->header[0], "stalltop ", 9), 0);
		assert_non_null(strstr(s->header[0], " bpf "));
		assert_non_null(strstr(s->header[0], "delays measured"));
		assert_int_equal(strncmp(s->header[1], "tasks ", 6), 0);
		assert_string_equal(s->heads.cell[s->heads.n - 1], "COMMAND");
		assert_int_equal(s->units.n, s->heads.n);
		assert_string_equal(s->units.cell[text_column(s, "PID")], "(#)");
		assert_string_equal(s->units.cell[text_column(s, "1CPU")], "(%)");
		assert_string_equal(s->sum.cell[0], "=");
		assert_true(s->rows > 2);
		assert_non_null(text_cell(s, getpid(), "COMMAND"));
	}
	assert_null(strchr(r.out.data, '\033'));
	assert_null(strchr(r.out.data, '\t'));
}
