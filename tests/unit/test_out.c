// SPDX-License-Identifier: GPL-2.0-or-later
/* The three formats, from frames made by hand. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/out.h"
#include "tests/lib/scene.h"
#include "base/util.h"

/* A scene, how it is to be put out, and what came. */
struct state {
	struct scene scene;
	struct view_config view;
	struct out_config config;
	struct out out;
};

/* An empty scene, and a plain configuration. */
static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->view = (struct view_config){ .query = { .over_ms = -1 }, .interval_ns = SEC(2) };
	s->config = (struct out_config){ .view = &s->view, .charset = TEXT_UTF8 };
	*state = s;
	return 0;
}

/* See open_state(). */
static int close_state(void **state)
{
	struct state *s = *state;

	out_close(&s->out);
	scene_close(&s->scene);
	free(s);
	return 0;
}

/* Adds a task that is in both samples, and waited for the CPU for 500 ms, ten times. */
static struct task_raw *add(struct state *s, pid_t pid, const char *comm)
{
	struct task_raw *before = scene_add(&s->scene.samples[0], pid, pid, SEC(10)), *now;

	before->counters.delay[DELAY_CPU] = (struct delay_sum){ 5, MS(1000) };
	before->task->user = "root";
	before->task->ppid = 1;
	task_set_comm(before->task, comm, strlen(comm));
	now = scene_again(&s->scene.samples[1], before);
	now->counters.delay[DELAY_CPU] = (struct delay_sum){ 15, MS(1500) };
	now->counters.run_ns = MS(100);
	now->counters.user_ns = MS(4);
	now->counters.system_ns = MS(4);
	return now;
}

/* Puts the frame out; what it made is the returned string. */
static const char *put_out(struct state *s, const struct out_ops *ops)
{
	scene_build(&s->scene, 1, false, 0);
	if (!s->out.ops)
		out_open(&s->out, ops, &s->config);
	s->out.buf.len = 0;
	out_frame(&s->out, &s->scene.frame);
	return buf_cstr(&s->out.buf);
}

#define CSV_HEAD \
	"time,interval,pid,tgid,ppid,uid,user,comm,state,exited," \
	"cpu_count,cpu_ns,blkio_count,blkio_ns,swapin_count,swapin_ns," \
	"reclaim_count,reclaim_ns,thrash_count,thrash_ns,compact_count,compact_ns," \
	"wpcopy_count,wpcopy_ns,irq_count,irq_ns,run_ns," \
	"cpu_waited_ns,blkio_waited_ns,swapin_waited_ns,reclaim_waited_ns,thrash_waited_ns," \
	"compact_waited_ns,wpcopy_waited_ns,irq_waited_ns,block_waited_ns,wait_ns"
#define CSV_TIMES "1763697602.000000,2.000000000,"
#define FIRST "7,7,1,0,root,plain,D,0,10,500000000,,0,0,0,0,0,0,0,0,0,0,0,,,100000000,500000000,"

/* One head row, then a record a task, lines ended as RFC 4180 has them. */
static void test_csv(void **state)
{
	struct state *s = *state;
	struct task_raw *raw = add(s, 7, "plain");

	raw->counters.valid &= ~(DELAY_COUNT_BIT(DELAY_BLKIO) | DELAY_BOTH(DELAY_BIT(DELAY_IRQ)));
	raw->now.state = ((struct task_raw *)sample_find(&s->scene.samples[0], 7, 7))->now.state =
		'D';
	waits_add(&raw->now.waits, SEEN_BLOCK, SEC(101), SEC(102), SEC(100));
	waits_add(&raw->now.waits, SEEN_BLKIO, SEC(101) + MS(500), SEC(102), SEC(100));
	add(s, 8, "unknown")->counters.valid = 0;
	assert_string_equal(put_out(s, &out_csv),
			    CSV_HEAD "\r\n" CSV_TIMES FIRST
				     "500000000,0,0,0,0,0,,1000000000,1010000000\r\n" CSV_TIMES
				     "8,8,1,0,root,unknown,,0,,,,,,,,,,,,,,,,,,,,,,,,,,,\r\n");
	/* The head row comes once. */
	s->view.query.rows = 1;
	assert_string_equal(put_out(s, &out_csv),
			    CSV_TIMES FIRST "500000000,0,0,0,0,0,,1000000000,1010000000\r\n");
}

