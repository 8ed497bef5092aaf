// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples as bytes: what is read of a record is what was written, and bad bytes are refused. */
#include "config.h"

#include "tests/lib/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "history/record.h"
#include "tests/lib/recording.h"

/* Samples of each machine; RECORD_SAMPLES asks for more. */
#define SAMPLES_MADE 400

/* A reader of records, and the frames that it makes of them. */
struct player {
	struct record_state *state;
	struct sample samples[3];
	struct frame frames[2];
	struct frame_info infos[2];
	unsigned turn;
};

/* Makes the next frame of what was read. */
static const struct frame *play(struct player *player)
{
	struct sample *prev = player->turn ? &player->samples[(player->turn + 2) % 3] : NULL;
	struct sample *cur = &player->samples[player->turn % 3];
	struct frame *frame = &player->frames[player->turn % 2];
	struct frame_info *info = &player->infos[player->turn % 2];
	struct playback_moment moment;
	struct frame_options options = { .machine.cpus = 2 };

	record_give(player->state, prev, cur, NULL, 0, &moment);
	cur->system = moment.system;
	frame_build(frame, info, moment.baseline ? NULL : prev, cur, &options);
	playback_trace(&moment, frame, info);
	info->head = moment.head;
	info->system = &cur->system;
	info->clocks = moment.clocks;
	player->turn++;
	return frame;
}

static void player_free(struct player *player)
{
	for (unsigned i = 0; i < 3; i++)
		sample_free(&player->samples[i]);
	for (unsigned i = 0; i < 2; i++)
		frame_free(&player->frames[i]);
	record_close(player->state);
}

/* Whether two elements are the same, but for what frames put into them. */
static bool same_raw(const struct task_raw *a, const struct task_raw *b)
{
	struct task_raw x = *a, y = *b;

	x.task = y.task = NULL;
	x.ran_ns = y.ran_ns = 0;
	return !memcmp(&x, &y, sizeof(x));
}

/* Whether two tasks have the same identity and names, and ended in the same way. */
static bool same_task(const struct task *a, const struct task *b, bool exited)
{
	return a->tgid == b->tgid && a->key.pid == b->key.pid &&
	       a->key.start_ns == b->key.start_ns && a->latest_ns == b->latest_ns &&
	       a->ppid == b->ppid && a->uid == b->uid && !strcmp(a->comm, b->comm) &&
	       !text_compare(a->user, b->user) && !text_compare(a->command, b->command) &&
	       !text_compare(a->pod, b->pod) && !text_compare(a->container, b->container) &&
	       (!exited || (a->status == b->status && !text_compare(a->ended, b->ended)));
}

/* Whether two rows say the same. */
static bool same_row(const struct row *a, const struct row *b)
{
	return a->valid == b->valid && a->interval_ns == b->interval_ns && a->born == b->born &&
	       a->exited == b->exited && a->still == b->still && a->corrected == b->corrected &&
	       !memcmp(&a->deltas->waited, &b->deltas->waited, sizeof(a->deltas->waited)) &&
	       !memcmp(&a->deltas->grown, &b->deltas->grown, sizeof(a->deltas->grown));
}

/* Whether two rows were traced alike. */
static bool same_traced(const struct traced *a, const struct traced *b)
{
	if (!a || !b)
		return !a && !b;
	return !memcmp(&a->states, &b->states, sizeof(a->states)) && a->lost_ns == b->lost_ns &&
	       a->lost_known == b->lost_known && a->tgid == b->tgid && a->start_ns == b->start_ns &&
	       !text_compare(a->waker, b->waker);
}

