// SPDX-License-Identifier: GPL-2.0-or-later
/* It adds up: what tasks ran, and what the CPUs did besides, is the time that there was. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SAMPLES 3
#define SECONDS 4
#define WORKERS_MAX 64

/* Shares of the machine's time, averaged over samples. */
struct sum {
	double whole; /* run and recovered, idle, iowait and steal */
	double shown; /* the same without what was recovered */
	double on_top; /* with children's times on top of what rows show */
};

/* A part of a sample's account, in ns. */
static double part(json_t *sample, const char *name)
{
	json_t *v = json_object_get(json_object_get(sample, "accounted"), name);

	assert_true(json_is_integer(v));
	return (double)json_integer_value(v);
}

/* Takes samples. */
static void take(struct samples *s, int n)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n %d -d %d -o json", n, SECONDS);
	check_silent_success(&r);
	parse_json(&r, s);
	assert_int_equal(s->n, n);
}

/* Adds up; every sample's account must be whole in itself. */
static struct sum add_up(const struct samples *s)
{
	struct sum sum = { 0 };
	size_t i;

	for (i = 0; i < s->n; i++) {
		double machine = part(s->v[i], "machine_ns"), run = part(s->v[i], "run_ns");
		double recovered = part(s->v[i], "recovered_ns");
		double others = part(s->v[i], "idle_ns") + part(s->v[i], "iowait_ns") +
				part(s->v[i], "steal_ns") + part(s->v[i], "irq_ns");

		assert_true(fabs(machine - run - recovered - others - part(s->v[i], "rest_ns")) <
			    10);
		sum.whole += (run + recovered + others) / machine / (double)s->n;
		sum.shown += (run + others) / machine / (double)s->n;
		sum.on_top +=
			(run + part(s->v[i], "children_ns") + others) / machine / (double)s->n;
	}
	print_message("# whole %.4f, rows alone %.4f, children's times on top %.4f\n", sum.whole,
		      sum.shown, sum.on_top);
	return sum;
}

/* A task that does nothing but run. */
static pid_t start_spinner(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(120);
		for (volatile unsigned i = 0;; i++)
			;
	}
	assert_true(pid > 0);
	guard_push_child(pid);
	return pid;
}

/* As many spinners as CPUs: within a percent; and each of them ran or waited all the time. */
E2E_TEST(test_spinners)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	pid_t spinners[WORKERS_MAX];
	struct samples s;
	struct sum sum;
	size_t k;

	e2e_require();
	if (cpus > WORKERS_MAX)
		e2e_skip("too many CPUs");
	for (i = 0; i < cpus; i++)
		spinners[i] = start_spinner();
	take(&s, SAMPLES);
	sum = add_up(&s);
	assert_true(fabs(sum.whole - 1) < 0.01);
	for (i = 0; i < cpus; i++) {
		double spent = 0, time = 0, steal = 0;

		for (k = 0; k < s.n; k++) {
			json_t *task = task_must(s.v[k], spinners[i]);

			spent += (double)member_u64(task, "run_ns") +
				 (double)kind_value(task, "delta", "cpu", "ns");
			time += member_real(task, "interval") * 1e9;
			steal += part(s.v[k], "steal_ns") / (double)cpus;
		}
		if (fabs(spent - (time - steal)) > time / 100)
			fail_msg("spinner %d: %.0f of %.0f ns", (int)spinners[i], spent, time);
	}
}

/*
 * The same work done by thousands of processes of 5 ms: within two percent, and not so when
 * children's times are left out, nor when they come on top of what rows show.
 */
E2E_TEST(test_short_lived)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	struct samples s;
	struct sum sum;

	e2e_require();
	for (i = 0; i < cpus; i++)
		assert_true(e2e_load(NULL, "load_churn work 0 5") > 0);
	take(&s, SAMPLES);
	sum = add_up(&s);
	assert_true(fabs(sum.whole - 1) < 0.02);
	assert_true(sum.shown < 0.98);
	assert_true(sum.on_top > 1.02);
}

/* What rows of one parent's children show, in ns. */
static double shown_of(json_t *sample, pid_t parent)
{
	double ns = 0;
	json_t *task;
	size_t i;

	json_array_foreach(json_object_get(sample, "tasks"), i,
			   task) if (member_u64(task, "ppid") == (uint64_t)parent) ns +=
		(double)member_u64(task, "run_ns");
	return ns;
}

/* 2,000 children of 5 ms; false if rows and what was recovered are not what wait4() tells. */
static bool compare_with_rusage(void)
{
	struct e2e_proc load, p;
	const char *argv[] = { e2e_load_path("load_churn"), "work", "2000", "5", NULL };
	double shown = 0, recovered = 0, others = 0, told, now = 1;
	struct e2e_result r;
	const char *line;
	json_t *sample;
	int n;

	e2e_start_stalltop(&p, NULL, "-b -d 1 -o json");
	/* what the rest of the machine brings, which may be much where it builds or tests */
	for (n = 0; n < 3; n++)
		others += part(parse_json_line(e2e_line(&p, 20)), "recovered_ns") / 3;
	e2e_start(&load, NULL, argv);
	assert_non_null(e2e_line(&load, 20));
	for (n = 0; n < 60 && (now > 0 || shown <= 0); n++) {
		sample = parse_json_line(e2e_line(&p, 20));
		now = shown_of(sample, load.pid);
		shown += now;
		recovered += part(sample, "recovered_ns") - others;
	}
	line = e2e_line(&load, 20);
	assert_non_null(line);
	assert_int_equal(strncmp(line, "done ", 5), 0);
	told = atof(line + 5) * 1000;
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	kill(load.pid, SIGKILL);
	e2e_finish(&load, 20, &r);
	print_message("# rows %.0f ms, recovered %.0f ms, wait4 %.0f ms\n", shown / 1e6,
		      recovered / 1e6, told / 1e6);
	/* or else this was no test */
	assert_true(recovered > told * 0.05);
	return fabs(shown + recovered - told) < told * 0.02;
}

/* What is recovered is the whole machine's: others that come and go would be in it. */
E2E_TEST(test_rusage)
{
	int tries;

	e2e_require();
	for (tries = 0; tries < 4; tries++)
		if (compare_with_rusage())
			return;
	fail_msg("rows and what was recovered are not what their parent was told");
}
