// SPDX-License-Identifier: GPL-2.0-or-later
/* Deltas: births, reuse, counters that fall, wrap and overflow, and what is not known. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"

/* Gives every counter of a reading a value of its own. */
static void give(struct task_raw *raw, uint64_t base)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		raw->counters.delay[kind] = (struct delay_sum){ base * 10 + kind, MS(base) + kind };
	raw->counters.run_ns = MS(base) + 50;
	raw->counters.user_ns = MS(3 * base);
	raw->counters.system_ns = MS(base);
}

/* The first reading shows who is there, and no deltas. */
SCENE_TEST(test_first)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(1));
	const struct row *row;

	give(raw, 7);
	scene_build(scene, 0, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(scene->frame.n, 1);
	assert_true(scene->info.interval_ns == 0);
	assert_int_equal(scene->info.born, 0);
	assert_ptr_equal(row->task, raw->task);
	assert_int_equal(row->valid, 0);
	assert_true(row->interval_ns == 0);
	assert_true(row->deltas->total.ns == 0 && row->deltas->grown.run_ns == 0);
	assert_false(row->born);
	assert_null(row->before);
}

/* The plain case: counter now minus counter before, over the time between the readings. */
SCENE_TEST(test_delta)
{
	struct scene *scene = *state;
	struct task_raw *before = scene_add(&scene->samples[0], 5, 5, SEC(1)), *now;
	const struct row *row;

	give(before, 7);
	now = scene_again(&scene->samples[1], before);
	give(now, 20);
	now->read_ns += MS(3);
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID);
	assert_true(row->interval_ns == SEC(2) + MS(3));
	assert_true(scene->info.interval_ns == SEC(2));
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		assert_true(row->deltas->grown.delay[kind].ns == MS(13));
		assert_true(row->deltas->grown.delay[kind].count == 130);
	}
	assert_true(row->deltas->total.ns == MS(13) * 7 && row->deltas->total.count == 130 * 7);
	assert_true(row->deltas->mem.ns == MS(13) * 4 && row->deltas->mem.count == 130 * 4);
	assert_true(row->deltas->grown.run_ns == MS(13));
	assert_true(row->deltas->grown.user_ns == MS(13) / 4 * 3 &&
		    row->deltas->grown.system_ns == MS(13) / 4);
	assert_false(row->born);
	assert_int_equal(scene->info.born, 0);
	assert_int_equal(scene->info.gone, 0);
	assert_int_equal(row->members, 1);
	assert_int_equal(scene->info.kinds, DELAY_ALL);
}

/* Born since: from zero, measured against the frame's interval. */
SCENE_TEST(test_birth)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(101));
	const struct row *row = NULL;

	give(raw, 7);
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->born);
	assert_int_equal(scene->info.born, 1);
	assert_true(row->interval_ns == SEC(2));
	assert_int_equal(row->valid, SCENE_VALID);
	assert_true(row->deltas->grown.delay[DELAY_BLKIO].ns == MS(7) + 1);
	assert_true(row->deltas->grown.delay[DELAY_BLKIO].count == 71);
	assert_true(row->deltas->grown.run_ns == MS(7) + 50);
	assert_true(row->deltas->grown.user_ns + row->deltas->grown.system_ns ==
		    row->deltas->grown.run_ns);
	assert_null(row->before);
}

/* Older than the sample before, but not seen there: a baseline only. */
SCENE_TEST(test_first_seen_old)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(99)), *now;
	const struct row *row;

	give(raw, 7);
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_false(row->born);
	assert_int_equal(scene->info.born, 0);
	assert_int_equal(row->valid, 0);
	assert_true(row->interval_ns == 0 && row->deltas->total.ns == 0);
	now = scene_again(&scene->samples[2], raw);
	give(now, 8);
	scene_build(scene, 2, false, 0);
	assert_true(scene->frame.rows[0].deltas->grown.delay[DELAY_CPU].ns == MS(1));
}

