/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording gives that grows, or is damaged in places, while it is played or gone to. */
#include <stdio.h>
#include "config.h"

#include "tests/lib/test.h"
#include <errno.h>
#include <string.h>
#include <time.h>

#include "history/past.h"
#include "tests/lib/ask.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define FIRST "stalltop-20261122T100000Z-000.db"
#define SECOND "stalltop-20261122T110000Z-000.db"
#define THIRD "stalltop-20261122T120000Z-000.db"

/* A recording that is being written. */
struct writer {
	struct play_machine machine;
	struct encoder *encoder;
	struct store *store;
};

/* Adds samples; ahead_ns: how far the clock is off. */
static void add_samples(struct writer *writer, unsigned n, int64_t ahead_ns)
{
	while (n--) {
		const struct moment *made =
			encoder_encode(writer->encoder, play_frame(&writer->machine), NULL);
		struct moment *moment = xcalloc(1, made->size);

		memcpy(moment, made, made->size);
		moment->sample.real_ns += (uint64_t)ahead_ns;
		assert_int_equal(store_put(writer->store, moment), 0);
		encoder_keep(writer->encoder);
		free(moment);
	}
}

static void begin_writing(struct writer *writer, const char *name, unsigned samples)
{
	const struct store_about about = { "0" };

	*writer = (struct writer){ .machine.seed = 4, .encoder = encoder_open(0) };
	assert_int_equal(store_create(&writer->store, scratch_path(name), &about), 0);
	add_samples(writer, samples, 0);
}

static void end_writing(struct writer *writer)
{
	store_close(writer->store, false);
	encoder_close(writer->encoder);
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
	struct playback_moment moment;
	unsigned played = 0;

	*err = 0;
	while (played < n && !(*err = playback.next(playback.state, NULL, &sample, &moment)))
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

SCRATCH_TEST(plays_past_damage)
{
	struct replay_config config = { .path = scratch_folder(), .left_out = note_left_out };
	const char *second, *third;
	struct replay *replay;
	char *file;

	write_some(FIRST, 5);
	second = write_some(SECOND, 9);
	third = write_some(THIRD, 6);
	nleft_out = 0;
	ask_change(second, "UPDATE sample SET interval_ns = -1 WHERE id = 4");
	check_damaged(&config, 5 + 3 + 6, second);
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
	const char *path = write_some("late.db", 30);
	const struct replay_config config = { .path = path, .to = "-5s" };
	struct replay *replay;
	int err;

	ask_change(path, "UPDATE sample SET interval_ns = -1 WHERE id = 28");
	replay = open_replay(&config);
	assert_in_range(play(replay, 100, &err), 18, 21);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
}

/* The time of a moment of a recording, as --from takes it. */
static const char *time_of(const char *path, const char *of)
{
	static char text[2][32];
	static unsigned turn;
	char *at = text[turn++ % 2];
	time_t seconds = (time_t)(ask(path, scratch_format("SELECT %s FROM sample", of)) /
				  (int64_t)NSEC_PER_SEC);
	struct tm tm;

	assert_non_null(localtime_r(&seconds, &tm));
	strftime(at, sizeof(text[0]), "%Y-%m-%d %H:%M:%S", &tm);
	return at;
}

/*
 * Each time is reached where the clock was set back while it was recorded: four hours are one that
 * was wrong, and one is there twice. Of a part of it only what is within the times is played, after
 * a sample that its interval begins with.
 */
SCRATCH_TEST(reaches_all_times)
{
	static const struct {
		const char *from, *to; /* of sample.time_ns; NULL: none */
		unsigned played; /* samples, with those that others begin with */
	} cases[] = {
		{ NULL, NULL, 30 },
		/* The wrong hours alone: the first of them begins with the one before. */
		{ "min(time_ns) + 3600000000000", NULL, 11 },
		/* The end, which is counted from: not the wrong hours either. */
		{ "-3s", NULL, 7 },
		/* What came after, and before: not the wrong hours. */
		{ NULL, "min(time_ns) + 3600000000000", 21 },
	};
	const char *path = scratch_path("ahead.db");
	struct position position;
	struct replay *replay;
	struct writer writer;
	struct past *past;
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
			.from = cases[i].from && *cases[i].from != '-'
					? time_of(path, cases[i].from)
					: cases[i].from,
			.to = cases[i].to ? time_of(path, cases[i].to) : NULL,
		};

		replay = open_replay(&config);
		assert_int_equal(play(replay, 100, &err), cases[i].played);
		assert_int_equal(err, -ENODATA);
		replay_close(replay);
	}
	assert_int_equal(past_open_recording(&past, &(struct replay_config){ .path = path }, &file),
			 0);
	past_configure(past, &(struct sampler_config){ 0 });
	assert_true(past_last(past, &position));
	for (size_t i = 2; i < position.stretch->n; i++) {
		const struct outline *wanted = &position.stretch->outlines[i];

		assert_true(past_find(past, wanted->real_ns, &position, &again));
		assert_int_equal(position_outline(&position)->real_ns, wanted->real_ns);
	}
	past_close(past);
}

