// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics: their text, labels of hostile names, bounds, and counters that never fall. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/out_openmetrics.h"
#include "tests/lib/scene.h"
#include "view/findings_parts.h"

/* Frames one after the other, each of tasks that were born in it. */
struct state {
	struct scene scene;
	struct view_config view;
	struct out_config config;
	struct out out;
	struct cgroup_sample throttled[2]; /* of all groups that are asked for, before and now */
};

static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->view = (struct view_config){ .query = { .over_ms = -1 }, .group_by = GROUP_COMMAND };
	s->config = (struct out_config){ .view = &s->view, .max_series = 5 };
	out_open(&s->out, &out_openmetrics, &s->config);
	*state = s;
	return 0;
}

static int close_state(void **state)
{
	struct state *s = *state;

	out_close(&s->out);
	scene_close(&s->scene);
	free(s);
	return 0;
}

#define STATE_TEST(name) TEST_WITH(name, open_state, close_state)

/* Begins a frame so many seconds after the one before. */
static void begin(struct state *s, uint64_t seconds)
{
	sample_reset(&s->scene.samples[1]);
	for (unsigned i = 0; i < 2; i++) {
		s->scene.samples[i].begin_ns += SEC(seconds);
		s->scene.samples[i].end_ns += SEC(seconds);
	}
}

/* Adds a task that waited so long for a CPU, in ms. */
static struct task_raw *add(struct state *s, const char *name, uint64_t ms)
{
	struct sample *sample = &s->scene.samples[1];
	pid_t pid = (pid_t)sample->n + 1;
	struct task_raw *raw = scene_add(sample, pid, pid, sample->begin_ns - SEC(1));

	task_set_comm(raw->task, name, strlen(name));
	task_set_cgroup(raw->task, shared_text(name));
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ ms ? 1 : 0, MS(ms) };
	raw->counters.run_ns = MS(ms);
	return raw;
}

/* Ends the frame. Returns its text. */
static const char *end(struct state *s)
{
	scene_build(&s->scene, 1, false, 0);
	s->out.buf.len = 0;
	out_frame(&s->out, &s->scene.frame);
	return buf_cstr(&s->out.buf);
}

/* The value of a sample; -1: there is none. */
static double value_of(const char *text, const char *sample)
{
	size_t len = strlen(sample);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, sample, len) && line[len] == ' ')
			return strtod(line + len, NULL);
	}
	return -1;
}

/* What tasks of a group waited for a CPU, in ms; -1: there is no such series. */
static long waited(const char *text, const char *label)
{
	char sample[700];
	double seconds;

	snprintf(sample, sizeof(sample), "stalltop_delay_seconds_total{kind=\"cpu\",group=\"%s\"}",
		 label);
	seconds = value_of(text, sample);
	return seconds < 0 ? -1 : (long)(seconds * 1000 + 0.5);
}

/* The number of groups that have series. */
static unsigned count_groups(const char *text)
{
	static const char head[] = "\nstalltop_run_seconds_total{";
	unsigned n = 0;

	for (; (text = strstr(text, head)); text += strlen(head))
		n++;
	return n;
}

#define DELAY(kind, group, value) \
	"stalltop_delay_seconds_total{kind=\"" kind "\",group=\"" group "\"} " value "\n"
#define WAITS(kind, group, value) \
	"stalltop_waits_total{kind=\"" kind "\",group=\"" group "\"} " value "\n"

