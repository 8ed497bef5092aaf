// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * That nothing is found where all is well: on a machine that has nothing to do, and while programs
 * are built. What is found of incidents is in e2e_incidents.
 */
#include "tests/lib/parse.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/box.h"
#include "tests/lib/finding.h"

/* Files of a build, each of which takes some tenths of a second. */
#define SOURCES 100

/* For how long samples are taken, in seconds, and how many are looked at. */
#define PATIENCE 60
#define SAMPLES_LOOKED_AT 8

/* From which share of the interval others are in the way. */
#define IN_THE_WAY 0.2

/* The words of text, and no word about a finding that is none. */
E2E_TEST(test_words)
{
	struct e2e_result r;
	struct text text;
	bool said = false;
	pid_t pid;

	e2e_require();
	/* Who began while delays were counted. */
	pid = e2e_load(NULL, "load_wait poll");
	assert_true(pid > 0);
	e2e_run(&r, NULL, "-b -n 1 -d 0.3 -p %d", (int)pid);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (size_t i = 0; i < text.v[0].header_lines; i++)
		said |= !strncmp(text.v[0].header[i], "finding: no waits", 17);
	assert_true(said);
	e2e_run(&r, NULL, "-b -n 1 -d 0.3 --since-start -p %d", (int)pid);
	check_silent_success(&r);
	assert_null(strstr(r.out.data, "finding: "));
}

/* Is scheduled by a deadline from now on: 10 of each 100 ms. */
static int use_deadline(const char *arg)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attr = { .size = sizeof(attr),
		   .policy = 6, /* SCHED_DEADLINE */
		   .runtime_ns = 10000000,
		   .deadline_ns = 100000000,
		   .period_ns = 100000000 };

	(void)arg;
	return (int)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* Is a real-time task of the group with that folder. */
static int use_realtime(const char *group)
{
	const struct sched_param param = { .sched_priority = 5 };
	FILE *file = fopen(e2e_format("%s/cgroup.procs", group), "we");

	return !file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ||
	       sched_setscheduler(0, SCHED_FIFO, &param);
}

/* Asserts what the answer for a load is, with tracing and without. */
static void check_why(pid_t pid, const char *words, const char *cure)
{
	for (unsigned traced = 0; traced < 2; traced++) {
		struct e2e_result r;

		e2e_run(&r, NULL, "--why -n 2 -d 1 -p %d%s", (int)pid,
			traced ? "" : " --source taskstats");
		if (!strstr(r.out.data, words) || !strstr(r.out.data, cure))
			fail_msg("%s, %s: %s%s", words, cure, r.out.data, r.err.data);
		assert_null(strstr(r.out.data, "taskset"));
	}
}

/* A task that its own budget throttles lacks no CPU. */
E2E_TEST(test_deadline)
{
	const struct e2e_how how = { .hook = use_deadline };
	pid_t pid;

	e2e_require();
	pid = e2e_load(&how, "load_own spin");
	e2e_need(pid ? 0 : -EOPNOTSUPP, "SCHED_DEADLINE cannot be had");
	check_why(pid, "own deadline", "chrt -d");
}

/* Nor does one that the real-time budget of its group throttles. */
E2E_TEST(test_realtime)
{
	char group[300];
	const struct e2e_how how = { .hook = use_realtime, .hook_arg = group };
	FILE *file;
	pid_t pid;

	e2e_require();
	e2e_need(box_group("cpu", e2e_group_name("realtime"), group, sizeof(group)),
		 "no v1 hierarchy of cpu");
	file = fopen(e2e_format("%s/cpu.rt_runtime_us", group), "we");
	if (!file || fputs("100000", file) < 0 || fclose(file))
		e2e_skip("groups have no real-time budget");
	pid = e2e_load(&how, "load_own spin");
	e2e_need(pid ? 0 : -EOPNOTSUPP, "a group's real-time task cannot be had");
	check_why(pid, "real-time budget", "cpu.rt_runtime_us");
}

