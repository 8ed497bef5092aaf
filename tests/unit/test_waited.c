// SPDX-License-Identifier: GPL-2.0-or-later
/* Delays that cannot have been waited: the kernel books some from a stale stamp. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scene.h"

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

/* How it is known what it waited. */
static enum wait_reason blkio_reason(const struct scene *scene)
{
	return scene->frame.rows[0].deltas->waited.reason[DELAY_BLKIO];
}

/* A task born in the interval cannot have waited for longer than it lived. */
SCENE_TEST(test_longer_than_life)
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
SCENE_TEST(test_since_start)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(40));

	with_life(raw, SEC(60), MS(1))->counters.delay[DELAY_BLKIO] =
		(struct delay_sum){ 9, SEC(59) };
	scene_build(scene, 0, true, 0);
	assert_true(knows_blkio(scene));
	assert_int_equal(scene->info.stale, 0);
	/* What is a little too much would be cut, and grow with the next sample. */
	raw->counters.delay[DELAY_BLKIO].ns = SEC(70);
	scene_build(scene, 0, true, 0);
	assert_false(knows_blkio(scene));
	assert_int_equal(scene->info.stale, 1);
	assert_false(row_totals(&scene->frame.rows[0]).valid & DELAY_BIT(DELAY_BLKIO));
	raw->counters.delay[DELAY_BLKIO].ns = SEC(130);
	scene_build(scene, 0, true, 0);
	assert_false(knows_blkio(scene));
	assert_int_equal(scene->info.stale, 1);
}

/* A reading that took long says little of the clock then, but all of how long the task had lived.
 */
SCENE_TEST(test_inexact_start)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(100) - MS(15));

	with_life(raw, MS(30), MS(1))->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(29) };
	assert_int_equal(waited_life(raw, NULL).valid, SCENE_VALID);
	raw = with_life(scene_again(&scene->samples[1], raw), MS(30) + SEC(2) + MS(20), MS(1));
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 4, MS(29) + SEC(2) + MS(20) };
	assert_int_equal(waited_life(raw, NULL).valid, SCENE_VALID);
	raw->counters.delay[DELAY_BLKIO].ns = SEC(3);
	assert_int_equal(waited_life(raw, NULL).valid,
			 SCENE_VALID & ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO)));
}

/* A reading that took long says that more was waited than there was time for by the clock. */
SCENE_TEST(test_late_reading)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(90));

	with_life(raw, SEC(10), MS(1));
	raw = with_life(scene_again(&scene->samples[1], raw), SEC(12) + MS(20), MS(1));
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 4, SEC(2) + MS(15) };
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.rows[0].interval_ns, SEC(2));
	assert_int_equal(scene->frame.rows[0].deltas->waited.ns[DELAY_BLKIO], SEC(2));
	assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_BLKIO].ns, SEC(2) + MS(15));
	assert_int_equal(scene->info.stale, 0);
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
SCENE_TEST(test_life)
{
	struct scene *scene = *state;
	struct task_raw *a = scene_add(&scene->samples[1], 5, 5, SEC(92));
	struct task_raw *b = scene_add(&scene->samples[1], 6, 6, SEC(92));
	struct counters sum = { 0 };

	a->single = b->single = true;
	a->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 2, SEC(1000) };
	a->counters.delay[DELAY_CPU] = (struct delay_sum){ 2, SEC(1) };
	b->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, SEC(10) };
	assert_int_equal(waited_life(a, NULL).valid,
			 SCENE_VALID & ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO)));
	assert_int_equal(waited_life(b, NULL).valid, SCENE_VALID);
	scene_build(scene, 1, false, 0);
	row_add_totals(&sum, &scene->frame.rows[0]);
	row_add_totals(&sum, &scene->frame.rows[1]);
	assert_int_equal(sum.delay[DELAY_BLKIO].ns, SEC(10));
	assert_int_equal(sum.delay[DELAY_BLKIO].count, 3);
	assert_int_equal(sum.delay[DELAY_CPU].ns, SEC(1));
}