/* All of it, in both ways of writing; what is unknown is no sample. */
STATE_TEST(test_text)
{
	static const char openmetrics[] =
		"# TYPE stalltop_delay_seconds counter\n"
		"# UNIT stalltop_delay_seconds seconds\n"
		"# HELP stalltop_delay_seconds Time that tasks of the group waited, waits in "
		"progress included, by kind.\n" DELAY("cpu", "a", "0.250000000")
			DELAY("blkio", "a", "0.000000000") DELAY("cpu", "other", "0.000000000")
				DELAY("blkio", "other", "0.000000000");
	static const char waits[] =
		"# TYPE stalltop_waits counter\n"
		"# HELP stalltop_waits Waits that ended, by kind.\n" WAITS("cpu", "a", "1")
			WAITS("cpu", "other", "0");
	static const char machine[] =
		"# TYPE stalltop_delayacct_enabled gauge\n# HELP stalltop_delayacct_enabled "
		"Whether the kernel accounts delays "
		"(kernel.task_delayacct).\nstalltop_delayacct_enabled 1\n# TYPE "
		"stalltop_sample_duration_seconds gauge\n# UNIT stalltop_sample_duration_seconds "
		"seconds\n# HELP stalltop_sample_duration_seconds How long the last sample "
		"took.\nstalltop_sample_duration_seconds 0.010000000\n# TYPE "
		"stalltop_sample_timestamp_seconds gauge\n# UNIT "
		"stalltop_sample_timestamp_seconds seconds\n# HELP "
		"stalltop_sample_timestamp_seconds When the last sample was taken, since "
		"1970.\nstalltop_sample_timestamp_seconds 1763697602.000000000\n# TYPE "
		"stalltop_build_info gauge\n# HELP stalltop_build_info The program's version, and "
		"the counter source.\nstalltop_build_info{version=\"" PACKAGE_VERSION
		"\",source=\"taskstats\"} 1\n"
		"# EOF\n";
	static const char text_head[] = "# TYPE stalltop_delay_seconds_total counter\n"
					"# HELP stalltop_delay_seconds_total Time that";
	struct state *s = *state;
	struct buf text = { 0 };
	const char *at;

	add(s, "a", 250)->counters.valid =
		DELAY_BIT(DELAY_CPU) | DELAY_COUNT_BIT(DELAY_CPU) | DELAY_BIT(DELAY_BLKIO);
	for (unsigned i = 0; i < PSI_RESOURCES; i++)
		s->scene.systems[1].pressure.error[i] = -1;
	at = end(s);
	assert_memory_equal(at, openmetrics, strlen(openmetrics));
	at += strlen(openmetrics);
	assert_memory_equal(at, waits, strlen(waits));
	at += strlen(waits);
	assert_memory_equal(at, "# TYPE stalltop_findings gauge\n", 31);
	assert_float_equal(value_of(at, "stalltop_findings{id=\"hang\",severity=\"critical\"}"), 0,
			   0);
	at = strstr(at, "# TYPE stalltop_delayacct_enabled");
	assert_non_null(at);
	assert_string_equal(at, machine);

	openmetrics_append(&text, &s->out, EXPOSITION_TEXT);
	at = buf_cstr(&text);
	assert_true(!strncmp(at, text_head, strlen(text_head)));
	assert_null(strstr(at, "# UNIT"));
	assert_null(strstr(at, "# EOF"));
	assert_int_equal(waited(at, "a"), 250);
	buf_free(&text);
}

/* The machine's own: pressure as the kernel has it, exits added up. */
STATE_TEST(test_machine)
{
	struct state *s = *state;
	struct psi *psi = s->scene.systems[1].pressure.psi;
	const char *text;

	psi[PSI_CPU] = (struct psi){ { true, 1, 1, 1, 1234567 }, { true, 0, 0, 0, 0 } };
	psi[PSI_IO].full = (struct psi_line){ true, 1, 1, 1, 7 };
	add(s, "a", 1);
	text = end(s);
	assert_float_equal(
		value_of(text, "stalltop_pressure_seconds_total{resource=\"cpu\",level=\"some\"}"),
		1.234567, 1e-9);
	assert_float_equal(
		value_of(text, "stalltop_pressure_seconds_total{resource=\"io\",level=\"full\"}"),
		7e-6, 1e-9);
	assert_float_equal(
		value_of(text, "stalltop_pressure_seconds_total{resource=\"cpu\",level=\"full\"}"),
		-1, 0);
	assert_float_equal(value_of(text, "stalltop_exits_total"), -1, 0);
	for (unsigned i = 0; i < 2; i++) {
		scene_build(&s->scene, 1, false, 0);
		s->scene.info.head.exits = 3;
		s->scene.info.head.lost = 1;
		s->out.buf.len = 0;
		out_frame(&s->out, &s->scene.frame);
	}
	text = buf_cstr(&s->out.buf);
	assert_float_equal(value_of(text, "stalltop_exits_total"), 6, 0);
	assert_float_equal(value_of(text, "stalltop_exits_lost_total"), 2, 0);
}

