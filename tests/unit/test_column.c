// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns: figures computed by hand in every unit. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/site_lines.h"

/* Asserts the cell of one row's column, without the spaces before it. */
static void check_row(const struct scene *scene, const struct row *row, enum unit unit,
		      const char *id, const char *cell)
{
	const struct column *column = scene_column(id);
	struct view view = { &scene->frame, unit, TEXT_UTF8, false, NULL };
	struct value value = column_get(column, &view, row);
	struct buf out = { 0 }, scratch = { 0 };
	const char *text;

	column_append(column, &view, &value, 0, &scratch, &out);
	text = buf_cstr(&out);
	if (!column->last)
		assert_int_equal(text_width(out.data, out.len, TEXT_UTF8), column->width);
	text += strspn(text, " ");
	assert_string_equal(text, cell);
	buf_free(&out);
	buf_free(&scratch);
}

/* The same of the frame's first row. */
static void check(const struct scene *scene, enum unit unit, const char *id, const char *cell)
{
	check_row(scene, &scene->frame.rows[0], unit, id, cell);
}

/* One task that waited for everything, in 2 s. */
static struct task_raw *add_waiter(struct scene *scene)
{
	struct task_raw *before = scene_add(&scene->samples[0], 42, 42, SEC(10)), *now;

	before->counters.delay[DELAY_CPU] = (struct delay_sum){ 100, SEC(50) };
	before->counters.run_ns = SEC(3);
	now = scene_again(&scene->samples[1], before);
	now->counters.delay[DELAY_CPU] = (struct delay_sum){ 110, SEC(50) + MS(500) };
	now->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 4, MS(3000) };
	now->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, MS(20) };
	now->counters.delay[DELAY_RECLAIM] = (struct delay_sum){ 2, MS(40) };
	now->counters.delay[DELAY_THRASH] = (struct delay_sum){ 3, MS(60) };
	now->counters.delay[DELAY_COMPACT] = (struct delay_sum){ 0, 0 };
	now->counters.delay[DELAY_WPCOPY] = (struct delay_sum){ 1000, MS(1) };
	now->counters.delay[DELAY_IRQ] = (struct delay_sum){ 7, 70000 };
	now->counters.run_ns = SEC(3) + MS(240);
	now->counters.user_ns = MS(4);
	now->counters.system_ns = MS(12);
	task_set_comm(now->task, "waiter", 6);
	now->task->ppid = 41;
	now->task->uid = 1000;
	task_set_user(now->task, shared_text("somebody-long"));
	return now;
}

