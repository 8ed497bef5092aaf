// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of columns: what it must hold, and cells as wide as it says. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"

/* Fills what a row can show with the most there can be. */
static void fill_extreme(struct scene *scene, struct task_raw *raw, const char *name)
{
	struct task_record *record;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		raw->counters.delay[kind] = (struct delay_sum){ UINT64_MAX / 16, UINT64_MAX / 16 };
	raw->counters.run_ns = raw->counters.user_ns = raw->counters.system_ns = UINT64_MAX / 4;
	raw->task->uid = UINT32_MAX;
	raw->task->ppid = INT32_MAX;
	task_set_user(raw->task, shared_text(name));
	task_set_cgroup(raw->task, shared_text(name));
	raw->task->command = xstrdup(name);
	task_set_comm(raw->task, name, strlen(name));
	sample_extend(&scene->samples[1], NEED_RECORD | NEED_PROC);
	record = &scene->samples[1].records[0];
	memset(record, 0xff, sizeof(*record));
	scene->samples[1].procs[0] = (struct task_proc){
		true, true, { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, UINT64_MAX, UINT64_MAX }, true
	};
}

/* The sum row begins with a word of its own, whatever the first column's sum is. */
SCENE_TEST(test_marks)
{
	static const struct {
		const char *id;
		double total;
		const char *cell;
	} cases[] = {
		{ "members", 1, "=     1" },	   { "members", 1000, "=  1000" },
		{ "members", 99999, "= 99999" },   { "members", 123456, "=  123k" },
		{ "members", 4194304, "= 4194k" }, { "run", 0, "=  0.0" },
		{ "run", 99.9, "= 99.9" },	   { "run", 100, "=  100" },
		{ "run", 1234.5, "= 1235" },	   { "run", 1e6, "=   1M" },
		{ "read", 1e9, "=  1000M" },
	};
	struct scene *scene = *state;
	struct view view = { &scene->frame, UNIT_PERCENT, TEXT_ASCII, false, NULL };
	struct buf out = { 0 }, scratch = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct column *column = scene_column(cases[i].id);
		struct value total = value_number(cases[i].total);

		out.len = 0;
		column_append_total(column, &view, &total, 0, true, &scratch, &out);
		assert_string_equal(buf_cstr(&out), cases[i].cell);
		assert_int_equal(out.len, column->width);
	}
	buf_free(&out);
	buf_free(&scratch);
}

/* Whatever the value, a cell is exactly as wide as its column. */
SCENE_TEST(test_widths)
{
	static const char *const names[] = {
		"",
		"x",
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
		"a\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2",
		"e\xcc\x81\xcc\x82 x",
		"\x1b]0;x\x07\x1b]0;x\x07",
		"\xff\xfe\xfd\xfc\xfb\xfa",
		"\\\\\\\\\\\\\\\\\\\\",
		"\xe2\x80\xae\xc2\x9b\xe2\x80\x8b",
		"a name that is far longer than any column is wide",
	};
	struct scene *scene = *state;
	struct buf out = { 0 }, scratch = { 0 };

	for (unsigned n = 0; n < ARRAY_SIZE(names); n++) {
		struct task_raw *raw =
			scene_add(&scene->samples[1], INT32_MAX, INT32_MAX, SEC(101));

		fill_extreme(scene, raw, names[n]);
		scene_build(scene, 1, n % 2, 0);
		for (size_t i = 0; i < columns_n * UNITS * 2; i++) {
			const struct column *column = &columns[i / UNITS / 2];
			struct view view = { &scene->frame, i / 2 % UNITS,
					     i % 2 ? TEXT_UTF8 : TEXT_ASCII, false, NULL };
			struct value value = column_get(column, &view, &scene->frame.rows[0]);

			out.len = 0;
			column_append(column, &view, &value, column->width, &scratch, &out);
			assert_int_equal(text_width(out.data, out.len, view.charset),
					 column->width);
		}
		sample_reset(&scene->samples[1]);
	}
	buf_free(&out);
	buf_free(&scratch);
}

