// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flight recorder (--before): nothing is written until something happens, then what was before
 * it and after it; also while memory is short.
 */
#include "tests/lib/box.h"
#include "tests/lib/parse.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Starts to record into a folder when something happens; NULL: only when it is asked to. */
static void start(struct e2e_proc *p, const struct e2e_how *how, const char *folder,
		  const char *options, const char *when)
{
	const char *argv[32] = { e2e_stalltop(), "-w", folder };
	char *rest = e2e_format("%s", options);
	size_t n = 3;

	while (rest && *rest && n < 28)
		argv[n++] = strsep(&rest, " ");
	if (when) {
		argv[n++] = "--when";
		argv[n++] = when;
	}
	e2e_start(p, how, argv);
}

/* How many entries of a folder end in that; -1: there is no folder. */
static int count_files(const char *folder, const char *ending)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int n = 0;

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name), end = strlen(ending);

		n += len > end && !strcmp(entry->d_name + len - end, ending);
	}
	closedir(dir);
	return n;
}

/* Waits until the folder has more closed files than that, and for a while none that is open. */
static void await_closed(const char *folder, int more_than)
{
	double end = e2e_now() + 30;

	for (unsigned quiet = 0; quiet < 10; e2e_sleep(0.05)) {
		bool closed =
			count_files(folder, ".db") > more_than && !count_files(folder, "-wal");

		quiet = closed ? quiet + 1 : 0;
		if (e2e_now() > end)
			fail_msg("%s: %d closed segments, %d others", folder,
				 count_files(folder, ".db"), count_files(folder, "-wal"));
	}
}

/* The times of a folder's samples, as a replay tells them. */
static size_t read_times(const char *folder, double *times, size_t most)
{
	struct e2e_result r;
	struct samples s;
	size_t n = 0;

	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	if (r.status)
		fail_msg("-R %s: %s", folder, r.err.data);
	parse_json(&r, &s);
	for (; n < s.n && n < most; n++)
		times[n] = json_number_value(json_object_get(s.v[n], "time"));
	return n;
}

/* A signal has it write what it kept and what comes, without a hole; then it waits again. */
E2E_TEST(test_asked)
{
	const char *folder = e2e_path("asked");
	static double times[1000];
	struct e2e_result r;
	struct e2e_proc p;
	double asked;
	size_t n, before = 0, after = 0;
	int files;

	e2e_require();
	start(&p, NULL, folder, "-d 0.1 --before 3s --linger 1", NULL);
	/* It keeps samples from then on. */
	e2e_await_caught(p.pid, SIGUSR1);
	e2e_sleep(5);
	assert_int_equal(count_files(folder, ".db"), 0);
	asked = e2e_wall();
	kill(p.pid, SIGUSR1);
	await_closed(folder, 0);
	n = read_times(folder, times, 1000);
	for (size_t i = 0; i < n; i++) {
		before += times[i] < asked;
		after += times[i] > asked;
		/* What waits in memory comes to the file in order, and all of it. */
		if (i && times[i] - times[i - 1] > 1)
			fail_msg("a hole of %.1f s at %.1f", times[i] - times[i - 1],
				 times[i] - asked);
	}
	if (times[0] > asked - 2.5 || times[0] < asked - 4.3 || before < 15 || after < 5)
		fail_msg("%zu samples before, from %.1f s, %zu after", before, asked - times[0],
			 after);
	assert_true(times[n - 1] < asked + 8);
	files = count_files(folder, ".db");
	kill(p.pid, SIGUSR1);
	await_closed(folder, files);
	assert_true(read_times(folder, times, 1000) > n + 5);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.err.data, "SIGUSR1"));
	/* No more than was asked for, whatever it takes to begin with. */
	assert_non_null(strstr(r.err.data, "recording from 3 s before the event"));
}