/* Every unit of one row. Total leaves thrash out, mem takes it in place of swapin. */
SCENE_TEST(test_units)
{
	static const struct {
		const char *id, *cells[UNITS];
	} cases[] = {
		/*	     percent  ms       count   avg      max  total */
		{ "cpu", { "25.0", "500.0", "10.0", "50.0", "-", "50500" } },
		{ "blkio", { "150.0", "3000.0", "4.0", "750.0", "-", "3000.0" } },
		{ "swapin", { "1.0", "20.0", "1.0", "20.0", "-", "20.0" } },
		{ "reclaim", { "2.0", "40.0", "2.0", "20.0", "-", "40.0" } },
		{ "thrash", { "3.0", "60.0", "3.0", "20.0", "-", "60.0" } },
		{ "compact", { "0.0", "0.0", "0.0", "-", "-", "0.0" } },
		{ "wpcopy", { "0.1", "1.0", "1000.0", "0.001", "-", "1.0" } },
		{ "irq", { "0.0", "0.1", "7.0", "0.010", "-", "0.1" } },
		{ "total", { "178.1", "3561.1", "1024.0", "3.5", "-", "53561" } },
		{ "mem", { "5.1", "101.0", "1005.0", "0.1", "-", "101.0" } },
	};
	struct scene *scene = *state;

	add_waiter(scene);
	scene_build(scene, 1, false, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		for (enum unit unit = 0; unit < UNITS; unit++)
			check(scene, unit, cases[i].id, cases[i].cells[unit]);
}

/* What the unit does not change. */
SCENE_TEST(test_others)
{
	static const struct {
		const char *id, *cell;
	} cases[] = {
		{ "pid", "42" },	 { "tgid", "42" },
		{ "ppid", "41" },	 { "uid", "1000" },
		{ "user", "somebod+" },	 { "run", "12.0" },
		{ "usr", "3.0" },	 { "sys", "9.0" },
		{ "elap", "0:01" },	 { "comm", "waiter" },
		{ "command", "waiter" }, { "state", "-" },
		{ "read", "-" },	 { "cuser", "-" },
		{ "ac_nice", "-" },	 { "cgroup", "-                       " },
	};
	struct scene *scene = *state;
	struct task_raw *raw = add_waiter(scene);

	scene_build(scene, 1, false, 0);
	for (enum unit unit = 0; unit < UNITS; unit++)
		for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
			check(scene, unit, cases[i].id, cases[i].cell);
	raw->task->command = xstrdup("waiter --for it");
	check(scene, UNIT_MS, "command", "waiter --for it");
	raw->task->command[0] = '\0';
	check(scene, UNIT_MS, "command", "waiter");
}

/* A cgroup that is too wide has its readable name; a long one begins at whole parts. */
SCENE_TEST(test_cgroup)
{
#define DOCKER "/docker/5c6bd7f2a6e0f0b6a8d1b6f1e4f2a6e05c6bd7f2a6e0f0b6a8d1b6f1e4f2a6e0"
#define POD \
	"/kubepods.slice/kubepods-pod5c6bd7f2_a6e0_f0b6_a8d1_b6f1e4f2a6e0.slice/" \
	"cri-containerd-5c6bd7f2a6e0f0b6a8d1b6f1e4f2a6e05c6bd7f2a6e0f0b6a8d1b6f1e4f2a6e0.scope"
	static const struct {
		const char *path, *pod, *container, *cell;
	} cases[] = {
		{ "/a/b", NULL, NULL, "/a/b                    " },
		{ "/system.slice/shop.service", NULL, NULL, "shop.service            " },
		{ "/system.slice/a-long-name.slice/shop.service", NULL, NULL,
		  "shop.service            " },
		{ "/one/two/three/four/five/six", NULL, NULL, "+/three/four/five/six   " },
		{ "/manager/ccdfb7acdde87497716003d9b3e3187a", NULL, NULL,
		  "+/ccdfb7acdde8749771600+" },
		{ DOCKER, NULL, "web", "docker:web              " },
		{ DOCKER, NULL, NULL, "docker:5c6bd7f2a6e0     " },
		{ POD, "shop/web-0", "app", "shop/web-0 (app)        " },
	};
#undef DOCKER
#undef POD
	struct scene *scene = *state;
	struct task_raw *raw = add_waiter(scene);

	scene_build(scene, 1, false, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		task_set_cgroup(raw->task, shared_text(cases[i].path));
		free(raw->task->pod);
		free(raw->task->container);
		raw->task->pod = cases[i].pod ? xstrdup(cases[i].pod) : NULL;
		raw->task->container = cases[i].container ? xstrdup(cases[i].container) : NULL;
		check(scene, UNIT_MS, "cgroup", cases[i].cell);
	}
}

/* A bar has the tenths of the time: of what was waited and run if that is more than the interval.
 */
SCENE_TEST(test_bar)
{
	struct scene *scene = *state;
	struct task_raw *raw = add_waiter(scene);

	scene_build(scene, 1, false, 0);
	check(scene, UNIT_PERCENT, "bar", "rciiiiiiii");
	raw->counters.delay[DELAY_BLKIO].ns = 0;
	raw->counters.delay[DELAY_RECLAIM].ns = MS(600);
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_PERCENT, "bar", "rcccmmm   ");
}

