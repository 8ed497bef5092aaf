// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits while they last: tasks that hang, for what the kernel books at the end and for what it
 * books nowhere, are there in each interval, whichever way the counters come.
 */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *const sources[] = { "taskstats", "procfs", "bpf" };

/* What was waited of a kind in the interval, in ns. */
static uint64_t waited(json_t *task, const char *kind)
{
	return member_u64(json_object_get(task, "waited"), kind);
}

/* Starts a load of which a thread hangs, once it does. */
static pid_t start_hanging(const char *load)
{
	pid_t pid = e2e_load(NULL, "load_hang %s", load);

	assert_true(pid > 0);
	e2e_await_hang(pid);
	return pid;
}

/* The samples of a process by a source; false where that cannot be had. */
static bool samples_of(const char *source, pid_t pid, const char *options, struct samples *s)
{
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -o json --source %s -p %d %s", source, (int)pid, options);
	if (r.status)
		return false;
	parse_json(&r, s);
	return true;
}

/* Asserts that the task hung for so many threads of the whole interval. */
static void check_hangs(json_t *task)
{
	double interval = member_real(task, "interval") * 1e9;
	json_t *waiting = json_object_get(task, "waiting");

	assert_in_range(waited(task, "dwait"), (uint64_t)(interval * 0.98),
			(uint64_t)(interval * 1.01));
	assert_int_equal(waited(task, "blkio"), 0);
	assert_true(json_is_object(waiting));
	assert_string_equal(member_text(waiting, "state"), "dwait");
	assert_true((double)member_u64(waiting, "ns") >= interval * 0.98);
}

/* A task that hung before the program began has waited for all of each interval. */
E2E_TEST(test_hold)
{
	pid_t pid;

	e2e_require();
	pid = start_hanging("hold");
	for (unsigned i = 0; i < 3; i++) {
		struct samples s;

		if (!samples_of(sources[i], pid, "-n 3 -d 0.3", &s))
			continue;
		assert_int_equal(s.n, 3);
		for (size_t n = 0; n < s.n; n++) {
			json_t *task = task_must(s.v[n], pid);

			check_hangs(task);
			assert_int_equal(kind_value(task, "delta", "cpu", "ns"), 0);
			assert_string_equal(text_or_none(task, "state"), "D");
		}
	}
}

/* One thread of many hangs: so does its process, and its own row of threads. */
E2E_TEST(test_one_of_many)
{
	pid_t pid;

	e2e_require();
	pid = start_hanging("threads 200");
	for (unsigned i = 0; i < 3; i++) {
		struct samples s;
		unsigned hung = 0;
		json_t *task;
		size_t n;

		if (!samples_of(sources[i], pid, "-n 2 -d 0.3", &s))
			continue;
		check_hangs(task_must(s.v[1], pid));
		assert_true(samples_of(sources[i], pid, "-H -n 2 -d 0.3", &s));
		assert_int_equal(json_array_size(json_object_get(s.v[1], "tasks")), 200);
		json_array_foreach(json_object_get(s.v[1], "tasks"), n, task)
		{
			if (json_is_null(json_object_get(task, "waiting")))
				continue;
			check_hangs(task);
			hung++;
		}
		assert_int_equal(hung, 1);
	}
}

/* It is no idle task, it is worth a filter, and it is in the sums. */
E2E_TEST(test_filters)
{
	pid_t pid;

	e2e_require();
	pid = start_hanging("hold");
	for (unsigned i = 0; i < 3; i++) {
		struct samples s;
		json_t *group;

		if (!samples_of(sources[i], pid, "-n 1 -d 0.3 -i --over 250", &s))
			continue;
		check_hangs(task_must(s.v[0], pid));
		assert_true(samples_of(sources[i], pid, "-n 1 -d 0.3 -g command", &s));
		/* Its own interval may be another by as much as a sample takes. */
		group = group_of(s.v[0], "load_hang");
		assert_non_null(group);
		assert_in_range(waited(group, "dwait"),
				(uint64_t)(member_real(s.v[0], "interval") * 0.85e9),
				(uint64_t)(member_real(s.v[0], "interval") * 1.15e9));
		assert_true(samples_of(sources[i], pid, "-n 1 -d 0.3 --over 5000", &s));
		assert_null(task_of(s.v[0], pid));
	}
}

/* What passed of long waits is shown, but for what passed after the last look at each. */
static void check_waits(const char *source, unsigned unseen)
{
	struct watch watch;
	struct load load;
	uint64_t shown = 0, longest = 0;

	assert_non_null(load_start_program(&load, "load_hang", "waits", 6, 500));
	watch_start(&watch, NULL, e2e_format("-d 0.1 --source %s -p %d", source, (int)load.p.pid));
	load_go(&load, &watch);
	watch_past(&watch);
	watch_end(&watch);
	for (size_t n = 0; n < watch.n; n++) {
		json_t *task = task_must(watch.v[n], load.p.pid);
		double interval = member_real(task, "interval") * 1e9;

		assert_true((double)waited(task, "dwait") <= interval * 1.01 + 1e6);
		shown += waited(task, "dwait");
		longest = interval > (double)longest ? (uint64_t)interval : longest;
	}
	load_end(&load);
	printf("# %s: %" PRIu64 " of %" PRIu64 " us, in intervals of up to %" PRIu64 " us\n",
	       source, shown / 1000, load.took_ns / 1000, longest / 1000);
	assert_true(shown <= load.took_ns + load.took_ns / 20);
	assert_true(shown + unseen * (longest + 15000000) >= load.took_ns);
}

