// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines above the table: their texts, what figures weigh, and which of them come first. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "view/summary.h"

/* A frame of which all is known. */
struct state {
	struct sample sample;
	struct system_sample before, now;
	struct frame frame;
	struct frame_info info; /* of the frame */
	struct view view;
	struct buf text, line;
};

/* Fills the frame. */
static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	s->sample.n = 123;
	s->now = (struct system_sample){
		.pressure.read_ns = SEC(102),
		.cpu_valid = true,
		.load_valid = true,
		.uptime_valid = true,
		.memory_valid = true,
		.load = { 0.5, 12, 3.456 },
		.uptime = 3 * 86400 + 4 * 3600,
		.memory_total = 16 << 20,
		.memory_used = 3 << 19,
		.swap_total = 1 << 20,
	};
	for (unsigned i = 0; i < CPU_STATES; i++)
		s->now.cpu_ns[i] = SEC(i + 1);
	/* Many, so that this time can have passed. */
	s->now.cpus = s->before.cpus = 24;
	s->before.cpu_valid = true;
	s->before.pressure.read_ns = SEC(100);
	s->frame.info = &s->info;
	s->info = (struct frame_info){
		.cur = &s->sample,
		.prev = &s->sample,
		.real_ns = SEC(1763697600),
		.interval_ns = MS(1987),
		.born = 5,
		.gone = 4,
		.head.exits = -1,
		.head.lost = 2,
		.system = &s->now,
		.system_before = &s->before,
		.head.source = "taskstats",
		.head.taskstats_version = 16,
		.head.delayacct = DELAYACCT_ON,
		.head.self = 0.34,
		.states_known = true,
		.blocked = 1,
		.running = 2,
	};
	s->view = (struct view){ &s->frame, UNIT_PERCENT, TEXT_UTF8, false, NULL };
	*state = s;
	return 0;
}

/* See open_state(). */
static int close_state(void **state)
{
	struct state *s = *state;

	buf_free(&s->text);
	buf_free(&s->line);
	free(s);
	return 0;
}

/* Asserts the whole line. */
static void check(struct state *s, struct summary line, const char *expected)
{
	assert_true(line.n <= SUMMARY_FIGURES);
	s->line.len = 0;
	summary_append(&s->line, &line);
	assert_string_equal(buf_cstr(&s->line), expected);
}

#define STATE_TEST(name) TEST_WITH(name, open_state, close_state)

/* The title, with all that is known and nothing. */
STATE_TEST(test_title)
{
	struct state *s = *state;
	struct title title = { .rows = GROUP_PROCESS };

	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46   1.99 s   taskstats v16   "
	      "delays counted");
	title.preset = "hangs";
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop preset hangs   04:00:00 up 3d04:00 load 0.50 12.00 3.46   1.99 s   "
	      "taskstats v16   delays counted");
	title.preset = NULL;
	s->now.load_valid = s->now.uptime_valid = false;
	s->info.interval_ns = 0;
	s->info.head.source = "procfs";
	s->info.head.taskstats_version = 0;
	s->info.head.delayacct = DELAYACCT_UNKNOWN;
	s->info.head.cgroup = "/a\n";
	s->view.unit = UNIT_MS;
	title.rows = GROUP_CGROUP;
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop 04:00:00 up - load -   - s   procfs   delays -   by cgroup (-)   "
	      "cgroup /a\\x0a   unit ms");
	s->info.head.hierarchy_version = 2;
	s->info.head.hierarchy = "v2";
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop 04:00:00 up - load -   - s   procfs   delays -   by cgroup (v2)   "
	      "cgroup /a\\x0a   unit ms");
	s->info.head.hierarchy_version = 1;
	s->info.head.hierarchy = "name=a\tb";
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop 04:00:00 up - load -   - s   procfs   delays -   "
	      "by cgroup (v1 name=a\\x09b)   cgroup /a\\x0a   unit ms");
	s->info.head.delayacct = DELAYACCT_OFF;
	s->info.head.cgroup = NULL;
	title = (struct title){ .rows = GROUP_PROCESS,
				.of_group = true,
				.by = GROUP_COMMAND,
				.name = "a\tb",
				.below = true,
				.paused = true,
				.held = true };
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop in command a\\x09b and below   04:00:00 up - load -   - s   procfs   "
	      "delays not counted   unit ms   paused   order held");
	title.name = NULL;
	title.below = title.paused = title.held = false;
	check(s, summary_title(&s->text, &s->view, &title),
	      "stalltop in command -   04:00:00 up - load -   - s   procfs   delays not counted   "
	      "unit ms");
}

