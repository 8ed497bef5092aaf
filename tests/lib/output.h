/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames made by hand, put out in a format. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/out.h"
#include "tests/lib/scene.h"

/* A scene, how it is to be put out, and what came. */
struct output {
	struct scene scene;
	struct view_config view;
	struct out_config config;
	struct out out;
};

/* An empty scene, and a plain configuration. */
static inline int output_setup(void **state)
{
	struct output *s = xcalloc(1, sizeof(*s));

	scene_open(&s->scene);
	s->view = (struct view_config){ .query = { .over_ms = -1 }, .interval_ns = SEC(2) };
	s->config = (struct out_config){ .view = &s->view, .charset = TEXT_UTF8 };
	*state = s;
	return 0;
}

/* See output_setup(). */
static inline int output_teardown(void **state)
{
	struct output *s = *state;

	out_close(&s->out);
	scene_close(&s->scene);
	free(s);
	return 0;
}

/* Adds a task that is in both samples, and waited for the CPU for 500 ms, ten times. */
static inline struct task_raw *output_task(struct output *s, pid_t pid, const char *comm)
{
	struct task_raw *before = scene_add(&s->scene.samples[0], pid, pid, SEC(10)), *now;

	before->counters.delay[DELAY_CPU] = (struct delay_sum){ 5, MS(1000) };
	task_set_user(before->task, shared_text("root"));
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
static inline const char *output_put(struct output *s, const struct out_ops *ops)
{
	scene_build(&s->scene, 1, false, 0);
	if (!s->out.ops)
		out_open(&s->out, ops, &s->config);
	s->out.buf.len = 0;
	out_frame(&s->out, &s->scene.frame);
	return buf_cstr(&s->out.buf);
}

#define OUTPUT_TEST(name) TEST_WITH(name, output_setup, output_teardown)
