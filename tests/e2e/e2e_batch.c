// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Batch mode as a script sees it: exit statuses, messages, ends in mid-run, and
 * when a sample comes.
 */
#include "tests/lib/parse.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mount.h>
#include <sched.h>
#include <unistd.h>

static const char *const formats[] = { "text", "csv", "json" };
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* How many samples there are, each of them whole. */
static size_t count_samples(const char *format, const struct e2e_result *r)
{
	struct samples s;
	struct text text;
	struct csv csv;
	size_t i, n = 0;

	if (!strcmp(format, "json")) {
		parse_json(r, &s);
		return s.n;
	}
	if (!strcmp(format, "text")) {
		parse_text(r->out.data, r->out.len, &text);
		return text.n;
	}
	parse_csv(r->out.data, r->out.len, &csv);
	for (i = 1; i < csv.rows; i++)
		n += i == 1 || strcmp(csv.cell[i][0], csv.cell[i - 1][0]);
	return n;
}

/* One line on standard error, and nothing else anywhere. */
static void check_one_line(const struct e2e_result *r, int status, const char *what)
{
	const char *eol = strchr(r->err.data, '\n');

	if (r->status != status || r->out.len || r->err.len < 3 || !eol || eol[1])
		fail_msg("%s: status %d, %zu bytes of output, standard error: %.300s", what,
			 r->status, r->out.len, r->err.data);
}

/* Arguments that cannot be used: status 2, one line that names what is wrong. */
E2E_TEST(test_bad_options)
{
	static const struct {
		const char *args;
		const char *named; /* must be in the message */
	} bad[] = {
		{ "-d 0.01", "0.01" },
		{ "-d 0", "0" },
		{ "-d abc", "abc" },
		{ "-d 86401", "86401" },
		{ "-d -1", "-1" },
		{ "-d nan", "nan" },
		{ "-d 1x", "1x" },
		{ "-n x", "x" },
		{ "-n -1", "-1" },
		{ "-n 0", "0" },
		{ "-n 99999999999999999999", "99999999999999999999" },
		{ "-s nope", "nope" },
		{ "-U nope", "nope" },
		{ "-g nope", "nope" },
		{ "-o nope", "nope" },
		{ "-p x", "x" },
		{ "-p 1,,2", "1,,2" },
		{ "-p -5", "-5" },
		{ "-u no.such.user", "no.such.user" },
		{ "-m (", "(" },
		{ "--over x", "x" },
		{ "--over -3", "-3" },
		{ "-r x", "x" },
		{ "-r -1", "-1" },
		{ "--source nope", "nope" },
		{ "-F nope", "nope" },
		{ "-F pid,nope", "nope" },
		{ "--nope", "nope" },
		{ "-y", "y" },
		{ "argument", "argument" },
		{ "--delay", "delay" },
		{ "-n", "n" },
	};
	struct e2e_result r;
	size_t i;

	e2e_require();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e2e_run(&r, NULL, "-b %s", bad[i].args);
		check_one_line(&r, 2, bad[i].args);
		if (!strstr(r.err.data, bad[i].named))
			fail_msg("%s is not named: %s", bad[i].args, r.err.data);
	}
}

/* Neither a terminal nor -b. */
E2E_TEST(test_no_terminal)
{
	struct e2e_result r;

	e2e_require();
	e2e_run(&r, NULL, "-n 1");
	check_one_line(&r, 2, "no terminal");
}

/* A file that is always full. */
E2E_TEST(test_disk_full)
{
	struct e2e_how how = { .out_path = "/dev/full" };
	struct e2e_result r;
	size_t i;

	e2e_require();
	for (i = 0; i < N_FORMATS; i++) {
		e2e_run(&r, &how, "-b -n 2 -d 0.1 -o %s", formats[i]);
		check_one_line(&r, 1, formats[i]);
		assert_non_null(strstr(r.err.data, "No space left"));
	}
}

/* --output has the samples, whole, in place of standard output. */
E2E_TEST(test_output)
{
	const char *path = e2e_path("samples");
	struct e2e_result r;
	struct e2e_proc p;
	size_t i;

	e2e_require();
	/* The longest first: of what was there before nothing stays. */
	for (i = N_FORMATS; i-- > 0;) {
		e2e_run(&r, NULL, "-b -n 2 -d 0.2 -o %s --output %s", formats[i], path);
		check_silent_success(&r);
		assert_int_equal(r.out.len, 0);
		e2e_start(&p, NULL, (const char *[]){ "/bin/cat", path, NULL });
		e2e_finish(&p, 20, &r);
		assert_int_equal(count_samples(formats[i], &r), 2);
	}
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --output /nonexistent/file");
	check_one_line(&r, 1, "no folder");
	assert_non_null(strstr(r.err.data, "cannot open /nonexistent/file: No such file"));
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --output /dev/full");
	check_one_line(&r, 1, "a full disk");
	assert_non_null(strstr(r.err.data, "cannot write to /dev/full: No space left"));
	e2e_run(&r, NULL, "--output %s", path);
	check_one_line(&r, 2, "of the screen");
	assert_non_null(strstr(r.err.data, "--output"));
}

