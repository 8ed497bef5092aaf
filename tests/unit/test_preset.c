// SPDX-License-Identifier: GPL-2.0-or-later
/* Presets: what they show, that each keeps what keys changed in it, and those of one's own. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "view/layout.h"
#include "view/view_config.h"

/* The settings of a screen that was started with these fields and this order. */
static struct view_config start(const char *fields, const char *sort)
{
	struct view_config view = { .query = { .over_ms = -1, .descending = true } };

	view.query.sort =
		sort ? column_by_id(sort, strlen(sort)) : column_sort_default(&task_columns);
	view_set_fields(&view, fields);
	return view;
}

/* Goes to the preset of that name. */
static void go_to(struct view_config *view, const char *name)
{
	for (size_t i = 0; i < PRESETS_MAX; i++) {
		view_next_preset(view, 1);
		if (!strcmp(view_preset(view)->name, name))
			return;
	}
	fail_msg("no preset %s", name);
}

/* Those of every screen, in their order, around and back. */
TEST(test_order)
{
	static const char *const names[] = { "hangs", "cpu", "io", "memory", "states", "waits" };
	struct view_config view = start(NULL, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		view_next_preset(&view, 1);
		assert_string_equal(view_preset(&view)->name, names[i]);
		assert_non_null(view_preset(&view)->help);
	}
	for (size_t i = ARRAY_SIZE(names) - 1; i-- > 0;) {
		view_next_preset(&view, -1);
		assert_string_equal(view_preset(&view)->name, names[i]);
	}
	view_next_preset(&view, -1);
	assert_string_equal(view_preset(&view)->name, "waits");
	view_config_free(&view);
}

/* The default view is as it was asked for; nobody who never left it has another. */
TEST(test_default)
{
	struct view_config view = start("pid,comm", "cpu");

	assert_null(view_preset(&view));
	assert_string_equal(view_default(&view).fields, "pid,comm");
	view_next_preset(&view, 1);
	assert_true(view.query.hangs);
	assert_string_equal(view.query.sort->id, "wait");
	assert_true(view.query.descending && view.own_fields);
	assert_string_equal(view_default(&view).fields, "pid,comm");
	assert_string_equal(view_default(&view).sort->id, "cpu");
	view_next_preset(&view, -1);
	assert_false(view.query.hangs || view.own_fields);
	assert_string_equal(view.fields, "pid,comm");
	assert_string_equal(view.query.sort->id, "cpu");
	view_config_free(&view);
}

/* What was changed in a preset stays with it, until its own fields are asked for. */
TEST(test_changes)
{
	struct view_config view = start(NULL, NULL);

	go_to(&view, "memory");
	assert_string_equal(view.query.sort->id, "mem");
	view_set_fields(&view, "pid,mem");
	assert_false(view.own_fields);
	view.query.sort = column_by_id("run", 3);
	view.query.descending = false;
	go_to(&view, "waits");
	assert_null(view.fields);
	assert_ptr_equal(view.query.sort, column_sort_default(&task_columns));
	assert_true(view.query.descending);
	go_to(&view, "memory");
	assert_string_equal(view.fields, "pid,mem");
	assert_string_equal(view.query.sort->id, "run");
	assert_false(view.query.descending || view.own_fields);
	view_default_fields(&view);
	assert_string_not_equal(view.fields, "pid,mem");
	assert_true(view.own_fields);
	view_config_free(&view);
}

/* Each has an order and, but for the default view, fields of which several are there. */
TEST(test_fields)
{
	struct view_config view = start(NULL, NULL);
	struct layout fields, room;

	for (view_next_preset(&view, 1); view.presets.now; view_next_preset(&view, 1)) {
		layout_named(&fields, view.fields);
		layout_named(&room, view_preset(&view)->room);
		assert_non_null(view.query.sort);
		assert_true(fields.n > 2);
		assert_true(layout_has(&fields, column_by_id("pid", 3)));
		assert_true(layout_has(&fields, column_by_id("comm", 4)));
		/* what makes room is there, and something stays */
		assert_true(room.n < fields.n);
		for (size_t i = 0; i < room.n; i++)
			assert_true(layout_has(&fields, room.columns[i]));
	}
	view_config_free(&view);
}