/* Waits whose number is not known, as procfs has them. */
SCENE_TEST(test_uncounted)
{
	struct scene *scene = *state;
	struct task_raw *raw = add_waiter(scene);

	raw->counters.valid = DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO) | VALID_RUN;
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_PERCENT, "blkio", "150.0");
	check(scene, UNIT_COUNT, "blkio", "-");
	check(scene, UNIT_AVG, "blkio", "-");
	check(scene, UNIT_COUNT, "cpu", "10.0");
	check(scene, UNIT_PERCENT, "total", "175.0");
	check(scene, UNIT_COUNT, "total", "-");
	check(scene, UNIT_PERCENT, "mem", "-");
	check(scene, UNIT_TOTAL, "mem", "-");
	check(scene, UNIT_TOTAL, "swapin", "-");
	check(scene, UNIT_PERCENT, "swapin", "-");
	check(scene, UNIT_PERCENT, "usr", "-");
}

/* The first reading: no deltas, but what holds since the start. */
SCENE_TEST(test_baseline)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 1, 1, SEC(10));

	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 1, MS(5) };
	scene_build(scene, 0, false, 0);
	check(scene, UNIT_PERCENT, "cpu", "-");
	check(scene, UNIT_MS, "cpu", "-");
	check(scene, UNIT_COUNT, "total", "-");
	check(scene, UNIT_TOTAL, "cpu", "5.0");
	check(scene, UNIT_PERCENT, "run", "-");
	check(scene, UNIT_PERCENT, "elap", "0:01");
	scene_build(scene, 0, true, 0);
	check(scene, UNIT_MS, "cpu", "5.0");
	check(scene, UNIT_COUNT, "cpu", "1.0");
}

/* Longest waits, where the record has them. */
SCENE_TEST(test_max)
{
	struct scene *scene = *state;
	struct task_record *record;

	add_waiter(scene);
	sample_extend(&scene->samples[1], NEED_RECORD);
	record = &scene->samples[1].records[0];
	record->range_valid = DELAY_ALL & ~DELAY_BIT(DELAY_IRQ);
	record->max[DELAY_CPU] = MS(7);
	record->max[DELAY_THRASH] = MS(90);
	record->max[DELAY_WPCOPY] = MS(8);
	record->max[DELAY_IRQ] = MS(1000);
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_MAX, "cpu", "7.0");
	check(scene, UNIT_MAX, "compact", "0.0");
	check(scene, UNIT_MAX, "irq", "-");
	check(scene, UNIT_MAX, "total", "8.0");
	check(scene, UNIT_MAX, "mem", "90.0");
	/* What is below 0.1 ms is told to the microsecond. */
	record->max[DELAY_CPU] = 12400;
	check(scene, UNIT_MAX, "cpu", "0.012");
	assert_int_equal(column_needs(scene_column("cpu"), UNIT_MAX), NEED_RANGE);
	assert_int_equal(column_needs(scene_column("cpu"), UNIT_AVG), 0);
	assert_int_equal(column_needs(scene_column("run"), UNIT_MAX), 0);
}

