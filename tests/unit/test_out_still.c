// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of rows to which nothing happens are copied: each sample's are as if they had been made. */
#include "tests/lib/test.h"

#include "history/record.h"
#include "out/out.h"
#include "tests/lib/player.h"
#include "tests/lib/recording.h"

#define SAMPLES_MADE 150

/* A machine whose waits are not traced, and what a reader of its recording makes of it. */
struct scene_source {
	struct play_machine machine;
	struct record_state *writer, *reader; /* NULL: frames are the machine's own */
	struct player player;
	struct buf bytes;
};

/* Implements struct playback: what was read is given. */
static int give(void *state, struct sample *prev, struct sample *cur,
		struct playback_record *result)
{
	record_rebuild_sample(state, prev, cur, NULL, 0, result);
	return 0;
}

/* Its next frame. */
static const struct frame *make_frame(struct scene_source *source)
{
	struct play_machine *machine = &source->machine;
	const struct frame *made = play_frame(machine);
	int err;

	machine->infos[(machine->turn - 1) % 2].trace = NULL;
	for (size_t i = 0; i < made->n; i++)
		machine->frame.rows[i].traced = NULL;
	if (!source->reader)
		return made;
	source->bytes.len = 0;
	record_encode(source->writer, made, NULL, &source->bytes);
	assert_int_equal(
		record_decode(source->reader, source->bytes.data, source->bytes.len, false), 0);
	return next_frame(&source->player, &err);
}

/* Puts samples out twice: by copies, and with what they are copied from forgotten. */
static void check_format(const struct out_ops *ops, unsigned seed, const char *fields,
			 bool recorded)
{
	struct view_config view = { .query.over_ms = -1, .fields = (char *)(uintptr_t)fields };
	const struct out_config config = { .view = &view, .charset = TEXT_UTF8 };
	struct scene_source source = { .machine = {
					       .seed = seed, .exact = true, .unbounded = true } };
	struct out copied, made;
	size_t copies = 0;

	if (recorded) {
		source.writer = record_open();
		source.reader = record_open();
		source.player.playback = (struct playback){ .state = source.reader, .next = give };
	}
	out_open(&copied, ops, &config);
	out_open(&made, ops, &config);
	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		const struct frame *frame = make_frame(&source);

		out_frame(&copied, frame);
		made.texts.n = 0;
		out_frame(&made, frame);
		assert_int_equal(copied.buf.len, made.buf.len);
		assert_memory_equal(copied.buf.data, made.buf.data, made.buf.len);
		assert_int_equal(made.texts.next, 0);
		copies += copied.texts.next;
		/* At times nothing was written. */
		if (play_random(&source.machine, 9))
			copied.buf.len = made.buf.len = 0;
	}
	assert_int_equal(copies > 20, !fields);
	out_close(&copied);
	out_close(&made);
	play_free(&source.machine);
	if (recorded) {
		record_close(source.writer);
		player_free(&source.player);
		record_close(source.reader);
		buf_free(&source.bytes);
	}
}

TEST(test_copies)
{
	static const struct out_ops *const formats[] = { &out_text, &out_csv, &out_json };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		for (unsigned seed = 1; seed <= 7; seed += 2)
			check_format(formats[i], seed, NULL, false);
}

/* The same of what was recorded: a task may be moved to another cgroup while it sleeps. */
TEST(test_recorded)
{
	for (unsigned seed = 1; seed <= 15; seed += 2)
		check_format(&out_json, seed, NULL, true);
}

/* Where a column is of time that passes nothing is copied. */
TEST(test_time)
{
	check_format(&out_csv, 1, "pid,elap", false);
	check_format(&out_json, 1, "pid,elap", false);
}
