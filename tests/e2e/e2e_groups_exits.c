// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that ended in the interval, most of them seen by no sample, in their groups. */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORT_LIVED 24
#define SHORT_CPU_NS 20000000U

/* A task that uses some CPU time under a name and ends. */
static void live_shortly(const char *procs, const char *name)
{
	struct timespec used = { 0 };

	prctl(PR_SET_NAME, name);
	if (write_text(procs, "0"))
		_exit(1);
	while (used.tv_sec * 1000000000 + used.tv_nsec < SHORT_CPU_NS)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	_exit(0);
}

/* Dozens of them, one after the other; the CPU time of all, in ns. */
static double spend(const char *procs, const char *name)
{
	struct rusage before, after;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (!pid)
			live_shortly(procs, name);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
	return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
			before.ru_stime.tv_sec) *
		       1e9 +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
			before.ru_stime.tv_usec) *
		       1e3;
}

/* How long a group's members ran, in ns. */
static double run_of(json_t *group)
{
	json_t *run = json_object_get(group, "run_ns");

	return json_is_null(run) ? 0 : (double)member_u64(group, "run_ns");
}

/* Those that ended in the interval belong to it; of a cgroup only if they were seen in it. */
static void check_exits(const char *by, const char *hierarchy, const char *path, const char *name)
{
	const char *procs = e2e_format("%s/cgroup.procs", path), *wanted = name;
	struct e2e_how how = { .cgroup = path };
	pid_t seen = e2e_load(&how, "load_sleepers 1");
	uint64_t members = 0, nowhere = 0, lost = 0, samples = 0;
	struct e2e_result r;
	struct e2e_proc p;
	json_t *sample;
	double run = 0, used, ended;

	assert_true(seen > 0);
	if (!strcmp(by, "cgroup"))
		wanted = e2e_format("/%s", strrchr(path, '/') + 1);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -d 2.5 -o json -g %s "
				      "--cgroup-hierarchy %s",
				      by, hierarchy));
	assert_non_null(e2e_line(&p, 20));
	e2e_kill(seen);
	used = spend(procs, name);
	ended = e2e_wall();
	do {
		json_t *group, *none;

		sample = parse_json_line(e2e_line(&p, 20));
		group = group_of(sample, wanted);
		none = group_of(sample, "(none)");
		nowhere += none ? member_u64(none, "members") : 0;
		lost += member_u64(sample, "exits_lost");
		members += group ? member_u64(group, "members") : 0;
		run += group ? run_of(group) : 0;
		samples++;
	} while (member_real(sample, "time") < ended);
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 30, &r);
	print_message("# %s: %ju members, %.3f of %.3f s run, %ju lost\n", by, members, run / 1e9,
		      used / 1e9, lost);
	assert_int_equal(lost, 0);
	/* One may live, and be seen in its cgroup, while a sample is taken: it counts twice then.
	 */
	if (!strcmp(by, "cgroup")) {
		assert_in_range(members, 2, 2 + 2 * samples);
		assert_true(nowhere >= SHORT_LIVED - samples);
		return;
	}
	assert_in_range(members, SHORT_LIVED, SHORT_LIVED + samples);
	/* Records lack what a task ran since its last tick: 10 ms at most. */
	assert_true(run > SHORT_LIVED * (SHORT_CPU_NS - 10e6));
	assert_true(run < used * 1.02 + 5e6);
}

/* Short-lived tasks are in their command's group, though no sample has seen them. */
E2E_TEST(test_exits)
{
	const char *hierarchy, *path;

	e2e_require();
	path = e2e_quiet_group(__func__, e2e_group_name("exits"), &hierarchy);
	check_exits("command", hierarchy, path, "grp-short-lived");
	check_exits("cgroup", hierarchy, path, "grp-short-lived");
}

/* And in their user's. */
E2E_TEST(test_exits_of_user)
{
	struct e2e_proc p;
	struct e2e_result r;
	uint64_t members = 0;
	uid_t uid = 54321;

	e2e_require();
	e2e_start_stalltop(&p, NULL, "-b -n 3 -d 2 -o json -g user");
	assert_non_null(e2e_line(&p, 20));
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (!pid)
			_exit(setuid(uid) != 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		json_t *group = group_of(parse_json_line(e2e_line(&p, 20)), "54321");

		members += group ? member_u64(group, "members") : 0;
	}
	e2e_finish(&p, 30, &r);
	assert_in_range(members, SHORT_LIVED, SHORT_LIVED + 2);
}

/* Where all is restricted to a group, who ended before his group was read is counted in a note. */
E2E_TEST(test_unknown)
{
	struct e2e_proc p;
	struct e2e_result r;

	e2e_require();
	e2e_start_stalltop(&p, NULL, "-b -n 2 -d 1 -o json --cgroup /");
	assert_non_null(e2e_line(&p, 20));
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	assert_non_null(note_of(parse_json_line(e2e_line(&p, 20)), "group-unknown"));
	e2e_finish(&p, 30, &r);
}
