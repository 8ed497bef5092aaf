// SPDX-License-Identifier: GPL-2.0-or-later
/* CSV and JSON of frames made by hand; what formats read, and how they are written. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/output.h"

#define CSV_HEAD \
	"time,interval,pid,tgid,ppid,uid,user,comm,state,exited," \
	"cpu_count,cpu_ns,blkio_count,blkio_ns,swapin_count,swapin_ns," \
	"reclaim_count,reclaim_ns,thrash_count,thrash_ns,compact_count,compact_ns," \
	"wpcopy_count,wpcopy_ns,irq_count,irq_ns,run_ns," \
	"cpu_waited_ns,blkio_waited_ns,swapin_waited_ns,reclaim_waited_ns,thrash_waited_ns," \
	"compact_waited_ns,wpcopy_waited_ns,irq_waited_ns,dwait_waited_ns,wait_ns"
#define CSV_TIMES "1763697602.000000,2.000000000,"
#define FIRST "7,7,1,0,root,plain,D,0,10,500000000,,0,0,0,0,0,0,0,0,0,0,0,,,100000000,500000000,"

/* One head row, then a record a task, lines ended as RFC 4180 has them. */
OUTPUT_TEST(test_csv)
{
	struct output *s = *state;
	struct task_raw *raw = output_task(s, 7, "plain");

	raw->counters.valid &= ~(DELAY_COUNT_BIT(DELAY_BLKIO) | DELAY_BOTH(DELAY_BIT(DELAY_IRQ)));
	raw->now.state = ((struct task_raw *)sample_find(&s->scene.samples[0], 7, 7))->now.state =
		'D';
	waits_add(&raw->now.waits, SEEN_DWAIT, SEC(101), SEC(102), SEC(100));
	waits_add(&raw->now.waits, SEEN_BLKIO, SEC(101) + MS(500), SEC(102), SEC(100));
	output_task(s, 8, "unknown")->counters.valid = 0;
	assert_string_equal(output_put(s, &out_csv),
			    CSV_HEAD "\r\n" CSV_TIMES FIRST
				     "500000000,0,0,0,0,0,,1000000000,1010000000\r\n" CSV_TIMES
				     "8,8,1,0,root,unknown,,0,,,,,,,,,,,,,,,,,,,,,,,,,,,\r\n");
	/* The head row comes once. */
	s->view.query.rows = 1;
	assert_string_equal(output_put(s, &out_csv),
			    CSV_TIMES FIRST "500000000,0,0,0,0,0,,1000000000,1010000000\r\n");
}