/* Whether a longest wait is one of this interval. */
SCENE_TEST(test_rose)
{
	static const char *const risen[] = { "blkio", "total" };
	static const char *const others[] = { "cpu", "thrash", "mem", "irq", "run" };
	struct scene *scene = *state;
	struct view view = { .frame = &scene->frame, .unit = UNIT_MAX };
	struct task_record *before, *now;

	add_waiter(scene);
	sample_extend(&scene->samples[0], NEED_RECORD);
	sample_extend(&scene->samples[1], NEED_RECORD);
	before = &scene->samples[0].records[0];
	now = &scene->samples[1].records[0];
	before->range_valid = now->range_valid = DELAY_ALL & ~DELAY_BIT(DELAY_IRQ);
	before->max[DELAY_CPU] = now->max[DELAY_CPU] = MS(7);
	before->max[DELAY_BLKIO] = MS(7);
	now->max[DELAY_BLKIO] = MS(8);
	now->max[DELAY_IRQ] = MS(8);
	scene_build(scene, 1, false, 0);
	for (size_t i = 0; i < ARRAY_SIZE(risen); i++)
		assert_true(column_rose(scene_column(risen[i]), &view, &scene->frame.rows[0]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(column_rose(scene_column(others[i]), &view, &scene->frame.rows[0]));
	assert_int_equal(scene_column("wpcopy")->since, 13);
	assert_int_equal(scene_column("ac_exe_inode")->since, 12);
	assert_int_equal(scene_column("total")->since, 0);
	assert_int_equal(scene_column("pid")->since, 0);
}

/* Children's times and storage bytes: differences, over the interval. */
SCENE_TEST(test_proc)
{
	struct scene *scene = *state;
	struct task_proc *a, *b;

	add_waiter(scene);
	sample_extend(&scene->samples[0], NEED_PROC);
	sample_extend(&scene->samples[1], NEED_PROC);
	scene->samples[1].raw[0]->now.state = 'D';
	a = &scene->samples[0].procs[0];
	b = &scene->samples[1].procs[0];
	*a = (struct task_proc){ true, true, { MS(100), MS(200) }, { 1 << 20, 0, 4096 }, false };
	*b = (struct task_proc){ true, true, { MS(500), MS(200) }, { 3 << 20, 5 << 10, 0 }, false };
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_PERCENT, "state", "D");
	check(scene, UNIT_PERCENT, "cuser", "20.0");
	check(scene, UNIT_PERCENT, "csys", "0.0");
	check(scene, UNIT_PERCENT, "read", "1024");
	check(scene, UNIT_PERCENT, "write", "3");
	check(scene, UNIT_PERCENT, "cancel", "0");
	a->io_valid = a->children_valid = false;
	check(scene, UNIT_PERCENT, "read", "-");
	check(scene, UNIT_PERCENT, "cuser", "-");
	a->children_valid = a->io_valid = true;
	/* Since the start: all of it, over the 92 s of the task's life. */
	scene_build(scene, 1, true, 0);
	check(scene, UNIT_PERCENT, "cuser", "0.5");
	check(scene, UNIT_PERCENT, "csys", "0.2");
	check(scene, UNIT_PERCENT, "read", "33");
}

/* The bytes of a process and of its reaped children are no reading of its own. */
SCENE_TEST(test_bytes)
{
	struct scene *scene = *state;
	struct task_raw *raw = add_waiter(scene);
	struct task_proc *a, *b;
	struct row *row;

	sample_extend(&scene->samples[0], NEED_PROC);
	sample_extend(&scene->samples[1], NEED_PROC);
	a = &scene->samples[0].procs[0];
	b = &scene->samples[1].procs[0];
	*a = (struct task_proc){ .io_valid = true, .io_whole = true, .io.read = 1 << 20 };
	*b = (struct task_proc){ .io_valid = true, .io.read = 3 << 20 };
	raw->exited = true;
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	check(scene, UNIT_PERCENT, "read", "-");
	b->io_whole = true;
	check(scene, UNIT_PERCENT, "read", "1024");
	/* Of one that began in the interval there is nothing before. */
	b->io_whole = false;
	row->born = true;
	check(scene, UNIT_PERCENT, "read", "1536");
	/* Of a whole life records have it all for tasks, and for processes of one thread. */
	scene_build(scene, 1, true, 0);
	check(scene, UNIT_PERCENT, "read", "-");
	raw->single = true;
	check(scene, UNIT_PERCENT, "read", "33");
}

/* Of several tasks there are sums and high marks, and nothing that is of one. */
SCENE_TEST(test_folded_record)
{
	struct scene *scene = *state;
	struct task_record *record;

	scene_add(&scene->samples[1], 42, 42, SEC(101));
	scene->samples[1].raw[0]->counters.members = 5;
	sample_extend(&scene->samples[1], NEED_RECORD);
	record = &scene->samples[1].records[0];
	record->fields_valid = UINT64_MAX;
	for (unsigned f = 0; f < RECORD_FIELDS; f++)
		record->field[f] = 60;
	scene_build(scene, 1, false, 0);
	for (unsigned f = 0; f < RECORD_FIELDS; f++)
		check(scene, UNIT_PERCENT, record_table[f].id,
		      record_table[f].fold == FOLD_LEADER ? "-" : "60");
}

/* Fields of the record: gauges as they are, counters as their growth. */
SCENE_TEST(test_record)
{
	struct scene *scene = *state;
	struct task_record *a, *b;

	add_waiter(scene);
	sample_extend(&scene->samples[0], NEED_RECORD);
	sample_extend(&scene->samples[1], NEED_RECORD);
	a = &scene->samples[0].records[0];
	b = &scene->samples[1].records[0];
	a->fields_valid = b->fields_valid = RECORD_BIT(RECORD_nvcsw) |
					    RECORD_BIT(RECORD_hiwater_rss) |
					    RECORD_BIT(RECORD_ac_nice);
	b->fields_valid |= RECORD_BIT(RECORD_nivcsw);
	a->field[RECORD_nvcsw] = 100, b->field[RECORD_nvcsw] = 130;
	a->field[RECORD_hiwater_rss] = 5000, b->field[RECORD_hiwater_rss] = 6000;
	b->field[RECORD_ac_nice] = (uint64_t)-20;
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_PERCENT, "nvcsw", "30");
	check(scene, UNIT_TOTAL, "nvcsw", "130");
	check(scene, UNIT_PERCENT, "hiwater_rss", "6000");
	check(scene, UNIT_PERCENT, "ac_nice", "-20");
	check(scene, UNIT_PERCENT, "nivcsw", "-");
	check(scene, UNIT_PERCENT, "ac_btime", "-");
	b->field[RECORD_nvcsw] = 90;
	check(scene, UNIT_PERCENT, "nvcsw", "0");
	scene_build(scene, 1, true, 0);
	check(scene, UNIT_PERCENT, "nvcsw", "90");
}

