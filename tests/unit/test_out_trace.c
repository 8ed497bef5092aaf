// SPDX-License-Identifier: GPL-2.0-or-later
/* What was traced, in the formats: JSON and text, and as cells of columns. */
#include "tests/lib/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/out.h"
#include "tests/lib/scene.h"
#include "tests/lib/sites.h"
#include "view/site_lines.h"

/* Two rows that were traced, and their sites. */
struct traces {
	struct scene scene;
	struct view_config view;
	struct out_config config;
	struct out out;
	struct trace_frame frame;
};

/* What sites, and what was traced of rows, have in common of a process. */
#define READER .tgid = 7, .start_ns = SEC(10) + 1
#define SLEEPER .tgid = 8, .start_ns = SEC(10) + 2

static const struct traced traced_rows[] = {
	{ READER, .waker = "812 postgres",
	  .states.ns = { [STATE_RUN] = MS(180), [STATE_IO] = MS(1500), [STATE_POLL] = MS(320) } },
	{ SLEEPER, .states.ns = { [STATE_TIMER] = SEC(2) } },
};

static const struct site traced_sites[] = {
	{ .id = 2,
	  SLEEPER,
	  .comm = "sleeper",
	  .state = STATE_TIMER,
	  .kind = -1,
	  .syscall = "clock_nanosleep",
	  .ns = SEC(2),
	  .waiting = 1,
	  .waiting_ns = SEC(9),
	  .max_ns = SEC(9) },
	{ .id = 1,
	  READER,
	  .comm = "re\nader",
	  .state = STATE_IO,
	  .kind = DELAY_BLKIO,
	  .syscall = "pread64",
	  .on = "/data/a file",
	  .where = "__iomap_dio_rw",
	  .stack = 1,
	  .count = 3,
	  .ns = MS(1500),
	  .kind_ns = MS(1490),
	  .max_ns = MS(700),
	  .log2_us = { [1] = 2, [20] = 1 },
	  .wakers = { { 812, "postgres", MS(900), 2 }, { 0, "virtio0", MS(600), 1 } } },
	{ .id = 9,
	  READER,
	  .comm = "reader",
	  .state = STATE_IO,
	  .kind = DELAY_BLKIO,
	  .unattributed = true,
	  .ns = MS(5),
	  .unattributed_ns = (int64_t)MS(5) },
	{ .id = 11,
	  READER,
	  .comm = "reader",
	  .state = STATE_OTHER,
	  .kind = DELAY_SWAPIN,
	  .unattributed = true,
	  .overlaps = true,
	  .on = SITE_WITHIN,
	  .ns = MS(4),
	  .unattributed_ns = (int64_t)MS(4) },
	/* Of a process that has no row. */
	{ .id = 10, .tgid = 99, .start_ns = 5, .kind = -1, .ns = MS(1) },
};

static const char *const functions[] = { "io_schedule+0x12", "__iomap_dio_rw+0x1f4" };
static const struct site_stack stacks[] = { [1] = { functions, ARRAY_SIZE(functions) } };

static int open_traces(void **state)
{
	struct traces *t = xcalloc(1, sizeof(*t));

	scene_open(&t->scene);
	t->view = (struct view_config){ .query = { .over_ms = -1 }, .interval_ns = SEC(2) };
	t->config = (struct out_config){ .view = &t->view, .charset = TEXT_UTF8 };
	t->frame = (struct trace_frame){ .sites = SITES_OF(traced_sites, ARRAY_SIZE(traced_sites)),
					 .n = ARRAY_SIZE(traced_sites),
					 .stacks = stacks,
					 .nstacks = ARRAY_SIZE(stacks),
					 .interval_ns = SEC(2),
					 .switches = 812,
					 .lost = 2,
					 .cost = 0.25 };
	for (pid_t pid = 7; pid <= 8; pid++)
		scene_again(&t->scene.samples[1],
			    scene_add(&t->scene.samples[0], pid, pid, SEC(10)));
	*state = t;
	return 0;
}

