// SPDX-License-Identifier: GPL-2.0-or-later
/* Folding: sums are those of the members, each once; names, order, trees, what columns show. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/query.h"

struct state {
	struct scene scene;
	struct grouping grouping;
	struct grouping_options options;
	struct query query;
	struct order order;
};

/* Adds a task that has waited so long for a CPU, in ms, and run twice as long. */
static struct task_raw *add(struct state *s, const char *comm, const char *cgroup, uint64_t cpu)
{
	struct sample *sample = &s->scene.samples[1];
	pid_t pid = (pid_t)sample->n + 1;
	struct task_raw *raw = scene_add(sample, pid, pid, SEC(101));

	task_set_comm(raw->task, comm, strlen(comm));
	task_set_cgroup(raw->task, shared_text(cgroup));
	task_set_user(raw->task, shared_text(pid % 2 ? "odd" : "even"));
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ cpu ? 1 : 0, MS(cpu) };
	raw->counters.run_ns = MS(cpu) * 2;
	return raw;
}

static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->query = (struct query){ .over_ms = -1 };
	*state = s;
	return 0;
}

static int close_state(void **state)
{
	struct state *s = *state;

	grouping_free(&s->grouping);
	order_free(&s->order);
	scene_close(&s->scene);
	free(s);
	return 0;
}

/* Folds the frame between the two samples. */
static const struct frame *fold(struct state *s, enum group_by by)
{
	scene_build(&s->scene, 1, false, 0);
	s->options.by = by;
	return group_fold(&s->grouping, &s->scene.frame, &s->options);
}

/* Asserts the groups, each as "NAME=MEMBERS:CPU DELAY IN MS", and that they are found by id. */
static void check(struct state *s, enum group_by by, const char *expected)
{
	const struct frame *frame = fold(s, by);
	struct buf out = { 0 };

	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		assert_null(row->task);
		buf_printf(&out, "%s%s=%u:%llu", i ? " " : "",
			   row->group->name ? row->group->name : "-", row->members,
			   (unsigned long long)(row->deltas->grown.delay[DELAY_CPU].ns / MS(1)));
		assert_int_equal(row->deltas->grown.run_ns,
				 row->deltas->grown.delay[DELAY_CPU].ns * 2);
		assert_ptr_equal(group_find(&s->grouping, row->group->id), row);
	}
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
	assert_ptr_equal(frame->info, &s->scene.info);
	assert_int_equal(frame->info->tasks, s->scene.frame.n);
	assert_string_equal(frame->group_by, group_table[by].id);
}

/* By what is the same of tasks; names in order. */
TEST_WITH(test_names, open_state, close_state)
{
	struct state *s = *state;

	check(s, GROUP_COMMAND, "");
	add(s, "zz", "/b", 1);
	add(s, "aa", "/a", 2);
	add(s, "zz", NULL, 4);
	add(s, "", "/a", 8);
	check(s, GROUP_COMMAND, "=1:8 aa=1:2 zz=2:5");
	check(s, GROUP_USER, "even=2:10 odd=2:5");
	/* Whose group is not known is in nobody else's, and last. */
	check(s, GROUP_CGROUP, "/a=2:10 /b=1:1 -=1:4");
	/* The memory serves other groupings and frames. */
	check(s, GROUP_COMMAND, "=1:8 aa=1:2 zz=2:5");
}

/* A group is known by its name from frame to frame. */
TEST_WITH(test_id, open_state, close_state)
{
	struct state *s = *state;
	const struct frame *frame;
	uint64_t id, none;

	add(s, "one", NULL, 1);
	add(s, "two", NULL, 1);
	frame = fold(s, GROUP_COMMAND);
	id = frame->rows[1].group->id;
	frame = fold(s, GROUP_CGROUP);
	none = frame->rows[0].group->id;
	assert_true(id != none);
	add(s, "another", NULL, 1);
	fold(s, GROUP_COMMAND);
	assert_string_equal(group_find(&s->grouping, id)->group->name, "two");
	assert_null(group_find(&s->grouping, none));
}

