// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings over clocks that are set, and over boots: all samples come back, with true intervals.
 */
#include "tests/lib/test.h"
#include <errno.h>
#include <stdio.h>

#include "sampler/sampler.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define HOUR (3600 * NSEC_PER_SEC)

/* Records samples of a machine that has run for some time; the clock is that much off by then. */
static void record(const char *name, uint64_t now_ns, unsigned samples, const int64_t *ahead_ns)
{
	struct play_machine machine = { .seed = 3, .now_ns = now_ns };
	struct play_writer writer = { 0 };

	assert_int_equal(play_begin_file(&writer, scratch_path(name)), 0);
	for (unsigned i = 0; i < samples; i++)
		assert_int_equal(
			play_write(&writer, play_frame(&machine), NULL, ahead_ns[i * 3 / samples]),
			0);
	play_end_file(&writer);
	play_free(&machine);
}

/* Plays a recording. Returns the samples; of them `apart` have no interval. */
static unsigned play(const char *path, const char *from, unsigned *apart)
{
	const struct replay_config config = { .path = path, .from = from };
	struct sample samples[2] = { 0 };
	struct playback_record result;
	struct playback playback;
	struct replay *replay;
	unsigned n = 0;
	char *file;

	*apart = 0;
	assert_int_equal(replay_open(&replay, &config, &file), 0);
	playback = replay_playback(replay);
	for (;; n++) {
		struct sample *cur = &samples[n % 2], *prev = n ? &samples[(n + 1) % 2] : NULL;
		int err = playback.next(playback.state, prev, cur, &result);

		if (err == -ENODATA)
			break;
		assert_int_equal(err, 0);
		*apart += result.baseline;
		/* Intervals are the monotonic clock's. */
		if (prev && !result.baseline)
			assert_in_range(cur->begin_ns - prev->begin_ns, 400000000, 700000000);
	}
	replay_close(replay);
	sample_free(&samples[0]);
	sample_free(&samples[1]);
	return n;
}

/* The clock is set back, and forth: no sample is lost, no interval is another. */
SCRATCH_TEST(test_clock_set)
{
	static const int64_t back[] = { 0, -(int64_t)HOUR, 2 * (int64_t)HOUR };
	static const int64_t forth[] = { 0, (int64_t)HOUR, -2 * (int64_t)HOUR };
	static const char *const from[] = { "-1s", "-5s", "-1h", "-3h", "-2d" };
	unsigned apart;

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

/* Where the clock was set back frames say so, once. */
SCRATCH_TEST(test_noted)
{
	static const int64_t back[] = { 0, -(int64_t)HOUR, -(int64_t)HOUR };
	const char *path = scratch_path("noted.db");
	const struct replay_config config = { .path = path };
	struct sampler_config sampling = { 0 };
	const struct frame *frame;
	struct playback playback;
	struct sampler *sampler;
	struct replay *replay;
	unsigned noted = 0;
	char *file;

	record("noted.db", 1000 * NSEC_PER_SEC, 12, back);
	assert_int_equal(replay_open(&replay, &config, &file), 0);
	playback = replay_playback(replay);
	sampling.playback = &playback;
	assert_int_equal(sampler_open(&sampler, &sampling), 0);
	while (!sampler_tick(sampler, 0, &frame))
		for (size_t i = 0; i < frame->info->head.nnotes; i++)
			noted += frame->info->head.notes[i].id == NOTE_CLOCK_BACK;
	assert_int_equal(noted, 1);
	sampler_close(sampler);
	replay_close(replay);
}

/* Another boot in the same folder: its clock begins anew, and its first sample has no interval. */
SCRATCH_TEST(test_boots)
{
	static const int64_t later[] = { 10 * (int64_t)HOUR, 10 * (int64_t)HOUR,
					 10 * (int64_t)HOUR };
	static const int64_t now[] = { 0, 0, 0 };
	unsigned apart;

	record("stalltop-20261122T100000Z-000.db", 90000 * NSEC_PER_SEC, 12, now);
	record("stalltop-20261122T200000Z-000.db", 20 * NSEC_PER_SEC, 9, later);
	assert_int_equal(play(scratch_folder(), NULL, &apart), 21);
	assert_int_equal(apart, 2);
	assert_in_range(play(scratch_folder(), "-1s", &apart), 1, 5);
	/* From within the first on: what is before it is not shown. */
	assert_in_range(play(scratch_folder(), "-20h", &apart), 9, 21);
}

/* Records a machine that is suspended for an hour in the middle. Returns its clocks. */
static struct clocks record_suspended(const char *path, unsigned samples)
{
	struct play_machine machine = { .seed = 3 };
	struct play_writer writer = { 0 };
	struct clocks clocks;

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < samples; i++) {
		machine.asleep_ns = i >= samples / 2 ? HOUR : 0;
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL, 0), 0);
	}
	play_end_file(&writer);
	clocks = machine.clocks;
	machine.clocks = (struct clocks){ 0 };
	play_free(&machine);
	return clocks;
}

/*
 * While the machine is suspended no time passes for tasks: the interval is as long as without, the
 * time of day jumps, and what began before keeps its time of day.
 */
SCRATCH_TEST(test_suspended)
{
	const char *path = scratch_path("suspended.db");
	const struct replay_config config = { .path = path };
	struct clocks clocks = record_suspended(path, 20);
	struct sample samples[2] = { 0 };
	struct playback_record result;
	struct playback playback;
	struct replay *replay;
	unsigned apart, jumps = 0, n = 0;
	char *file;

	assert_int_equal(clocks.n, 2);
	assert_int_equal(play(path, NULL, &apart), 20);
	assert_int_equal(apart, 1);
	assert_in_range(play(path, "-2s", &apart), 3, 5);
	assert_in_range(play(path, "-30m", &apart), 10, 11);
	assert_int_equal(replay_open(&replay, &config, &file), 0);
	playback = replay_playback(replay);
	for (; !playback.next(playback.state, n ? &samples[(n + 1) % 2] : NULL, &samples[n % 2],
			      &result);
	     n++) {
		const struct sample *cur = &samples[n % 2], *prev = &samples[(n + 1) % 2];

		jumps += n && cur->real_ns - prev->real_ns > HOUR;
		/* From the sample on that told it. */
		assert_int_equal(result.clocks->n, n < 10 ? 1 : 2);
		for (size_t i = 0; n >= 10 && i < cur->n; i++) {
			uint64_t start_ns = cur->raw[i]->task->key.start_ns;

			assert_int_equal(clocks_real_ns(result.clocks, start_ns),
					 clocks_real_ns(&clocks, start_ns));
		}
	}
	assert_int_equal(n, 20);
	assert_int_equal(jumps, 1);
	replay_close(replay);
	sample_free(&samples[0]);
	sample_free(&samples[1]);
	clocks_free(&clocks);
}