/* Segments whose clock was set back are reached, too, and of a time that is there twice both. */
SCRATCH_TEST(reaches_segments)
{
	struct replay_config config = { .path = scratch_folder() };
	const char *first = write_some(FIRST, 8), *third;
	struct position position;
	struct replay *replay;
	struct past *past;
	bool again;
	char *file;
	int err;

	write_some(SECOND, 9);
	third = write_some(THIRD, 7);
	/* The second began an hour after the first by its name, and has the times of the first. */
	ask_change(third, "UPDATE sample SET time_ns = time_ns + 7200000000000");
	config.from = time_of(first, "min(time_ns)");
	config.to = time_of(first, "max(time_ns) + 1000000000");
	replay = open_replay(&config);
	assert_int_equal(play(replay, 100, &err), 17);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
	config = (struct replay_config){ .path = scratch_folder(),
					 .from = time_of(third, "min(time_ns)") };
	replay = open_replay(&config);
	assert_in_range(play(replay, 100, &err), 7, 8);
	replay_close(replay);
	assert_int_equal(past_open_recording(
				 &past, &(struct replay_config){ .path = scratch_folder() }, &file),
			 0);
	past_configure(past, &(struct sampler_config){ 0 });
	assert_true(past_first(past, &position));
	assert_true(past_find(past, position_outline(&position)->real_ns, &position, &again));
	assert_true(again);
	past_close(past);
}

/* Files that somebody has named are looked into, whatever their names say. */
SCRATCH_TEST(reaches_named_files)
{
	struct replay_config config = { .path = scratch_folder() };
	struct replay *replay;
	int err;

	config.from = time_of(write_some("stalltop-a.db", 9), "min(time_ns) + 2000000000");
	write_some("stalltop-b.db", 7);
	replay = open_replay(&config);
	/* Both have the same times: from the third second on, each after one that it begins with.
	 */
	assert_in_range(play(replay, 100, &err), 9, 13);
	assert_int_equal(err, -ENODATA);
	replay_close(replay);
}

/*
 * Texts are forgotten where there are too many, as on a machine that starts programs: those still
 * in use are there once more, and each sample has its own.
 */
