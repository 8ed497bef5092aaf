// SPDX-License-Identifier: GPL-2.0-or-later
/* Order, filters, limits and sums. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/query.h"

/* A scene with tasks 1 to N, and what is asked of it. */
struct state {
	struct scene scene;
	struct query query;
	struct order order;
};

/* Adds a new task with these delays, in ms; blkio below 0 is unknown. */
static struct task_raw *add(struct state *s, const char *comm, uint64_t cpu, int64_t blkio)
{
	struct sample *sample = &s->scene.samples[1];
	pid_t pid = (pid_t)sample->n + 1;
	struct task_raw *raw = scene_add(sample, pid, pid, SEC(101));

	task_set_comm(raw->task, comm, strlen(comm));
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ cpu ? 1 : 0, MS(cpu) };
	if (blkio < 0)
		raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO));
	else
		raw->counters.delay[DELAY_BLKIO] =
			(struct delay_sum){ blkio ? 1 : 0, MS((uint64_t)blkio) };
	return raw;
}

/* An empty scene, and a query for all. */
static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->query = (struct query){ .over_ms = -1 };
	*state = s;
	return 0;
}

/* See open_state(). */
static int close_state(void **state)
{
	struct state *s = *state;

	order_free(&s->order);
	scene_close(&s->scene);
	free(s);
	return 0;
}

/* Asks, and asserts the pids, with spaces between. */
static void check(struct state *s, const char *pids)
{
	struct view view = { &s->scene.frame, UNIT_MS, TEXT_UTF8, false, NULL };
	struct buf out = { 0 };

	scene_build(&s->scene, 1, false, 0);
	query_run(&s->query, &view, &s->order);
	for (size_t i = 0; i < s->order.n; i++)
		buf_printf(&out, "%s%d", i ? " " : "", s->order.rows[i]->task->key.pid);
	assert_string_equal(buf_cstr(&out), pids);
	buf_free(&out);
}

/* Asks in that order. */
static void check_sorted(struct state *s, const char *id, bool descending, const char *pids)
{
	s->query.sort = scene_column(id);
	s->query.descending = descending;
	check(s, pids);
}

#define STATE_TEST(name) TEST_WITH(name, open_state, close_state)

/* Equal rows stay in the frame's order, in both directions. */
STATE_TEST(test_stable)
{
	struct state *s = *state;

	add(s, "a", 5, 0);
	add(s, "b", 0, 0);
	add(s, "c", 5, 0);
	add(s, "d", 9, 0);
	add(s, "e", 0, 0);
	check_sorted(s, "cpu", true, "4 1 3 2 5");
	check_sorted(s, "cpu", false, "2 5 1 3 4");
	s->query.sort = NULL;
	check(s, "1 2 3 4 5");
}

/* Tasks that did nothing have sums of their whole lives, by which they are told apart. */
STATE_TEST(test_idle_totals)
{
	static const uint64_t totals_ms[] = { 30, 10, 20 };
	struct state *s = *state;
	struct view view = { &s->scene.frame, UNIT_TOTAL, TEXT_UTF8, false, NULL };

	for (pid_t pid = 1; pid <= 3; pid++) {
		struct task_raw *before = scene_add(&s->scene.samples[0], pid, pid, SEC(10));

		before->counters.delay[DELAY_CPU] = (struct delay_sum){ 1, MS(totals_ms[pid - 1]) };
		scene_again(&s->scene.samples[1], before);
	}
	scene_build(&s->scene, 1, false, 0);
	s->query.sort = scene_column("cpu");
	s->query.descending = true;
	query_run(&s->query, &view, &s->order);
	assert_int_equal(s->order.n, 3);
	assert_int_equal(s->order.rows[0]->task->key.pid, 1);
	assert_int_equal(s->order.rows[1]->task->key.pid, 3);
	assert_int_equal(s->order.rows[2]->task->key.pid, 2);
}

