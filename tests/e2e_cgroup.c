// SPDX-License-Identifier: GPL-2.0-or-later
/* Cgroups on the real kernel: whose group is shown, and what the kernel says of one. */
#include "config.h"

#include "guard.h"
#include "parse.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new group of the v1 hierarchy of one of two controllers; skips the test without one. */
static const char *make_group(const char **name)
{
	static const char *const names[] = { "freezer", "pids" };
	const char *path = NULL;
	struct mntent *mount;
	FILE *f = setmntent("/proc/self/mounts", "re");
	static unsigned n;

	while (f && !path && (mount = getmntent(f)))
		for (unsigned i = 0; i < 2 && !path; i++)
			if (!strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, names[i])) {
				path = e2e_format("%s/stalltop-test-%d-%u", mount->mnt_dir,
						  (int)getpid(), n++);
				*name = names[i];
			}
	if (f)
		endmntent(f);
	if (!path)
		e2e_skip("no v1 hierarchy of freezer or pids");
	guard_push(UNDO_CGROUP, path, NULL);
	if (mkdir(path, 0755))
		e2e_skip("no cgroup may be made");
	return path;
}

/* What the cgroup column of a task must show; NULL: nothing. */
static void assert_group(const char *options, pid_t pid, const char *expected)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -o json -F pid,cgroup -p %d %s", (int)pid, options);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	assert_string_equal(member_text(task_must(s.v[0], pid), "cgroup"), expected);
}

/* A task's group in the hierarchy that is asked for, by every source; after a move, too. */
static void test_shown(void **state)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	const char *controller = NULL, *path = make_group(&controller);
	struct e2e_how how = { .cgroup = path };
	pid_t pid;

	(void)state;
	e2e_require();
	pid = e2e_load(&how, "load_sleepers 1");
	assert_true(pid > 0);
	for (unsigned i = 0; i < 3; i++) {
		struct e2e_result r;

		e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source %s", sources[i]);
		if (r.status)
			continue;
		assert_group(e2e_format("--source %s --cgroup-hierarchy %s", sources[i],
					controller), pid, strrchr(path, '/'));
	}
	assert_group("--cgroup-hierarchy v2", pid, "/");
	e2e_kill(pid);
}

/* The group of a task in the next sample. */
static const char *next_group(struct e2e_proc *p, pid_t pid)
{
	const char *line = e2e_line(p, 20);

	assert_non_null(line);
	return member_text(task_must(parse_json_line(line), pid), "cgroup");
}

/* Who is moved asleep, to another group of v1, is there in the next sample of the bpf source. */
static void test_moved(void **state)
{
	const char *controller = NULL, *path = make_group(&controller);
	struct e2e_result r;
	struct e2e_proc p;
	pid_t pid;

	(void)state;
	e2e_require();
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source bpf");
	if (r.status)
		e2e_skip("no bpf source");
	pid = e2e_load(NULL, "load_sleepers 1");
	assert_true(pid > 0);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -n 8 -d 0.5 -o json -F pid,cgroup --source bpf "
				      "--cgroup-hierarchy %s", controller));
	for (int i = 0; i < 3; i++)
		assert_string_equal(next_group(&p, pid), "/");
	assert_int_equal(write_text(e2e_format("%s/cgroup.procs", path),
				    e2e_format("%d", (int)pid)), 0);
	/* One sample may be under way. */
	next_group(&p, pid);
	assert_string_equal(next_group(&p, pid), strrchr(path, '/'));
	e2e_finish(&p, 30, &r);
	e2e_kill(pid);
}

/* A hierarchy that there is not: one line that names those that there are. */
static void test_unknown(void **state)
{
	static const char *const modes[] = { "-b -n 1 -d 0.1", "-b -n 1 -F pid", "-- true" };
	struct e2e_result r;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		e2e_run(&r, NULL, "--cgroup-hierarchy no-such %s", modes[i]);
		assert_int_equal(r.status, 2);
		assert_int_equal(r.out.len, 0);
		assert_non_null(strstr(r.err.data, "--cgroup-hierarchy: there is no 'no-such' "
					"here; there are: "));
		assert_ptr_equal(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(test_shown),
		e2e_test(test_moved),
		e2e_test(test_unknown),
	};

	return cmocka_run_group_tests_name("e2e_cgroup", tests, e2e_group_setup,
					   e2e_group_teardown);
}