/* Names with what divides fields and records; fields that were asked for. */
static void test_csv_names(void **state)
{
	static const struct {
		const char *raw, *field;
	} cases[] = {
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "\"", "\"\"\"\"" },
		{ "a\nb\rc", "a\\x0ab\\x0dc" },
		{ "\x1b]0;x\x07", "\\x1b]0;x\\x07" },
		{ "back\\slash", "back\\\\slash" },
		{ " ", " " },
		{ "", "" },
	};
	struct state *s = *state;
	const char *at;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		add(s, 10 + (pid_t)i, cases[i].raw);
	s->view.fields = "pid,nvcsw,elap,comm,total";
	at = put_out(s, &out_csv);
	assert_memory_equal(at, CSV_HEAD ",nvcsw,elap,total\r\n",
			    strlen(CSV_HEAD ",nvcsw,elap,total\r\n"));
	at = strstr(at, "\r\n") + 2;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf line = { 0 };

		buf_printf(&line,
			   CSV_TIMES "%u,%u,1,0,root,%s,,0,10,500000000,0,0,0,0,0,0,0,0,"
				     "0,0,0,0,0,0,100000000,500000000,0,0,0,0,0,0,0,,,,92,25\r\n",
			   10 + i, 10 + i, cases[i].field);
		assert_true(!strncmp(at, buf_cstr(&line), line.len));
		at += line.len;
		buf_free(&line);
	}
	assert_string_equal(at, "");
}

/* Asserts the names of an object's members, in order, with spaces between. */
static void check_members(const json_t *object, const char *names)
{
	struct buf out = { 0 };
	const char *name;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach((json_t *)object, name, value)
		buf_printf(&out, "%s%s", out.len ? " " : "", name);
	assert_string_equal(buf_cstr(&out), names);
	buf_free(&out);
}

/* Parses a sample: one object on one line. */
static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json;

	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s", error.text);
	return json;
}

/* Asserts an integer member. */
static void check_integer(const json_t *object, const char *name, json_int_t value)
{
	assert_true(json_is_integer(json_object_get(object, name)));
	assert_int_equal(json_integer_value(json_object_get(object, name)), value);
}

#define KINDS "cpu blkio swapin reclaim thrash compact wpcopy irq"

/* The manual's members, these and no others. */
static void test_json_members(void **state)
{
	struct state *s = *state;
	json_t *json, *task, *psi, *load;

	add(s, 7, "plain");
	for (unsigned i = 0; i < PSI_RESOURCES; i++)
		s->scene.systems[1].psi_error[i] = i == PSI_IRQ ? -ENOENT : 0;
	s->scene.systems[1].psi[PSI_IO].some = (struct psi_line){ true, 1140, 870, 302, 500 };
	s->scene.systems[0].psi[PSI_IO].some = (struct psi_line){ true, 0, 0, 0, 100 };
	s->scene.systems[1].cpu_valid = s->scene.systems[0].cpu_valid = true;
	s->scene.systems[1].load_valid = true;
	s->scene.systems[1].load[1] = 0.07;
	s->scene.systems[1].cpu_ns[CPU_IDLE] = 70;
	json = parse(put_out(s, &out_json));
	check_members(
		json,
		"time interval source taskstats_version delayacct group_by tasks_seen "
		"exits_seen exits_lost notes findings cgroup psi system accounted tasks trace "
		"sites");
	assert_true(json_is_null(json_object_get(json, "accounted")));
	assert_true(json_is_null(json_object_get(json, "trace")));
	assert_true(json_is_null(json_object_get(json, "sites")));
	psi = json_object_get(json, "psi");
	check_members(psi, "cpu memory io irq");
	assert_true(json_is_null(json_object_get(psi, "irq")));
	check_members(json_object_get(psi, "io"), "some full");
	check_members(json_object_get(json_object_get(psi, "io"), "some"),
		      "avg10 avg60 avg300 total_us delta_us");
	check_integer(json_object_get(json_object_get(psi, "io"), "some"), "delta_us", 400);
	assert_true(json_is_null(json_object_get(json_object_get(psi, "io"), "full")));
	check_members(json_object_get(json, "system"), "cpus uptime loadavg cpu_ns");
	check_members(json_object_get(json_object_get(json, "system"), "cpu_ns"),
		      "user nice system idle iowait irq softirq steal");
	check_integer(json_object_get(json_object_get(json, "system"), "cpu_ns"), "idle", 70);
	load = json_object_get(json_object_get(json, "system"), "loadavg");
	assert_int_equal(json_array_size(load), 3);
	assert_true(json_real_value(json_array_get(load, 1)) > 0.0699999999 &&
		    json_real_value(json_array_get(load, 1)) < 0.0700000001);
	task = json_array_get(json_object_get(json, "tasks"), 0);
	check_members(task, "pid tgid ppid uid user comm state command cgroup start interval "
			    "exited new run_ns user_ns system_ns delta cumulative waited waiting "
			    "alive_ns states");
	assert_true(json_is_null(json_object_get(task, "alive_ns")));
	assert_true(json_is_null(json_object_get(task, "states")));
	check_members(json_object_get(task, "waited"), KINDS " block");
	assert_true(json_is_null(json_object_get(task, "waiting")));
	check_members(json_object_get(task, "delta"), KINDS);
	check_members(json_object_get(task, "cumulative"), KINDS);
	check_members(json_object_get(json_object_get(task, "delta"), "cpu"), "count ns");
	check_members(json_object_get(json_object_get(task, "cumulative"), "irq"),
		      "count ns max_ns min_ns");
	json_decref(json);
}

