// SPDX-License-Identifier: GPL-2.0-or-later
/* Text of frames made by hand. */
#include "tests/lib/test.h"

#include <jansson.h>
#include <string.h>

#include "tests/lib/output.h"

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
OUTPUT_TEST(test_text)
{
	struct output *s = *state;
	const char *text;

	s->config.width = 80;
	output_task(s, 7, "two words");
	output_task(s, 8, "unknown")->counters.valid = DELAY_BOTH(DELAY_BIT(DELAY_CPU));
	text = output_put(s, &out_text);
	assert_true(!strncmp(text, "stalltop ", 9));
	assert_non_null(strstr(text, "\ntasks 2, - running, - blocked   0 new, 0 exited, - lost"));
	check_words(text, 0, "PID USER S RUN 0TOTAL 1CPU 2BLKIO 9MEM COMMAND");
	check_words(text, 1, "(#) (str) - (%) (%) (%) (%) (%) (str)");
	check_words(text, 2, "7 root - 5.0 25.0 25.0 0.0 0.0 two words");
	check_words(text, 3, "8 root - - 25.0 25.0 - - unknown");
	check_words(text, 4, "= 5.0 50.0 50.0 0.0 0.0 2 tasks");
	check_words(text, 5, "");
	assert_string_equal(text + strlen(text) - 8, " tasks\n\n");
}

/* Every cell but the last is one word, whatever is in the names: awk counts words. */
OUTPUT_TEST(test_text_words)
{
	struct output *s = *state;
	struct task_raw *raw = output_task(s, 7, "two words");
	const char *text;

	task_set_user(raw->task, shared_text("a b"));
	task_set_cgroup(raw->task, shared_text("/x  y\\z"));
	raw->task->command = xstrdup("two words --and more");
	raw = output_task(s, 8, "");
	task_set_user(raw->task, shared_text(""));
	task_set_cgroup(raw->task, shared_text("/a group of a longer name"));
	raw->task->command = xstrdup("");
	s->view.fields = "pid,user,cgroup,cpu,comm,command";
	text = output_put(s, &out_text);
	check_words(text, 2,
		    "7 a\\x20b /x\\x20\\x20y\\\\z 25.0 two\\x20words two words --and more");
	check_words(text, 3, "8 \"\" /a\\x20group\\x20of\\x20a\\+ 25.0 \"\"");
}

/* Two control groups of one readable name are told apart: by their paths, in every format. */
OUTPUT_TEST(test_groups)
{
	static const char *const paths[] = { "/a.slice/x y.service", "/b.slice/x y.service" };
	struct output *s = *state;
	const char *text;
	json_t *json;

	s->view.group_by = GROUP_CGROUP;
	s->view.fields = "members,cgroup,cpu";
	for (unsigned i = 0; i < 2; i++)
		task_set_cgroup(output_task(s, 7 + (pid_t)i, "x")->task, shared_text(paths[i]));
	text = output_put(s, &out_text);
	check_words(text, 2, "1 /a.slice/x\\x20y.service 25.0 /a.slice/x y.service");
	check_words(text, 3, "1 /b.slice/x\\x20y.service 25.0 /b.slice/x y.service");
	for (unsigned i = 0; i < 2; i++) {
		const struct out_ops *ops = i ? &out_json : &out_csv;

		out_close(&s->out);
		memset(&s->out, 0, sizeof(s->out));
		text = output_put(s, ops);
		for (unsigned j = 0; j < 2; j++)
			assert_non_null(strstr(text, paths[j]));
	}
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(json, "tasks"), 1), "group")),
			    paths[1]);
	json_decref(json);
}

/* One task is not "1 tasks". */
OUTPUT_TEST(test_text_one)
{
	struct output *s = *state;

	s->config.width = 80;
	output_task(s, 7, "alone");
	check_words(output_put(s, &out_text), 3, "= 5.0 25.0 25.0 0.0 0.0 1 task");
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
				(struct group_figures){ &throttled[1], &throttled[0], NULL };
}

