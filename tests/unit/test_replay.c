/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording gives that grows, or is damaged in places, while it is played or gone to. */
#include <stdio.h>
#include "tests/lib/test.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history/cursor.h"
#include "tests/lib/ask.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define FIRST "stalltop-20261122T100000Z-000.db"
#define SECOND "stalltop-20261122T110000Z-000.db"
#define THIRD "stalltop-20261122T120000Z-000.db"

/* A recording that is being written. */
struct writer {
	struct play_machine machine;
	struct play_writer to;
};

/* Adds samples; ahead_ns: how far the clock is off. */
static void add_samples(struct writer *writer, unsigned n, int64_t ahead_ns)
{
	while (n--)
		assert_int_equal(
			play_write(&writer->to, play_frame(&writer->machine), NULL, ahead_ns), 0);
}

static void begin_writing(struct writer *writer, const char *name, unsigned samples)
{
	*writer = (struct writer){ .machine.seed = 4 };
	assert_int_equal(play_begin_file(&writer->to, scratch_path(name)), 0);
	add_samples(writer, samples, 0);
}

static void end_writing(struct writer *writer)
{
	play_end_file(&writer->to);
	play_free(&writer->machine);
}

/* Writes a recording. Returns its path. */
static const char *write_some(const char *name, unsigned samples)
{
	struct writer writer;

	begin_writing(&writer, name, samples);
	end_writing(&writer);
	return scratch_path(name);
}

static struct replay *open_replay(const struct replay_config *config)
{
	struct replay *replay;
	char *file;

	assert_int_equal(replay_open(&replay, config, &file), 0);
	return replay;
}

/* Plays up to n samples. Returns how many there were; *err: 0, or why there are no more. */
static unsigned play(struct replay *replay, unsigned n, int *err)
{
	struct playback playback = replay_playback(replay);
	struct sample sample = { 0 };
	struct playback_record result;
	unsigned played = 0;

	*err = 0;
	while (played < n && !(*err = playback.next(playback.state, NULL, &sample, &result)))
		played++;
	sample_free(&sample);
	return played;
}

/* Samples that are written while others are played are played, too. */
SCRATCH_TEST(plays_what_is_written_meanwhile)
{
	const struct replay_config config = { .path = scratch_path("grows.db") };
	struct replay *replay;
	struct writer writer;
	int err;

	begin_writing(&writer, "grows.db", 5);
	replay = open_replay(&config);
	assert_int_equal(play(replay, 3, &err), 3);
	add_samples(&writer, 5, 0);
	assert_int_equal(play(replay, 100, &err), 7);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
	end_writing(&writer);
}

/* The last segment grows while the first is played. */
SCRATCH_TEST(plays_a_segment_that_grows)
{
	const struct replay_config config = { .path = scratch_folder() };
	struct replay *replay;
	struct writer writer;
	int err;

	write_some(FIRST, 5);
	begin_writing(&writer, SECOND, 3);
	replay = open_replay(&config);
	assert_int_equal(play(replay, 2, &err), 2);
	add_samples(&writer, 4, 0);
	assert_int_equal(play(replay, 100, &err), 10);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
	end_writing(&writer);
}

/* What comes before damage is played, and the file that has it is named. */
/* Files that were left out. */
static unsigned nleft_out;
static char left_out[256];

static void note_left_out(const char *path, int err)
{
	assert_int_equal(err, -EBADMSG);
	snprintf(left_out, sizeof(left_out), "%s", path);
	nleft_out++;
}

/* Plays all there is: so many samples, without what is damaged, of which one file is told. */
static void check_damaged(const struct replay_config *config, unsigned samples, const char *path)
{
	struct replay *replay = open_replay(config);
	int err;

	assert_int_equal(play(replay, 100, &err), samples);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
	assert_string_equal(left_out, path);
}

/* Damages the records of a recording behind its first block. */
static void damage_end(const char *path)
{
	ask_change(path, "UPDATE block SET data = zeroblob(100) WHERE first > 1");
}