/* The figures of a task. */
static void test_json_values(void **state)
{
	struct state *s = *state;
	json_t *json, *task, *cpu;
	struct task_raw *raw;

	add(s, 7, "plain");
	raw = scene_add(&s->scene.samples[1], 9, 9, SEC(101));
	task_set_comm(raw->task, "new\xff\"\\\n\xe2\x80\xae", 11);
	raw->counters.valid =
		DELAY_BIT(DELAY_CPU) | DELAY_COUNT_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO);
	json = parse(put_out(s, &out_json));
	assert_true(json_real_value(json_object_get(json, "time")) > 1763697601.99 &&
		    json_real_value(json_object_get(json, "time")) < 1763697602.01);
	assert_true(json_is_true(json_object_get(json, "delayacct")));
	check_integer(json, "taskstats_version", 16);
	check_integer(json, "tasks_seen", 2);
	assert_true(json_is_null(json_object_get(json, "exits_seen")));
	task = json_array_get(json_object_get(json, "tasks"), 0);
	check_integer(task, "pid", 7);
	check_integer(task, "run_ns", 100000000);
	check_integer(task, "user_ns", 50000000);
	assert_true(json_is_false(json_object_get(task, "new")));
	cpu = json_object_get(json_object_get(task, "delta"), "cpu");
	check_integer(cpu, "count", 10);
	check_integer(cpu, "ns", 500000000);
	cpu = json_object_get(json_object_get(task, "cumulative"), "cpu");
	check_integer(cpu, "count", 15);
	check_integer(cpu, "ns", 1500000000);
	assert_true(json_is_null(json_object_get(cpu, "max_ns")));
	assert_true(json_is_null(json_object_get(task, "state")));

	task = json_array_get(json_object_get(json, "tasks"), 1);
	assert_true(json_is_true(json_object_get(task, "new")));
	assert_true(json_is_null(json_object_get(task, "user")));
	assert_true(json_is_null(json_object_get(task, "run_ns")));
	assert_true(json_is_null(json_object_get(json_object_get(task, "delta"), "irq")));
	assert_true(json_is_null(json_object_get(json_object_get(task, "cumulative"), "irq")));
	assert_true(json_is_null(json_object_get(
		json_object_get(json_object_get(task, "delta"), "blkio"), "count")));
	assert_string_equal(json_string_value(json_object_get(task, "comm")),
			    "new\\xff\"\\\\\\x0a\\u{202e}");
	json_decref(json);
}

