// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings over clocks that are set, and over boots: all samples come back, with true intervals.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "history/archive.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define HOUR (3600 * NSEC_PER_SEC)

/* Records samples of a machine that has run for some time; the clock is that much off by then. */
static void record(const char *name, uint64_t now_ns, unsigned samples, const int64_t *ahead_ns)
{
	const struct store_about about = { "0" };
	struct play_machine machine = { .seed = 3, .now_ns = now_ns };
	struct encoder *encoder = encoder_open();
	struct store *store;

	assert_int_equal(store_create(&store, scratch_path(name), &about), 0);
	for (unsigned i = 0; i < samples; i++) {
		const struct moment *taken = encoder_take(encoder, play_frame(&machine), NULL);
		struct moment *moment = xcalloc(1, taken->size);

		memcpy(moment, taken, taken->size);
		moment->real_ns += (uint64_t)ahead_ns[i * 3 / samples];
		assert_int_equal(store_put(store, moment), 0);
		encoder_keep(encoder);
		free(moment);
	}
	encoder_close(encoder);
	store_close(store, false);
	play_free(&machine);
}

/* Plays a recording. Returns the samples; of them `apart` have no interval. */
static unsigned play(const char *path, const char *from, unsigned *apart)
{
	const struct replay_config config = { .path = path, .from = from };
	struct sample samples[2] = { 0 };
	struct playback_moment moment;
	struct playback playback;
	struct replay *replay;
	unsigned n = 0;
	char *file;

	*apart = 0;
	assert_int_equal(replay_open(&replay, &config, &file), 0);
	playback = replay_playback(replay);
	for (;; n++) {
		struct sample *cur = &samples[n % 2], *prev = n ? &samples[(n + 1) % 2] : NULL;
		int err = playback.next(playback.state, prev, cur, &moment);

		if (err == -ENODATA)
			break;
		assert_int_equal(err, 0);
		*apart += moment.baseline;
		/* Intervals are the monotonic clock's. */
		if (prev && !moment.baseline)
			assert_in_range(cur->begin_ns - prev->begin_ns, 400000000, 700000000);
	}
	replay_close(replay);
	sample_free(&samples[0]);
	sample_free(&samples[1]);
	return n;
}

/* The clock is set back, and forth: no sample is lost, no interval is another. */
static void test_clock_set(void **state)
{
	static const int64_t back[] = { 0, -(int64_t)HOUR, 2 * (int64_t)HOUR };
	static const int64_t forth[] = { 0, (int64_t)HOUR, -2 * (int64_t)HOUR };
	static const char *const from[] = { "-1s", "-5s", "-1h", "-3h", "-2d" };
	unsigned apart;

	(void)state;
	record("back.db", 1000 * NSEC_PER_SEC, 30, back);
	record("forth.db", 1000 * NSEC_PER_SEC, 30, forth);
	assert_int_equal(play(scratch_path("back.db"), NULL, &apart), 30);
	assert_int_equal(apart, 1);
	assert_int_equal(play(scratch_path("forth.db"), NULL, &apart), 30);
	/* Where times are not in order, what is found by them is some part, and no harm. */
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		assert_in_range(play(scratch_path("back.db"), from[i], &apart), 1, 30);
		assert_in_range(play(scratch_path("forth.db"), from[i], &apart), 1, 30);
	}
}

/* Another boot in the same folder: its clock begins anew, and its first sample has no interval. */
static void test_boots(void **state)
{
	static const int64_t later[] = { 10 * (int64_t)HOUR, 10 * (int64_t)HOUR,
					 10 * (int64_t)HOUR };
	static const int64_t now[] = { 0, 0, 0 };
	unsigned apart;

	(void)state;
	record("stalltop-20261122T100000Z-000.db", 90000 * NSEC_PER_SEC, 12, now);
	record("stalltop-20261122T200000Z-000.db", 20 * NSEC_PER_SEC, 9, later);
	assert_int_equal(play(scratch_folder(), NULL, &apart), 21);
	assert_int_equal(apart, 2);
	assert_in_range(play(scratch_folder(), "-1s", &apart), 1, 5);
	/* From within the first on: what is before it is not shown. */
	assert_in_range(play(scratch_folder(), "-20h", &apart), 9, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_clock_set, scratch_set_up, scratch_tear_down),
		cmocka_unit_test_setup_teardown(test_boots, scratch_set_up, scratch_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
