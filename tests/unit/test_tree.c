// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of tasks: whose child a row is, what a branch comes to, by what brothers are sorted. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/tree.h"

struct state {
	struct scene scene;
	struct query query;
	struct order order;
	struct tree tree;
	enum unit unit;
	bool held;
};

static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->query = (struct query){ .over_ms = -1, .sort = scene_column("cpu"), .descending = true };
	s->unit = UNIT_MS;
	*state = s;
	return 0;
}

static int close_state(void **state)
{
	struct state *s = *state;

	tree_free(&s->tree);
	order_free(&s->order);
	scene_close(&s->scene);
	free(s);
	return 0;
}

/* Adds a new process, the next pid, that has waited so long for a CPU, in ms. */
static struct task_raw *add(struct state *s, pid_t parent, uint64_t cpu)
{
	struct sample *sample = &s->scene.samples[1];
	pid_t pid = (pid_t)sample->n + 1;
	struct task_raw *raw = scene_add(sample, pid, pid, SEC(101) + (uint64_t)pid);

	raw->task->ppid = parent;
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ cpu ? 1 : 0, MS(cpu) };
	return raw;
}

/* How the tree is looked at. */
static struct view view_of(const struct state *s)
{
	return (struct view){ &s->scene.frame, s->unit, TEXT_UTF8, false, NULL };
}

/* The index of the i-th row of the order. */
static size_t index_at(const struct state *s, size_t i)
{
	return (size_t)(s->order.rows[i] - s->scene.frame.rows);
}

/* Asserts what a column says of each row and all below it, as "PID<PARENT:VALUE" in order. */
static void check_column(struct state *s, const char *id, const char *expected)
{
	struct view view = view_of(s);
	struct buf out = { 0 };

	for (size_t i = 0; i < s->order.n; i++) {
		const struct tree_node *node = &s->tree.nodes[index_at(s, i)];
		const struct row *row = s->order.rows[i], *branch;
		struct value value;

		branch = tree_branch(&s->tree, index_at(s, i));
		value = column_get(scene_column(id), &view, branch ? branch : row);
		buf_printf(&out, "%s%d", i ? " " : "", row->task->key.pid);
		if (node->parent != NO_ROW)
			buf_printf(&out, "<%d", view.frame->rows[node->parent].task->key.pid);
		if (value.type == VALUE_UNSET)
			buf_puts(&out, ":-");
		else
			buf_printf(&out, ":%.0f", value.number);
	}
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
}

/* Builds the tree and asserts the same of waiting for a CPU. */
static void check(struct state *s, const char *expected)
{
	struct view view;

	scene_build(&s->scene, 1, false, 0);
	view = view_of(s);
	query_run(&s->query, &view, &s->order);
	tree_build(&s->tree, &s->query, &view, s->held, &s->order);
	check_column(s, "cpu", expected);
}

#define STATE_TEST(name) TEST_WITH(name, open_state, close_state)

/* A branch is the sum of all below it, and brothers are sorted by that; not by what is their own.
 */
STATE_TEST(test_sums)
{
	struct state *s = *state;

	check(s, "");
	add(s, 0, 1);
	add(s, 1, 50); /* 2: the most by itself */
	add(s, 1, 0);
	add(s, 3, 20);
	add(s, 3, 40);
	add(s, 5, 10);
	check(s, "1:121 3<1:70 5<3:50 6<5:10 4<3:20 2<1:50");
	/* Names and ids are the row's own. */
	check_column(s, "pid", "1:1 3<1:3 5<3:5 6<5:6 4<3:4 2<1:2");
	check_column(s, "members", "1:6 3<1:4 5<3:2 6<5:1 4<3:1 2<1:1");
	s->query.descending = false;
	check(s, "1:121 2<1:50 3<1:70 4<3:20 5<3:50 6<5:10");
	/* The sum over all counts each once, and the order's members stay who they were. */
	assert_int_equal(s->order.sum.deltas->grown.delay[DELAY_CPU].ns, MS(121));
	assert_int_equal(s->order.n, 6);
	/* What has no sum is each row's own. */
	s->query.sort = scene_column("pid");
	s->query.descending = true;
	check(s, "1:121 3<1:70 5<3:50 6<5:10 4<3:20 2<1:50");
	s->query.sort = NULL;
	check(s, "1:121 2<1:50 3<1:70 4<3:20 5<3:50 6<5:10");
}

/* Only what passes counts; whose parent does not is a root. */
STATE_TEST(test_filters)
{
	struct state *s = *state;

	add(s, 0, 1);
	add(s, 1, 0);
	add(s, 2, 20);
	add(s, 2, 40);
	s->query.active = true;
	check(s, "4:40 3:20 1:1");
	s->query.active = false;
	check(s, "1:61 2<1:60 4<2:40 3<2:20");
	/* Of so many rows at most, those that are left out are in no sum either. */
	s->query.rows = 2;
	check(s, "4:40 3:20");
}