/* Names with what divides fields and records; fields that were asked for. */
OUTPUT_TEST(test_csv_names)
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
	struct output *s = *state;
	const char *at;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		output_task(s, 10 + (pid_t)i, cases[i].raw);
	s->view.fields = "pid,nvcsw,elap,comm,total";
	at = output_put(s, &out_csv);
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
OUTPUT_TEST(test_json_members)
{
	struct output *s = *state;
	json_t *json, *task, *psi, *load;

	output_task(s, 7, "plain");
	for (unsigned i = 0; i < PSI_RESOURCES; i++)
		s->scene.systems[1].pressure.error[i] = i == PSI_IRQ ? -ENOENT : 0;
	s->scene.systems[1].pressure.psi[PSI_IO].some =
		(struct psi_line){ true, 1140, 870, 302, 500 };
	s->scene.systems[0].pressure.psi[PSI_IO].some = (struct psi_line){ true, 0, 0, 0, 100 };
	s->scene.systems[1].cpu_valid = s->scene.systems[0].cpu_valid = true;
	s->scene.systems[1].load_valid = true;
	s->scene.systems[1].load[1] = 0.07;
	s->scene.systems[1].cpu_ns[CPU_IDLE] = 70;
	json = parse(output_put(s, &out_json));
	check_members(
		json,
		"time interval source taskstats_version delayacct measured group_by tasks_seen "
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
	check_members(task,
		      "pid tgid ppid uid user comm state command cgroup namespace pod container "
		      "start interval exited new run_ns user_ns system_ns delta cumulative waited "
		      "lost_ns waiting "
		      "alive_ns states");
	assert_true(json_is_null(json_object_get(task, "alive_ns")));
	assert_true(json_is_null(json_object_get(task, "states")));
	check_members(json_object_get(task, "waited"), KINDS " dwait");
	assert_true(json_is_null(json_object_get(task, "waiting")));
	check_members(json_object_get(task, "delta"), KINDS);
	check_members(json_object_get(task, "cumulative"), KINDS);
	check_members(json_object_get(json_object_get(task, "delta"), "cpu"), "count ns");
	check_members(json_object_get(json_object_get(task, "cumulative"), "irq"),
		      "count ns max_ns min_ns");
	json_decref(json);
}

/* Tasks that did nothing have the same text as far as they know the same, in the same interval. */
OUTPUT_TEST(test_json_idle)
{
	struct output *s = *state;
	struct task_raw *raw[6];
	json_t *json, *tasks, *task[6];

	for (pid_t i = 0; i < 6; i++) {
		raw[i] = output_task(s, 10 + i, "idle");
		raw[i]->counters = sample_find(&s->scene.samples[0], 10 + i, 10 + i)->counters;
		raw[i]->counters.delay[DELAY_CPU].count = 5;
	}
	raw[1]->counters.valid &= ~(DELAY_BOTH(DELAY_BIT(DELAY_BLKIO)) | VALID_RUN);
	raw[3]->read_ns += MS(250);
	raw[4]->exited = true;
	raw[5] = scene_add(&s->scene.samples[1], 20, 20, s->scene.samples[1].begin_ns - MS(1));
	raw[5]->counters.delay[DELAY_CPU] = (struct delay_sum){ 0 };
	json = parse(output_put(s, &out_json));
	tasks = json_object_get(json, "tasks");
	for (size_t i = 0; i < 6; i++)
		task[i] = json_array_get(tasks, i);
	for (size_t i = 0; i < 4; i++) {
		check_integer(task[i], "pid", 10 + (int)i);
		assert_int_equal(json_is_null(json_object_get(task[i], "run_ns")), i == 1);
		assert_int_equal(
			json_is_null(json_object_get(json_object_get(task[i], "delta"), "blkio")),
			i == 1);
		assert_int_equal(
			json_is_null(json_object_get(json_object_get(task[i], "waited"), "blkio")),
			i == 1);
		assert_true(fabs(json_real_value(json_object_get(task[i], "interval")) -
				 (i == 3 ? 2.25 : 2)) < 1e-6);
		check_integer(json_object_get(json_object_get(task[i], "cumulative"), "cpu"),
			      "count", 5);
	}
	assert_true(json_is_true(json_object_get(task[4], "exited")));
	assert_non_null(json_object_get(task[4], "exit_code"));
	assert_true(json_is_true(json_object_get(json_array_get(tasks, 6), "new")));
	json_decref(json);
}

/* How it is known what was waited is told of the kinds that are not as they were booked. */
OUTPUT_TEST(test_json_reason)
{
	struct output *s = *state;
	struct task_raw *raw = output_task(s, 7, "plain");
	json_t *json, *reason;

	raw->single = ((struct task_raw *)sample_find(&s->scene.samples[0], 7, 7))->single = true;
	raw->counters.delay[DELAY_RECLAIM] = (struct delay_sum){ 100, SEC(150) };
	raw->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, SEC(200) };
	json = parse(output_put(s, &out_json));
	reason = json_object_get(json_array_get(json_object_get(json, "tasks"), 0), "reason");
	check_members(reason, "swapin reclaim");
	assert_string_equal(json_string_value(json_object_get(reason, "swapin")), "unknown");
	assert_string_equal(json_string_value(json_object_get(reason, "reclaim")), "cut");
	json_decref(json);
}

/* Without rows there is what is of the machine, and nothing that is made of rows. */
OUTPUT_TEST(test_no_rows)
{
	struct output *s = *state;
	json_t *json;

	output_task(s, 7, "plain");
	s->view.query.no_rows = true;
	s->scene.systems[1].pressure.psi[PSI_IO].some =
		(struct psi_line){ true, 1140, 870, 302, 500 };
	json = parse(output_put(s, &out_json));
	assert_int_equal(json_array_size(json_object_get(json, "tasks")), 0);
	assert_true(json_is_null(json_object_get(json, "findings")));
	check_integer(json, "tasks_seen", 1);
	assert_true(json_is_object(json_object_get(json_object_get(json, "psi"), "io")));
	json_decref(json);
}

