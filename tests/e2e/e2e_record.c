// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings: a replay is what was shown while it was recorded, byte for byte. What becomes of
 * files is in e2e_record_file.
 */
#include "tests/lib/parse.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loads of all sorts: tasks that come and go, threads, exec, waits for a disk. */
static void start_loads(void)
{
	e2e_load(NULL, "load_churn forks");
	e2e_load(NULL, "load_churn threads");
	e2e_load(NULL, "load_churn thread-exec 400");
	e2e_load(NULL, "load_kind cpu");
	e2e_load(NULL, "load_churn stuck");
}

/* Fails where a replay is not what was shown. */
static void compare(const struct e2e_result *live, const struct e2e_result *replay,
		    const char *what)
{
	size_t at = 0;

	if (replay->status || replay->err.len)
		fail_msg("-R, %s: status %d: %s", what, replay->status, replay->err.data);
	if (live->out.len == replay->out.len &&
	    !memcmp(live->out.data, replay->out.data, live->out.len))
		return;
	while (live->out.data[at] && live->out.data[at] == replay->out.data[at])
		at++;
	at = at > 300 ? at - 300 : 0;
	fail_msg("%s: the replay differs\n live: %.600s\nagain: %.600s", what, live->out.data + at,
		 replay->out.data + at);
}

/* Records with those options, and shows the recording with those of them that are of the view. */
static void check_same(const char *recorded, const char *shown)
{
	static unsigned number;
	const char *path = e2e_path(e2e_format("same-%u.db", number++));
	struct e2e_result live, replay;

	e2e_run(&live, NULL, "-b -n 4 -d 0.15 -w %s %s %s", path, recorded, shown);
	if (live.status || live.err.len)
		fail_msg("%s %s: status %d: %s", recorded, shown, live.status, live.err.data);
	e2e_run(&replay, NULL, "-b -R %s %s", path, shown);
	compare(&live, &replay, e2e_format("%s %s", recorded, shown));
}

/* All formats and sources. */
E2E_TEST(test_same)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	static const char *const formats[] = { "json", "csv", "text" };

	e2e_require();
	start_loads();
	for (size_t s = 0; s < 3; s++)
		for (size_t f = 0; f < 3; f++) {
			if (!strcmp(sources[s], "bpf"))
				e2e_require_bpf();
			check_same(e2e_format("--source %s", sources[s]),
				   e2e_format("-o %s", formats[f]));
		}
}

/* What is read on demand, threads, groups, figures since the start. */
E2E_TEST(test_same_options)
{
	e2e_require();
	start_loads();
	check_same("--source auto", "-H -o json");
	check_same("--source auto", "-o json -F nvcsw,read,cuser,command,cgroup,cpu-nr");
	check_same("--source procfs", "-o csv -H -F command,cpu-nr");
	check_same("--source auto", "-o text -U max -s write -F +write,+ac_majflt");
	check_same("--source auto", "-g cgroup -o text");
	check_same("--source auto", "-g cgroup -o json -F psi-cpu,throttled");
	check_same("--source auto", "-g user -o csv");
	check_same("--source auto", "-r 0 -o json");
	check_same("--source auto", "-r 0 -o text");
	check_same("--source auto", "-r 0 -o json -g cgroup --trace");
	check_same("--source auto", "-o json -F trend -s trend");
	check_same("-x", "-o json");
	check_same("--source auto", "--since-start -o json");
}

/* A recording of one group shows that group's tasks, unless another is asked for. */
E2E_TEST(test_same_group)
{
	const char *name = e2e_group_name("recorded"), *hierarchy, *path;
	struct e2e_how how = { 0 };
	struct e2e_result r;

	e2e_require();
	how.cgroup = e2e_quiet_group(__func__, name, &hierarchy);
	assert_true(e2e_load(&how, "load_kind cpu") > 0);
	check_same(e2e_format("--cgroup /%s --cgroup-hierarchy %s", name, hierarchy), "-o json");
	path = e2e_path("group.db");
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 --cgroup /%s --cgroup-hierarchy %s -w %s", name,
		hierarchy, path);
	e2e_run(&r, NULL, "-b -R %s -o csv", path);
	assert_null(strstr(r.out.data, "kthreadd"));
	e2e_run(&r, NULL, "-b -R %s --cgroup / -o csv", path);
	assert_non_null(strstr(r.out.data, "kthreadd"));
}

/* What is traced: states, sites with their stacks, wakers; with and without room for all sites. */
E2E_TEST(test_same_traced)
{
	static const char *const formats[] = { "json", "csv -F states,waker,s-poll", "text" };
	static const char *const sources[] = { "taskstats", "bpf", "procfs" };

	e2e_require_bpf();
	start_loads();
	e2e_load(NULL, "load_io %s", e2e_folder());
	for (size_t s = 0; s < 3; s++)
		for (size_t f = 0; f < 3; f++)
			check_same(e2e_format("--source %s", sources[s]),
				   e2e_format("--trace -o %s", formats[f]));
	check_same("--trace-sites 256", "--trace -o json");
	check_same("--source auto", "--trace -H -o json");
	check_same("-x", "--trace -o json");
	check_same("--source auto", "--trace -g command -o json -F states,waker");
	check_same("--source auto", "--trace --since-start -o json");
}