SCRATCH_TEST(forgets_texts)
{
	static const struct {
		size_t bytes; /* of each command line */
		bool again;
	} cases[] = { { 1000, false }, { 60000, true } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = scratch_format("texts-%zu.db", i);
		const struct replay_config config = { .path = scratch_path(name) };
		struct sample sample = { 0 };
		struct playback_moment moment;
		struct replay *replay;
		struct playback playback;
		struct writer writer;
		size_t named = 0;
		int64_t times;

		begin_writing(&writer, name, 1);
		for (unsigned n = 0; n < 40; n++) {
			struct sample *last =
				&writer.machine.samples[(writer.machine.turn + 2) % 3];

			for (size_t k = 0; k < last->n; k++) {
				struct task *task = last->raw[k]->task;

				free(task->command);
				task->command = xcalloc(1, cases[i].bytes + 1);
				memset(task->command, 'x', cases[i].bytes);
				snprintf(task->command, 40, "%d in turn %u", (int)task->key.pid, n);
				task->command[strlen(task->command)] = ' ';
			}
			add_samples(&writer, 1, 0);
		}
		end_writing(&writer);
		times = ask(config.path,
			    "SELECT count(*) FROM text WHERE value LIKE 'renamed_[2J'");
		assert_true(cases[i].again ? times > 1 : times == 1);
		replay = open_replay(&config);
		playback = replay_playback(replay);
		while (!playback.next(playback.state, NULL, &sample, &moment))
			;
		/* Tasks that began in the last turn have none. */
		for (size_t k = 0; k < sample.n; k++)
			if (sample.raw[k]->task->command) {
				assert_int_equal(strlen(sample.raw[k]->task->command),
						 cases[i].bytes);
				named++;
			}
		assert_true(named > 0);
		sample_free(&sample);
		replay_close(replay);
	}
}

/* The last segment that has samples says what rows are; all are played. */
SCRATCH_TEST(plays_all_segments)
{
	const struct replay_config config = { .path = scratch_folder() };
	struct replay *replay;
	int err;

	write_some(FIRST, 5);
	ask_change(write_some(SECOND, 4), "UPDATE recording SET value = 1 WHERE name = 'threads'");
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
	struct past *past;
	char *file;

	write_some(THIRD, 0);
	assert_int_equal(replay_open(&replay, &config, &file), -ENODATA);
	assert_string_equal(file, first);
	free(file);
	assert_int_equal(past_open_recording(&past, &config, &file), -ENODATA);
	assert_string_equal(file, scratch_folder());
	free(file);
	second = write_some(SECOND, 3);
	assert_int_equal(replay_open(&replay, &bad, &file), -EINVAL);
	assert_string_equal(file, second);
	free(file);
	assert_int_equal(past_open_recording(&past, &bad, &file), -EINVAL);
	assert_string_equal(file, scratch_folder());
	free(file);
}

/* Whether the first and the last moment of a recording can be gone to. */
static bool can_be_gone_to(const char *path)
{
	const struct replay_config config = { .path = path };
	const struct sampler_config sampler = { 0 };
	const struct frame *frame;
	struct position position;
	struct past *past;
	bool good;
	char *file;

	if (past_open_recording(&past, &config, &file)) {
		free(file);
		return false;
	}
	past_configure(past, &sampler);
	good = past_last(past, &position) && !past_show(past, &position, &frame) &&
	       past_first(past, &position) && !past_show(past, &position, &frame);
	past_close(past);
	return good;
}

/* Where no moment is whole the first one is read on from; of a damaged list nothing is shown. */
SCRATCH_TEST(is_gone_to_from_its_first_moment)
{
	const char *path = write_some("first.db", 12);
	const struct replay_config config = { .path = path };
	const struct replay_config late = { .path = path, .from = "-2s" };
	struct replay *replay;
	int err;

	assert_true(can_be_gone_to(path));
	ask_change(path, "UPDATE sample SET whole = 0");
	assert_true(can_be_gone_to(path));
	replay = open_replay(&config);
	assert_int_equal(play(replay, 100, &err), 12);
	replay_close(replay);
	replay = open_replay(&late);
	assert_int_equal(play(replay, 100, &err), 0);
	assert_int_equal(err, -EBADMSG);
	replay_close(replay);
	ask_change(path, "UPDATE sample SET interval_ns = -1 WHERE id = 6");
	assert_false(can_be_gone_to(path));
}