/* Nor are there headings. */
OUTPUT_TEST(test_no_rows_in_text)
{
	struct output *s = *state;
	const char *text;

	output_task(s, 7, "plain");
	s->view.query.no_rows = true;
	s->scene.systems[1].pressure.psi[PSI_IO].some =
		(struct psi_line){ true, 1140, 870, 302, 500 };
	text = output_put(s, &out_text);
	assert_non_null(strstr(text, "\ntasks 1 "));
	assert_non_null(strstr(text, "\nio             11.40"));
	assert_null(strstr(text, "plain"));
	assert_null(strstr(text, "PID"));
	assert_null(strstr(text, "new,"));
	assert_null(strstr(text, "finding"));
}

/* The figures of a task. */
OUTPUT_TEST(test_json_values)
{
	struct output *s = *state;
	json_t *json, *task, *cpu;
	struct task_raw *raw;

	output_task(s, 7, "plain");
	raw = scene_add(&s->scene.samples[1], 9, 9, SEC(101));
	task_set_comm(raw->task, "new\xff\"\\\n\xe2\x80\xae", 11);
	raw->counters.valid =
		DELAY_BIT(DELAY_CPU) | DELAY_COUNT_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO);
	json = parse(output_put(s, &out_json));
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
OUTPUT_TEST(test_json_rest)
{
	struct output *s = *state;
	struct view view = { &s->scene.frame, UNIT_PERCENT, TEXT_UTF8, false, NULL };
	json_t *json, *note;

	json = parse(output_put(s, &out_json));
	assert_int_equal(json_array_size(json_object_get(json, "tasks")), 0);
	json_decref(json);
	out_close(&s->out);
	memset(&s->out, 0, sizeof(s->out));

	output_task(s, 7, "plain");
	s->view.fields = "pid,elap,state,cgroup,total";
	output_put(s, &out_json);
	s->scene.info.head.delayacct = DELAYACCT_UNKNOWN;
	s->scene.info.head.taskstats_version = 0;
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

/* What must be read for each format. */
OUTPUT_TEST(test_needs)
{
	struct output *s = *state;

	for (unsigned i = 0; out_registry[i]; i++) {
		/* Only JSON says what adds up, and an answer of one interval who writes. */
		unsigned own = (out_registry[i] == &out_json ? NEED_ACCOUNT : 0) |
			       (out_registry[i] == &out_why ? NEED_IO : 0) |
			       (out_registry[i]->finds || out_registry[i] == &out_openmetrics
					? NEED_EVIDENCE
					: 0);

		assert_ptr_equal(out_by_name(out_registry[i]->name), out_registry[i]);
		s->view.fields = NULL;
		s->view.unit = UNIT_PERCENT;
		out_open(&s->out, out_registry[i], &s->config);
		assert_int_equal(out_needs(&s->out), own);
		/* Metrics, answers and stacks have no fields. */
		if (out_registry[i] == &out_openmetrics || out_registry[i] == &out_why ||
		    out_registry[i] == &out_folded || out_registry[i] == &out_pprof)
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
	assert_int_equal(out_needs(&s->out), NEED_RANGE | NEED_ACCOUNT | NEED_EVIDENCE);
}

/* All of the buffer is written, or the error is told. */
OUTPUT_TEST(test_flush)
{
	struct output *s = *state;
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
OUTPUT_TEST(test_trend)
{
	struct output *s = *state;

	s->view.fields = "pid,trend";
	output_task(s, 7, "plain");
	assert_string_equal(last_field(output_put(s, &out_csv)), "         @");
	assert_string_equal(last_field(output_put(s, &out_csv)), "        @@");
	for (unsigned i = 0; i < 12; i++)
		output_put(s, &out_csv);
	assert_string_equal(last_field(output_put(s, &out_csv)), "@@@@@@@@@@");
	/* So has a group. */
	s->view.group_by = GROUP_USER;
	assert_string_equal(last_field(output_put(s, &out_csv)), "@@@@@@@@@@");
	out_prime(&s->out, &s->scene.frame);
	assert_string_equal(last_field(output_put(s, &out_csv)), "         @");
	/* Nobody waited then. */
	s->scene.frame.n = 0;
	trends_add(&s->out.trends, &s->scene.frame);
	assert_string_equal(last_field(output_put(s, &out_csv)), "       @.@");
}

TESTS_WITHIN(test_in_utf8, NULL)