/* What is named and is not there: one line that names it, and status 1. */
E2E_TEST(test_absent)
{
	static const char *const own = "-b -n 1 -d 0.1 -o json";
	struct e2e_result r;
	struct e2e_proc p;
	json_t *sample;
	pid_t gone;

	e2e_require();
	e2e_start(&p, NULL, (const char *[]){ "/bin/true", NULL });
	gone = p.pid;
	e2e_finish(&p, 20, &r);
	e2e_run(&r, NULL, "%s -p %d", own, (int)gone);
	check_one_line(&r, 1, "a process");
	assert_non_null(strstr(r.err.data, e2e_format("no such process: %d\n", (int)gone)));
	e2e_run(&r, NULL, "%s -p %d,2147483647", own, (int)gone);
	check_one_line(&r, 1, "processes");
	assert_non_null(
		strstr(r.err.data,
		       e2e_format("none of these processes exists: %d, 2147483647\n", (int)gone)));
	/* One that is there is enough. */
	sample = parse_one(e2e_format("-p %d,%d", (int)gone, (int)getpid()));
	assert_int_equal(json_array_size(json_object_get(sample, "tasks")), 1);
	e2e_run(&r, NULL, "%s --cgroup /no-such-group/at-all/", own);
	check_one_line(&r, 1, "a group");
	assert_non_null(strstr(r.err.data, "no such cgroup: '/no-such-group/at-all/' in the"));
	e2e_run(&r, NULL, "%s --debug-log /no-such-folder/log", own);
	check_one_line(&r, 1, "a folder");
	assert_non_null(strstr(r.err.data, "debug log /no-such-folder/log: No such file"));
}

/* The reader goes after the first line: silence, and status 0. */
E2E_TEST(test_closed_pipe)
{
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct e2e_proc p;
	size_t i;

	e2e_require();
	for (i = 0; i < 2 * N_FORMATS; i++) {
		how.ignore_sigpipe = i >= N_FORMATS;
		e2e_start_stalltop(&p, &how,
				   e2e_format("-b -d 0.05 -o %s", formats[i % N_FORMATS]));
		assert_non_null(e2e_line(&p, 20));
		close(p.out);
		p.out = -1;
		e2e_finish(&p, 20, &r);
		check_silent_success(&r);
	}
}

/* Signals in mid-run: what was printed is whole. */
E2E_TEST(test_signals)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct e2e_result r;
	struct e2e_proc p;
	size_t i, n;

	e2e_require();
	for (i = 0; i < 2 * N_FORMATS; i++) {
		const char *format = formats[i % N_FORMATS];

		e2e_start_stalltop(&p, NULL, e2e_format("-b -d 0.05 -o %s", format));
		assert_non_null(e2e_line(&p, 20));
		/* anywhere in a sample or between two */
		e2e_sleep(0.2 + 0.013 * (double)i);
		kill(p.pid, signals[i / N_FORMATS]);
		e2e_finish(&p, 20, &r);
		check_silent_success(&r);
		n = count_samples(format, &r);
		assert_true(n >= 2 && n < 40);
	}
}

/* A long interval does not keep it from ending. */
E2E_TEST(test_signal_at_once)
{
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	e2e_start_stalltop(&p, NULL, "-b -d 1000 -o json");
	e2e_await_sleep(p.pid);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 5, &r);
	check_silent_success(&r);
	assert_int_equal(r.out.len, 0);
	assert_true(r.seconds < 100);
}

/* An end by a signal before there is an answer is no answer. */
E2E_TEST(test_signal_before_answer)
{
	static const char *const asked[] = { "--why -d 1000", "--why -o json -d 1000",
					     "-b -n 1 -d 1000 -o json" };
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	for (size_t i = 0; i < 9; i++) {
		e2e_start_stalltop(&p, NULL, asked[i % 3]);
		e2e_await_sleep(p.pid);
		kill(p.pid, signals[i / 3]);
		e2e_finish(&p, 5, &r);
		assert_int_equal(r.status, 128 + signals[i / 3]);
		assert_int_equal(r.out.len, 0);
		assert_non_null(strstr(r.err.data, "nothing is known"));
	}
}

/* Has a signal be ignored, as a parent can. */
static int ignore_signal(const char *number)
{
	return signal(atoi(number), SIG_IGN) == SIG_ERR;
}