/* Between two incidents nothing is known: the first sample of the second has no interval. */
E2E_TEST(test_apart)
{
	const char *folder = e2e_path("apart");
	struct e2e_result r;
	struct e2e_proc p;
	struct samples s;
	int files;

	e2e_require();
	start(&p, NULL, folder, "-d 0.1 --before 1s --linger 0.3", NULL);
	e2e_await_caught(p.pid, SIGUSR1);
	e2e_sleep(1);
	kill(p.pid, SIGUSR1);
	await_closed(folder, 0);
	e2e_sleep(4);
	files = count_files(folder, ".db");
	kill(p.pid, SIGUSR1);
	await_closed(folder, files);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	e2e_run(&r, NULL, "-b -o json -r 1 -R %s", folder);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++)
		assert_true(json_number_value(json_object_get(s.v[i], "interval")) < 2);
	assert_true(json_number_value(json_object_get(s.v[s.n - 1], "time")) -
			    json_number_value(json_object_get(s.v[0], "time")) >
		    4);
}

/* The recording of a hang has the task that hangs, from before it was that old. */
E2E_TEST(test_hang)
{
	const char *folder = e2e_path("hang");
	struct e2e_result r;
	struct e2e_proc p;
	struct samples s;
	size_t shown = 0;
	char rest[64];
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_hang hold");
	assert_true(pid > 0);
	/* Others may hang, too; and it may take a while to start beside them. */
	snprintf(rest, sizeof(rest), "-d 0.2 --before 10s --linger 1 -p %d", (int)pid);
	start(&p, NULL, folder, rest, "hang 6s");
	await_closed(folder, 0);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_non_null(strstr(r.err.data, "hang 6s"));
	e2e_run(&r, NULL, "-b -o json -p %d -R %s", (int)pid, folder);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++) {
		const json_t *task = json_array_get(json_object_get(s.v[i], "tasks"), 0);
		const char *now = json_string_value(json_object_get(task, "state"));

		shown += now && *now == 'D';
	}
	if (shown < 5)
		fail_msg("%zu of %zu samples show it: %s", shown, s.n, r.err.data);
}

/* A process is killed for want of memory, in a group that the recorder is in, too. */
E2E_TEST(test_oom)
{
	const char *folder = e2e_path("oom");
	char path[256];
	struct e2e_how how = { .cgroup = path };
	struct e2e_result r;
	struct e2e_proc p;
	struct samples s;
	bool seen = false;
	FILE *score;

	e2e_require();
	e2e_need(box_cgroup(96, path, sizeof(path)), "no memory group");
	start(&p, &how, folder, "-d 0.2 --before 5s --linger 1", "oom");
	e2e_await_caught(p.pid, SIGUSR1);
	/* As a service is told to be (OOMScoreAdjust=). */
	score = fopen(e2e_format("/proc/%d/oom_score_adj", (int)p.pid), "w");
	assert_non_null(score);
	fputs("-900", score);
	fclose(score);
	e2e_sleep(2);
	e2e_start(&(struct e2e_proc){ 0 }, &how,
		  (const char *[]){ "/bin/sh", "-c",
				    "echo 1000 >/proc/self/oom_score_adj; exec tail /dev/zero",
				    NULL });
	await_closed(folder, 0);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.err.data, ": oom"));
	e2e_run(&r, NULL, "-b -o json -R %s", folder);
	assert_int_equal(r.status, 0);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++) {
		const json_t *tasks = json_object_get(s.v[i], "tasks"), *task;
		size_t at;

		json_array_foreach(tasks, at, task) seen |=
			!strcmp(json_string_value(json_object_get(task, "comm")), "tail");
	}
	assert_true(seen);
}

/* What does not go together, and what is no folder. */
E2E_TEST(test_refused)
{
	struct e2e_result r;
	struct e2e_proc p;

	e2e_run(&r, NULL, "-b --before 2m");
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --when oom");
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err.data, "--before"));
	e2e_run(&r, NULL, "-b --before 2x -w %s", e2e_path("x"));
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --before 25h -w %s", e2e_path("x"));
	assert_int_equal(r.status, 2);
	e2e_run(&r, NULL, "-b --before 2m -w %s", "/proc/version");
	assert_int_equal(r.status, 1);
	start(&p, NULL, e2e_path("x"), "--before 2m", "hang soon");
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 2);
}
