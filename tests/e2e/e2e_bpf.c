// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The snapshot of all tasks by a program in the kernel says what taskstats says, by either
 * iterator, of processes and of threads, under load.
 */
#include "bpf/snapshot.h"
#include "tests/lib/box.h"
#include "tests/lib/e2e.h"
#include "tests/lib/figures.h"
#include "tests/lib/guard.h"
#include "tests/lib/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8
#define SLEEPERS 300

/* A load of each kind, stopped when its waits have come: idle, with something in each field. */
static const struct {
	const char *kind;
	unsigned int mib; /* of its cgroup */
} stopped[] = {
	{ "cpu", 0 },	   { "blkio", 0 },   { "wpcopy", 0 },	 { "swapin", 64 },
	{ "reclaim", 32 }, { "thrash", 32 }, { "compact", 256 },
};

/* Opens a snapshot, or leaves the test. */
#define open_snapshot(threads, way) open_snapshot_of(__func__, threads, way)
static struct snapshot *open_snapshot_of(const char *test, bool threads, enum snapshot_way way)
{
	struct snapshot *snapshot;
	int err = snapshot_open(&snapshot, threads, way, NULL, NULL);

	if (err == -ENOENT || (err == -EOPNOTSUPP && way == SNAPSHOT_WALK))
		e2e_skip_test(test, "the kernel has no such iterator");
	assert_int_equal(err, 0);
	return snapshot;
}

/* Takes one. */
static void take(struct snapshot *snapshot, struct snapshot_view *view)
{
	assert_int_equal(snapshot_take(snapshot, SNAPSHOT_WHOLE, view), 0);
}

/*
 * Some kernels of virtual machines keep their first process from the iterators: 1, else 0. It must
 * be missing in both, then, or else we lost it.
 */
static pid_t hidden_process(void)
{
	static const enum snapshot_way ways[] = { SNAPSHOT_WALK, SNAPSHOT_EACH };
	bool found[2];

	for (int i = 0; i < 2; i++) {
		struct snapshot *snapshot = open_snapshot(true, ways[i]);
		struct snapshot_view view;

		take(snapshot, &view);
		found[i] = figures_entry(&view, 1) != NULL;
		snapshot_close(snapshot);
	}
	assert_int_equal(found[0], found[1]);
	if (!found[0])
		printf("# the kernel's iterators leave out process 1\n");
	return found[0] ? 0 : 1;
}

/* Starts a load that will stand still. Its pid, 0 where it cannot be made. */
static pid_t start_stopped(size_t i)
{
	char cgroup[300];
	struct e2e_how how = { 0 };
	struct reader_record record;
	pid_t pid;

	if (stopped[i].mib) {
		if (box_cgroup(stopped[i].mib, cgroup, sizeof(cgroup)))
			return 0;
		how.cgroup = cgroup;
	}
	pid = e2e_load(&how, "load_kind -d %s %s", e2e_folder(), stopped[i].kind);
	if (!pid)
		return 0;
	for (unsigned k = 0; k < READER_KINDS; k++)
		if (!strcmp(reader_kind_names[k], stopped[i].kind))
			e2e_await_waits(pid, 1U << k, &record);
	e2e_stop(pid);
	return pid;
}

/* Starts all loads: idle ones with a past, idle ones without, and busy ones. */
static void start_loads(bool *provoked)
{
	box_no_background_compaction();
	box_zram_swap(256);
	for (size_t i = 0; i < sizeof(stopped) / sizeof(stopped[0]); i++)
		provoked[i] = start_stopped(i) != 0;
	assert_true(e2e_load(NULL, "load_sleepers %d", SLEEPERS) > 0);
	assert_true(e2e_load(NULL, "load_churn setuid 1") > 0);
	assert_true(e2e_load(NULL, "load_churn leaderless") > 0);
	assert_true(e2e_load(NULL, "load_churn threads") > 0);
	assert_true(e2e_load(NULL, "load_churn forks") > 0);
	assert_true(e2e_load(NULL, "load_kind -d %s mix", e2e_folder()) > 0);
	e2e_load(NULL, "load_kind -d %s blkio", e2e_folder());
}

/* Whether a load had waits of the field's kind. */
static bool is_provoked(const char *field, const bool *provoked)
{
	for (size_t i = 0; i < sizeof(stopped) / sizeof(stopped[0]); i++)
		if (!strncmp(field, stopped[i].kind, strlen(stopped[i].kind)))
			return provoked[i];
	return strncmp(field, "irq", 3) != 0;
}

/* Notes the fields that would have been missed. */
static void try_without(const struct figures *figures, const struct snapshot_view *view,
			bool *noticed)
{
	for (size_t f = 0; f < figures_fields(); f++)
		noticed[f] = noticed[f] || figures_notices(figures, view, f);
}

/* Each field must have been missed where it was left out, max and min of threads only. */
static void check_noticed(const bool *noticed, const bool *provoked, bool threads)
{
	size_t n = 0;

	for (size_t f = 0; f < figures_fields(); f++) {
		const char *name = figures_name(f);
		bool range = strstr(name, " max") || strstr(name, " min");

		n += noticed[f];
		if (noticed[f] || (range && !threads))
			continue;
		if (is_provoked(name, provoked))
			fail_msg("nobody would have noticed %s to be missing", name);
		printf("# %s is 0 everywhere\n", name);
	}
	printf("# each of %zu fields left out is noticed\n", n);
}