SCRATCH_TEST(plays_past_damage)
{
	struct replay_config config = { .path = scratch_folder(), .left_out = note_left_out };
	const char *second, *third;
	struct replay *replay;
	char *file;

	write_some(FIRST, 5);
	second = write_some(SECOND, BLOCK_RECORDS + 6);
	third = write_some(THIRD, 6);
	nleft_out = 0;
	damage_end(second);
	check_damaged(&config, 5 + BLOCK_RECORDS + 6, second);
	assert_int_equal(nleft_out, 1);
	/* What is no recording at all, */
	scratch_file(second, scratch_format("%9000s", "no recording"));
	check_damaged(&config, 5 + 6, second);
	assert_int_equal(nleft_out, 2);
	/* and the last file, which says when the recording ends. */
	scratch_file(third, scratch_format("%9000s", "no recording"));
	check_damaged(&config, 5, second);
	assert_int_equal(nleft_out, 4);
	/* The only file is an error. */
	config.path = third;
	assert_int_equal(replay_open(&replay, &config, &file), -EBADMSG);
	assert_string_equal(file, third);
	free(file);
	assert_int_equal(nleft_out, 4);
}

/* What is damaged later than asked for is not met. */
SCRATCH_TEST(ends_before_damage)
{
	const char *path = write_some("late.db", BLOCK_RECORDS + 10);
	const struct replay_config config = { .path = path, .to = "-8s" };
	struct replay *replay;
	int err;

	damage_end(path);
	replay = open_replay(&config);
	assert_in_range(play(replay, 100, &err), BLOCK_RECORDS - 8, BLOCK_RECORDS - 4);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
}

/* A time later than the first or the last of a recording, as --from takes it. */
static const char *time_of(const char *path, bool last, uint64_t later_ns)
{
	static char text[2][32];
	static unsigned turn;
	struct segment_list files = { 0 };
	const struct segment *segment;
	char *at = text[turn++ % 2];
	time_t seconds;
	struct tm tm;

	assert_int_equal(segments_list(&files, path), 0);
	segment = files.list[0];
	assert_int_equal(segment_list(files.list[0]), 0);
	seconds = (time_t)((segment->entries[last ? segment->n - 1 : 0].real_ns + later_ns) /
			   NSEC_PER_SEC);
	assert_non_null(localtime_r(&seconds, &tm));
	strftime(at, sizeof(text[0]), "%Y-%m-%d %H:%M:%S", &tm);
	segments_free(&files);
	return at;
}

#define HOUR (3600 * NSEC_PER_SEC)

/*
 * Each time is reached where the clock was set back while it was recorded: four hours are one that
 * was wrong, and one is there twice. Of a part of it only what is within the times is played, after
 * a sample that its interval begins with.
 */
SCRATCH_TEST(reaches_all_times)
{
	static const struct {
		const char *from; /* "": an hour after the first; NULL: none */
		bool to; /* up to that */
		unsigned played; /* samples, with those that others begin with */
	} cases[] = {
		{ NULL, false, 30 },
		/* The wrong hours alone: the first of them begins with the one before. */
		{ "", false, 11 },
		/* The end, which is counted from: not the wrong hours either. */
		{ "-3s", false, 7 },
		/* What came after, and before: not the wrong hours. */
		{ NULL, true, 21 },
	};
	const char *path = scratch_path("ahead.db");
	struct position position;
	struct replay *replay;
	struct writer writer;
	struct cursor *past;
	bool again;
	char *file;
	int err;

	begin_writing(&writer, "ahead.db", 10);
	add_samples(&writer, 10, 4 * 3600 * (int64_t)NSEC_PER_SEC);
	add_samples(&writer, 10, 0);
	end_writing(&writer);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct replay_config config = {
			.path = path,
			.from = cases[i].from && !*cases[i].from ? time_of(path, false, HOUR)
								 : cases[i].from,
			.to = cases[i].to ? time_of(path, false, HOUR) : NULL,
		};

		replay = open_replay(&config);
		assert_int_equal(play(replay, 100, &err), cases[i].played);
		assert_int_equal(err, -ENODATA);
		replay_close(replay);
	}
	assert_int_equal(
		cursor_open_recording(&past, &(struct replay_config){ .path = path }, &file), 0);
	cursor_configure(past, &(struct sampler_config){ 0 });
	assert_true(cursor_last(past, &position));
	for (size_t i = 2; i < position.segment->n; i++) {
		const struct record_entry *wanted = &position.segment->entries[i];

		assert_true(cursor_find(past, wanted->real_ns, &position, &again));
		assert_int_equal(position_entry(&position)->real_ns, wanted->real_ns);
	}
	cursor_close(past);
}