/* Many groups: the tables grow, and each has its members. */
TEST_WITH(test_many, open_state, close_state)
{
	struct state *s = *state;
	const struct frame *frame;
	char name[16];

	for (unsigned i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "name%u", i % 1000);
		add(s, name, NULL, i < 1000);
	}
	frame = fold(s, GROUP_COMMAND);
	assert_int_equal(frame->n, 1000);
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		assert_int_equal(row->members, 3);
		assert_int_equal(row->group->n, 3);
		assert_int_equal(row->deltas->grown.delay[DELAY_CPU].ns, MS(1));
		assert_true(row->group->worst->task->key.pid <= 1000);
		for (size_t m = 0; m < 3; m++)
			assert_string_equal(row->group->members[m]->task->comm, row->group->name);
		assert_true(!i || strcmp(frame->rows[i - 1].group->name, row->group->name) < 0);
	}
}

/* Labels: the names themselves, by which groups are told apart; of cgroups readable ones if asked.
 */
TEST_WITH(test_labels, open_state, close_state)
{
	struct state *s = *state;

	add(s, "x", "/a.slice/x.service", 1);
	add(s, "x", "/b.slice/x.service", 1);
	fold(s, GROUP_CGROUP);
	for (unsigned i = 0; i < 2; i++)
		assert_string_equal(s->grouping.groups[i].label, s->grouping.groups[i].name);
	s->options.readable = true;
	fold(s, GROUP_CGROUP);
	for (unsigned i = 0; i < 2; i++)
		assert_string_equal(s->grouping.groups[i].label, "x.service");
}

/* A tree of cgroups: all that is above, with what is below; brothers' names side by side. */
TEST_WITH(test_tree, open_state, close_state)
{
	struct state *s = *state;
	const struct group *groups;
	const struct frame *frame;

	s->options.tree = s->options.readable = true;
	add(s, "x", "/a/b/c", 1);
	add(s, "x", "/a-b", 2);
	add(s, "x", "/a", 4);
	add(s, "x", "/a/b", 8);
	add(s, "x", NULL, 16);
	add(s, "x", "/d.service", 32);
	check(s, GROUP_CGROUP,
	      "/=5:47 /a=3:13 /a/b=2:9 /a/b/c=1:1 /a-b=1:2 /d.service=1:32 -=1:16");
	frame = &s->grouping.frame;
	groups = s->grouping.groups;
	assert_true(groups[0].parent == NO_GROUP && groups[6].parent == NO_GROUP);
	assert_true(groups[1].parent == 0 && groups[2].parent == 1 && groups[3].parent == 2);
	assert_true(groups[4].parent == 0 && groups[5].parent == 0);
	assert_string_equal(groups[0].label, "/");
	assert_string_equal(groups[3].label, "c");
	assert_string_equal(groups[5].label, "d.service");
	/* Members: first its own, then those below. */
	assert_int_equal(groups[1].own, 1);
	assert_int_equal(groups[1].n, 3);
	assert_string_equal(groups[1].members[0]->task->cgroup, "/a");
	assert_string_equal(groups[1].members[1]->task->cgroup, "/a/b");
	assert_string_equal(groups[1].members[2]->task->cgroup, "/a/b/c");
	assert_int_equal(groups[0].own, 0);
	assert_int_equal(groups[0].worst->task->key.pid, 6);
	/* Only its own are in the sum that sums over groups take. */
	assert_int_equal(groups[1].sum.deltas->grown.delay[DELAY_CPU].ns, MS(4));
	assert_int_equal(groups[0].sum.members, 0);
	assert_int_equal(frame->rows[0].members, 5);
	/* Users have no tree. */
	check(s, GROUP_USER, "even=3:42 odd=3:21");
}