/* What was left out of an interval stays out of the task's life, however old it gets. */
SCENE_TEST(test_dropped)
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
	assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_BLKIO].ns, MS(100));
	assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_BLKIO].count, 5);
}

/* Who ran a short while ago has not waited since long before. */
SCENE_TEST(test_ran_since)
{
	read_wait(*state, MS(1), SEC(60));
	assert_false(knows_blkio(*state));
}

/* More than has passed since it last ran cannot have been waited, not by a hundredth. */
SCENE_TEST(test_more_than_passed)
{
	/* It ran after 100 s, and was read at 104 s. */
	read_wait(*state, MS(1), SEC(4) + MS(50));
	assert_false(knows_blkio(*state));
}

SCENE_TEST(test_all_that_passed)
{
	read_wait(*state, MS(1), SEC(4) + MS(30));
	assert_true(knows_blkio(*state));
	/* Within the interval it is the interval. */
	assert_int_equal(((struct scene *)*state)->frame.rows[0].deltas->waited.ns[DELAY_BLKIO],
			 SEC(2));
}

/* Who did not run may have waited since it was born. */
SCENE_TEST(test_long_wait)
{
	read_wait(*state, 0, SEC(90));
	assert_true(knows_blkio(*state));
	assert_int_equal(((struct scene *)*state)->info.stale, 0);
}

/* Where it was only seen late that a thread waited, what it waited before is not of the interval.
 */
SCENE_TEST(test_seen_late)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(90));

	raw->now.state = 'D';
	raw->now.threads = 4;
	raw->counters.life_ns = 4 * SEC(10);
	waits_add(&raw->now.waits, SEEN_BLKIO, SEC(100), SEC(100), 0);
	raw = scene_again(&scene->samples[1], raw);
	raw->counters.life_ns = 4 * SEC(12);
	raw->now.waits = (struct task_waits){ 0 };
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, SEC(3) };
	scene_build(scene, 1, false, 0);
	assert_true(knows_blkio(scene));
	assert_int_equal(scene->frame.rows[0].deltas->waited.ns[DELAY_BLKIO], SEC(2));
}

/* Of several threads each may wait: their lives are added up. */
SCENE_TEST(test_threads)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[1], 5, 5, SEC(101));

	raw->now.threads = 9;
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 20, SEC(9) };
	scene_build(scene, 1, false, 0);
	assert_true(knows_blkio(scene));
}

/* Of threads that came and went nobody saw how many there were at a time. */
SCENE_TEST(test_threads_gone)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(1));

	raw->now.threads = 8;
	raw->counters.life_ns = SEC(8 * 99);
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 90, SEC(7 * 99) };
	raw = scene_again(&scene->samples[1], raw);
	raw->now.threads = 1;
	raw->counters.life_ns = SEC(101);
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 92, SEC(7 * 101) };
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, SEC(9999) };
	scene_build(scene, 1, false, 0);
	assert_true(scene->frame.rows[0].valid & DELAY_BIT(DELAY_CPU));
	assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_CPU].ns, SEC(7 * 101));
	assert_true(row_totals(&scene->frame.rows[0]).valid & DELAY_BIT(DELAY_CPU));
	assert_false(knows_blkio(scene));
}

/* How the readings of a task are taken. */
struct manner {
	bool exact; /* as the source bpf does: it is known what was waited for */
	bool counts; /* procfs has no number of waits for block I/O */
};

static const struct manner manners[] = { { true, true }, { false, true }, { false, false } };

/* Reads a task twice that ran in between, and was booked so much in so many waits of a kind. */
static struct task_raw *read_booked(struct scene *scene, const struct manner *manner, unsigned kind,
				    uint64_t booked_ns, unsigned count)
{
	struct task_raw *raw = scene_add(&scene->samples[0], 5, 5, SEC(1));

	with_life(raw, SEC(99), MS(9));
	raw->now.state = 'S';
	raw->now.exact = manner->exact;
	if (!manner->counts)
		raw->counters.valid &= ~DELAY_COUNT_BIT(DELAY_BLKIO);
	raw = with_life(scene_again(&scene->samples[1], raw), SEC(101), MS(20));
	raw->counters.delay[kind].ns += booked_ns;
	raw->counters.delay[kind].count += manner->counts ? count : 0;
	return raw;
}