/*
 * Who did nothing for long was read long ago, and is as old as the sample says all the same; who
 * has ended stays as old as it became.
 */
SCENE_TEST(test_age)
{
	struct scene *scene = *state;

	for (unsigned exited = 0; exited < 2; exited++) {
		struct task_raw *before = scene_add(&scene->samples[0], 42, 42, SEC(9)), *now;

		before->counters.delay[DELAY_CPU] = (struct delay_sum){ 1, MS(930) };
		before->read_ns = SEC(39);
		now = scene_again(&scene->samples[1], before);
		now->read_ns = before->read_ns;
		now->exited = exited;
		sample_mark(&scene->samples[1], 0);
		scene->samples[1].marks[0] = (uint8_t)(exited ? 0 : MARK_UNCHANGED);
		scene->samples[1].stable[1] = 1;
		for (unsigned since_start = 0; since_start < 2; since_start++) {
			scene_build(scene, 1, since_start, 0);
			check(scene, UNIT_PERCENT, "elap", exited ? "0:00" : "0:01");
			assert_int_equal(row_age_ns(&scene->frame, &scene->frame.rows[0]),
					 exited ? SEC(30) : SEC(93));
		}
		check(scene, UNIT_PERCENT, "cpu", exited ? "3.1" : "1.0");
		assert_int_equal(scene->frame.rows[0].interval_ns, exited ? SEC(30) : SEC(93));
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* Asserts the total of a column over all rows. */
static void check_total(const struct scene *scene, enum unit unit, const char *id, const char *cell)
{
	const struct column *column = scene_column(id);
	struct view view = { &scene->frame, unit, TEXT_UTF8, false, NULL };
	const struct row *rows[8];
	struct task_raw counters = { 0 };
	struct deltas deltas = { 0 };
	struct row sum = { .raw = &counters,
			   .deltas = &deltas,
			   .interval_ns = scene->info.interval_ns };
	struct buf out = { 0 }, scratch = { 0 };
	struct value total;

	for (size_t i = 0; i < scene->frame.n; i++) {
		rows[i] = &scene->frame.rows[i];
		row_add(&sum, &deltas, rows[i]);
		row_add_totals(&counters.counters, rows[i]);
	}
	total = column_total(column, &view, rows, scene->frame.n, &sum);
	if (total.type == VALUE_UNSET) {
		assert_string_equal(cell, "-");
		return;
	}
	column_append(column, &view, &total, 0, &scratch, &out);
	assert_string_equal(buf_cstr(&out) + strspn(buf_cstr(&out), " "), cell);
	buf_free(&out);
	buf_free(&scratch);
}

/* Sums over rows: of members' values where the sum of counters would say something else. */
SCENE_TEST(test_totals)
{
	struct scene *scene = *state;
	struct task_raw *a, *b, *c;

	a = scene_add(&scene->samples[1], 1, 1, SEC(101));
	b = scene_add(&scene->samples[1], 2, 2, SEC(101));
	c = scene_add(&scene->samples[1], 3, 3, SEC(101));
	a->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, MS(10) };
	b->counters.delay[DELAY_THRASH] = (struct delay_sum){ 1, MS(30) };
	a->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(100) };
	b->counters.delay[DELAY_CPU] = (struct delay_sum){ 1, MS(300) };
	c->counters.valid = 0;
	a->counters.run_ns = MS(500);
	scene_build(scene, 1, false, 0);
	check_total(scene, UNIT_PERCENT, "cpu", "20.0");
	check_total(scene, UNIT_COUNT, "cpu", "4.0");
	check_total(scene, UNIT_AVG, "cpu", "100.0");
	check_total(scene, UNIT_TOTAL, "cpu", "400.0");
	check_total(scene, UNIT_MAX, "cpu", "-");
	check_total(scene, UNIT_MS, "mem", "40.0");
	check_total(scene, UNIT_TOTAL, "mem", "40.0");
	check_total(scene, UNIT_TOTAL, "total", "410.0");
	check_total(scene, UNIT_MS, "run", "25.0");
	check_total(scene, UNIT_MS, "pid", "-");
	check_total(scene, UNIT_MS, "user", "-");
	check_total(scene, UNIT_MS, "read", "-");
}