/* Nothing to show, notes, other states of accounting, fields that were asked for. */
static void test_json_rest(void **state)
{
	struct state *s = *state;
	struct view view = { &s->scene.frame, UNIT_PERCENT, TEXT_UTF8, false, NULL };
	json_t *json, *note;

	json = parse(put_out(s, &out_json));
	assert_int_equal(json_array_size(json_object_get(json, "tasks")), 0);
	json_decref(json);
	out_close(&s->out);
	memset(&s->out, 0, sizeof(s->out));

	add(s, 7, "plain");
	s->view.fields = "pid,elap,state,cgroup,total";
	put_out(s, &out_json);
	s->scene.info.delayacct = DELAYACCT_UNKNOWN;
	s->scene.info.taskstats_version = 0;
	frame_note(&s->scene.info, NOTE_NO_PSI, 0);
	s->out.buf.len = 0;
	s->out.ops->frame(&s->out, &view);
	json = parse(buf_cstr(&s->out.buf));
	assert_true(json_is_null(json_object_get(json, "delayacct")));
	assert_true(json_is_null(json_object_get(json, "taskstats_version")));
	note = json_array_get(json_object_get(json, "notes"), 0);
	check_members(note, "id text");
	assert_string_equal(json_string_value(json_object_get(note, "id")), "no-psi");
	check_members(json_object_get(json_array_get(json_object_get(json, "tasks"), 0), "fields"),
		      "elap total");
	json_decref(json);
}

/* The n-th line behind the blank line that ends the header, copied. */
static void table_line(const char *text, unsigned n, char *line, size_t size)
{
	const char *at = strstr(text, "\n\n");
	size_t len;

	assert_non_null(at);
	for (at += 2; n; n--) {
		at = strchr(at, '\n');
		assert_non_null(at);
		at++;
	}
	len = strcspn(at, "\n");
	assert_true(len < size);
	memcpy(line, at, len);
	line[len] = '\0';
}

/* Asserts the words of a line. */
static void check_words(const char *text, unsigned n, const char *words)
{
	char line[512], *rest = line, *word;
	struct buf out = { 0 };

	table_line(text, n, line, sizeof(line));
	while ((word = strsep(&rest, " ")))
		if (*word)
			buf_printf(&out, "%s%s", out.len ? " " : "", word);
	assert_string_equal(buf_cstr(&out), words);
	buf_free(&out);
}

/* Heads, units, rows, the sum row, a blank line. */
static void test_text(void **state)
{
	struct state *s = *state;
	const char *text;

	s->config.width = 80;
	add(s, 7, "two words");
	add(s, 8, "unknown")->counters.valid = DELAY_BOTH(DELAY_BIT(DELAY_CPU));
	text = put_out(s, &out_text);
	assert_true(!strncmp(text, "stalltop ", 9));
	assert_non_null(strstr(text, "\ntasks 2, - D, - R   0 new, 0 exited, - lost"));
	check_words(text, 0, "PID USER S RUN 0TOTAL 1CPU 2BLKIO 9MEM COMMAND");
	check_words(text, 1, "(#) (str) - (%) (%) (%) (%) (%) (str)");
	check_words(text, 2, "7 root - 5.0 25.0 25.0 0.0 0.0 two words");
	check_words(text, 3, "8 root - - 25.0 25.0 - - unknown");
	check_words(text, 4, "= 5.0 50.0 50.0 0.0 0.0 2 tasks");
	check_words(text, 5, "");
	assert_string_equal(text + strlen(text) - 8, " tasks\n\n");
}

/* Every cell but the last is one word, whatever is in the names: awk counts words. */
static void test_text_words(void **state)
{
	struct state *s = *state;
	struct task_raw *raw = add(s, 7, "two words");
	const char *text;

	raw->task->user = "a b";
	raw->task->cgroup = xstrdup("/x  y\\z");
	raw->task->command = xstrdup("two words --and more");
	raw = add(s, 8, "");
	raw->task->user = "";
	raw->task->cgroup = xstrdup("/a group of a longer name");
	raw->task->command = xstrdup("");
	s->view.fields = "pid,user,cgroup,cpu,comm,command";
	text = put_out(s, &out_text);
	check_words(text, 2,
		    "7 a\\x20b /x\\x20\\x20y\\\\z 25.0 two\\x20words two words --and more");
	check_words(text, 3, "8 \"\" /a\\x20group\\x20of\\x20a\\+ 25.0 \"\"");
}