/* Whether it was born before or within is decided by the latest it can have started. */
SCENE_TEST(test_birth_edge)
{
	struct scene *scene = *state;
	struct task_raw *edge = scene_add(&scene->samples[1], 5, 5, SEC(100));
	struct task_raw *unsure = scene_add(&scene->samples[1], 6, 6, SEC(100) - MS(5));

	unsure->task->latest_ns = SEC(100);
	scene_build(scene, 1, false, 0);
	assert_true(scene->frame.rows[0].born);
	assert_true(scene->frame.rows[1].born);
	edge->task->latest_ns = unsure->task->latest_ns = SEC(100) - 1;
	scene_build(scene, 1, false, 0);
	assert_false(scene->frame.rows[0].born);
	assert_false(scene->frame.rows[1].born);
}

/* A pid that is another task's is a birth, whether its counters are lower or higher. */
SCENE_TEST(test_reuse)
{
	struct scene *scene = *state;

	for (unsigned base = 1; base < 100; base += 49) {
		struct task_raw *old = scene_add(&scene->samples[0], 5, 5, SEC(1)), *new;
		const struct row *row;

		give(old, 40);
		new = scene_add(&scene->samples[1], 5, 5, SEC(101));
		give(new, base);
		scene_build(scene, 1, false, 0);
		row = &scene->frame.rows[0];
		assert_true(row->born);
		assert_null(row->before);
		assert_true(row->deltas->grown.delay[DELAY_CPU].ns == MS(base));
		assert_true(row->deltas->grown.delay[DELAY_CPU].count == base * 10);
		assert_int_equal(scene->info.born, 1);
		assert_int_equal(scene->info.gone, 1);
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* Who came, stayed and went, at both ends and in the middle. */
SCENE_TEST(test_merge)
{
	static const pid_t old[] = { 1, 3, 4, 7, 9, 20 }, new[] = { 2, 3, 5, 7, 10, 11 };
	struct scene *scene = *state;
	struct sample *a = &scene->samples[0], *b = &scene->samples[1];

	for (unsigned i = 0; i < ARRAY_SIZE(old); i++)
		scene_add(a, old[i], old[i], SEC(1));
	for (unsigned i = 0; i < ARRAY_SIZE(new); i++) {
		const struct task_raw *before = sample_find(a, new[i], new[i]);

		if (before)
			scene_again(b, before);
		else
			scene_add(b, new[i], new[i], SEC(101));
	}
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.n, 6);
	assert_int_equal(scene->info.born, 4);
	assert_int_equal(scene->info.gone, 4);
	for (unsigned i = 0; i < ARRAY_SIZE(new); i++) {
		struct task_key key = b->raw[i]->task->key;

		assert_int_equal(scene->frame.rows[i].task->key.pid, new[i]);
		assert_int_equal(scene->frame.rows[i].born, i != 1 && i != 3);
		assert_ptr_equal(frame_find(&scene->frame, &key), &scene->frame.rows[i]);
		key.start_ns++;
		assert_null(frame_find(&scene->frame, &key));
	}
}

/* Threads are told apart by both ids: a tid that moved to another process is another task. */
SCENE_TEST(test_threads)
{
	struct scene *scene = *state;
	struct task_raw *leader = scene_add(&scene->samples[0], 5, 5, SEC(1));
	struct task_raw *thread = scene_add(&scene->samples[0], 5, 8, SEC(2)), *now;

	scene_add(&scene->samples[0], 6, 7, SEC(2));
	scene_again(&scene->samples[1], leader);
	now = scene_again(&scene->samples[1], thread);
	now->counters.delay[DELAY_BLKIO].ns = 9;
	scene_add(&scene->samples[1], 7, 7, SEC(101));
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.n, 3);
	assert_true(scene->frame.rows[1].deltas->grown.delay[DELAY_BLKIO].ns == 9);
	assert_true(scene->frame.rows[2].born);
	assert_int_equal(scene->info.gone, 1);
}

/*
 * A total that falls is a delta of 0; the larger stays the baseline, and what is shown as
 * cumulative never falls.
 */