/* Snapshots of one way, each between two readings of taskstats. */
static void check_way(enum snapshot_way way, bool threads, const bool *provoked, pid_t but)
{
	struct snapshot *snapshot = open_snapshot(threads, way);
	struct figures_result result = { 0 };
	bool noticed[64] = { false };

	for (int round = 0; round < ROUNDS; round++) {
		struct snapshot_view view;
		struct figures figures;

		figures_before(&figures, threads, but);
		take(snapshot, &view);
		figures_after(&figures);
		figures_compare(&figures, &view, &result);
		try_without(&figures, &view, noticed);
		figures_free(&figures);
		e2e_sleep(0.05);
	}
	printf("# %s of %s: compared %zu fields of %zu tasks, %zu of them busy, %zu fields other "
	       "than 0\n",
	       way == SNAPSHOT_WALK ? "walk" : "each", threads ? "threads" : "processes",
	       result.fields, result.tasks, result.busy, result.other_than_0);
	assert_int_equal(result.wrong, 0);
	assert_int_equal(result.missing, 0);
	assert_true(result.tasks >= ROUNDS * SLEEPERS);
	assert_true(result.fields >= result.tasks * 20);
	assert_true(result.busy >= ROUNDS * 3);
	assert_true(result.other_than_0 >= result.tasks * 4);
	check_noticed(noticed, provoked, threads);
	snapshot_close(snapshot);
}

/* Taskstats, snapshot, taskstats. */
E2E_TEST(test_conformance)
{
	bool provoked[sizeof(stopped) / sizeof(stopped[0])];
	pid_t but;

	e2e_require();
	but = hidden_process();
	start_loads(provoked);
	check_way(SNAPSHOT_WALK, false, provoked, but);
	check_way(SNAPSHOT_WALK, true, provoked, but);
	check_way(SNAPSHOT_EACH, false, provoked, but);
	check_way(SNAPSHOT_EACH, true, provoked, but);
}

/* Whether the parts of two entries say the same but for the time. */
static bool are_same(const struct snapshot_view *a, const struct snapshot_entry *x,
		     const struct snapshot_view *b, const struct snapshot_entry *y)
{
	size_t n = snapshot_parts(a, x->record - 1);

	if (snapshot_parts(b, y->record - 1) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct snapshot_record p = a->records[x->record - 1 + i];
		struct snapshot_record q = b->records[y->record - 1 + i];

		if (p.part != q.part || p.wait != q.wait || p.start_ns != q.start_ns ||
		    p.run_ns != q.run_ns || p.user_ns != q.user_ns || p.system_ns != q.system_ns ||
		    p.kinds != q.kinds || p.ranges != q.ranges ||
		    memcmp(p.delay, q.delay, sizeof(p.delay)) != 0 ||
		    memcmp(p.count, q.count, sizeof(p.count)) != 0)
			return false;
		if (!i &&
		    (p.pid != q.pid || p.tgid != q.tgid || p.ppid != q.ppid || p.uid != q.uid ||
		     p.threads != q.threads || p.state != q.state || p.exit_state != q.exit_state ||
		     p.cgroup != q.cgroup || p.children_user_ns != q.children_user_ns ||
		     p.children_system_ns != q.children_system_ns ||
		     memcmp(p.comm, q.comm, sizeof(p.comm)) != 0))
			return false;
	}
	return true;
}

/* Asks both ways: what the one says twice the other says between. */
static void check_ways(bool threads)
{
	struct snapshot *walk = open_snapshot(threads, SNAPSHOT_WALK), *again, *each;
	struct snapshot_view before, between, after;
	size_t same = 0, all = 0;

	again = open_snapshot(threads, SNAPSHOT_WALK);
	each = open_snapshot(threads, SNAPSHOT_EACH);
	take(walk, &before);
	take(each, &between);
	take(again, &after);
	for (size_t i = 0; i < before.nentries; i++) {
		const struct snapshot_entry *x = &before.entries[i];
		const struct snapshot_entry *y = figures_entry(&after, x->pid);
		const struct snapshot_entry *z = figures_entry(&between, x->pid);

		if (!y || !are_same(&before, x, &after, y))
			continue;
		all++;
		same += z && are_same(&before, x, &between, z);
		if (!z || !are_same(&before, x, &between, z))
			printf("# task %d differs\n", (int)x->pid);
	}
	printf("# both ways agree on %zu of %zu idle tasks\n", same, all);
	assert_int_equal(same, all);
	assert_true(all >= SLEEPERS);
	snapshot_close(walk);
	snapshot_close(again);
	snapshot_close(each);
}

/* Both iterators find the same. */
E2E_TEST(test_ways)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_sleepers %d", SLEEPERS) > 0);
	e2e_stop(e2e_load(NULL, "load_churn threads"));
	assert_true(e2e_load(NULL, "load_churn leaderless") > 0);
	check_ways(false);
	check_ways(true);
}