/* Two control groups of one readable name are told apart: by their paths, in every format. */
static void test_groups(void **state)
{
	static const char *const paths[] = { "/a.slice/x y.service", "/b.slice/x y.service" };
	struct state *s = *state;
	const char *text;
	json_t *json;

	s->view.group_by = GROUP_CGROUP;
	s->view.fields = "members,cgroup,cpu";
	for (unsigned i = 0; i < 2; i++)
		add(s, 7 + (pid_t)i, "x")->task->cgroup = xstrdup(paths[i]);
	text = put_out(s, &out_text);
	check_words(text, 2, "1 /a.slice/x\\x20y.service 25.0 /a.slice/x y.service");
	check_words(text, 3, "1 /b.slice/x\\x20y.service 25.0 /b.slice/x y.service");
	for (unsigned i = 0; i < 2; i++) {
		const struct out_ops *ops = i ? &out_json : &out_csv;

		out_close(&s->out);
		memset(&s->out, 0, sizeof(s->out));
		text = put_out(s, ops);
		for (unsigned j = 0; j < 2; j++)
			assert_non_null(strstr(text, paths[j]));
	}
	json = parse(text);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(json, "tasks"), 1), "group")),
			    paths[1]);
	json_decref(json);
}

/* One task is not "1 tasks". */
static void test_text_one(void **state)
{
	struct state *s = *state;

	s->config.width = 80;
	add(s, 7, "alone");
	check_words(put_out(s, &out_text), 3, "= 5.0 25.0 25.0 0.0 0.0 1 task");
}

/* Two readings of a group's file that counts how long a limit kept it from its CPUs. */
static const struct cgroup_sample throttled[] = {
	{ .have = CGROUP_BIT(CGROUP_THROTTLE), .read_ns[CGROUP_THROTTLE] = SEC(100) },
	{ .have = CGROUP_BIT(CGROUP_THROTTLE),
	  .read_ns[CGROUP_THROTTLE] = SEC(102),
	  .throttled_ns = SEC(1) },
};

/* Gives one group these, as the reader of groups does; the others have nothing. */
static void fill_throttled(void *arg, const struct row *const *rows, size_t n, unsigned needs)
{
	(void)arg;
	for (size_t i = 0; needs & NEED_GROUP(CGROUP_THROTTLE) && i < n; i++)
		if (!strcmp(rows[i]->group->name, "/limited"))
			*rows[i]->group->figures =
				(struct group_figures){ &throttled[1], &throttled[0] };
}

/* Where a group has figures of its CPU limit there is a column for them, and nowhere else. */
static void test_text_throttled(void **state)
{
	struct state *s = *state;

	s->config.width = 80;
	s->config.fill = fill_throttled;
	s->view.group_by = GROUP_CGROUP;
	add(s, 7, "free")->task->cgroup = xstrdup("/free");
	check_words(put_out(s, &out_text), 0, "N RUN 0TOTAL 1CPU 2BLKIO 9MEM WORST GROUP");
	out_close(&s->out);
	memset(&s->out, 0, sizeof(s->out));
	add(s, 8, "limited")->task->cgroup = xstrdup("/limited");
	check_words(put_out(s, &out_text), 0, "N RUN 0TOTAL 1CPU 2BLKIO 9MEM THROT WORST GROUP");
	check_words(buf_cstr(&s->out.buf), 2, "1 5.0 25.0 25.0 0.0 0.0 - free /free");
	check_words(buf_cstr(&s->out.buf), 3, "1 5.0 25.0 25.0 0.0 0.0 50.0 limited /limited");
}

/* Asserts that a row's line is made of its own cells. */
static void check_cells(struct state *s, const char *text, size_t row, const char *const *ids,
			size_t n)
{
	const struct view view = { &s->scene.frame, s->view.unit, s->config.charset, false, NULL };
	struct buf expected = { 0 }, scratch = { 0 };
	char line[512];

	for (size_t i = 0; i < n; i++) {
		const struct column *column = scene_column(ids[i]);
		struct value value = column_get(column, &view, &s->scene.frame.rows[row]);

		if (i)
			buf_putc(&expected, ' ');
		column_append(column, &view, &value, i + 1 == n ? 0 : column->width, &scratch,
			      &expected);
	}
	table_line(text, 2 + (unsigned)row, line, sizeof(line));
	assert_string_equal(line, buf_cstr(&expected));
	buf_free(&expected);
	buf_free(&scratch);
}