/* Hostile names: one line each, and no two labels are the same. */
STATE_TEST(test_labels)
{
	static const struct {
		const char *name, *label;
	} cases[] = {
		{ NULL, "-" },
		{ "-", "\\\\x2d" },
		{ "other", "\\\\x6fther" },
		{ "", "\\\\x00" },
		{ "others", "others" },
		{ "a\"b", "a\\\"b" },
		{ "a\\b", "a\\\\\\\\b" },
		{ "\"} 1\nstalltop_exits_total 9\n",
		  "\\\"} 1\\\\x0astalltop_exits_total 9\\\\x0a" },
		{ "\xff\x1b[2J", "\\\\xff\\\\x1b[2J" },
		{ "\xe2\x80\xae", "\\\\u{202e}" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\\x2d", "\\\\\\\\x2d" },
		{ "\\x00", "\\\\\\\\x00" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf label = { 0 };

		series_label(&label, cases[i].name);
		assert_string_equal(buf_cstr(&label), cases[i].label);
		buf_free(&label);
	}
}

/* A finding is counted by its pattern, and no other pattern is. */
STATE_TEST(test_findings)
{
	struct state *s = *state;
	const struct findings *findings = &s->out.findings;
	struct sample *samples = s->scene.samples;
	struct task_raw *before = scene_add(&samples[0], 1, 1, samples[0].begin_ns - SEC(1)), *now;
	size_t series = 0, found = 0;
	const char *text;

	task_set_comm(before->task, "waits", 5);
	task_set_cgroup(before->task, shared_text("/waits"));
	now = scene_again(&samples[1], before);
	now->counters.delay[DELAY_CPU] = (struct delay_sum){ 9, MS(1900) };
	text = end(s);
	assert_int_equal(findings->n, 1);
	for (const char *at = text; (at = strstr(at, "\nstalltop_findings{")); at++, series++)
		found += strtoul(strchr(at, '}') + 1, NULL, 10) > 0;
	assert_int_equal(series, finding_patterns_n);
	assert_int_equal(found, 1);
	text = strstr(text, findings->all[0].id);
	assert_non_null(text);
	assert_int_equal(strtoul(strchr(text, '}') + 1, NULL, 10), findings->all[0].n);
}

/* Names as the kernel gives them get there; groups of tasks that call themselves as we do. */
STATE_TEST(test_named_alike)
{
	struct state *s = *state;
	const char *text;

	add(s, "other", 1);
	add(s, "-", 2);
	add(s, "\"\n", 4);
	text = end(s);
	assert_int_equal(waited(text, "other"), 0);
	assert_int_equal(waited(text, "\\\\x6fther"), 1);
	assert_int_equal(waited(text, "\\\\x2d"), 2);
	assert_int_equal(waited(text, "\\\"\\\\x0a"), 4);
	assert_int_equal(count_groups(text), 4);
}

/* A path that is very long counts with the rest. */
STATE_TEST(test_long)
{
	struct state *s = *state;
	char path[SERIES_LABEL_MAX + 2] = "/";
	const char *text;

	s->view.group_by = GROUP_CGROUP;
	memset(path + 1, 'x', SERIES_LABEL_MAX);
	add(s, path, 3);
	path[SERIES_LABEL_MAX] = '\0';
	add(s, path, 5);
	text = end(s);
	assert_int_equal(waited(text, path), 5);
	assert_int_equal(waited(text, "other"), 3);
}

/* So many groups have series, those that wait most; later ones when others have rested. */
STATE_TEST(test_bounded)
{
	struct state *s = *state;
	const char *text;
	char name[8];

	for (unsigned i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		add(s, name, i * 10);
	}
	text = end(s);
	assert_int_equal(count_groups(text), 6);
	assert_int_equal(waited(text, "other"), 0 + 10 + 20 + 30);
	assert_int_equal(waited(text, "g4"), 40);
	assert_int_equal(waited(text, "g3"), -1);

	/* A new one adds to the rest. */
	begin(s, 2);
	add(s, "new", 7);
	add(s, "g8", 1);
	text = end(s);
	assert_int_equal(waited(text, "other"), 67);
	assert_int_equal(waited(text, "g8"), 81);
	assert_int_equal(waited(text, "g4"), 40);

	/* Nobody has to give way to a group that does nothing. */
	begin(s, SERIES_IDLE_NS / SEC(1));
	add(s, "new", 0);
	add(s, "g8", 1);
	assert_int_equal(waited(end(s), "new"), -1);

	/* Nothing has happened to g4 to g7 for long. */
	begin(s, 2);
	add(s, "new", 7);
	text = end(s);
	assert_int_equal(waited(text, "new"), 7);
	assert_int_equal(waited(text, "other"), 67);
	assert_int_equal(count_groups(text), 6);
	/* What it did before is remembered when it comes back. */
	begin(s, SERIES_IDLE_NS / SEC(1));
	for (unsigned i = 4; i < 9; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		add(s, name, 1);
	}
	text = end(s);
	assert_int_equal(waited(text, "g4"), 41);
	assert_int_equal(waited(text, "g5"), 51);
	assert_int_equal(waited(text, "g8"), 83);
	assert_int_equal(waited(text, "other"), 67);
}

/* Groups that come and go as they like: no counter falls, and all is counted once. */
STATE_TEST(test_never_fall)
{
	enum { GROUPS = 5 * SERIES_KEPT, FRAMES = 600 };
	struct state *s = *state;
	long last[GROUPS + 1] = { 0 };
	unsigned seed = 1;
	char name[8];

	for (unsigned f = 0; f < FRAMES; f++) {
		long added = 0, grown = 0;
		const char *text;

		begin(s, f % 7 ? 2 : SERIES_IDLE_NS / SEC(1) / 2);
		for (unsigned i = 0; i < GROUPS; i++) {
			long ms = rand_r(&seed) % 100;

			if (rand_r(&seed) % 16)
				continue;
			snprintf(name, sizeof(name), "g%u", i);
			add(s, name, (uint64_t)ms);
			added += ms;
		}
		text = end(s);
		assert_true(count_groups(text) <= 6);
		for (unsigned i = 0; i <= GROUPS; i++) {
			long now;

			snprintf(name, sizeof(name), i < GROUPS ? "g%u" : "other", i);
			now = waited(text, name);
			if (now < 0)
				continue;
			assert_true(now >= last[i]);
			grown += now - last[i];
			last[i] = now;
		}
		assert_int_equal(grown, added);
	}
	assert_true(last[GROUPS] > 0);
}

/* What is remembered is bounded: the group that has been away for longest begins anew. */
STATE_TEST(test_forgotten)
{
	struct state *s = *state;
	char name[8];

	s->config.max_series = 1;
	for (unsigned i = 0; i <= SERIES_KEPT; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		begin(s, SERIES_IDLE_NS / SEC(1));
		add(s, name, 10);
		assert_int_equal(waited(end(s), name), 10);
	}
	begin(s, SERIES_IDLE_NS / SEC(1));
	add(s, "g1", 1);
	assert_int_equal(waited(end(s), "g1"), 11);
	begin(s, SERIES_IDLE_NS / SEC(1));
	add(s, "g0", 1);
	assert_int_equal(waited(end(s), "g0"), 1);
}

/* A kind that is unknown for a while has no samples, and goes on from what it was. */
STATE_TEST(test_unknown)
{
	struct state *s = *state;
	const char *text;

	add(s, "a", 5);
	assert_int_equal(waited(end(s), "a"), 5);
	begin(s, 2);
	add(s, "a", 5)->counters.valid = VALID_RUN;
	text = end(s);
	assert_int_equal(waited(text, "a"), -1);
	assert_int_equal(waited(text, "other"), -1);
	assert_int_equal(count_groups(text), 2);
	begin(s, 2);
	add(s, "a", 5);
	assert_int_equal(waited(end(s), "a"), 10);
}

/* A first frame has no interval yet: the counters begin with 0. */
STATE_TEST(test_first)
{
	struct state *s = *state;

	add(s, "a", 5);
	scene_build(&s->scene, 1, false, 0);
	s->scene.info.prev = NULL;
	frame_build(&s->scene.frame, &s->scene.info, NULL, &s->scene.samples[1],
		    &(struct frame_options){ .since_start = false });
	out_prime(&s->out, &s->scene.frame);
	assert_int_equal(waited(buf_cstr(&s->out.buf), "a"), 0);
	assert_int_equal(waited(buf_cstr(&s->out.buf), "other"), 0);
}

/* Who hangs for ten seconds has a series with its names, which are hostile; the longest eight. */
STATE_TEST(test_hangs)
{
	struct state *s = *state;
	uint64_t now_ns = s->scene.samples[1].begin_ns, before_ns = s->scene.samples[0].begin_ns;
	struct task_waiting *waiting;
	unsigned lines = 0;
	const char *text;

	for (unsigned i = 0; i < 11; i++) {
		struct task_raw *raw = add(s, "a", 0);
		uint64_t since_ns = now_ns - SEC(i ? 5 + i : 20);

		raw->now.state = 'D';
		task_set_comm(raw->task, "c\"p\n", 4);
		waits_add(&raw->now.waits, SEEN_DWAIT, since_ns, now_ns, before_ns);
		/* A recording does not have the thread. */
		if (i % 2)
			waits_of_thread(&raw->now.waits, SEEN_DWAIT, raw->pid, since_ns);
		if (i)
			continue;
		waiting = sample_add_extra(&s->scene.samples[1], 0)->waiting =
			xcalloc(1, sizeof(*waiting));
		waiting->tid = raw->pid;
		waiting->syscall = "openat";
		buf_puts(&waiting->on, "/mnt/x");
		buf_cstr(&waiting->on);
	}
	text = end(s);
	for (const char *at = text; (at = strstr(at, "\nstalltop_hang_seconds{")); at++)
		lines++;
	/* Of 5 to 15 s those from 10 s on, and the one of 20 s. */
	assert_int_equal(lines, 7);
	assert_non_null(
		strstr(text, "command=\"c\\\"p\\\\x0a\",syscall=\"openat\",on=\"/mnt/x\"} 20."));
	assert_non_null(strstr(text, "syscall=\"\",on=\"\"} 15."));
}

/* Tasks by state, and the longest waits in progress. */
STATE_TEST(test_now)
{
	struct state *s = *state;
	uint64_t now_ns = s->scene.samples[1].begin_ns, before_ns = s->scene.samples[0].begin_ns;
	struct task_raw *raw = add(s, "a", 0);
	const char *text;

	raw->now.state = 'D';
	waits_add(&raw->now.waits, SEEN_DWAIT, now_ns - SEC(70), now_ns, before_ns);
	raw = add(s, "a", 0);
	raw->now.state = 'R';
	waits_add(&raw->now.waits, SEEN_CPU, now_ns - SEC(1), now_ns, before_ns);
	waits_add(&raw->now.waits, SEEN_BLKIO, now_ns - SEC(3), now_ns, before_ns);
	add(s, "a", 0)->now.state = 't';
	text = end(s);
	assert_float_equal(value_of(text, "stalltop_tasks{state=\"D\",group=\"a\"}"), 1, 0);
	assert_float_equal(value_of(text, "stalltop_tasks{state=\"T\",group=\"a\"}"), 1, 0);
	assert_float_equal(value_of(text, "stalltop_tasks{state=\"Z\",group=\"a\"}"), 0, 0);
#define LONGEST(kind) "stalltop_wait_longest_seconds{kind=\"" kind "\",group=\"a\"}"
	assert_float_equal(value_of(text, LONGEST("dwait")), 70, 1e-6);
	assert_float_equal(value_of(text, LONGEST("blkio")), 3, 1e-6);
	assert_float_equal(value_of(text, LONGEST("cpu")), 1, 1e-6);
	/* A group without tasks has none of them, but its counters. */
	begin(s, 2);
	add(s, "b", 0)->now.state = 'S';
	text = end(s);
	assert_float_equal(value_of(text, LONGEST("dwait")), -1, 0);
	assert_float_equal(value_of(text, "stalltop_tasks{state=\"D\",group=\"a\"}"), -1, 0);
	assert_int_equal(waited(text, "a"), 1000);
}

/* See struct out_config: figures of /a alone, as nothing is known of the others. */
static void fill(void *arg, const struct row *const *rows, size_t n, unsigned needs)
{
	struct state *s = arg;

	assert_int_equal(needs, NEED_GROUP(CGROUP_THROTTLE));
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i]->group->name, "/a"))
			*rows[i]->group->figures =
				(struct group_figures){ &s->throttled[1], &s->throttled[0], NULL };
}

