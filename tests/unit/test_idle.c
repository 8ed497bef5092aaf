// SPDX-License-Identifier: GPL-2.0-or-later
/* Which rows of tasks that only idle are folded into one line: never those that did anything. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/query.h"

/* A scene: tasks that were there before, what they did since, and what is asked. */
struct state {
	struct scene scene;
	struct query query;
	struct order order;
	pid_t keep; /* the row that stays; 0: none */
};

/* Adds a thread that waited for a CPU and ran for so many ms in the interval. */
static void add_thread(struct state *s, pid_t tgid, pid_t pid, pid_t ppid, const char *comm,
		       uint64_t waited, uint64_t ran)
{
	for (int i = 0; i < 2; i++) {
		struct task_raw *raw = scene_add(&s->scene.samples[i], tgid, pid, SEC(1));

		raw->task->ppid = ppid;
		task_set_comm(raw->task, comm, strlen(comm));
		raw->counters.delay[DELAY_CPU] =
			(struct delay_sum){ i && waited ? 2 : 1, MS(1 + (i ? waited : 0)) };
		raw->counters.run_ns = MS(1 + (i ? ran : 0));
	}
}

/* Adds a task of one thread. */
static void add(struct state *s, pid_t pid, pid_t ppid, const char *comm, uint64_t waited,
		uint64_t ran)
{
	add_thread(s, pid, pid, ppid, comm, waited, ran);
}

/* An empty scene, and the default view's query. */
static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->query = (struct query){ .over_ms = -1, .descending = true };
	s->query.sort = column_sort_default(&task_columns);
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

/* Whether that row stays. */
static bool keeps(const void *arg, const struct row *row)
{
	const struct state *s = arg;

	return row->task->key.pid == s->keep;
}

/* Folds for a screen of so many lines, and asserts the pids that stay, and what is told. */
static void check(struct state *s, size_t room, const char *pids, const char *words)
{
	struct view view = { &s->scene.frame, UNIT_MS, TEXT_UTF8, false, NULL };
	struct idle_fold fold = { .order = &s->order, .keeps = keeps, .arg = s };
	struct buf out = { 0 }, text = { 0 };
	const struct row *row;
	size_t shown = 0;

	scene_build(&s->scene, 1, false, 0);
	query_run(&s->query, &view, &s->order);
	idle_begin(&fold, &s->scene.frame, room, 0);
	for (; (row = idle_next(&fold)); shown++)
		buf_printf(&out, "%s%d", shown ? " " : "", row->task->key.pid);
	idle_append(&fold, &text);
	assert_string_equal(buf_cstr(&out), pids);
	assert_string_equal(buf_cstr(&text), words);
	assert_int_equal(shown + fold.tasks + fold.threads, s->order.passed);
	buf_free(&out);
	buf_free(&text);
}

/* A kernel with two threads of which one works, and some programs. */
static void add_machine(struct state *s)
{
	add(s, 1, 0, "init", 0, 0);
	add(s, 2, 0, "kthreadd", 0, 0);
	add(s, 3, 2, "ksoftirqd/0", 0, 0);
	add(s, 4, 2, "kworker/0:1", 3, 1);
	add(s, 10, 1, "sleeps", 0, 0);
	add(s, 11, 1, "waits", 90, 0);
	add(s, 12, 1, "runs", 0, 50);
	add(s, 13, 1, "sleeps too", 0, 0);
}

#define STATE_TEST(name) TEST_WITH(name, open_state, close_state)

/* Where there is room, only the idle threads of the kernel are folded. */
STATE_TEST(test_kernel)
{
	add_machine(*state);
	check(*state, 40, "11 4 1 10 12 13", "2 idle kernel threads");
	/* Six rows and the fold. */
	check(*state, 7, "11 4 1 10 12 13", "2 idle kernel threads");
}

/* Beyond the screen idle ones go, as many first as lines before them, and one that ran is drawn in.
 */
