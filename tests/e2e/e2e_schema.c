// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON of all options, by a validator that is not ours, against the schema that we ship. */
#include "tests/lib/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options; %d: a process that waits; a '+' at the start: of each sample for itself. */
static const char *const options[] = {
	"-b -n 2 -d 0.2 -r 20",
	"-b -n 1 -d 0.2 -p %d -U max -F +nvcsw,cgroup,command,on",
	"-b -n 1 -d 0.2 -p %d -H",
	"-b -n 1 -d 0.2 -r 5 -g user -F +ppid",
	"-b -n 1 -d 0.2 -r 5 -g command -F +s-run --since-start",
	"-b -n 1 -d 0.2 -r 5 -g cgroup -F +psi-cpu",
	"-b -n 1 -d 0.5 -r 5 -m ^true$",
	"-b -n 1 -d 0.2 -r 5 -x --cgroup /",
	"-b -n 1 -d 0.2 -r 5 --source procfs",
	"-b -n 1 -d 0.2 -r 5 --source bpf --booked -i",
	"-b -n 1 -d 0.5 -r 5 -p %d --trace -F +states",
	"-b -n 1 -d 0.5 --trace -g user -u root -r 2",
	"-b -n 2 -d 0.5 --stacks sh",
};

/* Appends what a run printed to the file, each line of which is for the validator. */
static void keep(FILE *file, const struct e2e_result *r)
{
	assert_true(r->out.len > 0);
	assert_int_equal(fwrite(r->out.data, 1, r->out.len, file), r->out.len);
}

/* Runs the program with the options. */
static void run_with(FILE *file, const char *args, pid_t pid)
{
	struct e2e_how how = { 0 };
	struct e2e_result r;
	char format[256];

	snprintf(format, sizeof(format), "-o json %s", args);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	e2e_run(&r, &how, format, pid);
#pragma GCC diagnostic pop
	check_silent_success(&r);
	keep(file, &r);
}

/* Runs the program with what follows, whose arguments have blanks. */
static void run_words(FILE *file, const char *const argv[])
{
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct e2e_proc p;

	e2e_start(&p, &how, argv);
	e2e_finish(&p, 60, &r);
	/* A command's report comes on standard error. */
	if (!r.out.len)
		r.out = r.err;
	keep(file, &r);
}

/* All members and no others, of all options together. */
E2E_TEST(test_schema)
{
	const char *const when[] = {
		e2e_stalltop(),	   "-b", "-n", "1", "-d", "0.2", "-r", "3", "-o", "json", "--when",
		"cpu some 1ms/2s", NULL
	};
	const char *const command[] = { e2e_stalltop(),
					"-o",
					"json",
					"--trace",
					"--",
					"sh",
					"-c",
					"sleep 30 >&- 2>&- & sleep 0.3",
					NULL };
	const char *const doctor[] = { e2e_stalltop(), "--doctor", "-o", "json", NULL };
	const char *const why[] = { e2e_stalltop(), "--why", "-d", "1", "-o", "json", NULL };
	const char *const demo = e2e_format("%s/../doc/demo.db", getenv("TESTS_SRCDIR"));
	const char *const diff[] = { e2e_stalltop(), "--diff", demo, demo, "-o", "json", NULL };
	const char *const churn[] = { "/bin/sh", "-c", "while :; do /bin/true; done", NULL };
	const char *path = e2e_path("lines");
	const char *const validate[] = {
		"/bin/sh", "-c",
		e2e_format("%s --schema >schema && exec python3 %s/validate.py schema <%s",
			   e2e_stalltop(), getenv("TESTS_SRCDIR"), path),
		NULL
	};
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct e2e_proc p;
	FILE *file;
	pid_t pid;

	e2e_require_bpf();
	/* Three that share a CPU: pressure, and waits that somebody ends. */
	pid = e2e_load(NULL, "load_kind -w 3 cpu");
	assert_true(pid > 0);
	e2e_start(&p, &how, churn);
	file = fopen(path, "we");
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		run_with(file, options[i], pid);
	run_words(file, when);
	run_words(file, command);
	run_words(file, doctor);
	run_words(file, diff);
	/* Who waits for a lock, and so for another task. */
	assert_true(e2e_load(NULL, "load_chain flock 1 60 20 %s", e2e_folder()) > 0);
	run_words(file, why);
	assert_int_equal(fclose(file), 0);
	e2e_kill(p.pid);
	e2e_kill(pid);

	e2e_start(&p, &how, validate);
	e2e_finish(&p, 300, &r);
	if (r.status)
		print_error("%s\n", r.err.data);
	assert_int_equal(r.status, 0);
}