#define HELD(group) "stalltop_held_seconds_total{group=\"" group "\"}"

/* How long a group was throttled; also one above, that has no tasks of its own. */
STATE_TEST(test_throttled)
{
	struct state *s = *state;
	const char *text;

	s->view.group_by = GROUP_CGROUP;
	s->config.fill = fill;
	s->config.fill_arg = s;
	for (unsigned i = 0; i < 2; i++)
		s->throttled[i] = (struct cgroup_sample){ .have = CGROUP_BIT(CGROUP_THROTTLE),
							  .throttled_ns = SEC(10 + i) };
	add(s, "/a/b", 5);
	end(s);
	begin(s, 2);
	add(s, "/a/b", 5);
	text = end(s);
	assert_float_equal(value_of(text, "stalltop_throttled_seconds_total{group=\"/a\"}"), 2,
			   1e-9);
	assert_float_equal(value_of(text, "stalltop_throttled_seconds_total{group=\"/a/b\"}"), -1,
			   0);
	assert_int_equal(waited(text, "/a"), -1);
	assert_int_equal(waited(text, "/a/b"), 10);
}

/* What a group is held by: limits of its own and of all above it. */
STATE_TEST(test_held)
{
	struct state *s = *state;
	const char *text;

	s->view.group_by = GROUP_CGROUP;
	s->config.fill = fill;
	s->config.fill_arg = s;
	for (unsigned i = 0; i < 2; i++)
		s->throttled[i] = (struct cgroup_sample){ .have = CGROUP_BIT(CGROUP_THROTTLE),
							  .throttled_ns = SEC(10 + i) };
	for (unsigned i = 0; i < 2; i++) {
		add(s, "/a/b/c/d", 5);
		add(s, "/a/b", 5);
		add(s, "/ab", 5);
		text = end(s);
		if (!i)
			begin(s, 2);
	}
	assert_float_equal(value_of(text, HELD("/a/b/c/d")), 2, 1e-9);
	assert_float_equal(value_of(text, HELD("/a/b")), 2, 1e-9);
	assert_float_equal(value_of(text, HELD("/a")), 2, 1e-9);
	/* Nothing is known of limits there. */
	assert_float_equal(value_of(text, HELD("/ab")), -1, 0);
}