/*
 * Kernels since 6.12 book a little too much of many waits: nobody waits for longer than the
 * interval, but it did wait, whatever the source.
 */
SCENE_TEST(test_overbooked)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[i], DELAY_BLKIO, MS(2380), 60);
		scene_build(scene, 1, false, 0);
		assert_true(knows_blkio(scene));
		assert_int_equal(blkio_reason(scene), REASON_CUT);
		assert_int_equal(scene->frame.rows[0].deltas->waited.ns[DELAY_BLKIO], SEC(2));
		assert_int_equal(scene->frame.rows[0].deltas->waited.total, SEC(2));
		/* The excess is not of the life, nor of what grew. */
		assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_BLKIO].ns, SEC(2));
		assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_BLKIO].count,
				 manners[i].counts ? 60 : 0);
		assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_BLKIO].ns, SEC(2));
		assert_int_equal(scene->info.stale, 1);
	}
}

/* What the bpf source measured is no booking; more than passed is cut all the same. */
SCENE_TEST(test_measured)
{
	const uint64_t found_ms[] = { 600, 2380 };

	for (size_t i = 0; i < ARRAY_SIZE(found_ms); i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[0], DELAY_BLKIO, MS(found_ms[i]), 60)->now.measured =
			DELAY_BIT(DELAY_BLKIO);
		scene_build(scene, 1, false, 0);
		assert_int_equal(blkio_reason(scene), i ? REASON_CUT : REASON_MEASURED);
		assert_int_equal(scene->frame.rows[0].deltas->waited.reason[DELAY_CPU],
				 REASON_BOOKED);
	}
}

/* What is beyond twice the interval says nothing any more. */
SCENE_TEST(test_far_overbooked)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[i], DELAY_BLKIO, MS(4100), 60);
		scene_build(scene, 1, false, 0);
		assert_false(knows_blkio(scene));
		assert_int_equal(blkio_reason(scene), REASON_UNKNOWN);
		assert_int_equal(scene->info.stale, 1);
	}
}

/* One wait that is too long has a stale stamp: it may have been short. */
SCENE_TEST(test_overbooked_once)
{
	read_booked(*state, &manners[0], DELAY_BLKIO, MS(2380), 1);
	scene_build(*state, 1, false, 0);
	assert_false(knows_blkio(*state));
	assert_int_equal(((struct scene *)*state)->info.stale, 1);
}

/* A machine of two CPUs where somebody waited for I/O for so long in 2 s. */
static void build_pressed(struct scene *scene, uint64_t io_ns)
{
	const struct frame_options options = { .machine = { .io = { io_ns, SEC(2), SEC(102) },
							    .cpus = 2 } };

	frame_build(&scene->frame, &scene->info, &scene->samples[0], &scene->samples[1], &options);
}

/* What the only row waited of blkio. */
static uint64_t waited_blkio(const struct scene *scene)
{
	return scene->frame.rows[0].deltas->waited.ns[DELAY_BLKIO];
}

/* In a scene of its own: one that was booked 1.8 s of blkio, and 70 ms of another kind. */
static struct task_raw *read_both(struct scene *scene, const struct manner *manner)
{
	struct task_raw *raw;

	scene_close(scene);
	scene_open(scene);
	raw = read_booked(scene, manner, DELAY_BLKIO, MS(1800), 60);
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(70) };
	return raw;
}