/* Six ends, and where only samples tell six begins, each within an interval. */
E2E_TEST(test_waits)
{
	struct e2e_result r;

	e2e_require();
	for (unsigned i = 0; i < 3; i++) {
		e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source %s", sources[i]);
		if (!r.status)
			check_waits(sources[i], i == 2 ? 6 : 12);
	}
}

/*
 * Of CPU waits nothing is lost and nothing doubled: what was waited in all intervals is what was
 * booked in them and what is still in progress.
 */
E2E_TEST(test_conserved)
{
	struct samples s;
	uint64_t sum = 0, booked;
	json_t *first, *last, *waiting;
	double open = 0;
	pid_t pid;

	e2e_require_bpf();
	pid = e2e_load(NULL, "load_kind -d %s -w 3 cpu", e2e_folder());
	assert_true(pid > 0);
	assert_true(samples_of("bpf", pid, "-H -n 60 -d 0.05", &s));
	first = json_array_get(json_object_get(s.v[0], "tasks"), 0);
	pid = (pid_t)member_u64(first, "pid");
	for (size_t n = 0; n < s.n; n++) {
		json_t *task = task_must(s.v[n], pid);

		assert_true((double)waited(task, "cpu") <=
			    member_real(task, "interval") * 1.01e9 + 1e6);
		if (n)
			sum += waited(task, "cpu");
	}
	last = task_must(s.v[s.n - 1], pid);
	booked = kind_value(last, "cumulative", "cpu", "ns") -
		 kind_value(first, "cumulative", "cpu", "ns");
	waiting = json_object_get(last, "waiting");
	open += json_is_null(waiting) ? 0 : (double)member_u64(waiting, "ns");
	waiting = json_object_get(first, "waiting");
	open -= json_is_null(waiting) ? 0 : (double)member_u64(waiting, "ns");
	/* Clocks of CPUs differ by some 0.1 ms, a reading takes as long. */
	assert_true(fabs((double)sum - (double)booked - open) <= (double)booked * 0.01 + 2e6);
	assert_true(booked > UINT64_C(500000000));
}

/* A group whose direct reads of 4 KiB take 2 s each; skips the test where that cannot be had. */
static const char *throttled_group(const char *test)
{
	static char path[256];
	struct stat st;
	const char *file;

	e2e_need_test(test, box_group("blkio", e2e_group_name("throttled"), path, sizeof(path)),
		      "no v1 hierarchy of blkio");
	assert_int_equal(stat(e2e_folder(), &st), 0);
	file = e2e_format("%s/blkio.throttle.read_bps_device", path);
	if (write_text(file, e2e_format("%u:%u 2000", major(st.st_dev), minor(st.st_dev))))
		e2e_skip_test(test, "no disk that can be throttled");
	return path;
}

/* Waits until a whole interval was waited: the first reads are let through at once. */
static void await_throttling(pid_t pid)
{
	for (unsigned i = 0; i < 20; i++) {
		struct samples s;

		assert_true(samples_of("procfs", pid, "-n 1 -d 0.4", &s));
		if (waited(task_must(s.v[0], pid), "blkio") > UINT64_C(390000000))
			return;
	}
	fail_msg("the reader is not throttled");
}

/*
 * A throttled reader waits all the time, though the kernel books each wait of 2 s when it ends:
 * 0, 0, 0, 2,000 ms. What was waited is what was booked and what is in progress.
 */
E2E_TEST(test_throttled)
{
	const char *group;
	pid_t pid;

	e2e_require();
	group = throttled_group(__func__);
	pid = e2e_load(NULL, "load_kind -d %s -w 1 blkio", e2e_folder());
	assert_true(pid > 0);
	assert_int_equal(write_text(e2e_format("%s/cgroup.procs", group), e2e_format("%d", pid)),
			 0);
	await_throttling(pid);
	for (unsigned i = 0; i < 3; i++) {
		struct samples s;
		unsigned whole = 0, wrong = 0;

		if (!samples_of(sources[i], pid, "-n 8 -d 0.4", &s))
			continue;
		for (size_t n = 0; n < s.n; n++) {
			json_t *task = task_must(s.v[n], pid);
			double interval = member_real(task, "interval") * 1e9;

			/* Nothing rules out that both threads waited. */
			assert_true((double)waited(task, "blkio") <= 2 * interval * 1.01);
			wrong += (double)waited(task, "blkio") > interval * 1.05;
			whole += (double)waited(task, "blkio") >= interval * 0.9;
		}
		/* Kernels from 6.12 book a wait from a stale beginning where a CPU is wanted. */
		assert_true(wrong <= 1);
		/* The throttle lets a read through now and then. */
		assert_true(whole + 2 >= s.n);
	}
}
