// SPDX-License-Identifier: GPL-2.0-or-later
/* Delays that cannot have been waited: the kernel books some from a stale stamp. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/lib/scene.h"
#include "base/util.h"

/* A reading with its life: of one thread that has run that long. */
static struct task_raw *with_life(struct task_raw *raw, uint64_t life_ns, uint64_t run_ns)
{
	raw->single = true;
	raw->counters.life_ns = life_ns;
	raw->counters.run_ns = run_ns;
	return raw;
}

/* Whether the only row's blkio is known. */
static bool knows_blkio(const struct scene *scene)
{
	return scene->frame.rows[0].valid & DELAY_BIT(DELAY_BLKIO);
}

/* A task born in the interval cannot have waited for longer than it lived. */
static void test_longer_than_life(void **state)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(101));

	with_life(raw, SEC(1), MS(1))->counters.delay[DELAY_BLKIO] =
		(struct delay_sum){ 9, SEC(5180) };
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(900) };
	scene_build(scene, 1, false, 0);
	assert_false(knows_blkio(scene));
	assert_true(scene->frame.rows[0].valid & DELAY_BIT(DELAY_CPU));
	assert_true(scene->frame.rows[0].deltas->total.ns == MS(900));
	assert_int_equal(scene->info.stale, 1);
}

/* The same since the start, and nothing is dropped that can be. */
static void test_since_start(void **state)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(40));

	with_life(raw, SEC(60), MS(1))->counters.delay[DELAY_BLKIO] =
		(struct delay_sum){ 9, SEC(59) };
	scene_build(scene, 0, true, 0);
	assert_true(knows_blkio(scene));
	raw->counters.delay[DELAY_BLKIO].ns = SEC(61);
	scene_build(scene, 0, true, 0);
	assert_false(knows_blkio(scene));
	assert_int_equal(scene->info.stale, 1);
}

/* Reads a task that ran before the second of three samples, and ended a wait before the last. */
static void read_wait(struct scene *scene, uint64_t ran_ns, uint64_t waited_ns)
{
	struct task_raw *raw =
		with_life(scene_add(&scene->samples[0], 5, 5, SEC(1)), SEC(99), MS(9));

	raw = with_life(scene_again(&scene->samples[1], raw), SEC(101), MS(9) + ran_ns);
	scene_build(scene, 1, false, 0);
	raw = with_life(scene_again(&scene->samples[2], raw), SEC(103), MS(10) + ran_ns);
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, waited_ns };
	scene_build(scene, 2, false, 0);
}

/* A sum of lives leaves out what one of them cannot have waited, and keeps the others'. */
static void test_life(void **state)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[1], 5, 5, SEC(92));
	struct task_raw *b = scene_add(&scene->samples[1], 6, 6, SEC(92));
	struct counters sum = { 0 };

	a->single = b->single = true;
	a->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 2, SEC(1000) };
	a->counters.delay[DELAY_CPU] = (struct delay_sum){ 2, SEC(1) };
	b->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, SEC(10) };
	assert_int_equal(waited_life(a).valid, SCENE_VALID & ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO)));
	assert_int_equal(waited_life(b).valid, SCENE_VALID);
	scene_build(scene, 1, false, 0);
	row_add_life(&sum, &scene->frame.rows[0]);
	row_add_life(&sum, &scene->frame.rows[1]);
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, SEC(10));
	assert_int_equal(sum.delay[DELAY_BLKIO].count, 3);
	assert_int_equal(sum.delay[DELAY_CPU].ns, SEC(1));
}

/* What was left out of an interval stays out of the task's life, however old it gets. */
static void test_dropped(void **state)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(1));

	with_life(raw, SEC(99), MS(1))->now.state = 'S';
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 4, MS(70) };
	raw = with_life(scene_again(&scene->samples[1], raw), SEC(101), MS(2));
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 5, MS(70) + SEC(50) };
	scene_build(scene, 1, false, 0);
	assert_false(knows_blkio(scene));
	assert_true(scene->frame.rows[0].valid & DELAY_BIT(DELAY_CPU));
	raw = with_life(scene_again(&scene->samples[2], raw), SEC(103), MS(3));
	raw->counters.delay[DELAY_BLKIO].ns += MS(30);
	raw->counters.delay[DELAY_BLKIO].count++;
	scene_build(scene, 2, false, 0);
	assert_true(knows_blkio(scene));
	assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_BLKIO].ns, MS(30));
	assert_int_equal(row_life(&scene->frame.rows[0]).delay[DELAY_BLKIO].ns, MS(100));
	assert_int_equal(row_life(&scene->frame.rows[0]).delay[DELAY_BLKIO].count, 5);
}

/* Who ran a short while ago has not waited since long before. */
static void test_ran_since(void **state)
{
	read_wait(*state, MS(1), SEC(60));
	assert_false(knows_blkio(*state));
}

/* More than has passed since it last ran cannot have been waited, not by a hundredth. */
static void test_more_than_passed(void **state)
{
	/* It ran after 100 s, and was read at 104 s. */
	read_wait(*state, MS(1), SEC(4) + MS(50));
	assert_false(knows_blkio(*state));
}

static void test_all_that_passed(void **state)
{
	read_wait(*state, MS(1), SEC(4) + MS(30));
	assert_true(knows_blkio(*state));
	/* Within the interval it is the interval. */
	assert_int_equal(((struct scene *)*state)->frame.rows[0].deltas->waited.ns[DELAY_BLKIO],
			 SEC(2));
}

/* Who did not run may have waited since it was born. */
static void test_long_wait(void **state)
{
	read_wait(*state, 0, SEC(90));
	assert_true(knows_blkio(*state));
	assert_int_equal(((struct scene *)*state)->info.stale, 0);
}

/* Of several threads each may wait: their lives are added up. */
static void test_threads(void **state)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(101));

	raw->counters.life_ns = SEC(10);
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 20, SEC(9) };
	scene_build(scene, 1, false, 0);
	assert_true(knows_blkio(scene));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_longer_than_life, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_since_start, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_life, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_ran_since, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_more_than_passed, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_all_that_passed, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_dropped, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_long_wait, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_threads, scene_setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
