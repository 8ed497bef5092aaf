/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up frames in which somebody suffers, and what is found there. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/group.h"
#include "tests/lib/scene.h"
#include "tests/lib/sites.h"
#include "view/findings.h"

#define TASKS 4

/* A machine of some tasks between two samples of 2 s, and what is traced of them. */
struct state {
	struct scene scene;
	struct task_raw *now[TASKS];
	struct traced traced[TASKS];
	struct site sites[TASKS];
	struct trace_frame trace;
	struct grouping grouping;
	struct view view;
	const struct query *query;
	struct findings findings;
	struct buf text;
};

static const char *const names[TASKS] = { "alpha", "beta", "gamma", "delta" };

/* Tasks 1 to 4, that do nothing. */
static inline int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));
	struct system_sample *systems = s->scene.systems;

	scene_open(&s->scene);
	for (pid_t i = 0; i < TASKS; i++) {
		struct task_raw *before = scene_add(&s->scene.samples[0], i + 1, i + 1, SEC(10));

		before->now.state = 'S';
		task_set_comm(before->task, names[i], strlen(names[i]));
	}
	for (unsigned i = 0; i < TASKS; i++)
		s->now[i] = scene_again(&s->scene.samples[1], s->scene.samples[0].raw[i]);
	for (unsigned i = 0; i < 2; i++) {
		systems[i].cpu_valid = true;
		systems[i].cpu_ns[CPU_USER] = SEC(4) * i;
		systems[i].memory_valid = true;
		systems[i].memory_total = 1000;
		systems[i].memory_used = 130;
	}
	s->view = (struct view){ .unit = UNIT_PERCENT, .charset = TEXT_UTF8 };
	*state = s;
	return 0;
}

static inline int close_state(void **state)
{
	struct state *s = *state;

	findings_free(&s->findings);
	grouping_free(&s->grouping);
	scene_close(&s->scene);
	buf_free(&s->text);
	free(s);
	return 0;
}

/* A task of id 9 that began in the interval. The others may have moved. */
static inline struct task_raw *add_newcomer(struct state *s)
{
	struct task_raw *raw = scene_add(&s->scene.samples[1], 9, 9, SEC(101));

	for (unsigned i = 0; i < TASKS; i++)
		s->now[i] = s->scene.samples[1].raw[i];
	task_set_comm(raw->task, "cc1", 3);
	return raw;
}

/* Makes the frame, and its findings. */
static inline void build(struct state *s)
{
	const struct frame *frame = &s->scene.frame;
	struct frame_info *info = &s->scene.info;

	scene_build(&s->scene, 1, false, 0);
	info->interval_ns = SEC(2);
	info->prev = &s->scene.samples[0];
	info->trace = s->trace.n ? &s->trace : NULL;
	for (size_t i = 0; s->trace.n && i < frame->n; i++)
		frame->rows[i].traced = &s->traced[i];
	s->view.frame = frame;
	findings_take(&s->findings, &s->view, frame, s->query);
}

/* Has a share of the machine, in percent, be idle. */
static inline void set_idle(struct state *s, unsigned percent)
{
	uint64_t *cpu_ns = s->scene.systems[1].cpu_ns;

	cpu_ns[CPU_USER] = MS(40) * (100 - percent);
	cpu_ns[CPU_IDLE] = MS(40) * percent;
}

/* A task waits in the interval. */
static inline void waits(struct state *s, unsigned task, enum delay_kind kind, uint64_t ms)
{
	s->now[task]->counters.delay[kind].ns += MS(ms);
	s->now[task]->counters.delay[kind].count += 3 + ms / 10;
}

static inline void runs(struct state *s, unsigned task, uint64_t ms)
{
	s->now[task]->counters.run_ns += MS(ms);
}

/* A task has been in state D for so long by now. */
static inline void sleeps(struct state *s, unsigned task, enum wait_seen kind, uint64_t ms)
{
	uint64_t end_ns = s->scene.samples[1].end_ns;

	waits_add(&s->now[task]->now.waits, kind, end_ns - MS(ms), s->scene.samples[1].begin_ns,
		  s->scene.samples[0].begin_ns);
	s->now[task]->now.state = 'D';
}

/* What a task was traced to wait in. The trace's sites are in order of time. */
static inline struct site *traces(struct state *s, unsigned task, enum wait_state state,
				  uint64_t ms)
{
	struct site *site = &s->sites[s->trace.n++];

	*site = (struct site){ .id = s->trace.n,
			       .tgid = (pid_t)task + 1,
			       .start_ns = SEC(10),
			       .comm = names[task],
			       .state = state,
			       .kind = -1,
			       .ns = MS(ms),
			       .count = 10 };
	for (unsigned i = 0; i < TASKS; i++) {
		s->traced[i].tgid = (pid_t)i + 1;
		s->traced[i].start_ns = SEC(10);
	}
	s->traced[task].states.ns[state] += MS(ms);
	s->trace.sites = SITES_OF(s->sites, TASKS);
	s->trace.interval_ns = SEC(2);
	return site;
}

/* Asserts the finding at a place. */
static inline void check(struct state *s, size_t at, const char *id, const char *text)
{
	const struct finding *finding = &s->findings.all[at];

	assert_true(at < s->findings.n);
	s->text.len = 0;
	finding_append(&s->text, &s->findings, finding, 0, TEXT_UTF8);
	assert_string_equal(buf_cstr(&s->text), text);
	assert_string_equal(finding->id, id);
	assert_string_equal(finding_text(&s->findings, finding) + finding->len, "");
}

/* Asserts that there is nothing to find, and its words. */
static inline void check_none(struct state *s, const char *text)
{
	assert_int_equal(s->findings.n, 0);
	assert_non_null(findings_first(&s->findings));
	assert_string_equal(finding_text(&s->findings, findings_first(&s->findings)), text);
}

/* A test whose state that is. */
#define FINDINGS_TEST(name) TEST_WITH(name, open_state, close_state)