/* Whatever paths there are, members are contiguous and each is counted once. */
TEST_WITH(test_hostile_paths, open_state, close_state)
{
	static const char *const paths[] = {
		"",    "/",  "//",   "/a//b",	       "a",	    "/../x", "/\n",
		"/a/", "/a", "/a/b", "/a/b (deleted)", "/\xff/\xff"
	};
	struct state *s = *state;
	const struct frame *frame;
	struct view view;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		add(s, "x", paths[i], 1);
	for (unsigned tree = 0; tree < 2; tree++) {
		s->options.tree = tree;
		frame = fold(s, GROUP_CGROUP);
		assert_true(frame->n >= ARRAY_SIZE(paths));
		for (size_t i = 0; i < frame->n; i++)
			assert_int_equal(frame->rows[i].members, frame->rows[i].group->n);
		view = (struct view){ frame, UNIT_MS, TEXT_UTF8, false, NULL };
		query_run(&s->query, &view, &s->order);
		assert_int_equal(s->order.sum.members, ARRAY_SIZE(paths));
		assert_int_equal(s->order.sum_deltas.grown.delay[DELAY_CPU].ns,
				 MS(ARRAY_SIZE(paths)));
	}
}

/* The filters on tasks choose members, those on figures choose groups; the sum is the same. */
TEST_WITH(test_query, open_state, close_state)
{
	static uid_t users[] = { 7 };
	struct state *s = *state;
	struct view view = { NULL, UNIT_MS, TEXT_UTF8, false, NULL };

	add(s, "idle", "/a", 0);
	add(s, "busy", "/a", 5);
	add(s, "idle", "/b", 0)->task->uid = 7;
	add(s, "busy", "/b", 3)->task->uid = 7;
	s->options.passes = query_takes;
	s->options.arg = &s->query;
	s->query.active = true;
	check(s, GROUP_COMMAND, "busy=2:8 idle=2:0");
	view.frame = &s->grouping.frame;
	query_run(&s->query, &view, &s->order);
	assert_int_equal(s->order.n, 1);
	assert_string_equal(s->order.rows[0]->group->name, "busy");
	assert_int_equal(s->order.sum.members, 2);
	s->query.active = false;
	s->query.users = users;
	s->query.nusers = 1;
	check(s, GROUP_COMMAND, "busy=1:3 idle=1:0");
	s->query.nusers = 0;
	s->query.users = NULL;
	s->query.below = "/a";
	check(s, GROUP_COMMAND, "busy=1:5 idle=1:0");
	s->query.below = "/a/";
	check(s, GROUP_CGROUP, "/a=2:5");
	s->query.below = "/";
	check(s, GROUP_CGROUP, "/a=2:5 /b=2:3");
	s->query.below = NULL;
	s->query.within = true;
	s->query.within_by = GROUP_CGROUP;
	s->query.within_name = "/b";
	check(s, GROUP_COMMAND, "busy=1:3 idle=1:0");
	s->query.within_name = NULL;
	check(s, GROUP_COMMAND, "");
	assert_false(group_is_below("/ab", "/a"));
	assert_true(group_is_below("/a/b", "/a") && group_is_below("/a", "/a"));
	assert_false(group_is_below(NULL, "/a"));
}

/* Asserts a column's cell of the first group, and of the sum row. */
static void check_column(struct state *s, const char *id, enum unit unit, const char *cell,
			 const char *total)
{
	struct view view = { &s->grouping.frame, unit, TEXT_UTF8, false, NULL };
	const struct column *column = scene_column(id);
	struct buf out = { 0 }, scratch = { 0 };
	struct value value;

	query_run(&s->query, &view, &s->order);
	value = column_get(column, &view, &s->grouping.frame.rows[0]);
	column_append(column, &view, &value, 0, &scratch, &out);
	assert_string_equal(buf_cstr(&out) + strspn(buf_cstr(&out), " "), cell);
	out.len = 0;
	value = column_total(column, &view, s->order.rows, s->order.passed, &s->order.sum);
	column_append_total(column, &view, &value, 0, false, &scratch, &out);
	assert_string_equal(buf_cstr(&out) + strspn(buf_cstr(&out), " "), total);
	buf_free(&out);
	buf_free(&scratch);
}