/* Adds a preset, and asserts its fields and order. */
static void check_added(const char *text, const char *name, const char *fields, const char *sort,
			bool descending, bool hangs)
{
	struct view_config view = start(NULL, NULL);
	struct buf why = { 0 };

	assert_true(presets_add(&view.presets, text, &why));
	assert_int_equal(why.len, 0);
	go_to(&view, name);
	if (fields)
		assert_string_equal(view.fields, fields);
	else
		assert_null(view.fields);
	assert_string_equal(view.query.sort->id, sort);
	assert_int_equal(view.query.descending, descending);
	assert_int_equal(view.query.hangs, hangs);
	buf_free(&why);
	view_config_free(&view);
}

/* One's own come after the others; one of the same name takes its place. */
TEST(test_add)
{
	struct view_config view = start(NULL, NULL);
	struct buf why = { 0 };
	size_t n;

	check_added("mine: fields=pid,total,comm, sort=-total", "mine", "pid,total,comm", "total",
		    true, false);
	check_added("mine:fields=+elap", "mine", "+elap", "total", true, false);
	check_added("a-1 : sort=+pid", "a-1", NULL, "pid", false, false);
	check_added("x: sort=comm  filter=hangs", "x", NULL, "comm", false, true);
	check_added("cpu: fields=pid, cpu comm", "cpu", "pid,cpu,comm", "total", true, false);
	presets_ready(&view.presets);
	n = view.presets.n;
	assert_true(presets_add(&view.presets, "cpu: sort=pid", &why));
	assert_int_equal(view.presets.n, n);
	for (size_t i = n; i < PRESETS_MAX; i++) {
		char text[32];

		snprintf(text, sizeof(text), "p%zu: sort=pid", i);
		assert_true(presets_add(&view.presets, text, &why));
	}
	assert_int_equal(why.len, 0);
	assert_false(presets_add(&view.presets, "last: sort=pid", &why));
	buf_free(&why);
	view_config_free(&view);
}

/* What is shown can be kept under a name, and is the same when it is read from its text. */
TEST(test_keep)
{
	struct view_config view = start("pid,total,comm", "run"), again = start(NULL, NULL);
	struct buf why = { 0 }, text = { 0 };
	size_t n;

	assert_true(view_keep_preset(&view, "mine", &why));
	assert_string_equal(view_preset(&view)->name, "mine");
	assert_string_equal(view.fields, "pid,total,comm");
	assert_string_equal(view.query.sort->id, "run");
	assert_true(view.query.descending);
	/* the default view stays what it was */
	assert_string_equal(view_default(&view).fields, "pid,total,comm");
	preset_append(view_preset(&view), &text);
	assert_string_equal(buf_cstr(&text), "mine: fields=pid,total,comm, sort=-run, "
					     "unit=percent, group=process");
	assert_true(presets_add(&again.presets, buf_cstr(&text), &why));
	/* another of the same name takes its place, and what was changed is in it */
	n = view.presets.n;
	view_set_fields(&view, "pid,cpu");
	view.query.descending = false;
	assert_true(view_keep_preset(&view, "mine", &why));
	assert_int_equal(view.presets.n, n);
	assert_string_equal(view.fields, "pid,cpu");
	assert_false(view.query.descending);
	/* a preset of one's own that began as one of every screen's makes room like that */
	go_to(&view, "hangs");
	assert_true(view_keep_preset(&view, "h2", &why));
	text.len = 0;
	preset_append(view_preset(&view), &text);
	assert_non_null(strstr(buf_cstr(&text), "filter=hangs"));
	assert_non_null(strstr(buf_cstr(&text), "room=user,total"));
	assert_true(presets_add(&again.presets, buf_cstr(&text), &why));
	assert_string_equal(presets_find(&again.presets, "h2")->room,
			    presets_find(&view.presets, "hangs")->room);
	assert_int_equal(why.len, 0);
	buf_free(&why);
	buf_free(&text);
	view_config_free(&view);
	view_config_free(&again);
}