/* Writes sources that compilers have something to do with, and how they are built. */
static void write_sources(const char *folder)
{
	FILE *file = fopen(e2e_format("%s/Makefile", folder), "we");

	assert_non_null(file);
	fprintf(file, "all: program\n");
	fprintf(file, "program: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\t%s -o $@ $^\n",
		getenv("CC") ? getenv("CC") : "cc");
	fprintf(file, "%%.o: %%.c\n\t%s -O2 -c -o $@ $<\n", getenv("CC") ? getenv("CC") : "cc");
	assert_int_equal(fclose(file), 0);
	for (unsigned i = 0; i < SOURCES; i++) {
		file = fopen(e2e_format("%s/part%u.c", folder, i), "we");
		assert_non_null(file);
		fprintf(file, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
		for (unsigned f = 0; f < 40; f++)
			fprintf(file,
				"int part%u_%u(char *s, int n)\n{\n\tint sum = %u;\n"
				"\tfor (int i = 0; i < n; i++)\n"
				"\t\tsum += (int)strlen(s + i) * i %% (sum + 3) + s[i];\n"
				"\tprintf(\"%%d\\n\", sum);\n\treturn sum;\n}\n",
				i, f, f);
		if (!i)
			fprintf(file, "int main(void)\n{\n\treturn 0;\n}\n");
		assert_int_equal(fclose(file), 0);
	}
}

/* Whether a task is the program that looks, or one of a build. */
static bool is_ours(const char *name)
{
	static const char *const names[] = { "stalltop", "make", "cc",	     "gcc", "cc1",
					     "as",	 "ld",	 "collect2", "sh",  "clang" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The share of the interval that all others ran and waited for disks, of which ours suffer. */
static double others_share(json_t *sample)
{
	double ns = 0;
	json_t *task;
	size_t i;

	json_array_foreach(json_object_get(sample, "tasks"), i, task)
	{
		json_t *waited = json_object_get(task, "waited");

		if (is_ours(text_or_none(task, "comm")))
			continue;
		ns += json_number_value(json_object_get(task, "run_ns")) +
		      json_number_value(json_object_get(waited, "blkio"));
	}
	return ns / 1e9 / member_real(sample, "interval");
}

/* A way to look at the machine, and how often that was done without others in the way. */
struct way {
	const char *args;
	unsigned looked;
	struct e2e_proc p;
};

/* Takes the sample that was begun: nothing is found, but others may be in the way. */
static void check_sample(struct way *way)
{
	struct e2e_result r;
	struct samples s;

	e2e_finish(&way->p, 60, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	if (others_share(s.v[0]) >= IN_THE_WAY)
		return;
	way->looked++;
	finding_print(s.v[0]);
	assert_int_equal(json_array_size(json_object_get(s.v[0], "findings")), 0);
}

/* Looks at the machine in some ways at once, until that was often enough in each. */
static void check_nothing(struct way *ways, size_t n)
{
	double until = e2e_now() + PATIENCE;
	unsigned seen = 0;
	bool enough = false;

	while (!enough && e2e_now() < until) {
		enough = true;
		for (size_t i = 0; i < n; i++)
			e2e_start_stalltop(&ways[i].p, NULL,
					   e2e_format("-b -n 1 -o json -d 1%s", ways[i].args));
		for (size_t i = 0; i < n; i++) {
			check_sample(&ways[i]);
			enough &= ways[i].looked >= SAMPLES_LOOKED_AT;
		}
		seen++;
	}
	for (size_t i = 0; i < n; i++)
		print_message("# %u of %u samples without others in the way%s\n", ways[i].looked,
			      seen, ways[i].args);
}

/* The machine, when the test does nothing but look. */
E2E_TEST(test_quiet)
{
	struct way ways[] = { { .args = "" }, { .args = " --source procfs" } };

	e2e_require();
	check_nothing(ways, ARRAY_SIZE(ways));
}

/* The same, traced: waits for work to do are none. */
E2E_TEST(test_quiet_traced)
{
	struct way way = { .args = " --trace" };

	e2e_require_bpf();
	check_nothing(&way, 1);
}

/* A hook: a process group of its own, so that all of it can be ended. */
static int lead_group(const char *arg)
{
	(void)arg;
	return setpgid(0, 0);
}

/* An ordinary build, with a job for each CPU. */
E2E_TEST(test_build)
{
	const char *folder = e2e_folder();
	const char *const build[] = {
		"/bin/sh", "-c",
		e2e_format("while :; do make -s -C %s -j %ld && rm -f %s/*.o; done", folder,
			   sysconf(_SC_NPROCESSORS_ONLN), folder),
		NULL
	};
	struct e2e_how how = { .hook = lead_group };
	struct way way = { .args = "" };
	struct e2e_proc p;

	e2e_require();
	write_sources(folder);
	e2e_start(&p, &how, build);
	e2e_sleep(1);
	check_nothing(&way, 1);
	kill(-p.pid, SIGKILL);
	e2e_kill(p.pid);
}