SCENE_TEST(test_falling)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b, *c;
	const struct row *row = NULL;

	a->counters.delay[DELAY_CPU] = (struct delay_sum){ 10, 1000 };
	a->counters.run_ns = 500, a->counters.user_ns = 300, a->counters.system_ns = 200;
	b = scene_again(&scene->samples[1], a);
	b->counters.delay[DELAY_CPU] = (struct delay_sum){ 9, 900 };
	b->counters.run_ns = 450, b->counters.user_ns = 250, b->counters.system_ns = 150;
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID);
	assert_true(row->deltas->grown.delay[DELAY_CPU].ns == 0 &&
		    row->deltas->grown.delay[DELAY_CPU].count == 0);
	assert_true(row->deltas->grown.run_ns == 0 && row->deltas->grown.user_ns == 0 &&
		    row->deltas->grown.system_ns == 0);
	assert_true(row->raw->counters.delay[DELAY_CPU].ns == 1000);
	assert_true(row->raw->counters.delay[DELAY_CPU].count == 10);
	assert_true(row->raw->counters.run_ns == 500);

	c = scene_again(&scene->samples[2], b);
	c->counters.delay[DELAY_CPU] = (struct delay_sum){ 12, 1100 };
	c->counters.run_ns = 560;
	scene_build(scene, 2, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->deltas->grown.delay[DELAY_CPU].ns == 100 &&
		    row->deltas->grown.delay[DELAY_CPU].count == 2);
	assert_true(row->deltas->grown.run_ns == 60);
	assert_true(row->raw->counters.delay[DELAY_CPU].ns == 1100);
}

/* The record of a zombie reads 0: no overflow, no negative. */
SCENE_TEST(test_zombie)
{
	struct scene *scene = *state;
	struct task_raw *before = scene_add(&scene->samples[0], 5, 5, SEC(1)), *now;
	const struct row *row;

	give(before, 7);
	now = scene_again(&scene->samples[1], before);
	memset(now->counters.delay, 0, sizeof(now->counters.delay));
	now->counters.run_ns = now->counters.user_ns = now->counters.system_ns = 0;
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID);
	assert_ptr_equal(row->deltas, &no_deltas);
	assert_true(row->raw->counters.delay[DELAY_IRQ].ns == MS(7) + 7);
	assert_true(row->raw->counters.delay[DELAY_IRQ].count == 77);
	assert_true(row->raw->counters.run_ns == MS(7) + 50);
}

/* Counts are 32 bits wide in the kernel. */
SCENE_TEST(test_count_wrap)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b, *c;
	const struct row *row;

	a->counters.delay[DELAY_BLKIO] = (struct delay_sum){ UINT32_MAX - 4, MS(5) };
	b = scene_again(&scene->samples[1], a);
	b->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 10, MS(6) };
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->deltas->grown.delay[DELAY_BLKIO].count == 15);
	assert_true(row->deltas->grown.delay[DELAY_BLKIO].ns == MS(1));
	assert_true(row->raw->counters.delay[DELAY_BLKIO].count == (UINT64_C(1) << 32) + 10);
	/* The next reading comes in 32 bits again. */
	c = scene_again(&scene->samples[2], b);
	c->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 12, MS(7) };
	scene_build(scene, 2, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->deltas->grown.delay[DELAY_BLKIO].count == 2);
	assert_true(row->raw->counters.delay[DELAY_BLKIO].count == (UINT64_C(1) << 32) + 12);
}

/* A process's sum of counts may be wider. */
SCENE_TEST(test_wide_count)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b;

	a->counters.delay[DELAY_CPU] = (struct delay_sum){ UINT64_C(0x1fffffff0), 5 };
	b = scene_again(&scene->samples[1], a);
	b->counters.delay[DELAY_CPU] = (struct delay_sum){ UINT64_C(0x200000010), 6 };
	scene_build(scene, 1, false, 0);
	assert_true(scene->frame.rows[0].deltas->grown.delay[DELAY_CPU].count == 0x20);
	assert_true(scene->frame.rows[0].raw->counters.delay[DELAY_CPU].count ==
		    UINT64_C(0x200000010));
}