/* Nobody waits for I/O while there is no pressure of it; the other kinds stay. */
SCENE_TEST(test_without_pressure)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		read_both(scene, &manners[i]);
		build_pressed(scene, MS(1));
		assert_false(knows_blkio(scene));
		assert_int_equal(waited_blkio(scene), 0);
		assert_int_equal(scene->frame.rows[0].deltas->waited.total, MS(70));
		assert_int_equal(scene->frame.rows[0].deltas->total.ns, MS(70));
		assert_int_equal(scene->info.stale, 1);
		/* The reading after is as before. */
		assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_BLKIO].ns, MS(1800));
		/* Nothing is known of pressure. */
		scene_build(scene, 1, false, 0);
		assert_true(knows_blkio(scene));
		assert_int_equal(waited_blkio(scene), MS(1800));
		assert_int_equal(scene->info.stale, 0);
	}
}

/* With as much pressure as that makes, on a CPU of its own beside a busy one, it did. */
SCENE_TEST(test_within_pressure)
{
	struct scene *scene = *state;

	read_booked(scene, &manners[0], DELAY_BLKIO, MS(1800), 60);
	build_pressed(scene, SEC(2) * 9 / 10 * 9 / 10 * 10 / 19);
	assert_true(knows_blkio(scene));
	assert_int_equal(waited_blkio(scene), MS(1800));
	assert_int_equal(scene->info.stale, 0);
}

/* A little beyond what pressure allows, it is as much as that. */
SCENE_TEST(test_beyond_pressure)
{
	struct scene *scene = *state;

	read_booked(scene, &manners[0], DELAY_BLKIO, MS(1800), 60);
	build_pressed(scene, MS(300));
	assert_true(knows_blkio(scene));
	assert_int_equal(blkio_reason(scene), REASON_CUT);
	assert_in_range(waited_blkio(scene), MS(950), MS(1100));
	assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_BLKIO].ns, MS(1800));
	assert_int_equal(scene->info.stale, 1);
}

/* A wait that began before may have been long, however short what passed of it since. */
SCENE_TEST(test_pressure_before)
{
	struct scene *scene = *state;
	struct task_raw *raw = read_booked(scene, &manners[0], DELAY_BLKIO, MS(1500), 1);
	struct task_now *was = &scene->samples[0].raw[0]->now;

	was->exact = raw->now.exact = true;
	was->state = 'D';
	waits_add(&was->waits, SEEN_BLKIO, SEC(100) - MS(1490), SEC(100), SEC(98));
	build_pressed(scene, MS(10));
	assert_true(knows_blkio(scene));
	assert_int_equal(waited_blkio(scene), MS(10));
	assert_int_equal(scene->info.stale, 0);
}

/* A wait in progress is no booking. */
SCENE_TEST(test_pressure_progress)
{
	struct scene *scene = *state;
	struct task_raw *raw = read_booked(scene, &manners[0], DELAY_BLKIO, MS(1200), 9);

	raw->now.exact = true;
	raw->now.state = 'D';
	waits_add(&raw->now.waits, SEEN_BLKIO, SEC(102) - MS(400), SEC(102), SEC(100));
	build_pressed(scene, MS(300));
	assert_in_range(waited_blkio(scene), MS(1350), MS(1500));
	assert_int_equal(blkio_reason(scene), REASON_CUT);
}

/* Without its count, or with too many CPUs, it may have been anywhere. */
SCENE_TEST(test_pressure_anywhere)
{
	struct scene *scene = *state;
	struct frame_options options = { .machine = { .io = { MS(2), SEC(2), SEC(102) },
						      .cpus = 64 } };

	read_booked(scene, &manners[0], DELAY_BLKIO, MS(1900), 60);
	frame_build(&scene->frame, &scene->info, &scene->samples[0], &scene->samples[1], &options);
	assert_int_equal(waited_blkio(scene), MS(1900));
	scene->samples[1].raw[0]->counters.delay[DELAY_BLKIO].count = 1;
	frame_build(&scene->frame, &scene->info, &scene->samples[0], &scene->samples[1], &options);
	assert_false(knows_blkio(scene));
}

/* Limits the only row by its group's pressure of the 2 s, with half of the machine's time lost. */
static void bound_by_group(struct scene *scene, uint64_t io_ns)
{
	struct row *row = &scene->frame.rows[0];

	sample_add_extra(scene->info.cur, row->place)->io =
		(struct io_pressure){ io_ns, SEC(2), SEC(102) };
	scene->info.stale += frame_resolve(&scene->frame, row);
}