/* An unknown value adds nothing, and does not hide those that are known. */
STATE_TEST(test_unknown)
{
	struct state *s = *state;

	add(s, 0, 0)->counters.valid = 0;
	add(s, 1, 0)->counters.valid = 0;
	add(s, 1, 0);
	add(s, 3, 5);
	add(s, 2, 0)->counters.valid = 0;
	check(s, "1:5 3<1:5 4<3:5 2<1:- 5<2:-");
	s->query.descending = false;
	check(s, "1:5 3<1:5 4<3:5 2<1:- 5<2:-");
}

/* What is added up row by row, or is the largest, goes up the same way. */
STATE_TEST(test_added)
{
	struct state *s = *state;
	static const char states[] = "SRRSD";

	for (unsigned i = 0; i < 5; i++) {
		struct task_now *now = &add(s, i < 2 ? (pid_t)i : 2, 0)->now;

		now->state = states[i];
		if (i == 2)
			continue;
		now->waits.first_ns = SEC(102) + MS(10) - SEC((uint64_t)i);
		now->waits.threads[SEEN_BLKIO] = 1;
	}
	add(s, 1, 0);
	s->query.sort = scene_column("running");
	check(s, "1:0 2<1:0 3<2:0 4<2:0 5<2:0 6<1:0");
	check_column(s, "running", "1:2 2<1:2 3<2:1 4<2:0 5<2:0 6<1:-");
	/* The longest of all that wait. */
	s->query.sort = scene_column("wait");
	check(s, "1:0 2<1:0 5<2:0 4<2:0 3<2:0 6<1:0");
	check_column(s, "wait", "1:4 2<1:4 5<2:4 4<2:3 3<2:- 6<1:-");
}

/* Counters since the start are added up where they are wanted. */
STATE_TEST(test_life)
{
	struct state *s = *state;
	struct task_raw *old;

	old = scene_add(&s->scene.samples[0], 1, 1, SEC(1));
	old->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(700) };
	scene_again(&s->scene.samples[1], old);
	add(s, 1, 20);
	s->order.life = true;
	s->unit = UNIT_TOTAL;
	check(s, "1:720 2<1:20");
	s->unit = UNIT_MS;
	check(s, "1:20 2<1:20");
}

/* Threads are below their process; a pid in use again is nobody's parent; rings are none. */
STATE_TEST(test_parents)
{
	struct state *s = *state;
	struct sample *sample = &s->scene.samples[1];

	add(s, 2, 1); /* its parent is younger: that pid is another's now */
	add(s, 1, 2);
	scene_add(sample, 3, 3, SEC(101))->task->ppid = 4;
	scene_add(sample, 4, 4, SEC(101))->task->ppid = 3;
	add(s, 5, 0); /* its own parent */
	check(s, "1:3 2<1:2 3:0 4<3:0 5:0");
	scene_add(sample, 6, 6, SEC(101))->task->ppid = 0;
	scene_add(sample, 6, 7, SEC(101))->counters.delay[DELAY_CPU] =
		(struct delay_sum){ 1, MS(9) };
	s->scene.info.threads = true;
	check(s, "6:9 7<6:9 1:3 2<1:2 3:0 4<3:0 5:0");
}

/* While the order is held nobody moves, whatever the sums are. */
STATE_TEST(test_held)
{
	struct state *s = *state;

	add(s, 0, 0);
	add(s, 1, 50);
	add(s, 1, 0);
	add(s, 3, 70);
	s->query.sort = scene_column("pid");
	s->query.descending = false;
	s->held = true;
	check(s, "1:120 2<1:50 3<1:70 4<3:70");
}

/* A tree as deep as it has rows, and one as wide. */
STATE_TEST(test_sizes)
{
	struct state *s = *state;
	struct view view;
	const struct row *branch;

	for (pid_t i = 0; i < 20000; i++)
		add(s, i, 1);
	for (pid_t i = 0; i < 20000; i++)
		add(s, 7, 1);
	scene_build(&s->scene, 1, false, 0);
	view = view_of(s);
	s->query.sort = scene_column("members");
	query_run(&s->query, &view, &s->order);
	tree_build(&s->tree, &s->query, &view, false, &s->order);
	branch = tree_branch(&s->tree, index_at(s, 0));
	assert_int_equal(branch->members, 40000);
	assert_int_equal(branch->deltas->grown.delay[DELAY_CPU].ns, MS(40000));
	assert_null(tree_branch(&s->tree, 39999));
	assert_int_equal(s->order.rows[7]->task->key.pid, 8);
	assert_int_equal(s->order.rows[19999]->task->key.pid, 20000);
}