/* What is unset comes last, in both directions. */
STATE_TEST(test_unset)
{
	struct state *s = *state;

	add(s, "a", 0, -1);
	add(s, "b", 0, 0);
	add(s, "c", 0, 3);
	add(s, "d", 0, -1);
	add(s, "e", 0, 1);
	add(s, "f", 0, 0);
	check_sorted(s, "blkio", true, "3 5 2 6 1 4");
	check_sorted(s, "blkio", false, "2 6 5 3 1 4");
}

/* All unset, and nothing at all. */
STATE_TEST(test_none)
{
	struct state *s = *state;

	check_sorted(s, "total", true, "");
	assert_int_equal(s->order.passed, 0);
	check_sorted(s, "total", false, "");
	add(s, "a", 0, -1);
	add(s, "b", 0, -1);
	check_sorted(s, "blkio", true, "1 2");
	check_sorted(s, "blkio", false, "1 2");
}

/* Texts by their bytes; negative numbers below 0. */
STATE_TEST(test_texts)
{
	struct state *s = *state;

	add(s, "beta", 0, 0);
	add(s, "Alpha", 0, 0);
	add(s, "alpha", 0, 0);
	add(s, "", 0, 0);
	check_sorted(s, "comm", false, "4 2 3 1");
	check_sorted(s, "comm", true, "1 3 2 4");
	check_sorted(s, "pid", true, "4 3 2 1");
}

/* Numbers below 0 in a descending order: behind 0, and before what is unset. */
STATE_TEST(test_negative)
{
	struct state *s = *state;
	struct sample *sample = &s->scene.samples[1];
	static const int8_t nice[] = { 0, -5, 3, 0, -20 };

	for (unsigned i = 0; i < ARRAY_SIZE(nice) + 1; i++)
		add(s, "x", 0, 0);
	sample_extend(sample, NEED_RANGE);
	for (unsigned i = 0; i < ARRAY_SIZE(nice); i++) {
		sample->records[i].fields_valid = RECORD_BIT(RECORD_ac_nice);
		sample->records[i].field[RECORD_ac_nice] = (uint64_t)(int64_t)nice[i];
	}
	check_sorted(s, "ac_nice", true, "3 1 4 2 5 6");
	check_sorted(s, "ac_nice", false, "5 2 1 4 3 6");
}

/* More rows than any fast path has room for, against a plain sort. */
STATE_TEST(test_many)
{
	struct state *s = *state;
	uint64_t seed = 12345;
	double last = 1e18;
	pid_t last_pid = 0;

	for (unsigned i = 0; i < 3000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		add(s, "x", (seed >> 33) % 7 ? 0 : (seed >> 40) % 50, 0);
	}
	s->query.sort = scene_column("cpu");
	s->query.descending = true;
	for (unsigned round = 0; round < 2; round++) {
		struct view view = { &s->scene.frame, UNIT_MS, TEXT_UTF8, false, NULL };

		scene_build(&s->scene, 1, false, 0);
		query_run(&s->query, &view, &s->order);
	}
	assert_int_equal(s->order.n, 3000);
	for (size_t i = 0; i < s->order.n; i++) {
		double now = (double)s->order.rows[i]->deltas->grown.delay[DELAY_CPU].ns;
		pid_t pid = s->order.rows[i]->task->key.pid;

		assert_true(now < last || (now <= last && pid > last_pid));
		last = now;
		last_pid = pid;
	}
}

/* At most that many rows; the sum is over all. */
STATE_TEST(test_rows)
{
	struct state *s = *state;

	for (unsigned i = 1; i <= 6; i++)
		add(s, "x", i, 2);
	s->query.rows = 2;
	s->order.life = true;
	check_sorted(s, "cpu", true, "6 5");
	assert_int_equal(s->order.passed, 6);
	assert_true(s->order.sum.deltas->grown.delay[DELAY_CPU].ns == MS(21));
	assert_true(s->order.sum.deltas->total.ns == MS(33));
	assert_int_equal(s->order.sum.members, 6);
	assert_true(s->order.sum.interval_ns == SEC(2));
	assert_true(s->order.sum.raw->counters.delay[DELAY_BLKIO].ns == MS(12));
	/* Who did not ask for the time since the start gets none, not half of it. */
	s->order.life = false;
	check_sorted(s, "cpu", true, "6 5");
	assert_int_equal(s->order.sum.raw->counters.valid, 0);
	s->query.rows = 7;
	check_sorted(s, "cpu", true, "6 5 4 3 2 1");
}

