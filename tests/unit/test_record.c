// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples as bytes: what is read of a record is what was written, and bad bytes are refused. */
#include "tests/lib/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "tests/lib/player.h"
#include "tests/lib/recording.h"

/* Samples of each machine; RECORD_SAMPLES asks for more. */
#define SAMPLES_MADE 400

/* Implements struct playback: what was read is given. */
static int give(void *state, struct sample *prev, struct sample *cur,
		struct playback_record *result)
{
	record_rebuild_sample(state, prev, cur, NULL, 0, result);
	return 0;
}

/* The next frame of what was read. */
static const struct frame *play(struct player *player)
{
	int err;

	return next_frame(player, &err);
}

/* Writes and reads a made-up machine; every so many records one is dropped, or a key record. */
static void check_machine(struct play_machine machine, unsigned samples, unsigned drop,
			  unsigned restart)
{
	struct record_state *writer = record_open();
	struct record_state *reader = record_open();
	struct player player = { .playback = { .state = reader, .next = give } };
	struct buf bytes = { 0 };

	for (unsigned i = 0; i < samples; i++) {
		const struct frame *live = play_frame(&machine);

		bytes.len = 0;
		if (restart && i % restart == restart - 1)
			record_restart(writer, 0);
		record_encode(writer, live, NULL, &bytes);
		if (drop && i % drop == drop - 1) {
			record_restart(writer, 1);
			continue;
		}
		if (record_decode(reader, bytes.data, bytes.len, false))
			fail_msg("sample %u is bad", i);
		if (drop && i % drop == 0 && i) {
			const struct frame *again = play(&player);

			/* Behind a gap the interval is longer. */
			assert_int_equal(again->n, live->n);
			assert_int_equal(again->info->head.notes[again->info->head.nnotes - 1].id,
					 NOTE_RECORD_DROPPED);
			continue;
		}
		compare_frames(live, play(&player), i);
	}
	assert_true(machine.extras && machine.bounds);
	buf_free(&bytes);
	record_close(writer);
	player_free(&player);
	record_close(reader);
	play_free(&machine);
}

TEST(test_same)
{
	const char *more = getenv("RECORD_SAMPLES");
	unsigned samples = more ? (unsigned)atoi(more) : SAMPLES_MADE;

	for (unsigned seed = 1; seed <= 10; seed++)
		check_machine((struct play_machine){ .seed = seed, .exact = seed % 3 == 0 },
			      samples, 0, 0);
}

TEST(test_key_records)
{
	for (unsigned seed = 1; seed <= 4; seed++)
		check_machine((struct play_machine){ .seed = seed }, SAMPLES_MADE, 0, 7);
}

TEST(test_gaps)
{
	for (unsigned seed = 1; seed <= 4; seed++)
		check_machine((struct play_machine){ .seed = seed }, SAMPLES_MADE, 9, 0);
}

/* Bytes of which some are changed, or that end too soon, are refused or read, and do no harm. */
TEST(test_bad_bytes)
{
	struct play_machine machine = { .seed = 5 };
	struct record_state *writer = record_open();
	struct buf bytes = { 0 };
	size_t at[40], refused = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		record_encode(writer, play_frame(&machine), NULL, &bytes);
		at[i] = bytes.len;
	}
	for (unsigned tries = 0; tries < 3000; tries++) {
		struct record_state *reader = record_open();
		struct player player = { .playback = { .state = reader, .next = give } };
		size_t from = 0;

		for (unsigned i = 0; i < ARRAY_SIZE(at); from = at[i++]) {
			size_t len = at[i] - from;
			char *copy = xcalloc(len, 1);
			int err;

			memcpy(copy, bytes.data + from, len);
			if (play_random(&machine, 30) == 0)
				copy[play_random(&machine, (unsigned)len)] =
					(char)play_random(&machine, 256);
			if (play_random(&machine, 90) == 0)
				len = play_random(&machine, (unsigned)len);
			err = record_decode(reader, copy, len, false);
			free(copy);
			if (err) {
				assert_int_equal(err, -EBADMSG);
				refused++;
				break;
			}
			if (i % 3 == 0)
				play(&player);
		}
		player_free(&player);
		record_close(reader);
	}
	assert_in_range(refused, 1000, 3000);
	buf_free(&bytes);
	record_close(writer);
	play_free(&machine);
}