/* Where a group has figures of its CPU limit there is a column for them, and nowhere else. */
OUTPUT_TEST(test_text_throttled)
{
	struct output *s = *state;

	s->config.width = 80;
	s->config.fill = fill_throttled;
	s->view.group_by = GROUP_CGROUP;
	task_set_cgroup(output_task(s, 7, "free")->task, shared_text("/free"));
	check_words(output_put(s, &out_text), 0, "N RUN 0TOTAL 1CPU 2BLKIO 9MEM WORST GROUP");
	out_close(&s->out);
	memset(&s->out, 0, sizeof(s->out));
	task_set_cgroup(output_task(s, 8, "limited")->task, shared_text("/limited"));
	check_words(output_put(s, &out_text), 0, "N RUN 0TOTAL 1CPU 2BLKIO 9MEM THROT WORST GROUP");
	check_words(buf_cstr(&s->out.buf), 2, "1 5.0 25.0 25.0 0.0 0.0 - free /free");
	check_words(buf_cstr(&s->out.buf), 3, "1 5.0 25.0 25.0 0.0 0.0 50.0 limited /limited");
}

/* Asserts that a row's line is made of its own cells. */
static void check_cells(struct output *s, const char *text, size_t row, const char *const *ids,
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
OUTPUT_TEST(test_text_above)
{
	static const char *const ids[] = { "user", "cpu", "blkio", "reclaim", "irq", "comm" };
	static const char *const users[] = { "root", "\xe6\xbc\xa2", NULL };
	static const enum delay_kind kinds[] = { DELAY_CPU, DELAY_BLKIO, DELAY_RECLAIM, DELAY_IRQ };
	struct output *s = *state;
	const char *text;

	s->view.fields = "user,cpu,blkio,reclaim,irq,comm";
	for (unsigned i = 0; i < 300; i++) {
		struct task_raw *raw = output_task(s, (pid_t)i + 1, i % 5 ? "same" : "other");

		task_set_user(raw->task, shared_text(users[i / 7 % 3]));
		/* Each cell goes through its values at its own pace; one of them is unknown. */
		for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
			unsigned choice = (i * (k + 3) / (2 * k + 1) + i * i / 11) % 4;

			raw->counters.delay[kinds[k]].ns += MS(10 * choice);
			if (choice == 3)
				raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(kinds[k]));
		}
	}
	text = output_put(s, &out_text);
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
OUTPUT_TEST(test_text_straight)
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
	struct output *s = *state;
	const char *text;
	char line[512];
	unsigned column;

	s->view.fields = "pid,user,cgroup,total,irq,comm";
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		struct task_raw *raw =
			output_task(s, i ? 4194304 - 10 + (pid_t)i : 1, names[i].raw);

		task_set_user(raw->task, shared_text(names[i].raw));
		task_set_cgroup(raw->task, shared_text(names[i].raw));
		raw->counters.delay[DELAY_CPU].ns += SEC(UINT64_C(1) << 5 * i);
	}
	text = output_put(s, &out_text);
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
OUTPUT_TEST(test_text_units)
{
	struct output *s = *state;

	s->view.fields = "cpu,comm";
	output_task(s, 7, "plain");
	for (s->view.unit = 0; s->view.unit < UNITS; s->view.unit++) {
		static const char *const labels[] = {
			"(%) (str)",	"(ms) (str)",  "(#) (str)",
			"(ms/#) (str)", "(max) (str)", "(tot) (str)"
		};
		static const char *const rows[] = { "25.0 plain", "500.0 plain", "10.0 plain",
						    "50.0 plain", "- plain",	 "1500.0 plain" };
		const char *text = output_put(s, &out_text);

		check_words(text, 1, labels[s->view.unit]);
		check_words(text, 2, rows[s->view.unit]);
	}
}

TESTS_WITHIN(test_in_utf8, NULL)