/* Appends what the parts of a line begin with, in the order in which they get room. */
static const char *order_of(struct state *s, struct summary line)
{
	s->line.len = 0;
	for (unsigned priority = 0; priority < SUMMARY_PRIORITIES; priority++) {
		for (size_t i = 0; i < line.n; i++) {
			const struct summary_figure *figure = &line.figures[i];
			size_t len;
			const char *value = summary_value(&line, i, &len);

			assert_true(figure->priority < SUMMARY_PRIORITIES);
			if (figure->joined || figure->priority != priority)
				continue;
			buf_puts(&s->line, s->line.len ? "," : "");
			if (figure->label)
				buf_puts(&s->line, figure->label);
			else
				buf_add(&s->line, value, len);
		}
	}
	return buf_cstr(&s->line);
}

/* Which parts of the lines come first where there is no room for all. */
STATE_TEST(test_order)
{
	struct state *s = *state;
	struct title title = { .rows = GROUP_PROCESS };

	s->view.unit = UNIT_MS;
	assert_string_equal(order_of(s, summary_title(&s->text, &s->view, &title)),
			    "stalltop,delays,1.99,unit,taskstats");
	s->info.head.cgroup = "/a";
	title.rows = GROUP_USER;
	assert_string_equal(order_of(s, summary_title(&s->text, &s->view, &title)),
			    "stalltop,cgroup,delays,1.99,by,taskstats,unit");
	title.paused = true;
	title.held = true;
	assert_string_equal(order_of(s, summary_title(&s->text, &s->view, &title)),
			    "stalltop,cgroup,by,unit,paused,order held,1.99,delays,taskstats");
	title = (struct title){ .rows = GROUP_PROCESS, .of_group = true, .by = GROUP_USER };
	assert_string_equal(order_of(s, summary_title(&s->text, &s->view, &title)),
			    "stalltop,cgroup,04:00:00,delays,1.99,unit,taskstats");
	title.held = true;
	assert_string_equal(order_of(s, summary_title(&s->text, &s->view, &title)),
			    "stalltop,cgroup,unit,order held,04:00:00,delays,1.99,taskstats");
	assert_string_equal(order_of(s, summary_tasks(&s->text, &s->view)),
			    "tasks,cpu,5,self,13.9,mem");
}

/* Asserts what of the line is shown in so many cells. */
static void check_fit(struct state *s, struct summary line, unsigned width, const char *expected)
{
	summary_fit(&line, width, TEXT_ASCII);
	check(s, line, expected);
}