/* Others in other groups make all the pressure there is. */
SCENE_TEST(test_without_group_pressure)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		read_both(scene, &manners[i]);
		build_pressed(scene, SEC(2));
		assert_int_equal(waited_blkio(scene), MS(1800));
		assert_int_equal(blkio_reason(scene), REASON_BOOKED);
		bound_by_group(scene, MS(1));
		assert_false(knows_blkio(scene));
		assert_int_equal(blkio_reason(scene), REASON_UNKNOWN);
		assert_int_equal(scene->frame.rows[0].deltas->waited.total, MS(70));
		assert_int_equal(scene->frame.rows[0].deltas->total.ns, MS(70));
		assert_int_equal(scene->info.stale, 1);
		/* Built anew, as from a recording, it is the same; of another sample it limits
		 * nothing.
		 */
		build_pressed(scene, SEC(2));
		assert_false(knows_blkio(scene));
		assert_int_equal(scene->info.stale, 1);
		scene->frame.info->cur->extras[0]->io = (struct io_pressure){ 0 };
		build_pressed(scene, SEC(2));
		assert_int_equal(waited_blkio(scene), MS(1800));
		assert_int_equal(scene->info.stale, 0);
	}
}

/* What allows less limits: the group's pressure, or the machine's. It is counted once. */
SCENE_TEST(test_tighter_pressure)
{
	struct scene *scene = *state;
	uint64_t most;

	read_booked(scene, &manners[0], DELAY_BLKIO, MS(1800), 60);
	build_pressed(scene, MS(300));
	most = waited_blkio(scene);
	bound_by_group(scene, SEC(2));
	assert_int_equal(waited_blkio(scene), most);
	assert_int_equal(scene->info.stale, 1);
	bound_by_group(scene, MS(280));
	assert_in_range(waited_blkio(scene), most / 2, most - 1);
	assert_int_equal(scene->info.stale, 1);
	bound_by_group(scene, MS(1));
	assert_false(knows_blkio(scene));
	assert_int_equal(scene->info.stale, 1);
}

