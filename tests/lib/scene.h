/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "frame/frame.h"
#include "tests/lib/test.h"
#include "view/column.h"

/*
 * Two samples by hand and the frame between them. Tasks must be added in the order
 * of (tgid, pid).
 */

#define SCENE_VALID (DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK)
#define MS(n) (UINT64_C(1000000) * (n))
#define SEC(n) (UINT64_C(1000000000) * (n))

struct scene {
	struct sample samples[3]; /* taken at 100 s, 102 s, 104 s of the monotonic clock */
	struct system_sample systems[2];
	struct frame frame;
	struct frame_info info; /* of the frame */
	struct clocks clocks;
};

void scene_open(struct scene *scene);
void scene_close(struct scene *scene);

/* Set-up and tear-down of tests whose state is a scene. */
int scene_setup(void **state);
int scene_teardown(void **state);
#define SCENE_TEST(name) TEST_WITH(name, scene_setup, scene_teardown)

/* Adds a task that started then. Its counters are all valid, 0, and read with the sample. */
struct task_raw *scene_add(struct sample *sample, pid_t tgid, pid_t pid, uint64_t start_ns);

/* Adds a reading of the same task, with the counters it had. */
struct task_raw *scene_again(struct sample *sample, const struct task_raw *before);

/* Builds the frame from samples[to - 1] (none for 0) and samples[to]. */
void scene_build(struct scene *scene, unsigned to, bool since_start, uint32_t unknown);

/* The column of that id; the test fails where there is none. */
const struct column *scene_column(const char *id);