STATE_TEST(test_beyond)
{
	add_machine(*state);
	check(*state, 6, "11 4 10 12 13", "1 idle task and 2 idle kernel threads");
	check(*state, 5, "11 4 12 13", "2 idle tasks and 2 idle kernel threads");
	check(*state, 4, "11 4 12", "3 idle tasks and 2 idle kernel threads");
	/* Those that did something stay, and are scrolled. */
	check(*state, 1, "11 4 12", "3 idle tasks and 2 idle kernel threads");
	check(*state, 0, "11 4 12", "3 idle tasks and 2 idle kernel threads");
}

/* Idle rows keep their lines while others come and go, above them or among them. */
STATE_TEST(test_lines)
{
	struct state *s = *state;

	add(s, 1, 0, "waits", 9, 0);
	for (pid_t pid = 2; pid <= 9; pid++)
		add(s, pid, 1, "sleeps", 0, 0);
	add(s, 10, 1, "waits at times", 0, 0);
	check(s, 7, "1 3 4 5 6 7", "4 idle tasks");
	sample_find(&s->scene.samples[1], 10, 10)->counters.delay[DELAY_CPU].ns += MS(4);
	check(s, 7, "1 10 4 5 6 7", "4 idle tasks");
}

/* Without the kernel's threads (in a container) all that fits is shown, and nothing said. */
STATE_TEST(test_container)
{
	struct state *s = *state;

	add(s, 1, 0, "init", 0, 0);
	add(s, 2, 1, "child", 0, 0);
	add(s, 3, 2, "its child", 0, 0);
	add(s, 4, 1, "waits", 5, 0);
	check(s, 4, "4 1 2 3", "");
	check(s, 3, "4 2", "2 idle tasks");
}

/* Where rows are threads: init may have any number of them before kthreadd. */
STATE_TEST(test_threads)
{
	struct state *s = *state;

	for (pid_t tid = 1; tid <= 9; tid++)
		add_thread(s, 1, tid == 1 ? 1 : 20 + tid, 0, "init", 0, 0);
	add(s, 2, 0, "kthreadd", 0, 0);
	add(s, 3, 2, "ksoftirqd/0", 0, 0);
	add(s, 11, 1, "waits", 90, 0);
	check(s, 4, "11 22 23", "7 idle tasks and 2 idle kernel threads");
}

/* The selected row stays. */
STATE_TEST(test_kept)
{
	struct state *s = *state;

	add_machine(s);
	s->keep = 3;
	check(s, 40, "11 4 1 3 10 12 13", "1 idle kernel thread");
	s->keep = 13;
	check(s, 5, "11 4 12 13", "2 idle tasks and 2 idle kernel threads");
}

/* In an order in which the idle are not at the end they have their places. */
STATE_TEST(test_other_orders)
{
	struct state *s = *state;

	add_machine(s);
	s->query.sort = scene_column("pid");
	check(s, 3, "13 12 11 10 4 3 2 1", "");
	s->query.sort = scene_column("comm");
	check(s, 3, "11 13 10 12 4 2 3 1", "");
	s->query.sort = scene_column("run");
	check(s, 4, "12 4 11", "3 idle tasks and 2 idle kernel threads");
}

/* What nobody knows of might do anything: before there is an interval. */
STATE_TEST(test_unknown)
{
	struct state *s = *state;

	add_machine(s);
	for (size_t i = 0; i < s->scene.samples[1].n; i++)
		s->scene.samples[1].raw[i]->counters.valid = 0;
	check(s, 3, "1 2 3 4 10 11 12 13", "");
}

/* A filter is a choice of rows, which are all shown; that of ended tasks is none of the idle. */
TEST(test_queries)
{
	struct query query = { .over_ms = -1, .descending = true };
	struct query filtered = query;

	assert_true(idle_folds(&query));
	query.no_exited = true;
	assert_true(idle_folds(&query));
	query.descending = false;
	assert_false(idle_folds(&query));
	filtered.active = true;
	assert_false(idle_folds(&filtered));
	filtered.active = false;
	filtered.hangs = true;
	assert_false(idle_folds(&filtered));
	filtered.hangs = false;
	filtered.within = true;
	assert_false(idle_folds(&filtered));
	filtered.within = false;
	filtered.rows = 5;
	assert_false(idle_folds(&filtered));
}