/* Of figures since the start the interval's alone are limited. */
SCENE_TEST(test_group_since_start)
{
	struct scene *scene = *state;
	const struct frame_options options = {
		.since_start = true, .machine = { .io = { SEC(2), SEC(2), SEC(102) }, .cpus = 2 }
	};
	struct deltas deltas;
	struct row row;

	read_booked(scene, &manners[0], DELAY_BLKIO, MS(1800), 60);
	frame_build(&scene->frame, &scene->info, &scene->samples[0], &scene->samples[1], &options);
	bound_by_group(scene, MS(1));
	assert_int_equal(waited_blkio(scene), MS(1800));
	assert_int_equal(scene->info.stale, 0);
	row = row_of_interval(&scene->frame, &scene->frame.rows[0], &deltas);
	assert_false(row.valid & DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(deltas.waited.ns[DELAY_BLKIO], 0);
}

/* A number below n, from a series that is always the same. */
static uint64_t any_below(uint64_t n)
{
	static uint64_t at = 88172645463325252U;

	at ^= at << 13;
	at ^= at >> 7;
	at ^= at << 17;
	return n ? at % n : 0;
}

#define CPUS_MOST 8U

/*
 * What the kernel's pressure makes of one look after `passed_ns`, in which a thread waits so long
 * in so many waits on CPUs of `cpus`, which others may keep busy, in ticks of tick_ns
 * (kernel/sched/psi.c:collect_percpu_times()).
 */
static uint64_t pressure_of(uint64_t *waited_ns, uint64_t *waits, uint64_t passed_ns, unsigned cpus,
			    uint64_t tick_ns)
{
	uint64_t some[CPUS_MOST] = { 0 }, left = passed_ns - any_below(passed_ns);
	uint64_t sum = 0, all = 0;

	for (unsigned n = 1 + (unsigned)any_below(cpus); n && left; n--) {
		uint64_t ns = any_below(3) ? any_below(left) : left / n;

		some[any_below(cpus)] += ns;
		*waited_ns += ns;
		left -= ns;
		++*waits;
	}
	for (unsigned c = 0; c < cpus; c++) {
		uint64_t rest = passed_ns - some[c], busy = some[c];

		busy += any_below(3) ? any_below(2) * rest : any_below(rest);
		sum += some[c] * (busy / tick_ns);
		all += busy / tick_ns;
	}
	return sum / (all ? all : 1);
}

/* What was waited truly is never left out, on however many CPUs, whoever else looks. */
SCENE_TEST(test_pressure_is_kept)
{
	for (unsigned i = 0; i < 20000; i++) {
		unsigned cpus = 1 + (unsigned)any_below(CPUS_MOST);
		unsigned looks = 1 + (unsigned)any_below(4);
		struct wait_limits machine = { .io = { 0, SEC(2), SEC(102) }, .cpus = cpus };
		struct task task = { .key = { 5, SEC(1) } };
		struct task_raw before = { .task = &task, .single = true, .read_ns = SEC(100) };
		struct task_raw now = { .task = &task, .single = true, .read_ns = SEC(102) };
		struct deltas deltas = { .grown.valid = SCENE_VALID };
		struct delay_sum *blkio = &deltas.grown.delay[DELAY_BLKIO];
		struct row row = { .task = &task, .raw = &now, .before = &before };

		for (unsigned look = 0; look < looks; look++)
			machine.io.stalled_ns +=
				pressure_of(&blkio->ns, &blkio->count, SEC(2) / looks, cpus,
					    MS(any_below(2) ? 10 : 4));
		resolve_row(&row, &deltas, false, &machine, NULL);
		assert_true(row.valid & DELAY_BIT(DELAY_BLKIO));
		assert_int_equal(deltas.waited.ns[DELAY_BLKIO], blkio->ns);
		assert_int_equal(deltas.waited.reason[DELAY_BLKIO], REASON_BOOKED);
		assert_false(deltas.waited.beyond);
	}
}

/* A recording may claim threads whose time together is beyond all numbers. */
SCENE_TEST(test_claimed_threads)
{
	const struct wait_limits machine = { .io = { SEC(1), SEC(2), SEC(102) }, .cpus = 2 };
	struct task task = { .key = { 5, SEC(1) } };
	struct task_raw before = { .task = &task, .read_ns = SEC(100), .now.threads = 1U << 31 };
	struct task_raw now = before;
	struct deltas deltas = { .grown.valid = SCENE_VALID };
	struct row row = { .task = &task, .raw = &now, .before = &before };

	now.read_ns += UINT64_C(1) << 33;
	now.counters.life_ns = before.counters.life_ns;
	deltas.grown.delay[DELAY_BLKIO] = (struct delay_sum){ 1, MS(1) };
	resolve_row(&row, &deltas, false, &machine, NULL);
	assert_true(row.valid & DELAY_BIT(DELAY_BLKIO));
	/* Or a start so uncertain that no time is left. */
	now.single = now.exited = before.single = true;
	now.read_ns = before.read_ns + 1;
	task.start_lo = 1;
	resolve_row(&row, &deltas, false, &machine, NULL);
}

/* A machine of which so much is idle builds the frame. */
static void build_idle(struct scene *scene, double idle)
{
	const struct frame_options options = { .machine.idle = idle };

	frame_build(&scene->frame, &scene->info, &scene->samples[0], &scene->samples[1], &options);
}

/* Whether the only row's cpu delay is known. */
static bool knows_cpu(const struct scene *scene)
{
	return scene->frame.rows[0].valid & DELAY_BIT(DELAY_CPU);
}

/*
 * 6.12 books as cpu delay what a task sleeps that was moved while it was still queued: few waits,
 * and long ones, of a task that sleeps at both readings while CPUs are idle.
 */
SCENE_TEST(test_sleeper)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[i], DELAY_CPU, MS(1980), 2)
			->counters.delay[DELAY_CPU]
			.count = 2;
		build_idle(scene, 96);
		assert_false(knows_cpu(scene));
		assert_int_equal(scene->info.stale, 1);
		assert_int_equal(scene->frame.rows[0].deltas->waited.ns[DELAY_CPU], 0);
		assert_int_equal(row_totals(&scene->frame.rows[0]).delay[DELAY_CPU].ns, 0);
		/* So much of a second, in a longer time. */
		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[i], DELAY_CPU, MS(300), 2)
			->counters.delay[DELAY_CPU]
			.count = 1;
		build_idle(scene, 96);
		assert_false(knows_cpu(scene));
		/* On a busy machine it may have waited. */
		build_idle(scene, 3);
		assert_true(knows_cpu(scene));
	}
}