/* What rows of the table say of themselves that others ask for. */
static void test_roles(void)
{
	static const struct {
		char key;
		const char *id;
	} keys[] = { { '1', "cpu" }, { '8', "irq" }, { '9', "mem" }, { '0', "total" },
		     { 'P', "run" }, { 'N', "pid" }, { 'T', "time" } };
	char heading[COLUMN_HEADING];
	unsigned defaults = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		assert_ptr_equal(column_by_key(keys[i].key), scene_column(keys[i].id));
	assert_ptr_equal(column_sort_default(&task_columns), scene_column("total"));
	assert_ptr_equal(column_longer(scene_column("comm")), scene_column("command"));
	assert_null(column_longer(scene_column("command")));
	for (size_t i = 0; i < columns_n; i++) {
		const struct column *column = &columns[i];

		defaults += column->sort_default;
		assert_true(column->yields <= COLUMN_TURNS);
		/* What is last has its place; what is not in the default view has none to make. */
		assert_true(!column->yields || (column->place && !column->last));
		assert_true(!(column->from && column->narrow));
		assert_true(column->least <= column->width);
		assert_true(!column->longer || column_longer(column));
		assert_true(column->get && column->width);
	}
	assert_int_equal(defaults, 1);
	column_heading(scene_column("cpu"), heading);
	assert_string_equal(heading, "1CPU");
	column_heading(scene_column("pid"), heading);
	assert_string_equal(heading, "PID");
}

/* The table itself: the manual's ids, headings, units; every column with its help. */
SCENE_TEST(test_table)
{
	static const char *const ids[] = {
		"pid",	   "tgid",   "ppid",	"user",	  "uid",  "state", "run",
		"usr",	   "sys",    "total",	"mem",	  "cpu",  "blkio", "swapin",
		"reclaim", "thrash", "compact", "wpcopy", "irq",  "elap",  "cuser",
		"csys",	   "comm",   "command", "cgroup", "read", "write", "cancel",
	};
	static const char digits[] = "1234567809";

	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++)
		assert_non_null(column_by_id(ids[i], strlen(ids[i])));
	for (unsigned i = 0; i < RECORD_FIELDS; i++)
		assert_non_null(column_by_id(record_table[i].id, strlen(record_table[i].id)));
	assert_null(column_by_id("pidx", 4));
	assert_null(column_by_id("", 0));
	for (unsigned d = 0; digits[d]; d++) {
		unsigned found = 0;

		for (size_t i = 0; i < columns_n; i++)
			found += columns[i].digit == digits[d];
		assert_int_equal(found, 1);
	}
	for (size_t i = 0; i < columns_n; i++) {
		assert_ptr_equal(column_by_id(columns[i].id, strlen(columns[i].id)), &columns[i]);
		assert_true(*columns[i].help && *columns[i].heading);
		/* Lines of text are taken apart at blanks. */
		assert_null(strchr(columns[i].heading, ' '));
		assert_true(!columns[i].unit || !strchr(columns[i].unit, ' '));
		assert_true(strlen(columns[i].heading) + !!columns[i].digit <= columns[i].width);
		assert_true(columns[i].last || !columns[i].unit ||
			    strlen(columns[i].unit) <= columns[i].width);
		assert_int_equal(column_is_delay(&columns[i]), !columns[i].unit);
		if (column_is_delay(&columns[i]))
			assert_int_equal(columns[i].width, 6);
	}
	test_roles();
	for (enum unit unit = 0; unit < UNITS; unit++) {
		assert_int_equal(unit_by_name(unit_table[unit].id), unit);
		assert_string_equal(column_unit(scene_column("cpu"), unit), unit_table[unit].label);
		assert_true(strlen(unit_table[unit].label) <= scene_column("cpu")->width);
		assert_string_equal(column_unit(scene_column("run"), unit), "(%)");
	}
	assert_int_equal(unit_by_name("percents"), -1);
}

TESTS_WITHIN(test_in_utf8, NULL)