/* nohup: the terminal's end is not the program's. */
E2E_TEST(test_nohup)
{
	const struct e2e_how how = { .hook = ignore_signal, .hook_arg = "1" };
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	e2e_start_stalltop(&p, &how, e2e_format("-b -d 0.1 -o csv -p %d", (int)getpid()));
	assert_true(e2e_skip_line(&p, 20));
	assert_int_equal(kill(p.pid, SIGHUP), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_true(e2e_skip_line(&p, 20));
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	check_silent_success(&r);
}

/* Waits until a file has so many lines; how many begin as those of a head do. */
static unsigned await_lines(const char *path, unsigned lines)
{
	for (double until = e2e_now() + 20; e2e_now() < until; e2e_sleep(0.02)) {
		FILE *file = fopen(path, "r");
		unsigned n = 0, heads = 0;
		char line[4096];

		while (file && fgets(line, sizeof(line), file)) {
			/* A hole reads as NULs. */
			assert_int_not_equal(line[0], '\0');
			heads += !strncmp(line, "time,", 5);
			n++;
		}
		if (file)
			fclose(file);
		if (n >= lines)
			return heads;
	}
	fail_msg("%s has no %u lines", path, lines);
	return 0;
}

/* A file that is emptied, and one that is moved away, as logrotate does. */
E2E_TEST(test_rotated)
{
	const char *path = e2e_path("log.csv"), *moved = e2e_path("log.csv.1");
	struct e2e_result r;
	struct e2e_proc p;

	e2e_require();
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -d 0.05 -o csv -p %d --output %s", (int)getpid(), path));
	assert_int_equal(await_lines(path, 5), 1);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(await_lines(path, 5), 0);
	assert_int_equal(rename(path, moved), 0);
	kill(p.pid, SIGHUP);
	assert_int_equal(await_lines(path, 5), 1);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	check_silent_success(&r);
}

/* -n N prints N samples, one after one whole interval. */
E2E_TEST(test_iterations)
{
	struct e2e_result r;
	size_t i, n;

	e2e_require();
	for (i = 0; i < N_FORMATS; i++)
		for (n = 1; n <= 3; n += 2) {
			e2e_run(&r, NULL, "-b -n %zu -d 0.4 -o %s", n, formats[i]);
			check_silent_success(&r);
			assert_int_equal(count_samples(formats[i], &r), n);
			/* the first interval is waited for, too */
			assert_true(r.seconds >= 0.4 * (double)n);
			/* not for ever */
			assert_true(r.seconds < 0.4 * (double)n + 20);
		}
}

/* A sample is there when it was made, not when a buffer is full. */
E2E_TEST(test_flushed)
{
	struct e2e_result r;
	struct e2e_proc p;
	double seen;
	size_t i;

	e2e_require();
	for (i = 0; i < N_FORMATS; i++) {
		e2e_start_stalltop(
			&p, NULL,
			e2e_format("-b -n 2 -d 1.5 -p %d -o %s", (int)getpid(), formats[i]));
		assert_non_null(e2e_line(&p, 10));
		/* csv's head may come before its first sample */
		if (!strcmp(formats[i], "csv"))
			assert_non_null(e2e_line(&p, 10));
		seen = e2e_now();
		e2e_finish(&p, 20, &r);
		/* the second sample is taken 1.5 s later */
		assert_true(e2e_now() - seen > 0.8);
		check_silent_success(&r);
		assert_true(r.seconds >= 3);
	}
}

/* A stopped program skips what it missed, and says so. */
E2E_TEST(test_stopped)
{
	struct e2e_result r;
	struct samples s;
	struct e2e_proc p;
	double last = 0;
	bool late = false;
	size_t i;

	e2e_require();
	e2e_start_stalltop(&p, NULL, e2e_format("-b -n 12 -d 0.2 -o json -p %d", (int)getpid()));
	assert_non_null(e2e_line(&p, 20));
	kill(p.pid, SIGSTOP);
	e2e_sleep(1.5);
	kill(p.pid, SIGCONT);
	e2e_finish(&p, 20, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 12);
	/* 12 x 0.2 s and what was missed: nothing is made up for in a hurry */
	assert_true(r.seconds > 3.5);
	for (i = 0; i < s.n; i++) {
		double at = member_real(s.v[i], "time");

		/* It is told of the interval that is longer. */
		if (i && at - last > 1) {
			late = true;
			assert_non_null(note_of(s.v[i], "late"));
		}
		/* the one that was due in the stop comes at once, the grid goes on after it */
		assert_true(i < 4 || at - last > 0.1);
		last = at;
	}
	assert_true(late);
}

/* Fails at a line that a terminal of 80 columns would break. */
static void check_width(const struct e2e_text *text)
{
	const char *line = text->data;

	assert_true(text->len > 0);
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (len > 80)
			fail_msg("%zu cells: %.*s", len, (int)len, line);
	}
}