/* Segments whose clock was set back are reached, too, and of a time that is there twice both. */
SCRATCH_TEST(reaches_segments)
{
	struct replay_config config = { .path = scratch_folder() };
	const char *first = write_some(FIRST, 8), *third = scratch_path(THIRD);
	struct writer writer;
	struct position position;
	struct replay *replay;
	struct cursor *past;
	bool again;
	char *file;
	int err;

	write_some(SECOND, 9);
	/* The second began an hour after the first by its name, and has the times of the first. */
	begin_writing(&writer, THIRD, 0);
	add_samples(&writer, 7, 2 * (int64_t)HOUR);
	end_writing(&writer);
	config.from = time_of(first, false, 0);
	config.to = time_of(first, true, NSEC_PER_SEC);
	replay = open_replay(&config);
	assert_int_equal(play(replay, 100, &err), 17);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
	config = (struct replay_config){ .path = scratch_folder(),
					 .from = time_of(third, false, 0) };
	replay = open_replay(&config);
	assert_in_range(play(replay, 100, &err), 7, 8);
	replay_close(replay);
	assert_int_equal(cursor_open_recording(
				 &past, &(struct replay_config){ .path = scratch_folder() }, &file),
			 0);
	cursor_configure(past, &(struct sampler_config){ 0 });
	assert_true(cursor_first(past, &position));
	assert_true(cursor_find(past, position_entry(&position)->real_ns, &position, &again));
	assert_true(again);
	cursor_close(past);
}

/* Files that somebody has named are looked into, whatever their names say. */
SCRATCH_TEST(reaches_named_files)
{
	struct replay_config config = { .path = scratch_folder() };
	struct replay *replay;
	int err;

	config.from = time_of(write_some("stalltop-a.db", 9), false, 2 * NSEC_PER_SEC);
	write_some("stalltop-b.db", 7);
	replay = open_replay(&config);
	/* Both have the same times: from the third second on, each after one that it begins with.
	 */
	assert_in_range(play(replay, 100, &err), 9, 13);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
}

/* The last segment that has samples says what rows are; all are played. */
SCRATCH_TEST(plays_all_segments)
{
	const struct replay_config config = { .path = scratch_folder() };
	struct replay *replay;
	struct writer writer;
	int err;

	write_some(FIRST, 5);
	begin_writing(&writer, SECOND, 0);
	for (unsigned i = 0; i < 4; i++) {
		const struct frame *frame = play_frame(&writer.machine);

		((struct frame_info *)(uintptr_t)frame->info)->threads = true;
		assert_int_equal(play_write(&writer.to, frame, NULL, 0), 0);
	}
	end_writing(&writer);
	write_some(THIRD, 0);
	replay = open_replay(&config);
	assert_true(replay_playback(replay).threads);
	assert_int_equal(play(replay, 100, &err), 9);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
}

/* A recording without samples names its first file; one with a bad time that which has its end. */
SCRATCH_TEST(names_what_it_refuses)
{
	const struct replay_config config = { .path = scratch_folder() };
	const struct replay_config bad = { .path = scratch_folder(), .to = "soon" };
	const char *first = write_some(FIRST, 0), *second;
	struct replay *replay;
	struct cursor *past;
	char *file;

	write_some(THIRD, 0);
	assert_int_equal(replay_open(&replay, &config, &file), -ENODATA);
	assert_string_equal(file, first);
	free(file);
	assert_int_equal(cursor_open_recording(&past, &config, &file), -ENODATA);
	assert_string_equal(file, scratch_folder());
	free(file);
	second = write_some(SECOND, 3);
	assert_int_equal(replay_open(&replay, &bad, &file), -EINVAL);
	assert_string_equal(file, second);
	free(file);
	assert_int_equal(cursor_open_recording(&past, &bad, &file), -EINVAL);
	assert_string_equal(file, scratch_folder());
	free(file);
}

