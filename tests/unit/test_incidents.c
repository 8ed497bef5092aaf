// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples tell triggers: hangs, each once, and processes killed for want of memory. */
#include "tests/lib/test.h"

#include "sampler/triggers.h"
#include "tests/lib/tree.h"

#define SECOND NSEC_PER_SEC

/* A machine with one task, and one trigger that watches it. */
struct scene {
	struct trigger_spec spec;
	struct trigger_set set;
	struct incidents incidents;
	struct sample samples[2];
	struct frame_info info;
	struct task *task;
	struct row row;
	struct frame frame;
};

/* Sets the scene; what is of it has been zeroed. */
static void begin(struct scene *scene, const char *when)
{
	struct trigger_error error;

	*scene = (struct scene){ 0 };
	assert_int_equal(trigger_parse(when, &scene->spec), TRIGGER_GOOD);
	assert_int_equal(triggers_add(&scene->set, &scene->spec, -1, &error), 0);
	scene->task = task_new((struct task_key){ 7, 1 }, 7);
	for (unsigned i = 0; i < 2; i++) {
		struct task_raw *raw = sample_add(&scene->samples[i], 7, 7);

		raw->task = task_ref(scene->task);
	}
	scene->frame = (struct frame){ .info = &scene->info, .rows = &scene->row, .n = 1 };
}

static void end(struct scene *scene)
{
	triggers_close(&scene->set);
	trigger_spec_free(&scene->spec);
	sample_free(&scene->samples[0]);
	sample_free(&scene->samples[1]);
	task_unref(scene->task);
}

/* A sample at that second, of a task that waits since another (0: does not wait). Has it fired? */
static bool look(struct scene *scene, int procfd, uint64_t at_s, uint64_t since_s)
{
	struct sample *prev = scene->info.cur ? (struct sample *)scene->info.cur : NULL;
	struct sample *cur = prev == &scene->samples[0] ? &scene->samples[1] : &scene->samples[0];
	bool fired;

	cur->begin_ns = cur->end_ns = at_s * SECOND;
	cur->raw[0]->now.waits = (struct task_waits){ 0 };
	if (since_s) {
		cur->raw[0]->now.waits.first_ns = since_s * SECOND;
		cur->raw[0]->now.waits.threads[SEEN_DWAIT] = 1;
	}
	scene->info.cur = cur;
	scene->info.prev = prev;
	scene->row = (struct row){ .task = scene->task, .raw = cur->raw[0], .deltas = &no_deltas };
	incidents_look(&scene->incidents, &scene->set, procfd, &scene->frame, at_s * SECOND);
	fired = scene->set.all[0].fired;
	assert_true(!fired || scene->set.all[0].last_ns == at_s * SECOND);
	triggers_forget(&scene->set);
	return fired;
}

/* It fires when a wait gets that old, once; and again for the next. */
TEST(test_hang)
{
	struct scene scene;

	begin(&scene, "hang 30s");
	/* One that was there before anybody looked is not new. */
	assert_false(look(&scene, -1, 1000, 900));
	assert_false(look(&scene, -1, 1002, 900));
	assert_false(look(&scene, -1, 1004, 0));
	assert_false(look(&scene, -1, 1006, 1005));
	assert_false(look(&scene, -1, 1034, 1005));
	assert_true(look(&scene, -1, 1036, 1005));
	assert_false(look(&scene, -1, 1038, 1005));
	assert_false(look(&scene, -1, 1040, 1039));
	/* At the very second. */
	assert_true(look(&scene, -1, 1069, 1039));
	assert_false(look(&scene, -1, 1070, 1039));
	end(&scene);
}

/* It fires when the kernel's count has grown, and not for what was before. */
TREE_TEST(test_oom)
{
	static const char *const bad[] = { "", "oom_kill", "oom_kill x\n", "xoom_kill 3\n",
					   "oom_kill 3 4\n" };
	const struct tree *tree = *state;
	struct scene scene;
	uint64_t killed;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (incidents_parse_kills(bad[i], strlen(bad[i]), &killed))
			fail_msg("'%s' is taken", bad[i]);
	begin(&scene, "oom");
	assert_false(look(&scene, tree->fd, 1, 0));
	put_text(tree, "vmstat", "nr_free_pages 5\noom_kill 3\nballoon 0\n");
	assert_false(look(&scene, tree->fd, 2, 0));
	assert_false(look(&scene, tree->fd, 3, 0));
	put_text(tree, "vmstat", "nr_free_pages 5\noom_kill 5\nballoon 0\n");
	assert_true(look(&scene, tree->fd, 4, 0));
	assert_false(look(&scene, tree->fd, 5, 0));
	end(&scene);
}