/* Cells that are those of the row above, in runs of each length, and others between them. */
static void test_text_above(void **state)
{
	static const char *const ids[] = { "user", "cpu", "blkio", "reclaim", "irq", "comm" };
	static const char *const users[] = { "root", "\xe6\xbc\xa2", NULL };
	static const enum delay_kind kinds[] = { DELAY_CPU, DELAY_BLKIO, DELAY_RECLAIM, DELAY_IRQ };
	struct state *s = *state;
	const char *text;

	s->view.fields = "user,cpu,blkio,reclaim,irq,comm";
	for (unsigned i = 0; i < 300; i++) {
		struct task_raw *raw = add(s, (pid_t)i + 1, i % 5 ? "same" : "other");

		raw->task->user = users[i / 7 % 3];
		/* Each cell goes through its values at its own pace; one of them is unknown. */
		for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
			unsigned choice = (i * (k + 3) / (2 * k + 1) + i * i / 11) % 4;

			raw->counters.delay[kinds[k]].ns += MS(10 * choice);
			if (choice == 3)
				raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(kinds[k]));
		}
	}
	text = put_out(s, &out_text);
	for (size_t row = 0; row < 300; row++)
		check_cells(s, text, row, ids, ARRAY_SIZE(ids));
}

/* The cells that a line takes before its last column, whose text begins there. */
static unsigned last_column(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	assert_non_null(at);
	assert_string_equal(at, name);
	return text_width(line, (size_t)(at - line), TEXT_UTF8);
}

/* Columns are straight whatever the names and figures, and nothing raw comes through. */
static void test_text_straight(void **state)
{
	static const struct {
		const char *raw, *shown;
	} names[] = {
		{ "plain", "plain" },
		{ "\x1b]0;x\x07", "\\x1b]0;x\\x07" },
		{ "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2",
		  "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "a\xe2\x80\xae"
		  "b",
		  "a\\u{202e}b" },
		{ "\\x41", "\\\\x41" },
	};
	struct state *s = *state;
	const char *text;
	char line[512];
	unsigned column;

	s->view.fields = "pid,user,cgroup,total,irq,comm";
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		struct task_raw *raw = add(s, i ? 4194304 - 10 + (pid_t)i : 1, names[i].raw);

		raw->task->user = names[i].raw;
		raw->task->cgroup = xstrdup(names[i].raw);
		raw->counters.delay[DELAY_CPU].ns += SEC(UINT64_C(1) << 5 * i);
	}
	text = put_out(s, &out_text);
	table_line(text, 0, line, sizeof(line));
	column = last_column(line, "COMMAND");
	table_line(text, 1, line, sizeof(line));
	assert_int_equal(strrchr(line, '(') - line, column);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		table_line(text, 2 + i, line, sizeof(line));
		for (const char *at = line; *at; at++)
			assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
		/* The name stands in the line up to three times, cut or whole: last it is whole. */
		assert_true(strlen(line) > strlen(names[i].shown));
		assert_string_equal(line + strlen(line) - strlen(names[i].shown), names[i].shown);
		assert_int_equal(text_width(line, strlen(line) - strlen(names[i].shown), TEXT_UTF8),
				 column);
	}
}

/* Every unit has its label under the delay columns. */
static void test_text_units(void **state)
{
	struct state *s = *state;

	s->view.fields = "cpu,comm";
	add(s, 7, "plain");
	for (s->view.unit = 0; s->view.unit < UNITS; s->view.unit++) {
		static const char *const labels[] = {
			"(%) (str)",	"(ms) (str)",  "(#) (str)",
			"(ms/#) (str)", "(max) (str)", "(tot) (str)"
		};
		static const char *const rows[] = { "25.0 plain", "500.0 plain", "10.0 plain",
						    "50.0 plain", "- plain",	 "1500.0 plain" };
		const char *text = put_out(s, &out_text);

		check_words(text, 1, labels[s->view.unit]);
		check_words(text, 2, rows[s->view.unit]);
	}
}