/* A total that jumps to 0 while its count goes on: unset for one interval, then as before. */
SCENE_TEST(test_overflow)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b, *c;
	const struct row *row;

	a->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1000, UINT64_MAX - 5 };
	a->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 7, MS(7) };
	b = scene_again(&scene->samples[1], a);
	b->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1003, 0 };
	b->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 8, MS(9) };
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID & ~DELAY_BOTH(DELAY_BIT(DELAY_SWAPIN)));
	assert_true(row->deltas->grown.delay[DELAY_SWAPIN].ns == 0);
	assert_true(row->deltas->total.ns == MS(2) && row->deltas->mem.ns == 0);
	c = scene_again(&scene->samples[2], b);
	c->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1005, 300 };
	scene_build(scene, 2, false, 0);
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID);
	assert_true(row->deltas->grown.delay[DELAY_SWAPIN].ns == 300);
	assert_true(row->deltas->grown.delay[DELAY_SWAPIN].count == 2);
	assert_true(row->raw->counters.delay[DELAY_SWAPIN].ns == 300);
}

/* What has not changed is not read again: its interval is the samples', not 0. */
SCENE_TEST(test_old_reading)
{
	struct scene *scene = *state;
	struct task_raw *before = scene_add(&scene->samples[0], 5, 5, SEC(1)), *now;

	before->read_ns = SEC(50);
	now = scene_again(&scene->samples[1], before);
	now->read_ns = SEC(50);
	scene_build(scene, 1, false, 0);
	assert_true(scene->frame.rows[0].interval_ns == SEC(2));
}

/* Two readings at one time: an interval above 0, so that nothing is divided by it. */
SCENE_TEST(test_zero_interval)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b;

	for (unsigned back = 0; back < 2; back++) {
		b = scene_again(&scene->samples[1], a);
		b->read_ns = a->read_ns - back;
		b->counters.delay[DELAY_CPU].ns = 8;
		scene_build(scene, 1, false, 0);
		assert_true(scene->frame.rows[0].interval_ns > 0);
		assert_true(scene->frame.rows[0].deltas->grown.delay[DELAY_CPU].ns == 8);
		sample_reset(&scene->samples[1]);
	}
}

/* What either reading does not know is no delta. */
SCENE_TEST(test_unknown)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b;
	const struct row *row;

	give(a, 1);
	b = scene_again(&scene->samples[1], a);
	give(b, 2);
	a->counters.valid &= ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO));
	b->counters.valid &=
		~(DELAY_BOTH(DELAY_BIT(DELAY_IRQ)) | DELAY_COUNT_BIT(DELAY_CPU) | VALID_TICK);
	scene_build(scene, 1, false, DELAY_BIT(DELAY_WPCOPY));
	row = &scene->frame.rows[0];
	assert_int_equal(row->valid, SCENE_VALID & ~(DELAY_BOTH(DELAY_BIT(DELAY_BLKIO)) |
						     DELAY_BOTH(DELAY_BIT(DELAY_IRQ)) |
						     DELAY_BOTH(DELAY_BIT(DELAY_WPCOPY)) |
						     DELAY_COUNT_BIT(DELAY_CPU) | VALID_TICK));
	/* cpu, swapin, reclaim, compact are left. */
	assert_true(row->deltas->total.ns == MS(4));
	assert_true(row->deltas->mem.ns == MS(3));
	assert_int_equal(scene->info.kinds, DELAY_ALL & ~DELAY_BIT(DELAY_IRQ));
}

/* Without run time its parts are not known either. */
SCENE_TEST(test_no_run)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b;

	give(a, 1);
	a->counters.valid &= ~VALID_RUN;
	b = scene_again(&scene->samples[1], a);
	give(b, 2);
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.rows[0].valid & (VALID_RUN | VALID_TICK), 0);
	scene_build(scene, 1, true, 0);
	assert_int_equal(scene->frame.rows[0].valid & (VALID_RUN | VALID_TICK), 0);
}

/* The cumulative view: the counters themselves over the task's life, also in the first frame. */
SCENE_TEST(test_since_start)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(40)), *b;
	const struct row *row;

	give(a, 7);
	scene_build(scene, 0, true, 0);
	row = &scene->frame.rows[0];
	assert_true(scene->info.since_start);
	assert_int_equal(row->valid, SCENE_VALID);
	assert_true(row->interval_ns == SEC(60));
	assert_true(row->deltas->grown.delay[DELAY_WPCOPY].ns == MS(7) + 6);
	assert_true(row->deltas->grown.run_ns == MS(7) + 50);
	b = scene_again(&scene->samples[1], a);
	give(b, 3);
	scene_build(scene, 1, true, 0);
	row = &scene->frame.rows[0];
	assert_true(row->interval_ns == SEC(62));
	/* What fell stays what it was. */
	assert_true(row->deltas->grown.delay[DELAY_WPCOPY].ns == MS(7) + 6);
	assert_true(row->deltas->grown.delay[DELAY_WPCOPY].count == 76);
	assert_true(row->deltas->grown.run_ns == MS(7) + 50);
	assert_false(row->born);
}

