// SPDX-License-Identifier: GPL-2.0-or-later
/* What limits of control groups do to their tasks, and that the screen says so. */
#include "tests/lib/box.h"
#include "tests/lib/crowd.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new group of the test's in a hierarchy: its directory. */
static const char *make_group(const char *test, const char *hierarchy, const char *name)
{
	char path[300];

	if (box_group(hierarchy, scratch_ours(name), path, sizeof(path)))
		scratch_skip_test(test, scratch_format("no cgroups of %s", hierarchy));
	return scratch_format("%s", path);
}

/* Writes one of its files. */
static void set(const char *group, const char *file, const char *text)
{
	assert_int_equal(write_text(scratch_format("%s/%s", group, file), text), 0);
}

/* Puts a task there. */
static void put(const char *group, pid_t pid)
{
	set(group, "cgroup.procs", scratch_format("%d", (int)pid));
}

/*
 * A task that wants all of a CPU in a group that gets a hundredth of one: its share is more, also
 * where all CPUs are wanted by many others.
 */
static pid_t make_throttled(const char *test)
{
	char group[300];
	pid_t pid;

	if (box_quota(scratch_ours("crowd-cage"), "1000", group, sizeof(group)))
		scratch_skip_test(test, "no CPU limits of groups");
	pid = crowd_spinner("crowd-caged", 0);
	put(group, pid);
	return pid;
}

/* The line of the test's group, whose name is the last word; -1: none. */
static int cage_line(struct screen *s)
{
	const char *name = scratch_ours("crowd-cage");
	struct table t;

	if (!table_read(s, &t))
		return -1;
	for (int line = t.first; line <= t.last; line++) {
		const char *text = screen_line(s, line);
		size_t len = strlen(text), n = strlen(name);

		if (len >= n && !strcmp(text + len - n, name))
			return line;
	}
	return -1;
}

/* The group is there, and was throttled for most of the interval. */
static bool shows_throttled(struct screen *s, const void *arg)
{
	struct table t;

	(void)arg;
	return table_read(s, &t) && table_head(&t, "THROT") && cage_line(s) >= 0 &&
	       table_number(s, &t, cage_line(s), "THROT") > 40;
}

/* By itself, on the smallest usual screen: the group waits for its limit, not for the machine. */
SCREEN_ROOT_TEST(shows_throttling)
{
	struct screen *s;

	make_throttled(__func__);
	s = screen_start(&(struct screen_how){
		.cols = 120, .args = "-g cgroup --cgroup-hierarchy cpu -d 0.5 -m ^crowd" });
	screen_await(s, shows_throttled, NULL);
	screen_await_text(s, "of the time by a quota of 0.01 CPUs");
	screen_resize(s, 24, 80);
	screen_await(s, shows_throttled, NULL);
}

/* The title names another hierarchy than v1 cpu. */
static bool left_cpu(struct screen *s, const void *arg)
{
	(void)arg;
	return screen_shows(s, "by cgroup (") && !screen_shows(s, "by cgroup (v1 cpu)") &&
	       table_has_figures(s, NULL);
}

/* G goes from hierarchy to hierarchy, and comes to the first again. */
SCREEN_ROOT_TEST(changes_hierarchy)
{
	struct screen *s;
	int presses = 0;

	make_throttled(__func__);
	s = screen_start(&(struct screen_how){
		.cols = 120, .args = "-g cgroup --cgroup-hierarchy cpu -d 0.3 -m ^crowd" });
	screen_await_text(s, "by cgroup (v1 cpu");
	screen_await(s, shows_throttled, NULL);
	screen_type(s, "G");
	screen_await(s, left_cpu, NULL);
	screen_check(s, cage_line(s) < 0);
	/* Where no group has such figures there is no column of nothing. */
	screen_check(s, table_lacks_head(s, "THROT"));
	for (; presses < 20 && cage_line(s) < 0; presses++) {
		screen_type(s, "G");
		screen_await(s, table_has_figures, NULL);
		screen_settle(s);
	}
	screen_check(s, screen_shows(s, "by cgroup (v1 cpu"));
	screen_await(s, shows_throttled, NULL);
	/* Rows that are no cgroups are in no hierarchy. */
	screen_type(s, "gG");
	screen_await_text(s, "only cgroups have hierarchies");
}

/* The detail says how much of the interval the task's group was throttled. */
static bool says_throttled(struct screen *s, const void *arg)
{
	int line = screen_find(s, "its cgroup is throttled ", 0);

	(void)arg;
	return line >= 0 && atof(strstr(screen_line(s, line), "throttled ") + 10) > 40;
}

/* The detail of a process names its limits, whichever hierarchies they are in. */
SCREEN_ROOT_TEST(details_limits)
{
	const char *group, *line;
	struct screen *s;
	pid_t pid;

	pid = make_throttled(__func__);
	group = make_group(__func__, "memory", "crowd-room");
	set(group, "memory.limit_in_bytes", "67108864");
	put(group, pid);
	s = screen_start(&(struct screen_how){ .args = "-d 0.5 -m ^crowd" });
	screen_await(s, table_has_name, "crowd-caged");
	screen_type(s, "v");
	screen_await(s, says_throttled, NULL);
	line = screen_line(s, screen_find(s, "its cgroup is throttled ", 0));
	screen_check(s, strstr(line, scratch_ours("% (quota 1 %, cgroup /crowd-cage)")));
	line = screen_line(s, screen_find(s, "its cgroup uses ", 0));
	screen_check(s, strstr(line, " of 64.0 MiB of memory ("));
	screen_check(s, strstr(line, scratch_ours("% of its limit, cgroup /crowd-room)")));
	/* They go when the limits do. */
	set(group, "memory.limit_in_bytes", "-1");
	screen_await_no_text(s, "its cgroup uses");
	screen_await(s, says_throttled, NULL);
	/* They are of the sample that is shown: one of the past has its own. */
	for (unsigned i = 0; i < 10 && !screen_shows(s, "its cgroup uses"); i++) {
		screen_type(s, "[");
		screen_settle(s);
	}
	screen_check(s, screen_shows(s, "of 64.0 MiB of memory ("));
}