/* Unit and grouping of a preset are shown with it; what was chosen before is there behind it. */
TEST(test_unit_and_group)
{
	struct view_config view = start(NULL, NULL);
	struct buf why = { 0 }, text = { 0 };

	view.unit = UNIT_MS;
	view.group_by = GROUP_USER;
	assert_true(presets_add(&view.presets, "g: sort=-throttled, group=cgroup", &why));
	assert_true(presets_add(&view.presets, "u: unit=count, sort=-total", &why));
	go_to(&view, "g");
	assert_int_equal(view.group_by, GROUP_CGROUP);
	assert_int_equal(view.unit, UNIT_MS);
	assert_int_equal(view_default_group(&view), GROUP_USER);
	/* what it does not set stays as it is changed */
	view.unit = UNIT_AVG;
	view.group_by = GROUP_COMMAND;
	assert_true(view_keep_preset(&view, "both", &why));
	preset_append(view_preset(&view), &text);
	assert_string_equal(buf_cstr(&text), "both: sort=-throttled, unit=avg, group=command");
	assert_int_equal(view.group_by, GROUP_COMMAND);
	assert_int_equal(view_default_group(&view), GROUP_USER);
	go_to(&view, "u");
	assert_int_equal(view.group_by, GROUP_USER);
	assert_int_equal(view.unit, UNIT_COUNT);
	assert_int_equal(view_default_unit(&view), UNIT_AVG);
	go_to(&view, "waits");
	assert_int_equal(view.unit, UNIT_AVG);
	assert_int_equal(view.group_by, GROUP_USER);
	assert_false(presets_add(&view.presets, "n: group=nothing", &why));
	assert_false(presets_add(&view.presets, "n: unit=nothing", &why));
	buf_free(&why);
	buf_free(&text);
	view_config_free(&view);
}

/* A name that cannot be is refused, and nothing changes. */
TEST(test_keep_bad)
{
	static const char *const names[] = { "",    "waits", "two words", "seventeen-letters",
					     "a:b", "\x1b",  "\xc3\xa4" };
	struct view_config view = start("pid", NULL);
	struct buf why = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		why.len = 0;
		assert_false(view_keep_preset(&view, names[i], &why));
		assert_true(why.len > 0);
		assert_int_equal(view.presets.now, 0);
		assert_string_equal(view.fields, "pid");
	}
	for (size_t i = view.presets.n; i < PRESETS_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p%zu", i);
		assert_true(view_keep_preset(&view, name, &why));
	}
	why.len = 0;
	assert_false(view_keep_preset(&view, "more", &why));
	assert_string_equal(buf_cstr(&why), "there are 64 presets already");
	buf_free(&why);
	view_config_free(&view);
}

/* What is none changes nothing, and says what is allowed. */
TEST(test_bad)
{
	static const char *const texts[] = {
		"",
		"mine",
		": sort=pid",
		"mine:",
		"mine: pid",
		"mine: sort=nothing",
		"mine: fields=nothing",
		"mine: fields=",
		"mine: sort=",
		"mine: what=pid",
		"mine: filter=other",
		"mine: room=nothing",
		"waits: sort=pid",
		"m\x1b: sort=pid",
		"a name: sort=pid",
		"seventeen-letters: sort=pid",
		"mine: sort=pid fields=nothing sort=run",
	};
	struct view_config view = start(NULL, NULL);
	struct buf why = { 0 };

	presets_ready(&view.presets);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t n = view.presets.n;

		why.len = 0;
		assert_false(presets_add(&view.presets, texts[i], &why));
		assert_int_equal(view.presets.n, n);
		assert_true(why.len > 0);
	}
	why.len = 0;
	assert_false(presets_add(&view.presets, "mine: fields=pid,no\033thing", &why));
	assert_non_null(strstr(buf_cstr(&why), "no field: no\\x1bthing"));
	buf_free(&why);
	view_config_free(&view);
}