/* Short waits: microseconds where a cell is of one wait, in rows and in the sum; else tenths. */
SCENE_TEST(test_short)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 1, 1, SEC(101));

	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 4, 48000 };
	scene_build(scene, 1, false, 0);
	check(scene, UNIT_AVG, "cpu", "0.012");
	check(scene, UNIT_AVG, "blkio", "-");
	check_total(scene, UNIT_AVG, "cpu", "0.012");
	check(scene, UNIT_MS, "cpu", "0.0");
	check(scene, UNIT_TOTAL, "cpu", "0.0");
	check(scene, UNIT_PERCENT, "cpu", "0.0");
	check(scene, UNIT_AVG, "run", "0.0");
}

/* The ladder of a delay cell that gets too wide. */
SCENE_TEST(test_ladder)
{
	static const struct {
		uint64_t ms;
		const char *cell;
	} cases[] = { { 9999, "9999.0" },   { 12345, "12345" },	    { 99999, "99999" },
		      { 100000, "100k" },   { 999000, "999k" },	    { 999999, ">999k" },
		      { 5000000, ">999k" }, { 4000000000, ">999k" } };
	struct scene *scene = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task_raw *raw = scene_add(&scene->samples[1], 1, 1, SEC(101));

		raw->now.threads = 5000000;
		raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, MS(cases[i].ms) };
		scene_build(scene, 1, false, 0);
		check(scene, UNIT_MS, "blkio", cases[i].cell);
		check(scene, UNIT_AVG, "blkio", cases[i].cell);
		check(scene, UNIT_TOTAL, "blkio", cases[i].cell);
		sample_reset(&scene->samples[1]);
	}
}

TESTS_WITHIN(test_in_utf8, NULL)

/* A path keeps its end in little room, and gives up first who serves its file system. */
SCENE_TEST(test_served_path)
{
	static const struct {
		unsigned cells;
		const char *text;
	} cuts[] = {
		{ 60, "/mnt/f/silent-file (fuse.silent silent of 9740 load_wait)   " },
		{ 24, "/mnt/f/silent-file+     " },
		{ 19, "/mnt/f/silent-file+" },
		{ 14, "+/silent-file+" },
	};
	struct scene *scene = *state;
	const struct column *column = column_in(&site_columns, "on", 2);
	const struct view view = { &scene->frame, UNIT_PERCENT, TEXT_UTF8, false, NULL };
	const struct value path = {
		.type = VALUE_TEXT,
		.text = "/mnt/f/silent-file (fuse.silent silent of 9740 load_wait)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		struct buf out = { 0 }, scratch = { 0 };

		column_append(column, &view, &path, cuts[i].cells, &scratch, &out);
		assert_string_equal(buf_cstr(&out), cuts[i].text);
		buf_free(&out);
		buf_free(&scratch);
	}
}