/* Asserts that two rows tell the same of a time, but for their names. */
static void check_same_deltas(const struct row *a, const struct row *b, uint32_t ignored)
{
	assert_int_equal(a->valid & ~ignored, b->valid & ~ignored);
	assert_true(a->interval_ns == b->interval_ns);
	assert_memory_equal(a->deltas->grown.delay, b->deltas->grown.delay,
			    sizeof(a->deltas->grown.delay));
	assert_true(a->deltas->grown.run_ns == b->deltas->grown.run_ns);
	assert_memory_equal(&a->deltas->total, &b->deltas->total, sizeof(a->deltas->total));
	assert_memory_equal(&a->deltas->mem, &b->deltas->mem, sizeof(a->deltas->mem));
}

/* The interval of a frame since the start is that of the other frame, and the other way round. */
SCENE_TEST(test_of_interval)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(40)), *b;
	struct deltas interval_deltas, life_deltas, deltas;
	struct row interval, life, of;

	give(a, 3);
	b = scene_again(&scene->samples[1], a);
	give(b, 7);
	give(scene_add(&scene->samples[1], 6, 6, SEC(101)), 2);
	for (size_t i = 0; i < 2; i++) {
		scene_build(scene, 1, false, 0);
		interval = scene->frame.rows[i];
		interval_deltas = *interval.deltas;
		interval.deltas = &interval_deltas;
		life = row_since_start(&scene->frame, &scene->frame.rows[i], &life_deltas);
		of = row_of_interval(&scene->frame, &scene->frame.rows[i], &deltas);
		check_same_deltas(&of, &interval, 0);
		assert_memory_equal(&deltas.waited, &interval_deltas.waited, sizeof(deltas.waited));
		scene_build(scene, 1, true, 0);
		check_same_deltas(&scene->frame.rows[i], &life, VALID_DWAIT);
		of = row_of_interval(&scene->frame, &scene->frame.rows[i], &deltas);
		/* A task that began in it has had its whole life in it. */
		check_same_deltas(&of, i ? &life : &interval, VALID_DWAIT);
	}
	/* Of one that is seen for the first time it is not known. */
	scene_build(scene, 0, true, 0);
	of = row_of_interval(&scene->frame, &scene->frame.rows[0], &deltas);
	assert_int_equal(of.valid, 0);
	assert_true(!of.interval_ns);
}

/* The larger of swapin and thrash counts for mem, and thrash never for total. */
SCENE_TEST(test_sums)
{
	static const struct {
		uint64_t swapin, thrash, mem, count;
	} cases[] = { { 5, 3, 5, 50 }, { 3, 5, 5, 51 }, { 0, 5, 5, 51 }, { 4, 4, 4, 50 } };
	struct scene *scene = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(101));
		const struct row *row;

		raw->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 50, cases[i].swapin };
		raw->counters.delay[DELAY_THRASH] = (struct delay_sum){ 51, cases[i].thrash };
		raw->counters.delay[DELAY_RECLAIM] = (struct delay_sum){ 1, 100 };
		raw->counters.delay[DELAY_COMPACT] = (struct delay_sum){ 2, 1000 };
		raw->counters.delay[DELAY_WPCOPY] = (struct delay_sum){ 3, 10000 };
		raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 4, 100000 };
		raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 5, 1000000 };
		raw->counters.delay[DELAY_IRQ] = (struct delay_sum){ 6, 10000000 };
		scene_build(scene, 1, false, 0);
		row = &scene->frame.rows[0];
		assert_true(row->deltas->mem.ns == 11100 + cases[i].mem);
		assert_true(row->deltas->mem.count == 6 + cases[i].count);
		assert_true(row->deltas->total.ns == 11111100 + cases[i].swapin);
		assert_true(row->deltas->total.count == 71);
		sample_reset(&scene->samples[1]);
	}
}

