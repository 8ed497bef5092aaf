// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether delays are accounted, and for whom, by a made-up /proc. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/delayacct.h"
#include "tests/lib/scene.h"
#include "tests/lib/tree_thread.h"

#define SYSCTL DELAYACCT_SYSCTL

/* Opens, asserts the state, and returns since when it holds as far as is known. */
static uint64_t open_and_check(const struct tree *tree, enum delayacct_state expected)
{
	struct delayacct acct;

	delayacct_open(&acct, tree->fd, 0);
	assert_int_equal(acct.state, expected);
	assert_false(acct.toggled);
	delayacct_close(&acct);
	return acct.since_ns;
}

/* The switch as it is. */
TREE_TEST(test_switch)
{
	const struct tree *tree = *state;

	put_text(tree, "cmdline", "quiet splash\n");
	put_text(tree, SYSCTL, "0\n");
	assert_true(open_and_check(tree, DELAYACCT_OFF) == UINT64_MAX);
	put_text(tree, SYSCTL, "1\n");
	assert_true(open_and_check(tree, DELAYACCT_ON) == UINT64_MAX);
	put_text(tree, SYSCTL, "");
	open_and_check(tree, DELAYACCT_UNKNOWN);
	put_text(tree, SYSCTL, "maybe\n");
	open_and_check(tree, DELAYACCT_UNKNOWN);
}

/* Booted with it on, all tasks are accounted; words that only look like it say nothing. */
TREE_TEST(test_boot)
{
	static const struct {
		const char *line;
		uint64_t since;
	} cases[] = {
		{ "delayacct\n", 0 },
		{ "quiet delayacct splash\n", 0 },
		{ "quiet nodelayacct\n", UINT64_MAX },
		{ "delayacct=0 xdelayacct delayacctx\n", UINT64_MAX },
		{ "", UINT64_MAX },
	};
	const struct tree *tree = *state;

	put_text(tree, SYSCTL, "1\n");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_text(tree, "cmdline", cases[i].line);
		assert_true(open_and_check(tree, DELAYACCT_ON) == cases[i].since);
	}
}

/* Kernels before the switch: on, unless booted without. */
TREE_TEST(test_no_switch)
{
	const struct tree *tree = *state;
	struct delayacct acct;

	assert_true(open_and_check(tree, DELAYACCT_ON) == 0);
	put_text(tree, "cmdline", "quiet\n");
	assert_true(open_and_check(tree, DELAYACCT_ON) == 0);
	put_text(tree, "cmdline", "nodelayacct quiet\n");
	open_and_check(tree, DELAYACCT_OFF);
	delayacct_open(&acct, tree->fd, 0);
	delayacct_read(&acct);
	assert_int_equal(acct.state, DELAYACCT_OFF);
	assert_false(acct.toggled);
	delayacct_close(&acct);
	assert_int_equal(delayacct_set(tree->fd, true), -ENOENT);
}

/* A switch that is there but cannot be opened says nothing of how it stands. */
TREE_TEST(test_unread_switch)
{
	const struct tree *tree = *state;

	put_text(tree, "cmdline", "quiet\n");
	put_text(tree, SYSCTL, "0\n");
	bar(tree, SYSCTL);
	assert_true(open_and_check(tree, DELAYACCT_UNKNOWN) == UINT64_MAX);
}

/* Moves of the switch are seen, each once. */
TREE_TEST(test_toggled)
{
	static const struct {
		const char *text;
		enum delayacct_state state;
		bool toggled;
	} steps[] = {
		{ "0\n", DELAYACCT_OFF, false }, { "1\n", DELAYACCT_ON, true },
		{ "1\n", DELAYACCT_ON, false },	 { "0\n", DELAYACCT_OFF, true },
		{ "0\n", DELAYACCT_OFF, false },
	};
	const struct tree *tree = *state;
	struct delayacct acct;

	put_text(tree, SYSCTL, "0\n");
	delayacct_open(&acct, tree->fd, 0);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		put_text(tree, SYSCTL, steps[i].text);
		delayacct_read(&acct);
		assert_int_equal(acct.state, steps[i].state);
		assert_int_equal(acct.toggled, steps[i].toggled);
	}
	delayacct_close(&acct);
}

