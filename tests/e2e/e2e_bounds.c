// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for storage that the pressure of a task's own group rules out. Since 6.12 the kernel books
 * them from stale stamps, and beside a group whose tasks do wait the machine's pressure allows all.
 */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READERS 3
#define INTERVALS 8

/* What pressure does not tell of a second: see PRESSURE_TICK_NS in resolve.c; and of the test's own
 * readings. */
#define SLACK_NS 60e6

static pid_t readers[READERS];
static char quiet[300];

/* For how many ns a task of the group waited for storage so far. */
static double stalled_ns(void)
{
	const char *path = e2e_format("%s/io.pressure", quiet), *total;
	char text[256];

	if (read_text(path, text, sizeof(text)))
		e2e_skip("no pressure of groups");
	total = strstr(text, "total=");
	assert_non_null(total);
	return atof(total + strlen("total=")) * 1e3;
}

/* Groups: of one all wait for the disk and for CPUs, of the other some read seldom, and compute. */
static void start_loads(const char *test)
{
	static const unsigned computes_us[READERS] = { 20000, 20000, 5000 };
	char noisy[300];
	struct e2e_how how = { .cgroup = noisy };

	e2e_need_test(test, box_group("v2", e2e_group_name("noisy"), noisy, sizeof(noisy)),
		      "no cgroups of v2");
	e2e_need_test(test, box_group("v2", e2e_group_name("quiet"), quiet, sizeof(quiet)),
		      "no cgroups of v2");
	stalled_ns();
	assert_true(e2e_load(&how, "load_io %s", e2e_folder()) > 0);
	how.cgroup = quiet;
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = e2e_load(&how, "load_own -r 300 -c %u read %s/direct", computes_us[i],
				      e2e_folder());
		assert_true(readers[i] > 0);
	}
}

/*
 * The most that a task of the group can have waited in an interval while the group's tasks did for
 * so long: on every CPU as long as on any other.
 */
static double most_ns(double stalled, double interval_ns)
{
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double root = sqrt(fmin(stalled / interval_ns, 1));

	return cpus * (root / (2 - root) * interval_ns + SLACK_NS);
}

/* Asserts that nothing is shown that cannot be. Returns how many figures were left out. */
static unsigned check_shown(const struct e2e_result *live, double stalled, double *shown)
{
	struct samples s;
	unsigned unknown = 0;

	parse_json(live, &s);
	assert_int_equal(s.n, INTERVALS);
	/* A group is read in the first interval in which its tasks were booked anything. */
	for (size_t n = 2; n < s.n; n++) {
		double interval_ns = member_real(s.v[n], "interval") * 1e9;

		for (unsigned i = 0; i < READERS; i++) {
			json_t *waited = json_object_get(
				json_object_get(task_must(s.v[n], readers[i]), "waited"), "blkio");
			double ns = (double)json_integer_value(waited);

			unknown += json_is_null(waited);
			*shown += ns;
			if (ns > most_ns(stalled, interval_ns))
				fail_msg("%zu: reader %u is shown with %.0f ms, all of its group's "
					 "waited for %.0f in all samples",
					 n, i, ns / 1e6, stalled / 1e6);
		}
		if (unknown)
			assert_non_null(note_of(s.v[n], "stale-stamp"));
	}
	return unknown;
}

/*
 * By a source: while it is recorded, and again as it was recorded. counts: it tells of short waits,
 * by which groups are found. options: further ones, for the recording.
 */
static void check_source(const char *source, bool counts, const char *options)
{
	static unsigned number;
	const char *path = e2e_format("%s/bounds-%u.db", e2e_folder(), number++);
	const char *shown = e2e_format("-o json -p %d,%d,%d", (int)readers[0], (int)readers[1],
				       (int)readers[2]);
	struct e2e_result live, again;
	double stalled = stalled_ns(), ns = 0;
	unsigned unknown;

	guard_push(UNDO_UNLINK, path, NULL);
	e2e_run(&live, NULL, "-b -n %d -d 1 --source %s -w %s %s%s", INTERVALS, source, path, shown,
		options);
	assert_int_equal(live.status, 0);
	stalled = stalled_ns() - stalled;
	if (counts) {
		unknown = check_shown(&live, stalled, &ns);
		printf("# %s: %u figures were left out, and %.0f ms shown; the group's tasks "
		       "waited for %.0f\n",
		       source, unknown, ns / 1e6, stalled / 1e6);
	}
	e2e_run(&again, NULL, "-b -R %s %s", path, shown);
	assert_int_equal(again.status, 0);
	assert_string_equal(again.out.data, live.out.data);
}

E2E_TEST(test_own_group)
{
	e2e_require();
	start_loads(__func__);
	check_source("taskstats", true, "");
	/* What limits waits is the machine's pressure, too, which is not shown then. */
	check_source("taskstats", true, e2e_format(" --cgroup %s", strrchr(quiet, '/')));
	check_source("procfs", false, "");
}

E2E_TEST(test_own_group_bpf)
{
	e2e_require_bpf();
	start_loads(__func__);
	check_source("bpf", true, "");
}