/* What was read of who waits on what is recorded, and not read of whoever has its pid now. */
E2E_TEST(test_past)
{
	const char *path = e2e_path("past.db");
	struct e2e_result live, replay;

	e2e_run(&live, NULL, "-b -n 1 -d 0.1 -o json -F pid,syscall,where -p %d -w %s",
		(int)getpid(), path);
	assert_int_equal(live.status, 0);
	assert_non_null(strstr(live.out.data, "\"syscall\":\""));
	e2e_run(&replay, NULL, "-b -o json -F pid,syscall,where -p %d -R %s", (int)getpid(), path);
	assert_int_equal(replay.status, 0);
	assert_string_equal(replay.out.data, live.out.data);
}

/* What the rows of a JSON sample waited for the CPU and ran, added up; the interval, too. */
static void add_up(const struct samples *s, size_t from, size_t n, double *interval, double *run)
{
	*interval = *run = 0;
	for (size_t i = from; i < from + n; i++) {
		const json_t *tasks = json_object_get(s->v[i], "tasks"), *task;
		size_t at;

		*interval += json_number_value(json_object_get(s->v[i], "interval"));
		json_array_foreach(tasks, at, task) *run +=
			json_number_value(json_object_get(task, "run_ns"));
	}
}

/* Coarser intervals are the sums of the finer ones; a number of samples, a start and an end. */
E2E_TEST(test_coarser)
{
	const char *path = e2e_path("coarse.db");
	struct e2e_result fine, coarse, few;
	double interval, run, all, ran;
	struct samples a, b, c;

	e2e_require();
	e2e_load(NULL, "load_kind cpu");
	e2e_run(&fine, NULL, "-b -o json -n 6 -d 0.3 -w %s", path);
	e2e_run(&coarse, NULL, "-b -o json -R %s -d 0.9", path);
	e2e_run(&few, NULL, "-b -o json -R %s -n 2 --from -0s", path);
	assert_int_equal(fine.status + coarse.status + few.status, 0);
	parse_json(&fine, &a);
	parse_json(&coarse, &b);
	assert_int_equal(a.n, 6);
	assert_int_equal(b.n, 2);
	for (size_t i = 0; i < 2; i++) {
		add_up(&a, 3 * i, 3, &interval, &run);
		add_up(&b, i, 1, &all, &ran);
		assert_true(all > interval - 1e-5 && all < interval + 1e-5);
		/* A task that came and went has one row in both. */
		assert_true(ran > run * 0.99 && ran < run * 1.01);
	}
	parse_json(&few, &c);
	assert_true(c.n <= 1);
	e2e_run(&few, NULL, "-b -o json -R %s -n 2", path);
	parse_json(&few, &c);
	assert_int_equal(c.n, 2);
}

/* Shown by nobody, on a machine without privileges and taskstats. */
E2E_TEST(test_elsewhere)
{
	const char *path = e2e_path("mine.db"), *copy = "/tmp/stalltop-e2e-copy.db";
	struct e2e_how how = { .uid = NOBODY, .hook = e2e_no_netlink, .hook_arg = "bpf" };
	struct e2e_result live, replay, r;
	struct e2e_proc p;

	e2e_require();
	e2e_run(&live, NULL, "-b -o json -n 2 -d 0.2 -w %s", path);
	e2e_start(&p, NULL, (const char *[]){ "/bin/cp", path, copy, NULL });
	e2e_finish(&p, 10, &r);
	chmod(copy, 0644);
	e2e_run(&replay, &how, "-b -o json -R %s", copy);
	unlink(copy);
	assert_int_equal(replay.status, 0);
	assert_string_equal(live.out.data, replay.out.data);
}

/* A folder of segments is one recording; old ones go. */
E2E_TEST(test_segments)
{
	const char *folder = e2e_path("segments");
	struct e2e_result live, r;
	glob_t found, again;

	e2e_require();
	start_loads();
	e2e_run(&live, NULL, "-b -o json -n 30 -d 0.2 --keep 16s,100M -w %s", folder);
	assert_int_equal(live.status, 0);
	assert_int_equal(glob(e2e_format("%s/stalltop-*.db*", folder), 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	e2e_run(&r, NULL, "-b -o json -R %s", folder);
	compare(&live, &r, "segments");
	e2e_sleep(5.1);
	e2e_run(&r, NULL, "-b -n 1 -d 0.05 --keep 4s,100M -w %s", folder);
	assert_int_equal(glob(e2e_format("%s/stalltop-*.db*", folder), 0, NULL, &again), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		assert_int_equal(access(found.gl_pathv[i], F_OK), -1);
	globfree(&found);
	globfree(&again);
}