/* Longer than the interval it cannot have waited between two readings at which it slept. */
SCENE_TEST(test_sleeper_long)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		read_booked(scene, &manners[i], DELAY_CPU, MS(10092), 2)
			->counters.delay[DELAY_CPU]
			.count = 2;
		build_idle(scene, 0);
		assert_false(knows_cpu(scene));
		assert_int_equal(scene->info.stale, 1);
	}
}

/* Whoever waits for a CPU at a reading, or often, or for a small share, does wait. */
SCENE_TEST(test_no_sleeper)
{
	static const struct {
		char before, now;
		unsigned count;
		uint64_t booked_ms;
	} cases[] = {
		{ 'R', 'S', 2, 1980 },
		{ 'S', 'R', 2, 1980 },
		{ 'S', 'S', 20, 1980 }, /* as under a quota of 10 ms in 100 ms */
		{ 'S', 'S', 1, 240 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene *scene = *state;
		struct task_raw *raw;

		scene_close(scene);
		scene_open(scene);
		raw = read_booked(scene, &manners[1], DELAY_CPU, MS(cases[i].booked_ms),
				  cases[i].count);
		scene->samples[0].raw[0]->now.state = cases[i].before;
		raw->now.state = cases[i].now;
		build_idle(scene, 96);
		assert_true(knows_cpu(scene));
		assert_int_equal(scene->info.stale, 0);
		assert_int_equal(scene->frame.rows[0].deltas->waited.ns[DELAY_CPU],
				 MS(cases[i].booked_ms));
	}
}

/* What a thread of the property test does from one time to the next. */
enum doing { RUNS, SLEEPS, WAITS_CPU, WAITS_BLKIO, WAITS_DWAIT, DOINGS };

/* A thread with all that it has done, and what a kernel would have booked of it. */
struct thread {
	enum doing doing;
	uint64_t since_ns, until_ns;
	uint64_t run_ns, booked[WAIT_KINDS], count[WAIT_KINDS];
};

#define THREADS 4
#define INTERVALS 60

/* The next of a row of numbers below `below`. */
static uint64_t roll(uint64_t *seed, uint64_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*seed >> 33) % below;
}

/* The kind that a thread waits for, or WAIT_KINDS. */
static unsigned kind_of(enum doing doing)
{
	static const unsigned kinds[DOINGS] = { WAIT_KINDS, WAIT_KINDS, DELAY_CPU, DELAY_BLKIO,
						WAIT_DWAIT };

	return kinds[doing];
}

/* Lets a thread live on until then; waits are booked when they end. */
static void live(struct thread *thread, uint64_t now_ns, uint64_t *seed)
{
	while (thread->until_ns <= now_ns) {
		unsigned kind = kind_of(thread->doing);

		if (thread->doing == RUNS)
			thread->run_ns += thread->until_ns - thread->since_ns;
		if (kind < WAIT_KINDS) {
			thread->booked[kind] += thread->until_ns - thread->since_ns;
			thread->count[kind]++;
		}
		/* Nobody goes from one wait into another without running. */
		thread->doing = thread->doing == RUNS ? (enum doing)roll(seed, DOINGS) : RUNS;
		thread->since_ns = thread->until_ns;
		thread->until_ns += 1 + (roll(seed, 6) ? roll(seed, MS(300)) : roll(seed, SEC(9)));
	}
}