static int close_traces(void **state)
{
	struct traces *t = *state;

	out_close(&t->out);
	scene_close(&t->scene);
	free(t);
	return 0;
}

/* Puts the frame out; what it made is the returned string. */
static const char *put_traces(struct traces *t, const struct out_ops *ops)
{
	scene_build(&t->scene, 1, false, 0);
	for (size_t i = 0; i < 2; i++)
		t->scene.frame.rows[i].traced = &traced_rows[i];
	t->scene.info.trace = &t->frame;
	out_open(&t->out, ops, &t->config);
	out_frame(&t->out, &t->scene.frame);
	return buf_cstr(&t->out.buf);
}

/* A member that is a number. */
static long long number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

/* A member that is a text. */
static const char *text(const json_t *object, const char *name)
{
	assert_true(json_is_string(json_object_get(object, name)));
	return json_string_value(json_object_get(object, name));
}

/* States of tasks, and the sites of those that passed, the most time first. */
TEST_WITH(test_traced_json, open_traces, close_traces)
{
	struct site unknown[ARRAY_SIZE(traced_sites)];
	struct traces *t = *state;
	json_t *json = json_loads(put_traces(t, &out_json), JSON_REJECT_DUPLICATES, NULL);
	json_t *task, *sites, *site, *wakers;

	assert_non_null(json);
	task = json_array_get(json_object_get(json, "tasks"), 0);
	assert_int_equal(number(task, "alive_ns"), SEC(2));
	assert_int_equal(json_object_size(json_object_get(task, "states")), WAIT_STATES);
	assert_int_equal(number(json_object_get(task, "states"), "io_ns"), MS(1500));
	assert_int_equal(number(json_object_get(json, "trace"), "switches"), 812);
	assert_int_equal(number(json_object_get(json, "trace"), "lost"), 2);
	sites = json_object_get(json, "sites");
	assert_int_equal(json_array_size(sites), 4);
	site = json_array_get(sites, 0);
	assert_string_equal(text(site, "comm"), "sleeper");
	assert_int_equal(number(site, "waiting_ns"), SEC(9));
	assert_true(json_is_null(json_object_get(site, "kind_ns")));
	assert_int_equal(json_array_size(json_object_get(site, "log2_us")), 0);
	site = json_array_get(sites, 1);
	assert_int_equal(number(site, "pid"), 7);
	assert_string_equal(text(site, "comm"), "re\\x0aader");
	assert_string_equal(text(site, "state"), "io");
	assert_string_equal(text(site, "kind"), "blkio");
	assert_string_equal(text(site, "on"), "/data/a file");
	assert_string_equal(text(site, "where"), "__iomap_dio_rw");
	assert_int_equal(number(site, "ns"), MS(1500));
	assert_int_equal(number(site, "kind_ns"), MS(1490));
	assert_int_equal(json_array_size(json_object_get(site, "log2_us")), 21);
	assert_int_equal(json_array_size(json_object_get(site, "stack")), 2);
	wakers = json_object_get(site, "wakers");
	assert_int_equal(json_array_size(wakers), 2);
	assert_int_equal(number(json_array_get(wakers, 0), "pid"), 812);
	assert_true(json_is_null(json_object_get(json_array_get(wakers, 1), "pid")));
	assert_string_equal(text(json_array_get(wakers, 1), "name"), "virtio0");
	site = json_array_get(sites, 2);
	assert_string_equal(text(site, "state"), "unattributed");
	assert_string_equal(text(site, "kind"), "blkio");
	assert_int_equal(number(site, "ns"), (long long)MS(5));
	site = json_array_get(sites, 3);
	assert_string_equal(text(site, "state"), "overlapping");
	assert_string_equal(text(site, "kind"), "swapin");
	assert_string_equal(text(site, "on"), "within other waits and running");
	json_decref(json);
	/* How much it is may not be known. What a wait is on was read after the sample began. */
	memcpy(unknown, traced_sites, sizeof(unknown));
	unknown[1].on_ns = t->scene.samples[1].begin_ns + MS(12);
	unknown[2].unknown = true;
	unknown[2].unattributed_ns = 0;
	t->frame.sites = SITES_OF(unknown, ARRAY_SIZE(unknown));
	out_close(&t->out);
	json = json_loads(put_traces(t, &out_json), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	site = json_array_get(json_object_get(json, "sites"), 1);
	assert_int_equal(llround(json_real_value(json_object_get(site, "on_after")) * 1000), 12);
	site = json_array_get(json_object_get(json, "sites"), 2);
	assert_string_equal(text(site, "state"), "unattributed");
	assert_true(json_is_null(json_object_get(site, "on_after")));
	assert_true(json_is_null(json_object_get(site, "ns")));
	assert_true(json_is_null(json_object_get(site, "kind_ns")));
	json_decref(json);
}

/* Only sites of rows that passed the filters. */
TEST_WITH(test_filtered, open_traces, close_traces)
{
	struct traces *t = *state;
	json_t *json;

	t->view.query.over_ms = 1;
	t->scene.samples[1].raw[1]->counters.delay[DELAY_CPU].ns = MS(900);
	json = json_loads(put_traces(t, &out_json), 0, NULL);
	assert_int_equal(json_array_size(json_object_get(json, "tasks")), 1);
	assert_int_equal(json_array_size(json_object_get(json, "sites")), 1);
	json_decref(json);
}

/* A recording may claim that the trace took no time. */
TEST_WITH(test_why_of_no_time, open_traces, close_traces)
{
	static const struct site asked = {
		READER,	      .comm = "reader",		.kind = -1,	   .state = STATE_LOCK,
		.ns = SEC(2), .class = CLASS_CONTENDED, .syscall = "futex"
	};
	struct traces *t = *state;
	json_t *json;

	t->config.as_json = true;
	t->frame.sites = SITES_OF(&asked, 1);
	t->frame.n = 1;
	json = json_loads(put_traces(t, &out_why), 0, NULL);
	assert_int_equal(number(json_object_get(json, "waits"), "pid"), 7);
	json_decref(json);
	out_close(&t->out);
	t->out = (struct out){ 0 };
	t->frame.interval_ns = 0;
	json = json_loads(put_traces(t, &out_why), 0, NULL);
	assert_true(json_is_null(json_object_get(json, "waits")));
	json_decref(json);
}

/* The table behind the sum row: what is lost comes first, each cell is a word. */
TEST_WITH(test_traced_text, open_traces, close_traces)
{
	struct traces *t = *state;
	const char *out = put_traces(t, &out_text), *table = strstr(out, "\nsites\n"), *line, *next;
	char word[64];

	assert_non_null(table);
	assert_non_null(strstr(out, "trace 0.2 %"));
	line = strstr(table, "      7 io ");
	assert_non_null(line);
	next = strstr(table, "      8 timer ");
	assert_true(next > line);
	assert_int_equal(sscanf(line, "%*s %*s 1500.0 75.0 3 500.0 700.0 pread64 %63s", word), 1);
	assert_string_equal(word, "/data/a\\x20file");
	assert_non_null(strstr(line, " re\\x0aader\n"));
	assert_null(strstr(table, "     99 "));
}

/* The columns and the order that were chosen; the last cell is whole. */
TEST_WITH(test_chosen_text, open_traces, close_traces)
{
	struct traces *t = *state;
	const char *table;

	view_set_site_fields(&t->view, "state,comm,share,on");
	t->view.sites.sort = column_in(&site_columns, "comm", 4);
	table = strstr(put_traces(t, &out_text), "\nsites\n");
	assert_non_null(table);
	table = strchr(table + 1, '\n') + 1;
	assert_ptr_equal(strstr(table, "STATE   COMMAND          SHARE ON\n"
				       "(str)   (str)              (%) (str)\n"
				       "io      re\\x0aader        75.0 /data/a file\n"
				       "blkio   reader             0.3 (unattributed)\n"
				       "swapin  reader             0.2 " SITE_WITHIN "\n"
				       "timer   sleeper          100.0 -\n\n"),
			 table);
	/* Added to those of a text, in the usual order. */
	out_close(&t->out);
	t->out = (struct out){ 0 };
	view_set_site_fields(&t->view, "-where,-avg,+class");
	t->view.sites.sort = NULL;
	table = strstr(put_traces(t, &out_text), "\nsites\n");
	assert_non_null(strstr(table, "    PID STATE        TIME  SHARE   COUNT     MAX SYSCALL "));
	assert_non_null(strstr(table, " COMMAND         CLASS\n"));
	assert_true(strstr(table, "\n      7 io ") < strstr(table, "\n      8 timer "));
	view_config_free(&t->view);
}

/* A cell of the first row. */
static struct value cell(const struct traces *t, const char *id)
{
	struct view view = { .frame = &t->scene.frame, .charset = TEXT_UTF8 };

	return column_get(scene_column(id), &view, &t->scene.frame.rows[0]);
}

/* Columns of what was traced; without tracing they are not known. */
TEST_WITH(test_traced_columns, open_traces, close_traces)
{
	struct traces *t = *state;
	struct value value;

	put_traces(t, &out_csv);
	value = cell(t, "states");
	assert_string_equal(value_chars(&value), "riiiiiii..");
	assert_true(cell(t, "s-io").number == 75);
	assert_true(cell(t, "s-run").number == 9);
	assert_true(cell(t, "s-other").number == 0);
	value = cell(t, "waker");
	assert_string_equal(value_chars(&value), "812 postgres");
	assert_true(column_descends(scene_column("states")));
	t->scene.frame.rows[0].traced = NULL;
	value = cell(t, "states");
	assert_null(value_chars(&value));
	assert_int_equal(cell(t, "s-io").type, VALUE_UNSET);
	assert_int_equal(cell(t, "waker").type, VALUE_UNSET);
}

/* The sum row has all rows' states; CSV has the columns that were named. */
TEST_WITH(test_traced_sums, open_traces, close_traces)
{
	struct traces *t = *state;
	const char *out;

	t->view.fields = xstrdup("pid,states,s-io,comm");
	out = put_traces(t, &out_text);
	assert_non_null(strstr(out, "      7 riiiiiii..   75.0"));
	assert_non_null(strstr(out, "      8 tttttttttt    0.0"));
	/* 1500 of 4000 ms I/O, 2000 of a timer; 180 run and 320 poll round to one cell. */
	assert_non_null(strstr(out, "      = iiii.ttttt   75.0"));
	out_close(&t->out);
	t->out = (struct out){ 0 };
	out = put_traces(t, &out_csv);
	assert_non_null(strstr(out, ",states,s-io\r\n"));
	assert_non_null(strstr(out, ",riiiiiii..,75\r\n"));
	free(t->view.fields);
}

/* Bars are always full, and shares of nothing are not known. */
TEST(test_bar)
{
	uint64_t parts[3] = { 1, 1, 1 };
	struct value value = value_bar(parts, "abc", 3, 1), other;

	assert_string_equal(value_chars(&value), "aaaabbbccc");
	parts[0] = UINT64_MAX / 2;
	parts[1] = parts[2] = 0;
	value = value_bar(parts, "abc", 3, 1);
	assert_string_equal(value_chars(&value), "aaaaaaaaaa");
	parts[0] = parts[1] = 0;
	value = value_bar(parts, "abc", 3, 1);
	assert_int_equal(value.type, VALUE_UNSET);
	parts[1] = 94;
	parts[2] = 6;
	value = value_bar(parts, "abc", 3, 94);
	assert_string_equal(value_chars(&value), "bbbbbbbbbc");
	other = value_bar(parts, "abc", 3, 6);
	assert_true(value_compare(&value, &other) > 0);
}
