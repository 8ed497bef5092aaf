// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void scene_open(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	for (unsigned i = 0; i < ARRAY_SIZE(scene->samples); i++) {
		scene->samples[i].begin_ns = SEC(100 + 2 * i);
		scene->samples[i].end_ns = SEC(100 + 2 * i) + MS(10);
		/* 2025-11-21 04:00:00 UTC and on */
		scene->samples[i].real_ns = SEC(1763697600 + 2 * i);
	}
	clocks_read(&scene->clocks, &(struct clock_times){ .monotonic_ns = SEC(100),
							   .boot_ns = SEC(100),
							   .real_ns = scene->samples[0].real_ns });
}

void scene_close(struct scene *scene)
{
	for (unsigned i = 0; i < ARRAY_SIZE(scene->samples); i++)
		sample_free(&scene->samples[i]);
	frame_free(&scene->frame);
	clocks_free(&scene->clocks);
}

struct task_raw *scene_add(struct sample *sample, pid_t tgid, pid_t pid, uint64_t start_ns)
{
	struct task_raw *raw = sample_add(sample, tgid, pid);

	raw->task = task_new((struct task_key){ pid, start_ns }, tgid);
	raw->read_ns = sample->begin_ns;
	raw->counters.valid = SCENE_VALID;
	return raw;
}

struct task_raw *scene_again(struct sample *sample, const struct task_raw *before)
{
	struct task_raw copy = *before, *raw = sample_add(sample, before->tgid, before->pid);

	*raw = copy;
	raw->task = task_ref(copy.task);
	raw->times = NULL;
	task_raw_set_times(raw, copy.times);
	raw->read_ns = sample->begin_ns;
	return raw;
}

void scene_build(struct scene *scene, unsigned to, bool since_start, uint32_t unknown)
{
	struct frame_options options = { .since_start = since_start, .unknown = unknown };
	struct frame_info *info = &scene->info;

	frame_build(&scene->frame, info, to ? &scene->samples[to - 1] : NULL, &scene->samples[to],
		    &options);
	scene->frame.group_by = "process";
	info->head.exits = info->head.lost = -1;
	info->clocks = &scene->clocks;
	info->head.source = "taskstats";
	info->head.taskstats_version = 16;
	info->head.delayacct = DELAYACCT_ON;
	info->head.self = -1;
	info->system = &scene->systems[1];
	info->system_before = to ? &scene->systems[0] : NULL;
}

const struct column *scene_column(const char *id)
{
	const struct column *column = column_by_id(id, strlen(id));

	if (!column)
		die("no column %s", id);
	return column;
}

int scene_setup(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	scene_open(scene);
	*state = scene;
	return 0;
}

int scene_teardown(void **state)
{
	scene_close(*state);
	free(*state);
	return 0;
}