/* Reads the threads as a process. */
static void read_threads(struct task_raw *raw, const struct thread *threads, unsigned n,
			 uint64_t now_ns, uint64_t before_ns)
{
	static const enum wait_seen seen[DOINGS] = {
		[WAITS_CPU] = SEEN_CPU, [WAITS_BLKIO] = SEEN_BLKIO, [WAITS_DWAIT] = SEEN_DWAIT
	};

	raw->read_ns = now_ns;
	raw->single = n == 1;
	raw->counters.run_ns = 0;
	raw->now = (struct task_now){ .state = 'S', .exact = true, .threads = n };
	memset(raw->counters.delay, 0, sizeof(raw->counters.delay));
	for (unsigned t = 0; t < n; t++) {
		const struct thread *thread = &threads[t];

		raw->counters.run_ns += thread->run_ns;
		if (thread->doing == RUNS)
			raw->counters.run_ns += now_ns - thread->since_ns;
		for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
			raw->counters.delay[kind].ns += thread->booked[kind];
			raw->counters.delay[kind].count += thread->count[kind];
		}
		if (kind_of(thread->doing) < WAIT_KINDS)
			waits_add(&raw->now.waits, seen[thread->doing], thread->since_ns, now_ns,
				  before_ns);
	}
	raw->counters.life_ns = n * (now_ns - SEC(90));
}

/*
 * Over many intervals what was waited is what was booked and what is still in progress; in each
 * it is no more than has passed for all threads. What is booked nowhere is seen but for its ends.
 */
static void conserve(struct scene *scene, uint64_t *seed)
{
	struct thread threads[THREADS] = { 0 };
	unsigned n = 1 + (unsigned)roll(seed, THREADS);
	uint64_t sum[WAIT_KINDS] = { 0 }, now_ns = SEC(100), before_ns = 0;
	struct task_raw *first = scene_add(&scene->samples[0], 5, 5, SEC(90)), *last = first;
	struct task_raw begin = *first;

	for (unsigned t = 0; t < n; t++)
		threads[t].since_ns = threads[t].until_ns = SEC(90);
	for (unsigned i = 0; i <= INTERVALS; i++) {
		struct sample *cur = &scene->samples[i % 2];
		const struct row *row;

		for (unsigned t = 0; t < n; t++)
			live(&threads[t], now_ns, seed);
		if (i) {
			sample_reset(cur);
			last = scene_again(cur, last);
		}
		cur->begin_ns = now_ns;
		read_threads(last, threads, n, now_ns, before_ns);
		before_ns = now_ns;
		now_ns += MS(50) + roll(seed, SEC(2));
		if (!i) {
			begin = *last;
			continue;
		}
		scene->samples[2] = (struct sample){ 0 };
		frame_build(&scene->frame, &scene->info, &scene->samples[(i + 1) % 2], cur,
			    &(struct frame_options){ 0 });
		row = &scene->frame.rows[0];
		assert_int_equal(row->valid & (DELAY_ALL | VALID_DWAIT), DELAY_ALL | VALID_DWAIT);
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
			assert_true(row->deltas->waited.ns[kind] <= n * row->interval_ns);
			sum[kind] += row->deltas->waited.ns[kind];
		}
	}
	for (unsigned s = 0; s < SEEN_DWAIT; s++) {
		unsigned kind = s == SEEN_CPU ? DELAY_CPU : DELAY_BLKIO;
		uint64_t booked = last->counters.delay[kind].ns - begin.counters.delay[kind].ns;

		assert_int_equal(sum[kind] + waits_progress(&begin.now.waits, s, begin.read_ns),
				 booked + waits_progress(&last->now.waits, s, last->read_ns));
	}
	assert_int_equal(scene->info.stale, 0);
}

SCENE_TEST(test_conserved)
{
	uint64_t seed = 20;

	for (unsigned i = 0; i < 200; i++) {
		struct scene *scene = *state;

		scene_close(scene);
		scene_open(scene);
		conserve(scene, &seed);
	}
}