/* -h and -V say what they should, and that is all; what is printed for people fits 80 columns. */
E2E_TEST(test_help)
{
	static const struct e2e_how nobody = { .uid = NOBODY, .hook = e2e_no_netlink };
	struct e2e_result r;

	e2e_require();
	e2e_run(&r, NULL, "--help");
	check_silent_success(&r);
	check_width(&r.out);
	e2e_run(&r, NULL, "help tour");
	check_silent_success(&r);
	check_width(&r.out);
	e2e_run(&r, NULL, "help nonsuch");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "--help-all");
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "--since-start"));
	assert_non_null(strstr(r.out.data, "--iterations"));
	check_width(&r.out);
	e2e_run(&r, NULL, "-F list");
	check_silent_success(&r);
	check_width(&r.out);
	e2e_run(&r, NULL, "-V");
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "stalltop"));
	assert_non_null(strstr(r.out.data, "taskstats"));
	check_width(&r.out);
	e2e_run(&r, &nobody, "-V");
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "unavailable"));
	check_width(&r.out);
	e2e_run(&r, NULL, "-- sleep 0.1");
	assert_int_equal(r.status, 0);
	check_width(&r.err);
}

/* JSON: the members that the manual names, and no other kind of value. */
E2E_TEST(test_json_members)
{
	static const char *const of_sample[] = {
		"time",	    "interval",	  "source",	"taskstats_version", "delayacct",
		"group_by", "tasks_seen", "exits_seen", "exits_lost",	     "notes",
		"psi",	    "system",	  "tasks",
	};
	static const char *const of_task[] = {
		"pid",	   "tgid",	"ppid",	    "uid",	  "user", "comm",
		"state",   "start",	"interval", "exited",	  "new",  "run_ns",
		"user_ns", "system_ns", "delta",    "cumulative",
	};
	static const char *const of_cpu[] = {
		"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
	};
	struct e2e_result r;
	struct samples s;
	json_t *task, *system;
	size_t i;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 1 -d 1 -o json");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	for (i = 0; i < sizeof(of_sample) / sizeof(of_sample[0]); i++)
		assert_non_null(json_object_get(s.v[0], of_sample[i]));
	task = task_must(s.v[0], getpid());
	for (i = 0; i < sizeof(of_task) / sizeof(of_task[0]); i++)
		assert_non_null(json_object_get(task, of_task[i]));
	system = json_object_get(s.v[0], "system");
	for (i = 0; i < sizeof(of_cpu) / sizeof(of_cpu[0]); i++)
		member_u64(json_object_get(system, "cpu_ns"), of_cpu[i]);
	assert_int_equal(json_array_size(json_object_get(system, "loadavg")), 3);
	assert_int_equal(member_u64(system, "cpus"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_string_equal(member_text(s.v[0], "source"), "bpf");
	assert_string_equal(member_text(s.v[0], "group_by"), "process");
	assert_true(json_is_true(json_object_get(s.v[0], "delayacct")));
	assert_true(fabs(member_real(s.v[0], "interval") - 1) < 0.2);
	assert_true(fabs(member_real(s.v[0], "time") - e2e_wall()) < 2);
	assert_true(fabs(member_real(task, "start") - e2e_wall()) < 600);
	assert_string_equal(member_text(task, "comm"), "e2e_batch");
	assert_true(json_is_false(json_object_get(task, "exited")));
}

/* A hook: the administrator's configuration cannot be understood. */
static int break_configuration(const char *arg)
{
	FILE *file;

	(void)arg;
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/etc", "tmpfs", 0, NULL) || mkdir("/etc/stalltop", 0755))
		return 1;
	file = fopen("/etc/stalltop/config", "we");
	if (!file)
		return 1;
	fputs("nonsense = 1\n", file);
	return fclose(file);
}

/* It is told wherever it counts, and nothing is the worse for it. */
E2E_TEST(test_broken_configuration)
{
	const struct e2e_how how = { .hook = break_configuration };
	static const char *const runs[] = { "-b -n 1 -d 0.1", "-d 0.1 -- /bin/true" };
	struct e2e_result r;

	e2e_require();
	for (size_t i = 0; i < 2; i++) {
		e2e_run(&r, &how, "%s", runs[i]);
		assert_int_equal(r.status, 0);
		if (!strstr(r.err.data, "nonsense"))
			fail_msg("%s: %s", runs[i], r.err.data);
	}
	e2e_run(&r, &how, "--version");
	assert_int_equal(r.err.len, 0);
}