/* More than so many ms, by the total; what is not known is not more. */
STATE_TEST(test_over)
{
	struct state *s = *state;

	add(s, "x", 2, 3);
	add(s, "x", 2, 4);
	add(s, "x", 0, 0);
	add(s, "x", 9, 9)->counters.valid = 0;
	s->query.over_ms = 5;
	check(s, "2");
	s->query.over_ms = 0;
	check(s, "1 2");
	s->query.over_ms = -1;
	check(s, "1 2 3 4");
}

/* Without delay and run time there was nothing; but what is not known may have been. */
STATE_TEST(test_active)
{
	struct state *s = *state;

	add(s, "idle", 0, 0);
	add(s, "waits", 1, 0);
	add(s, "runs", 0, 0)->counters.run_ns = 1;
	add(s, "thrashes", 0, 0)->counters.delay[DELAY_THRASH].ns = 1;
	add(s, "unknown", 0, 0)->counters.valid = 0;
	s->query.active = true;
	check(s, "2 3 4 5");
	s->scene.samples[1].raw[0]->exited = true;
	check(s, "1 2 3 4 5");
}

/* In uninterruptible sleep for any time, or waiting for a CPU for a second; the scene is at 102 s.
 */
STATE_TEST(test_hangs)
{
	struct state *s = *state;

	add(s, "idle", 0, 0);
	waits_add(&add(s, "dwait", 0, 0)->now.waits, SEEN_DWAIT, SEC(102), SEC(102), 0);
	waits_add(&add(s, "io", 0, 0)->now.waits, SEEN_BLKIO, SEC(101), SEC(102), 0);
	waits_add(&add(s, "queued", 0, 0)->now.waits, SEEN_CPU, SEC(102) - MS(900), SEC(102), 0);
	waits_add(&add(s, "starved", 0, 0)->now.waits, SEEN_CPU, SEC(101) - MS(100), SEC(102), 0);
	s->query.hangs = true;
	check(s, "2 3 5");
	s->query.hangs = false;
	check(s, "1 2 3 4 5");
}

/* By user, and by name or command line. */
STATE_TEST(test_filters)
{
	static uid_t users[] = { 7, 0 };
	struct state *s = *state;
	struct buf why = { 0 };

	add(s, "postgres", 1, 0)->task->uid = 7;
	add(s, "bash", 2, 0)->task->uid = 8;
	add(s, "python3", 3, 0)->task->command = xstrdup("python3 postgres-backup");
	s->query.users = users;
	s->query.nusers = 2;
	check(s, "1 3");
	assert_true(s->order.sum.deltas->total.ns == MS(4));
	s->query.match = pattern_compile("^post|gres-", &why);
	assert_non_null(s->query.match);
	check(s, "1 3");
	s->query.users = NULL;
	check(s, "1 3");
	pattern_free(s->query.match);
	s->query.match = pattern_compile("^ba", &why);
	assert_non_null(s->query.match);
	check(s, "2");
	s->query.users = users;
	check(s, "");
	pattern_free(s->query.match);
}

/* What must be read of every task. */
STATE_TEST(test_needs)
{
	struct state *s = *state;
	struct buf why = { 0 };

	assert_int_equal(query_needs(&s->query, UNIT_MAX), 0);
	s->query.sort = scene_column("total");
	assert_int_equal(query_needs(&s->query, UNIT_PERCENT), 0);
	assert_int_equal(query_needs(&s->query, UNIT_MAX), NEED_RANGE);
	assert_int_equal(query_needs(&s->query, UNIT_TOTAL), NEED_LIFE);
	s->query.sort = scene_column("cuser");
	s->query.match = pattern_compile("a", &why);
	assert_int_equal(query_needs(&s->query, UNIT_PERCENT), NEED_STAT | NEED_COMMAND);
	pattern_free(s->query.match);
}