/* User and system time are the run time in the ratio of the ticks. */
SCENE_TEST(test_split)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[0], 5, 5, SEC(1)), *b;
	const struct row *row = NULL;

	/* No tick in the interval: in the ratio of the whole life. */
	a->counters.run_ns = 1000, a->counters.user_ns = MS(1), a->counters.system_ns = MS(3);
	b = scene_again(&scene->samples[1], a);
	b->counters.run_ns = 1400;
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->deltas->grown.run_ns == 400);
	assert_true(row->deltas->grown.user_ns == 100 && row->deltas->grown.system_ns == 300);
	/* Ticks in the interval: theirs. */
	b->counters.user_ns = MS(2);
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->deltas->grown.user_ns == 400 && row->deltas->grown.system_ns == 0);
	/* No tick ever: unknown. But who did not run used neither. */
	a->counters.user_ns = a->counters.system_ns = b->counters.user_ns = b->counters.system_ns =
		0;
	scene_build(scene, 1, false, 0);
	assert_false(scene->frame.rows[0].valid & VALID_TICK);
	b->counters.run_ns = a->counters.run_ns;
	scene_build(scene, 1, false, 0);
	row = &scene->frame.rows[0];
	assert_true(row->valid & VALID_TICK);
	assert_true(row->deltas->grown.user_ns == 0 && row->deltas->grown.system_ns == 0);
}

/* A sum adds what is known. */
SCENE_TEST(test_row_add)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[1], 5, 5, SEC(101));
	struct task_raw *b = scene_add(&scene->samples[1], 6, 6, SEC(101)), counters = { 0 };
	struct row sum = { .raw = &counters };
	struct deltas deltas = { 0 };
	const struct row *rows;

	give(a, 1);
	give(b, 2);
	a->counters.delay[DELAY_THRASH].ns = 0;
	b->counters.delay[DELAY_THRASH].ns = MS(50);
	b->counters.valid &= ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO));
	scene_build(scene, 1, false, 0);
	rows = scene->frame.rows;
	for (size_t i = 0; i < 2; i++) {
		row_add(&sum, &deltas, &rows[i]);
		row_add_totals(&counters.counters, &rows[i]);
	}
	assert_int_equal(sum.members, 2);
	assert_int_equal(sum.valid, SCENE_VALID);
	assert_true(deltas.grown.delay[DELAY_CPU].ns == MS(3) &&
		    deltas.grown.delay[DELAY_CPU].count == 30);
	assert_true(deltas.grown.delay[DELAY_BLKIO].ns == MS(1) + 1);
	assert_true(counters.counters.delay[DELAY_BLKIO].ns == MS(1) + 1);
	assert_true(counters.counters.delay[DELAY_CPU].ns == MS(3));
	assert_true(deltas.grown.run_ns == MS(3) + 100 && counters.counters.run_ns == MS(3) + 100);
	/* mem adds the members' mem: of one it is swapin, of the other thrash. */
	assert_true(deltas.mem.ns == rows[0].deltas->mem.ns + rows[1].deltas->mem.ns);
	assert_true(deltas.mem.ns > delay_mem(deltas.grown.delay, sum.valid).ns);
	assert_true(deltas.total.ns == rows[0].deltas->total.ns + rows[1].deltas->total.ns);
}

/* Notes come once, and never too many. */
SCENE_TEST(test_notes)
{
	struct scene *scene = *state;

	scene_build(scene, 0, false, 0);
	assert_int_equal(scene->info.head.nnotes, 0);
	frame_note(&scene->info, NOTE_NO_PSI, 0);
	frame_note(&scene->info, NOTE_NO_PSI, 0);
	assert_int_equal(scene->info.head.nnotes, 1);
	assert_int_equal(scene->info.head.notes[0].id, NOTE_NO_PSI);
	for (uint64_t i = 0; i < 2 * NOTES_MAX; i++)
		frame_note(&scene->info, NOTE_PSI_MISSING, i);
	assert_int_equal(scene->info.head.nnotes, NOTES_MAX);
	scene_build(scene, 0, false, 0);
	assert_int_equal(scene->info.head.nnotes, 0);
}