/* Lines on screens that are as wide as they are, or narrower. */
STATE_TEST(test_fit)
{
	struct state *s = *state;
	struct title title = { .rows = GROUP_PROCESS };
	struct psi_pair pair = summary_pressure_of(&s->info, PSI_IO);

	check_fit(s, summary_title(&s->text, &s->view, &title), 91,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46   1.99 s   taskstats v16   "
		  "delays counted");
	check_fit(s, summary_title(&s->text, &s->view, &title), 90,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46  1.99 s  taskstats v16  "
		  "delays counted");
	check_fit(s, summary_title(&s->text, &s->view, &title), 87,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46  1.99 s  delays counted");
	check_fit(s, summary_title(&s->text, &s->view, &title), 62,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46  1.99 s");
	check_fit(s, summary_title(&s->text, &s->view, &title), 40,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46");
	/* What all is restricted to is shown if there is room for it, and whole. */
	s->info.head.cgroup = "/a";
	check_fit(s, summary_title(&s->text, &s->view, &title), 60,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46  cgroup /a");
	check_fit(s, summary_title(&s->text, &s->view, &title), 59,
		  "stalltop 04:00:00 up 3d04:00 load 0.50 12.00 3.46  1.99 s");
	check_fit(
		s, summary_tasks(&s->text, &s->view), 80,
		"tasks 123, 2 running, 1 blocked  cpu 8.3 user 44.4 system 11.1 idle  self 0.3 %");
	check_fit(s, summary_tasks(&s->text, &s->view), 58,
		  "tasks 123, 2 running, 1 blocked  5 new, 4 exited, 2 lost");
	check_fit(s, summary_tasks(&s->text, &s->view), 45,
		  "tasks 123, 2 running, 1 blocked  self 0.3 %");
	/* No figure of the pressure block comes into another's place. */
	check_fit(s, summary_pressure_head(&s->text), 53,
		  "pressure  some avg10  avg60 avg300    now");
	check_fit(s, summary_pressure(&s->text, PSI_IO, &pair), 53,
		  "io                 -      -      -      -");
	check_fit(s, summary_pressure(&s->text, PSI_IO, &pair), 19, "");
}

/* Tasks, CPUs, memory, known and unknown. */
STATE_TEST(test_tasks)
{
	struct state *s = *state;

	check(s, summary_tasks(&s->text, &s->view),
	      "tasks 123, 2 running, 1 blocked   5 new, 4 exited, 2 lost   cpu 8.3 user 44.4 "
	      "system "
	      "11.1 idle   13.9 iowait 22.2 stolen   "
	      "mem 1.5/16.0G swap 0.0/1.0G   self 0.3 %");
	/* Where there are records it is the tasks that ended; records are of single threads. */
	s->info.head.exits = 7;
	s->info.ended = 3;
	check_fit(s, summary_tasks(&s->text, &s->view), 66,
		  "tasks 123, 2 running, 1 blocked  5 new, 3 exited, 2 lost");
	s->info.ended = 7;
	s->info.threads = true;
	/* A state that ran back has not grown. */
	s->before.cpu_ns[CPU_IOWAIT] = SEC(6);
	s->now.swap_total = 0;
	check(s, summary_tasks(&s->text, &s->view),
	      "threads 123, 2 running, 1 blocked   5 new, 7 exited, 2 lost   cpu 9.7 user 51.6 "
	      "system "
	      "12.9 idle   0.0 iowait 25.8 stolen   "
	      "mem 1.5/16.0G swap 0/0   self 0.3 %");
	s->before = s->now;
	check(s, summary_tasks(&s->text, &s->view),
	      "threads 123, 2 running, 1 blocked   5 new, 7 exited, 2 lost   cpu 0.0 user 0.0 "
	      "system "
	      "0.0 idle   0.0 iowait 0.0 stolen   "
	      "mem 1.5/16.0G swap 0/0   self 0.3 %");
	s->info.prev = NULL;
	s->info.system_before = NULL;
	s->info.head.lost = -1;
	s->info.head.self = -1;
	s->info.states_known = false;
	s->now.memory_valid = false;
	check(s, summary_tasks(&s->text, &s->view),
	      "threads 123, - running, - blocked   - new, - exited, - lost   cpu - user - system - "
	      "idle   - iowait "
	      "- stolen   "
	      "mem - swap -   self -");
}

/* The pressure block: figures below their headings. */
STATE_TEST(test_pressure)
{
	struct state *s = *state;
	struct psi *psi = &s->now.pressure.psi[PSI_MEMORY];
	struct psi_pair pair;

	check(s, summary_pressure_head(&s->text),
	      "pressure  some avg10  avg60 avg300    now   full avg10  avg60 avg300    now");
	psi->some = (struct psi_line){ true, 10000, 5, 0, 1500000 };
	s->before.pressure.psi[PSI_MEMORY].some =
		(struct psi_line){ .valid = true, .total_us = 500000 };
	pair = summary_pressure_of(&s->info, PSI_MEMORY);
	check(s, summary_pressure(&s->text, PSI_MEMORY, &pair),
	      "memory        100.00   0.05   0.00   50.0            -      -      -      -");
	/* Without a reading before, or a time between, nothing is known of the interval. */
	s->before.pressure.read_ns = s->now.pressure.read_ns;
	pair = summary_pressure_of(&s->info, PSI_MEMORY);
	check(s, summary_pressure(&s->text, PSI_MEMORY, &pair),
	      "memory        100.00   0.05   0.00      -            -      -      -      -");
	pair = (struct psi_pair){ .now = psi, .interval_ns = SEC(2) };
	check(s, summary_pressure(&s->text, PSI_MEMORY, &pair),
	      "memory        100.00   0.05   0.00      -            -      -      -      -");
}

/* The screen's form: each share of "some" with that of "full"; 100 % takes no more room. */
STATE_TEST(test_pairs)
{
	struct state *s = *state;
	struct psi *psi = &s->now.pressure.psi[PSI_MEMORY];
	struct psi_pair pair;

	psi->some = (struct psi_line){ true, 10000, 1234, 5, 1500000 };
	psi->full = (struct psi_line){ true, 9996, 34, 0, 0 };
	s->before.pressure.psi[PSI_MEMORY].some =
		(struct psi_line){ .valid = true, .total_us = 500000 };
	pair = summary_pressure_of(&s->info, PSI_MEMORY);
	check(s, summary_pressure_pairs(&s->text, PSI_MEMORY, &pair, 120),
	      "mem some/full avg10 100.0/99.96 avg60 12.34/ 0.34 avg300  0.05/ 0.00 "
	      "now 50.0/   -");
	check(s, summary_pressure_pairs(&s->text, PSI_MEMORY, &pair, 99),
	      "mem some/full avg10  100/ 100 avg60 12.3/ 0.3 avg300  0.1/ 0.0 now 50.0/   -");
	check_fit(s, summary_pressure_pairs(&s->text, PSI_MEMORY, &pair, 76), 76,
		  "mem some/full avg10  100/ 100 avg60 12.3/ 0.3 avg300  0.1/ 0.0 now 50.0/   -");
	check_fit(s, summary_pressure_pairs(&s->text, PSI_MEMORY, &pair, 75), 75,
		  "mem some/full avg10  100/ 100 avg60 12.3/ 0.3 now 50.0/   -");
}

/* The short form: a resource without a file is left out, and irq always. */
STATE_TEST(test_short)
{
	struct state *s = *state;

	s->now.pressure.psi[PSI_CPU].some = (struct psi_line){ .valid = true, .avg10 = 1234 };
	s->now.pressure.psi[PSI_IRQ].some = (struct psi_line){ .valid = true, .avg10 = 1234 };
	check(s, summary_pressure_short(&s->text, &s->info, false),
	      "some avg10  cpu 12.34  memory     -  io     -");
	s->now.pressure.error[PSI_MEMORY] = -1;
	check(s, summary_pressure_short(&s->text, &s->info, true), "avg10  cpu 12.34  io     -");
}

/* Averages and shares of the interval weigh what they show. */
STATE_TEST(test_weights)
{
	static const struct {
		uint32_t average; /* hundredths of a percent */
		enum weight weight;
	} averages[] = {
		{ 0, WEIGHT_ZERO },    { 1, WEIGHT_NORMAL },  { 999, WEIGHT_NORMAL },
		{ 1000, WEIGHT_WARM }, { 3999, WEIGHT_WARM }, { 4000, WEIGHT_HOT },
		{ 10000, WEIGHT_HOT },
	};
	static const struct {
		uint64_t us; /* of a second */
		const char *shown;
		enum weight weight;
	} shares[] = {
		{ 0, "0.0", WEIGHT_ZERO },	{ 499, "0.0", WEIGHT_ZERO },
		{ 500, "0.1", WEIGHT_NORMAL },	{ 99499, "9.9", WEIGHT_NORMAL },
		{ 99500, "10.0", WEIGHT_WARM }, { 399499, "39.9", WEIGHT_WARM },
		{ 399500, "40.0", WEIGHT_HOT },
	};
	struct psi now = { .some.valid = true }, before = { .some.valid = true };
	struct psi_pair pair = { &now, &before, SEC(1) };
	struct state *s = *state;
	struct summary line;
	size_t len;

	for (unsigned i = 0; i < ARRAY_SIZE(averages); i++) {
		now.some.avg60 = averages[i].average;
		line = summary_pressure(&s->text, PSI_CPU, &pair);
		assert_int_equal(line.figures[1].weight, averages[i].weight);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(shares); i++) {
		now.some.total_us = shares[i].us;
		line = summary_pressure(&s->text, PSI_CPU, &pair);
		assert_int_equal(line.figures[3].weight, shares[i].weight);
		assert_memory_equal(summary_value(&line, 3, &len), shares[i].shown,
				    strlen(shares[i].shown));
		assert_int_equal(len, strlen(shares[i].shown));
	}
	/* What is not known is no more than nothing. */
	assert_int_equal(line.figures[4].weight, WEIGHT_ZERO);
	assert_int_equal(line.figures[7].weight, WEIGHT_ZERO);
}

/* Times of day are those of UTC. */
static int set_zone(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

TESTS_WITHIN(set_zone, NULL)