/* Whether two sites are the same, with their stacks. */
static bool same_site(const struct trace_frame *a, const struct site *x,
		      const struct trace_frame *b, const struct site *y)
{
	const struct site_stack *s = &a->stacks[x->stack], *t = &b->stacks[y->stack];
	struct site u = *x, v = *y;
	bool same = !text_compare(x->comm, y->comm) && !text_compare(x->on, y->on) &&
		    !text_compare(x->syscall, y->syscall) && !text_compare(x->where, y->where) &&
		    !text_compare(x->wakers[0].name, y->wakers[0].name) && s->n == t->n;

	for (size_t i = 0; same && i < s->n; i++)
		same = !strcmp(s->functions[i], t->functions[i]);
	u.comm = v.comm = u.on = v.on = u.syscall = v.syscall = u.where = v.where = NULL;
	u.stack = v.stack = 0;
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		u.wakers[i].name = v.wakers[i].name = NULL;
	return same && !memcmp(&u, &v, sizeof(u));
}

/* Asserts that two traces are the same. */
static void compare_traces(const struct trace_frame *a, const struct trace_frame *b, unsigned turn)
{
	if (!a != !b)
		fail_msg("sample %u: traced: %d, %d", turn, a != NULL, b != NULL);
	if (!a)
		return;
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->nlinks, b->nlinks);
	assert_true(a->interval_ns == b->interval_ns && a->lost == b->lost &&
		    a->switches == b->switches && a->cost == b->cost);
	for (size_t i = 0; i < a->n; i++)
		if (!same_site(a, &a->sites[i], b, &b->sites[i]))
			fail_msg("sample %u: site %zu is another", turn, i);
	for (size_t i = 0; i < a->nlinks; i++)
		assert_int_equal(site_link_compare(&a->links[i], &b->links[i]), 0);
}

/* Asserts that the frame that was read is the one that was written. */
static void compare(const struct frame *live, const struct frame *again, unsigned turn)
{
	const struct frame_info *a = live->info, *b = again->info;

	assert_int_equal(again->n, live->n);
	assert_int_equal(a->real_ns, b->real_ns);
	assert_int_equal(a->cur->end_ns, b->cur->end_ns);
	assert_memory_equal(a->system, b->system, sizeof(*a->system));
	assert_int_equal(a->clocks->n, b->clocks->n);
	assert_int_equal(a->head.nnotes, b->head.nnotes);
	assert_int_equal(a->head.exits, b->head.exits);
	for (size_t i = 0; i < live->n; i++) {
		const struct row *x = &live->rows[i], *y = &again->rows[i];
		const struct io_pressure *io = row_io_bound(a, x), *bound = row_io_bound(b, y);

		if (!same_raw(x->raw, y->raw))
			fail_msg("sample %u: element %zu is another", turn, i);
		if (!same_task(x->task, y->task, x->exited))
			fail_msg("sample %u: task %zu is another", turn, i);
		if (!same_row(x, y))
			fail_msg("sample %u: task %zu did otherwise", turn, i);
		if (!same_traced(x->traced, y->traced))
			fail_msg("sample %u: task %zu was traced otherwise", turn, i);
		assert_int_equal(!io, !bound);
		if (io)
			assert_memory_equal(io, bound, sizeof(*io));
	}
	compare_traces(a->trace, b->trace, turn);
	assert_int_equal(a->stale, b->stale);
}

/* Writes and reads a made-up machine; every so many records one is dropped, or a key record. */
static void check_machine(struct play_machine machine, unsigned samples, unsigned drop,
			  unsigned restart)
{
	struct record_state *writer = record_open();
	struct player player = { .state = record_open() };
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
		if (record_decode(player.state, bytes.data, bytes.len, false))
			fail_msg("sample %u is bad", i);
		if (drop && i % drop == 0 && i) {
			const struct frame *again = play(&player);

			/* Behind a gap the interval is longer. */
			assert_int_equal(again->n, live->n);
			assert_int_equal(again->info->head.notes[again->info->head.nnotes - 1].id,
					 NOTE_RECORD_DROPPED);
			continue;
		}
		compare(live, play(&player), i);
	}
	buf_free(&bytes);
	record_close(writer);
	player_free(&player);
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
		struct player player = { .state = record_open() };
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
			err = record_decode(player.state, copy, len, false);
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
	}
	assert_in_range(refused, 1000, 3000);
	buf_free(&bytes);
	record_close(writer);
	play_free(&machine);
}