/* Whether the first and the last sample of a recording can be gone to. */
static bool can_be_gone_to(const char *path)
{
	const struct replay_config config = { .path = path };
	const struct sampler_config sampler = { 0 };
	const struct frame *frame;
	struct position position;
	struct cursor *past;
	bool good;
	char *file;

	if (cursor_open_recording(&past, &config, &file)) {
		free(file);
		return false;
	}
	cursor_configure(past, &sampler);
	good = cursor_last(past, &position) && !cursor_show(past, &position, &frame) &&
	       cursor_first(past, &position) && !cursor_show(past, &position, &frame);
	cursor_close(past);
	return good;
}

/* Of a damaged list nothing is shown. */
SCRATCH_TEST(is_gone_to)
{
	const char *path = write_some("first.db", 12);

	assert_true(can_be_gone_to(path));
	ask_change(path, "UPDATE block SET entries = zeroblob(100)");
	assert_false(can_be_gone_to(path));
}

/* A sample that cannot be read leaves what is shown as it is, and the others in reach. */
SCRATCH_TEST(stays_where_it_was)
{
	const char *path = write_some("half.db", BLOCK_RECORDS + 20);
	const struct replay_config config = { .path = path };
	const struct sampler_config sampler = { 0 };
	const struct frame *frame, *shown;
	struct position position, bad, now;
	struct sampler *before;
	struct cursor *past;
	char *file;

	ask_change(path, "UPDATE block SET data = zeroblob(length(data)) WHERE first > 1");
	assert_int_equal(cursor_open_recording(&past, &config, &file), 0);
	cursor_configure(past, &sampler);
	assert_true(cursor_first(past, &position));
	while (position.at < BLOCK_RECORDS - 1)
		assert_true(cursor_next(past, &position));
	assert_int_equal(cursor_show(past, &position, &shown), 0);
	cursor_forget_shown(past);
	before = cursor_sampler(past);
	/* By going on from it, and by going anywhere else. */
	for (unsigned i = 1; i < 5; i += 2) {
		bad = (struct position){ position.segment, position.at + i };
		assert_int_equal(cursor_show(past, &bad, &frame), -EBADMSG);
		assert_true(cursor_shown(past, &now));
		assert_int_equal(now.at, position.at);
		assert_ptr_equal(cursor_sampler(past), before);
		assert_int_equal(shown->info->real_ns, position_entry(&position)->real_ns);
		for (size_t row = 0; row < shown->n; row++)
			assert_string_equal(shown->rows[row].task->user, "someone");
	}
	assert_true(cursor_before(past, &position));
	assert_int_equal(cursor_show(past, &position, &frame), 0);
	assert_int_equal(frame->info->real_ns, position_entry(&position)->real_ns);
	cursor_close(past);
}

/* A time of day after the end is the end, and not that of the day before. */
SCRATCH_TEST(ends_at_the_end)
{
	const char *path = write_some("whole.db", 12);
	static const char *const times[] = { NULL, "23:59", "2030-01-01" };
	struct sample samples[2] = { 0 };

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < 3; i++) {
		const struct replay_config config = { .path = path, .to = times[i] };
		struct replay *replay = open_replay(&config);
		struct playback playback = replay_playback(replay);
		struct playback_record result;
		unsigned n = 0;

		while (!playback.next(playback.state, n ? &samples[(n + 1) % 2] : NULL,
				      &samples[n % 2], &result))
			n++;
		assert_int_equal(n, 12);
		replay_close(replay);
	}
	for (size_t i = 0; i < 2; i++)
		sample_free(&samples[i]);
}