/* Switching writes the switch. */
TREE_TEST(test_set)
{
	const struct tree *tree = *state;

	put_text(tree, SYSCTL, "0\n");
	assert_int_equal(delayacct_set(tree->fd, true), 0);
	open_and_check(tree, DELAYACCT_ON);
	assert_int_equal(delayacct_set(tree->fd, false), 0);
	open_and_check(tree, DELAYACCT_OFF);
}

#define OTHERS DELAY_BOTH(DELAYACCT_KINDS)
#define IRQ DELAY_BOTH(DELAY_BIT(DELAY_IRQ))

/* Delay accounting as it was opened, and a sample that it masks. */
struct masking {
	void *tree;
	struct delayacct acct;
	struct scene scene;
	struct sample *sample;
};

static int set_up_masking(void **state)
{
	struct masking *m = xcalloc(1, sizeof(*m));

	*state = m;
	scene_open(&m->scene);
	m->sample = &m->scene.samples[0];
	return make_tree(&m->tree);
}

static int tear_down_masking(void **state)
{
	struct masking *m = *state;
	int err;

	delayacct_close(&m->acct);
	scene_close(&m->scene);
	err = remove_tree(&m->tree);
	free(m);
	return err;
}

#define MASKING_TEST(name) TEST_WITH(name, set_up_masking, tear_down_masking)

/* Opens it with the switch so. */
static struct sample *open_switched(struct masking *m, const char *text)
{
	const struct tree *tree = m->tree;

	put_text(tree, SYSCTL, text);
	delayacct_open(&m->acct, tree->fd, 0);
	return m->sample;
}

/* Off: only what the scheduler counts is known, whatever stands in the rest. */
MASKING_TEST(test_mask_off)
{
	struct masking *m = *state;
	struct sample *sample = open_switched(m, "0\n");
	struct task_raw *raw;

	raw = scene_add(sample, 5, 5, SEC(10));
	raw->single = true;
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, 1 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
	assert_int_equal(raw->counters.valid, SCENE_VALID & ~OTHERS);
}

/* On: tasks older than the oldest one seen to be accounted are masked, and counted. */
MASKING_TEST(test_mask_older)
{
	static const uint64_t starts[] = { 5, 10, 20, 30, 40 };
	struct masking *m = *state;
	struct sample *sample = open_switched(m, "1\n");

	for (unsigned i = 0; i < 5; i++)
		scene_add(sample, (pid_t)i + 1, (pid_t)i + 1, SEC(starts[i]))->single = true;
	/* Nobody has waited yet: nothing says that anybody is accounted. */
	assert_int_equal(delayacct_mask(&m->acct, sample), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(sample->raw[i]->counters.valid, SCENE_VALID & ~OTHERS);
	/* One has: it is, and so are all that are younger. What is masked is read anew. */
	for (unsigned i = 0; i < 5; i++)
		sample->raw[i]->counters.valid = SCENE_VALID;
	sample->raw[3]->counters.delay[DELAY_BLKIO].ns = 7; /* procfs knows no count */
	sample->raw[4]->counters.delay[DELAY_RECLAIM] = (struct delay_sum){ 1, 9 };
	sample->raw[0]->counters.delay[DELAY_CPU] = (struct delay_sum){ 100, 100 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 3);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(sample->raw[i]->counters.valid,
				 SCENE_VALID & ~(i < 3 ? OTHERS : IRQ));
	/* An older one shows up: the mark moves, and stays when that one has gone. */
	sample->raw[1]->counters.valid = SCENE_VALID;
	sample->raw[1]->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, 1 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 1);
	sample->raw[1]->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 0, 0 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 1);
}

/*
 * It was off in between: a process that ran without a single copy of a page says so, and what
 * older tasks show says nothing of those that started before it.
 */