/* Each column by its type, also where a tree's rows take in those of others. */
TEST_WITH(test_columns, open_state, close_state)
{
	struct state *s = *state;
	struct sample *sample = &s->scene.samples[1];

	add(s, "one", "/a", 10)->now.state = 'R';
	add(s, "two", "/a/b", 20)->now.state = 'S';
	add(s, "three", "/a/b", 40)->now.state = 'S';
	for (size_t i = 0; i < 3; i++) {
		if (i == 1)
			waits_add(&sample->raw[i]->now.waits, SEEN_BLKIO, SEC(100), SEC(102), 0);
	}
	sample->end_ns = SEC(103);
	sample_extend(sample, NEED_RECORD);
	for (size_t i = 0; i < 3; i++) {
		struct task_record *record = &sample->records[i];

		record->range_valid = DELAY_ALL;
		record->max[DELAY_CPU] = MS(i + 1);
		record->fields_valid = RECORD_BIT(RECORD_nvcsw) | RECORD_BIT(RECORD_hiwater_rss);
		record->field[RECORD_nvcsw] = 100;
		record->field[RECORD_hiwater_rss] = 100;
	}
	s->options.tree = true;
	s->options.life = true;
	s->order.life = true;
	check(s, GROUP_CGROUP, "/=3:70 /a=3:70 /a/b=2:60");
	check_column(s, "cpu", UNIT_MS, "70.0", "70.0");
	check_column(s, "cpu", UNIT_PERCENT, "3.5", "3.5");
	check_column(s, "cpu", UNIT_COUNT, "3.0", "3.0");
	check_column(s, "cpu", UNIT_AVG, "23.3", "23.3");
	check_column(s, "cpu", UNIT_MAX, "3.0", "-");
	check_column(s, "cpu", UNIT_TOTAL, "70.0", "70.0");
	check_column(s, "mem", UNIT_TOTAL, "0.0", "0.0");
	check_column(s, "run", UNIT_MS, "7.0", "7.0");
	check_column(s, "time", UNIT_MS, "0.1", "0.1");
	check_column(s, "members", UNIT_MS, "3", "3");
	check_column(s, "worst", UNIT_MS, "two            ", "");
	check_column(s, "wait", UNIT_MS, "3.0", "");
	check_column(s, "running", UNIT_MS, "1", "1");
	check_column(s, "sleeping", UNIT_MS, "2", "2");
	check_column(s, "iowait", UNIT_MS, "1", "1");
	check_column(s, "nvcsw", UNIT_MS, "300", "300");
	/* A gauge of several tasks is no gauge, and who they are not one id. */
	check_column(s, "hiwater_rss", UNIT_MS, "-", "");
	check_column(s, "pid", UNIT_MS, "-", "");
	check_column(s, "user", UNIT_MS, "-       ", "");
	check_column(s, "group", UNIT_MS, "/", "");
}

