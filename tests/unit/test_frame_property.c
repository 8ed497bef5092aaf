// SPDX-License-Identifier: GPL-2.0-or-later
/* Whatever counters do, a delta is the difference of two figures that were shown. */
#include "tests/lib/test.h"

#include <string.h>

#include "tests/lib/scene.h"

/* Pseudo-random numbers, the same in every run. */
static uint64_t roll(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Moves a counter as kernels do: mostly on, at times back, to 0, around, or off and on. */
static void walk(struct task_raw *raw, uint64_t *seed)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		struct delay_sum *sum = &raw->counters.delay[kind];
		uint64_t dice = roll(seed) % 16;

		if (dice < 8) {
			sum->count = (uint32_t)(sum->count + roll(seed) % 1000);
			sum->ns += roll(seed) % MS(900);
		} else if (dice == 8) {
			sum->ns -= sum->ns ? roll(seed) % sum->ns : 0;
			sum->count -= sum->count ? 1 : 0;
		} else if (dice == 9) {
			*sum = (struct delay_sum){ 0, 0 };
		} else if (dice == 10) {
			sum->ns = 0;
			sum->count = (uint32_t)(sum->count + 1);
		} else if (dice == 11) {
			sum->count = (uint32_t)(UINT32_MAX - roll(seed) % 4);
		} else if (dice == 12) {
			raw->counters.valid ^= DELAY_BOTH(DELAY_BIT(kind));
		}
	}
	raw->counters.run_ns = roll(seed) % 8 ? raw->counters.run_ns + roll(seed) % MS(900)
					      : raw->counters.run_ns / 2;
	raw->counters.user_ns = roll(seed) % 8 ? raw->counters.user_ns + MS(4) : 0;
}

/* Asserts that a row's deltas are the differences of what two frames show as cumulative. */
static void check_difference(const struct row *row, const struct task_raw *shown)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (!(row->valid & DELAY_BIT(kind))) {
			assert_true(row->deltas->grown.delay[kind].ns == 0);
			continue;
		}
		assert_true(row->raw->counters.delay[kind].ns >= shown->counters.delay[kind].ns);
		assert_true(row->deltas->grown.delay[kind].ns ==
			    row->raw->counters.delay[kind].ns - shown->counters.delay[kind].ns);
		assert_true(row->deltas->grown.delay[kind].count ==
			    row->raw->counters.delay[kind].count -
				    shown->counters.delay[kind].count);
		assert_true(row->deltas->grown.delay[kind].count < UINT32_MAX);
	}
	assert_true(row->deltas->grown.run_ns ==
		    row->raw->counters.run_ns - shown->counters.run_ns);
	assert_true(row->deltas->grown.run_ns <= MS(900));
	if (row->valid & VALID_TICK)
		assert_true(row->deltas->grown.user_ns + row->deltas->grown.system_ns ==
			    row->deltas->grown.run_ns);
}

/* However counters move, a delta is the difference of two consecutive cumulatives. */
TEST(test_property)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15), compared = 0;

	for (unsigned run = 0; run < 200; run++) {
		struct scene scene;
		struct task_raw kernel, shown = { 0 };

		scene_open(&scene);
		memset(&kernel, 0, sizeof(kernel));
		kernel.counters.valid = SCENE_VALID;
		for (unsigned step = 0; step < 40; step++) {
			/* Two samples in turn, as the sampler has them. */
			struct sample *prev = &scene.samples[(step + 1) % 2];
			struct sample *cur = &scene.samples[step % 2];
			struct frame_options options = { 0 };
			struct task_raw *raw;

			sample_reset(cur);
			cur->begin_ns = SEC(100 + step);
			walk(&kernel, &seed);
			raw = step ? scene_again(cur, prev->raw[0]) : scene_add(cur, 5, 5, SEC(1));
			raw->counters.valid = kernel.counters.valid;
			memcpy(raw->counters.delay, kernel.counters.delay,
			       sizeof(raw->counters.delay));
			raw->counters.run_ns = kernel.counters.run_ns;
			raw->counters.user_ns = kernel.counters.user_ns;
			frame_build(&scene.frame, &scene.info, step ? prev : NULL, cur, &options);
			if (step) {
				check_difference(&scene.frame.rows[0], &shown);
				compared++;
			}
			shown = *raw;
		}
		scene_close(&scene);
	}
	assert_true(compared == 200 * 39);
}