/* Names of a container are labels beside the group's path: from when they are known, and escaped.
 */
STATE_TEST(test_containers)
{
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define ONE "/docker/" DIGITS "1"
#define TWO "/docker/" DIGITS "2"
	static const char known[] =
		"stalltop_run_seconds_total{group=\"" ONE "\",namespace=\"prod\","
		"pod=\"checkout\",container=\"payments\"}";
	static const char hostile[] =
		"stalltop_run_seconds_total{group=\"" TWO "\",namespace=\"a\","
		"pod=\"b\\\"}/\\\\x0a\"}";
	struct state *s = *state;
	struct task_raw *raw;
	const char *text;

	s->view.group_by = GROUP_CGROUP;
	begin(s, 1);
	add(s, ONE, 5);
	assert_true(value_of(end(s), "stalltop_run_seconds_total{group=\"" ONE "\"}") >= 0);
	begin(s, 1);
	raw = add(s, ONE, 5);
	raw->task->pod = xstrdup("prod/checkout");
	raw->task->container = xstrdup("payments");
	/* As a recording may have them. */
	raw = add(s, TWO, 5);
	raw->task->pod = xstrdup("a/b\"}/\n");
	raw->task->container = xcalloc(5001, 1);
	memset(raw->task->container, 'x', 5000);
	text = end(s);
	assert_true(value_of(text, known) > 0.009);
	assert_true(value_of(text, hostile) > 0.004);
	assert_true(value_of(text, "stalltop_run_seconds_total{group=\"" ONE "\"}") < 0);
}