MASKING_TEST(test_mask_gap)
{
	static const uint64_t starts[] = { 10, 20, 30, 40, 50 };
	struct masking *m = *state;
	struct sample *sample = open_switched(m, "1\n");

	for (unsigned i = 0; i < 5; i++)
		scene_add(sample, (pid_t)i + 10, (pid_t)i + 10, SEC(starts[i]))->single = true;
	sample->raw[0]->counters.delay[DELAY_WPCOPY] = (struct delay_sum){ 20, 7 };
	sample->raw[2]->counters.run_ns = MS(50);
	sample->raw[3]->counters.delay[DELAY_WPCOPY] = (struct delay_sum){ 20, 7 };
	/* 10 s: accounted itself; 20 and 30 s: not; 40 s: accounted, and so is all after it. */
	assert_int_equal(delayacct_mask(&m->acct, sample), 2);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(sample->raw[i]->counters.valid,
				 SCENE_VALID & ~(i == 1 || i == 2 ? OTHERS : IRQ));
}

/* A kernel thread runs without copying pages: that says nothing. */
MASKING_TEST(test_mask_kthread)
{
	struct masking *m = *state;
	struct sample *sample = open_switched(m, "1\n");

	scene_add(sample, 10, 10, SEC(10))->single = true;
	scene_add(sample, 11, 11, SEC(20))->single = true;
	sample->raw[0]->counters.delay[DELAY_WPCOPY] = (struct delay_sum){ 20, 7 };
	sample->raw[1]->counters.run_ns = MS(50);
	sample->raw[1]->task->ppid = 2;
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
}

/* What was booked for a process may be a younger thread's: of the rest it says nothing. */
MASKING_TEST(test_mask_threads)
{
	struct masking *m = *state;
	struct sample *sample = open_switched(m, "1\n");
	struct task_raw *raw;

	raw = scene_add(sample, 5, 5, SEC(10));
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, 1 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 1);
	assert_int_equal(raw->counters.valid, SCENE_VALID & ~OTHERS);
	/* What was booked for its leader does: all threads are younger. */
	raw->counters.valid = SCENE_VALID;
	raw->task->accounted = true;
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
	assert_int_equal(raw->counters.valid, SCENE_VALID & ~IRQ);
}

/* Switched on while we look: who started before is older, whatever was seen. */
MASKING_TEST(test_mask_switched)
{
	struct masking *m = *state;
	struct sample *sample;

	put_text(m->tree, "cmdline", "delayacct\n");
	sample = open_switched(m, "0\n");
	put_text(m->tree, SYSCTL, "1\n");
	delayacct_read(&m->acct);
	scene_add(sample, 5, 5, 1)->single = true;
	scene_add(sample, 6, 6, UINT64_MAX / 2)->single = true;
	assert_int_equal(delayacct_mask(&m->acct, sample), 1);
	assert_int_equal(sample->raw[0]->counters.valid, SCENE_VALID & ~OTHERS);
	assert_int_equal(sample->raw[1]->counters.valid, SCENE_VALID & ~IRQ);
}

/* irq is unknown until some task shows that the kernel books it. */
MASKING_TEST(test_mask_irq)
{
	struct masking *m = *state;
	struct sample *sample;

	put_text(m->tree, "cmdline", "delayacct\n");
	sample = open_switched(m, "1\n");
	scene_add(sample, 5, 5, SEC(10));
	scene_add(sample, 6, 6, SEC(10));
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
	assert_int_equal(sample->raw[0]->counters.valid, SCENE_VALID & ~IRQ);
	sample->raw[0]->counters.valid = sample->raw[1]->counters.valid = SCENE_VALID;
	sample->raw[1]->counters.delay[DELAY_IRQ] = (struct delay_sum){ 1, 100 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
	assert_int_equal(sample->raw[0]->counters.valid, SCENE_VALID);
	assert_int_equal(sample->raw[1]->counters.valid, SCENE_VALID);
	/* Seen once is enough. */
	sample->raw[1]->counters.delay[DELAY_IRQ] = (struct delay_sum){ 0, 0 };
	assert_int_equal(delayacct_mask(&m->acct, sample), 0);
	assert_int_equal(sample->raw[0]->counters.valid, SCENE_VALID);
}