/* What must be read for each format. */
static void test_needs(void **state)
{
	struct state *s = *state;

	for (unsigned i = 0; out_registry[i]; i++) {
		/* Only JSON says what adds up. */
		unsigned own = out_registry[i] == &out_json ? NEED_ACCOUNT : 0;

		assert_ptr_equal(out_by_name(out_registry[i]->name), out_registry[i]);
		s->view.fields = NULL;
		s->view.unit = UNIT_PERCENT;
		out_open(&s->out, out_registry[i], &s->config);
		assert_int_equal(out_needs(&s->out), own);
		/* Metrics have no fields. */
		if (out_registry[i] == &out_openmetrics)
			continue;
		s->view.fields = "cuser,pid,command";
		assert_int_equal(out_needs(&s->out), own | NEED_STAT | NEED_COMMAND);
		s->view.query.sort = scene_column("read");
		assert_int_equal(out_needs(&s->out), own | NEED_STAT | NEED_COMMAND | NEED_IO);
		s->view.query.sort = NULL;
	}
	assert_null(out_by_name("xml"));
	/* A thread's longest waits are in the record that is asked for anyway. */
	s->view.fields = NULL;
	s->view.group_by = GROUP_THREAD;
	out_open(&s->out, &out_json, &s->config);
	assert_int_equal(out_needs(&s->out), NEED_RANGE | NEED_ACCOUNT);
}

/* All of the buffer is written, or the error is told. */
static void test_flush(void **state)
{
	struct state *s = *state;
	volatile sig_atomic_t caught = 0;
	int fds[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char text[64];

	out_open(&s->out, &out_csv, &s->config);
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	buf_puts(&s->out.buf, "whole");
	assert_int_equal(out_flush(&s->out, fds[1], &caught), 0);
	assert_int_equal(s->out.buf.len, 0);
	assert_int_equal(read(fds[0], text, sizeof(text)), 5);
	assert_memory_equal(text, "whole", 5);
	assert_int_equal(out_flush(&s->out, fds[1], &caught), 0);
	close(fds[0]);
	buf_puts(&s->out.buf, "nobody reads");
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(out_flush(&s->out, fds[1], &caught), -EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(fds[1]);
	if (full >= 0)
		assert_int_equal(out_flush(&s->out, full, &caught), -ENOSPC);
	close(full);
}

#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

/* The last field of the line that came last. */
static const char *last_field(const char *csv)
{
	static char field[64];
	const char *comma = strrchr(csv, ',');

	assert_non_null(comma);
	snprintf(field, sizeof(field), "%.*s", (int)strcspn(comma + 1, "\r"), comma + 1);
	return field;
}

/* The trend is of the frames before, from the second on; it begins anew after a baseline. */
static void test_trend(void **state)
{
	struct state *s = *state;

	s->view.fields = "pid,trend";
	add(s, 7, "plain");
	assert_string_equal(last_field(put_out(s, &out_csv)), "         @");
	assert_string_equal(last_field(put_out(s, &out_csv)), "        @@");
	for (unsigned i = 0; i < 12; i++)
		put_out(s, &out_csv);
	assert_string_equal(last_field(put_out(s, &out_csv)), "@@@@@@@@@@");
	/* So has a group. */
	s->view.group_by = GROUP_USER;
	assert_string_equal(last_field(put_out(s, &out_csv)), "@@@@@@@@@@");
	out_prime(&s->out, &s->scene.frame);
	assert_string_equal(last_field(put_out(s, &out_csv)), "         @");
	/* Nobody waited then. */
	s->scene.frame.n = 0;
	trends_add(&s->out.trends, &s->scene.frame);
	assert_string_equal(last_field(put_out(s, &out_csv)), "       @.@");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_trend, open_state, close_state),
		STATE_TEST(test_csv),
		STATE_TEST(test_csv_names),
		STATE_TEST(test_json_members),
		STATE_TEST(test_json_values),
		STATE_TEST(test_json_rest),
		STATE_TEST(test_text),
		STATE_TEST(test_text_words),
		STATE_TEST(test_groups),
		STATE_TEST(test_text_one),
		STATE_TEST(test_text_throttled),
		STATE_TEST(test_text_above),
		STATE_TEST(test_text_straight),
		STATE_TEST(test_text_units),
		STATE_TEST(test_needs),
		STATE_TEST(test_flush),
	};

	/* The width of characters is the locale's. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