/* What a group's own files say: known or not, part by part. */
TEST_WITH(test_files, open_state, close_state)
{
	struct cgroup_sample now = { 0 }, before = { 0 };
	struct state *s = *state;
	struct group_figures *figures;

	add(s, "x", "/a", 1);
	add(s, "y", "/b", 0);
	figures = fold(s, GROUP_CGROUP)->rows[0].group->figures;
	assert_int_equal(group_parts(&s->grouping.frame), 0);
	check_column(s, "psi-cpu", UNIT_MS, "-", "");
	check_column(s, "throttled", UNIT_MS, "-", "");
	check_column(s, "mem-high", UNIT_MS, "-", "");
	figures->now = &now;
	now.psi[PSI_CPU].some = (struct psi_line){ true, 1234, 0, 0, 0 };
	now.psi[PSI_IO].some = (struct psi_line){ true, 5000, 0, 0, 0 };
	now.have = CGROUP_BIT(PSI_CPU) | CGROUP_BIT(CGROUP_THROTTLE) | CGROUP_BIT(CGROUP_EVENTS);
	assert_int_equal(group_parts(&s->grouping.frame), now.have << NEED_GROUP_SHIFT);
	now.throttled_ns = SEC(3);
	now.read_ns[CGROUP_THROTTLE] = SEC(12);
	now.event_valid = 1u << CGROUP_EVENT_HIGH | 1u << CGROUP_EVENT_OOM;
	now.events[CGROUP_EVENT_HIGH] = 70;
	check_column(s, "psi-cpu", UNIT_MS, "12.3", "");
	/* Not read, though there is something. */
	check_column(s, "psi-io", UNIT_MS, "-", "");
	check_column(s, "throttled", UNIT_MS, "-", "");
	check_column(s, "mem-high", UNIT_MS, "-", "");
	figures->before = &before;
	before = now;
	before.throttled_ns = SEC(2);
	before.read_ns[CGROUP_THROTTLE] = SEC(10);
	before.events[CGROUP_EVENT_HIGH] = 30;
	check_column(s, "throttled", UNIT_MS, "50.0", "");
	check_column(s, "throttled", UNIT_PERCENT, "50.0", "");
	check_column(s, "mem-high", UNIT_MS, "40", "");
	check_column(s, "mem-oom", UNIT_MS, "0", "");
	check_column(s, "mem-max", UNIT_MS, "-", "");
	/* Counters that fell are another group's. */
	before.throttled_ns = SEC(4);
	before.events[CGROUP_EVENT_HIGH] = 71;
	check_column(s, "throttled", UNIT_MS, "-", "");
	check_column(s, "mem-high", UNIT_MS, "-", "");
	before.have = 0;
	before.events[CGROUP_EVENT_HIGH] = 0;
	check_column(s, "mem-high", UNIT_MS, "-", "");
	/* The next fold knows nothing of them. */
	assert_null(fold(s, GROUP_CGROUP)->rows[0].group->figures->now);
}

/* A tree's sum row takes each task once, also where groups are left out. */
TEST_WITH(test_sum, open_state, close_state)
{
	struct state *s = *state;
	struct view view = { NULL, UNIT_MS, TEXT_UTF8, false, NULL };

	add(s, "x", "/a", 1);
	add(s, "x", "/a/b", 2);
	add(s, "x", "/c", 4);
	s->options.tree = true;
	view.frame = fold(s, GROUP_CGROUP);
	query_run(&s->query, &view, &s->order);
	assert_int_equal(s->order.n, 4);
	assert_int_equal(s->order.sum.members, 3);
	assert_int_equal(s->order.sum_deltas.grown.delay[DELAY_CPU].ns, MS(7));
	assert_int_equal(s->order.sum_deltas.grown.run_ns, MS(14));
}

/* Containers and pods by name, in a list and part by part in a tree; what is above has none. */
TEST_WITH(test_containers, open_state, close_state)
{
#define POD "/kubepods.slice/kubepods-pod0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0.slice"
	static const char path[] = POD "/crio-0123456789abcdef0123456789abcdef0123456789abcdef"
				       "0123456789abcdef.scope";
	static const char *const labels[] = { "/", "kubepods.slice", "prod/checkout", "payments" };
	struct state *s = *state;
	struct task_raw *raw = add(s, "x", path, 1);

	raw->task->pod = xstrdup("prod/checkout");
	raw->task->container = xstrdup("payments");
	s->options.readable = true;
	fold(s, GROUP_CGROUP);
	assert_string_equal(s->grouping.groups[0].label, "prod/checkout (payments)");
	assert_string_equal(s->grouping.groups[0].name, path);
	s->options.tree = true;
	assert_int_equal(fold(s, GROUP_CGROUP)->n, ARRAY_SIZE(labels));
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		assert_string_equal(s->grouping.groups[i].label, labels[i]);
	assert_null(s->grouping.groups[1].pod);
	assert_string_equal(s->grouping.groups[2].pod, "prod/checkout");
	assert_null(s->grouping.groups[2].container);
	assert_string_equal(s->grouping.groups[3].container, "payments");
	s->options.readable = false;
	fold(s, GROUP_CGROUP);
	assert_string_equal(s->grouping.groups[3].label, path);
	assert_string_equal(s->grouping.groups[3].container, "payments");
}
