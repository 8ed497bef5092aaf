// SPDX-License-Identifier: GPL-2.0-or-later
/* Pressure that --when names, told of on the screen: as it begins, and when its group goes. */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPINNERS 3

/* The bells that rang. */
static int bells(struct screen *s)
{
	size_t len;
	const char *output = screen_output(s, &len);
	int n = 0;

	for (size_t i = 0; i < len; i++)
		n += output[i] == '\a';
	return n;
}

/* A task in a group that wants CPU 0 for itself. */
static pid_t spin(const char *group)
{
	cpu_set_t cpu;
	pid_t pid = fork();

	if (pid)
		return scratch_child(pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    write_text(scratch_format("%s/cgroup.procs", group), "0"))
		_exit(1);
	for (;;)
		;
}

/* Starts with a trigger of the configuration, and the bell. */
static struct screen *start_by_config(const char *name)
{
	struct screen *s;

	mkdir(scratch_path("stalltop"), 0755);
	scratch_file(scratch_path("stalltop/config"),
		     scratch_format("when = cgroup:%s cpu some 500ms/2s\nbell = yes\n", name));
	s = screen_start(&(struct screen_how){ .rows = 30, .cols = 120, .args = "-d 60" });
	screen_await(s, table_has_figures, NULL);
	return s;
}

/* Starts with a trigger of the command line, where single spaces part the words. */
static struct screen *start_by_option(const char *name)
{
	struct screen *s = screen_start(&(struct screen_how){
		.rows = 30,
		.cols = 120,
		.config_home = "/nonexistent",
		.args = scratch_format("-d 60 --when cgroup:%s\tcpu\tsome\t500ms/2s", name) });

	screen_await(s, table_has_figures, NULL);
	return s;
}

/* Begins, goes on, and its group goes. */
static void check_watch(const char *path, const char *name)
{
	struct screen *s = start_by_config(name), *quiet = start_by_option(name);
	const char *told = scratch_format("pressure: cgroup:%s cpu some 500ms/2s", name);
	pid_t load[SPINNERS];

	screen_pump(s, 3);
	screen_check(s, !screen_shows(s, "pressure: "));
	assert_int_equal(bells(s), 0);
	for (int i = 0; i < SPINNERS; i++)
		load[i] = spin(path);
	screen_await(s, screen_has, told);
	screen_pump(s, 0.2);
	assert_int_equal(bells(s), 1);
	screen_await_text(quiet, "pressure: cgroup:");
	assert_int_equal(bells(quiet), 0);
	/* Told once: the footer comes back, and stays while it goes on. */
	screen_await_no_text(s, "pressure: ");
	screen_pump(s, 5);
	screen_check(s, !screen_shows(s, "pressure: "));
	assert_int_equal(bells(s), 1);
	for (int i = 0; i < SPINNERS; i++)
		scratch_kill(load[i]);
	assert_int_equal(rmdir(path), 0);
	screen_await_text(s, "no longer exists, so not watched any more: cgroup:");
	/* All notes. */
	screen_type(s, " n");
	screen_await_text(s, "1 cgroup named by --when no longer exists");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 3), 0);
	screen_check_restored(s);
}

/* A group with CPU pressure. */
SCREEN_TEST(tells_of_pressure)
{
	char path[300];
	const char *name;
	int err;

	if (geteuid())
		scratch_skip("not root");
	assert_int_equal(guard_start(), 0);
	err = box_unified_group(path, sizeof(path), &name);
	if (err == -EOPNOTSUPP)
		scratch_skip("no cgroup v2");
	assert_int_equal(err, 0);
	check_watch(path, name);
	guard_undo(0);
}

/* What the kernel does not watch is said before the screen is taken over. */
SCREEN_TEST(tells_what_cannot_be)
{
	struct screen *s;

	s = screen_start(&(struct screen_how){
		.cols = 120, .args = "--when cgroup:no/such\tcpu\tsome\t500ms/2s" });
	assert_int_equal(screen_end(s, 5), 1);
	screen_check(s, screen_shows(s, "no such group") ||
				screen_shows(s, "cgroup v2 is not mounted"));
	screen_check(s, !screen_in_alt(s));
}
