// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that have exited: their last counters are counted once, in the right place. */
#include "tests/lib/test.h"

#include "tests/lib/departing.h"

/* Known before, and gone: a row behind the living, with what it did since. */
SCENE_TEST(test_known)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(50), SEC(101), 20);
	const struct row *row;

	scene_add(&scene->samples[0], 4, 4, SEC(1));
	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	scene_again(&scene->samples[1], scene->samples[0].raw[0]);
	merge(scene, 1, false, &record, 1);
	assert_int_equal(scene->frame.n, 2);
	assert_int_equal(scene->samples[1].n, 1);
	assert_int_equal(scene->samples[1].left, 1);
	row = &scene->frame.rows[1];
	check_delta(row, 7, 20);
	assert_true(row->exited);
	assert_false(row->born);
	assert_int_equal(row->members, 1);
	assert_true(row->interval_ns == SEC(2));
	assert_ptr_equal(row->task, scene->samples[0].raw[1]->task);
	assert_ptr_equal(row->before, scene->samples[0].raw[1]);
	assert_int_equal(row->raw->counters.delay[DELAY_CPU].ns, MS(20));
	assert_true(row->raw->counters.life_ns == SEC(51));
	assert_true(row->raw->single);
	assert_false(scene->frame.rows[0].exited);
	assert_int_equal(scene->info.born, 0);
	assert_int_equal(scene->info.gone, 1);
	assert_int_equal(scene->info.ended, 1);
}

/* A process is one, however many threads of it have ended; one of which some live has not. */
SCENE_TEST(test_counted)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 6, SEC(50), SEC(101), 1),
		thread_ended(5, 7, SEC(50), SEC(101), 1),
		ended(5, SEC(50), SEC(101), 20),
		thread_ended(8, 9, SEC(50), SEC(101), 1),
	};

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	give(scene_add(&scene->samples[0], 8, 8, SEC(50)), 7);
	give(scene_again(&scene->samples[1], scene->samples[0].raw[1]), 9);
	merge(scene, 1, false, records, ARRAY_SIZE(records));
	assert_int_equal(scene->info.ended, 1);
}

/* Came and went between two readings: all it ever did. */
SCENE_TEST(test_short)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(101), SEC(101) + MS(30), 20);
	const struct row *row;

	merge(scene, 1, false, &record, 1);
	assert_int_equal(scene->frame.n, 1);
	row = &scene->frame.rows[0];
	check_delta(row, 0, 20);
	assert_true(row->exited);
	assert_true(row->born);
	assert_true(row->interval_ns == SEC(2));
	assert_int_equal(scene->info.born, 1);
	assert_int_equal(row->task->key.pid, 5);
	assert_int_equal(row->task->tgid, 5);
	assert_int_equal(row->task->ppid, 1);
	assert_int_equal(row->task->uid, 1000);
	assert_string_equal(row->task->comm, "worker");
	assert_true(row->task->start_lo <= SEC(101) && row->task->start_hi >= SEC(101));
	assert_in_range(row->task->key.start_ns, row->task->start_lo, row->task->start_hi);
	assert_true(row->task->latest_ns == DRAINED(1) - MS(30));
}

/* It began before the sample in which it was missed: how much it did since nobody knows. */
SCENE_TEST(test_unread)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(50), SEC(101), 20);
	const struct row *row;

	merge(scene, 1, false, &record, 1);
	row = row_of(scene, 5, true);
	assert_false(row->born);
	assert_int_equal(row->valid, 0);
	assert_true(row->deltas->total.ns == 0);
	assert_int_equal(row->raw->counters.delay[DELAY_CPU].ns, MS(20));
	assert_int_equal(scene->info.born, 0);
}

/* A zombie reads 0: it gets its last counters, once. */
SCENE_TEST(test_zombie)
{
	struct scene *scene = *state;

	for (unsigned known = 0; known < 2; known++) {
		uint64_t start = known ? SEC(50) : SEC(101);
		struct exit_record record = ended(5, start, SEC(101) + MS(500), 20);
		struct task_raw *raw;
		const struct row *row;

		if (known) {
			give(scene_add(&scene->samples[0], 5, 5, start), 7);
			raw = scene_again(&scene->samples[1], scene->samples[0].raw[0]);
			*raw = (struct task_raw){ .task = raw->task,
						  .tgid = 5,
						  .pid = 5,
						  .counters.members = 1,
						  .read_ns = SEC(102),
						  .counters.valid = SCENE_VALID };
		} else {
			raw = scene_add(&scene->samples[1], 5, 5, start);
		}
		merge(scene, 1, false, &record, 1);
		assert_int_equal(scene->frame.n, 1);
		row = &scene->frame.rows[0];
		check_delta(row, known ? 7 : 0, 20);
		assert_true(row->exited);
		assert_int_equal(row->born, !known);
		/* Still there. */
		raw = scene_again(&scene->samples[2], scene->samples[1].raw[0]);
		*raw = (struct task_raw){ .task = raw->task,
					  .tgid = 5,
					  .pid = 5,
					  .counters.members = 1,
					  .read_ns = SEC(104),
					  .counters.valid = SCENE_VALID };
		merge(scene, 2, false, NULL, 0);
		assert_int_equal(scene->frame.n, 1);
		row = &scene->frame.rows[0];
		check_delta(row, 1, 1);
		assert_false(row->exited);
		assert_false(row->born);
		for (unsigned i = 0; i < 3; i++)
			sample_reset(&scene->samples[i]);
	}
}

/* It slept since long before, and was not read again: it is as old as its record says. */
SCENE_TEST(test_unchanged)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(50), SEC(102) + MS(10), 20);
	struct task_raw *raw;

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 20);
	scene->samples[0].raw[0]->read_ns = SEC(60);
	raw = scene_again(&scene->samples[1], scene->samples[0].raw[0]);
	raw->read_ns = SEC(60);
	merge(scene, 1, false, &record, 1);
	assert_true(scene->frame.rows[0].exited);
	assert_int_equal(row_age_ns(&scene->frame, &scene->frame.rows[0]), SEC(52) + MS(10));
}

/* It ended between its reading and the drain: all in this interval, nothing in the next. */
SCENE_TEST(test_just_read)
{
	struct scene *scene = *state;

	for (unsigned known = 0; known < 2; known++) {
		uint64_t start = known ? SEC(50) : SEC(101);
		struct exit_record record = ended(5, start, SEC(102) + MS(5), 20);

		if (known)
			give(scene_add(&scene->samples[0], 5, 5, start), 7);
		give(known ? scene_again(&scene->samples[1], scene->samples[0].raw[0])
			   : scene_add(&scene->samples[1], 5, 5, start),
		     12);
		merge(scene, 1, false, &record, 1);
		assert_int_equal(scene->frame.n, 1);
		check_delta(row_of(scene, 5, true), known ? 7 : 0, 20);
		merge(scene, 2, false, NULL, 0);
		assert_int_equal(scene->frame.n, 0);
		assert_int_equal(scene->info.gone, 1);
		for (unsigned i = 0; i < 3; i++)
			sample_reset(&scene->samples[i]);
	}
}

/* It ended between the drain and the next reading, or right before the drain that follows. */
SCENE_TEST(test_just_drained)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		ended(5, SEC(50), DRAINED(0) + 1, 20),
		ended(6, SEC(50), DRAINED(1), 20),
		ended(7, DRAINED(0) + 1, DRAINED(0) + MS(20), 20),
	};

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	give(scene_add(&scene->samples[0], 6, 6, SEC(50)), 7);
	merge(scene, 1, false, records, 3);
	assert_int_equal(scene->frame.n, 3);
	check_delta(row_of(scene, 5, true), 7, 20);
	check_delta(row_of(scene, 6, true), 7, 20);
	check_delta(row_of(scene, 7, true), 0, 20);
}

/* The task was held up behind its last figures: its record came one drain late. */
SCENE_TEST(test_held_up)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(99) + MS(900), SEC(100) - MS(5), 20);

	give(scene_add(&scene->samples[0], 5, 5, SEC(99) + MS(900)), 18);
	merge(scene, 1, false, &record, 1);
	assert_int_equal(scene->frame.n, 1);
	check_delta(row_of(scene, 5, true), 18, 20);
	assert_int_equal(scene->info.born, 0);
}

/* The end of a thread is none of its process's. */
SCENE_TEST(test_thread)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 8, SEC(60), SEC(101), 40),
		thread_ended(5, 5, SEC(50), SEC(101), 60),
		thread_ended(5, 9, SEC(101), SEC(101) + MS(30), 20),
	};

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	give(scene_again(&scene->samples[1], scene->samples[0].raw[0]), 12);
	merge(scene, 1, false, records, 3);
	assert_int_equal(scene->frame.n, 1);
	check_delta(row_of(scene, 5, false), 7, 12);
	assert_null(scene->frame.rows[0].task->ended);
}

/* The last of several threads ends the process, under the leader's id and name. */
SCENE_TEST(test_last_thread)
{
	struct scene *scene = *state;

	for (unsigned known = 0; known < 2; known++) {
		uint64_t start = known ? SEC(50) : SEC(101);
		struct exit_record records[] = {
			ended(8, start, SEC(101) + MS(500), 40),
			thread_ended(5, 5, start, SEC(101) + MS(400), 60),
		};
		const struct row *row;

		records[0].tgid = 5;
		records[0].single = false;
		records[0].counters.life_ns = 0;
		memcpy(records[0].comm, "helper", 7);
		if (known) {
			give(scene_add(&scene->samples[0], 5, 5, start), 7);
			task_set_comm(scene->samples[0].raw[0]->task, "worker", 6);
		}
		/* The leader may have ended long before. */
		merge(scene, 1, false, records, known ? 1 : 2);
		assert_int_equal(scene->frame.n, 1);
		row = row_of(scene, 5, true);
		check_delta(row, known ? 7 : 0, 40);
		assert_int_equal(row->raw->tgid, 5);
		assert_int_equal(row->task->key.pid, 5);
		assert_string_equal(row->task->comm, "worker");
		assert_false(row->raw->single);
		assert_true(row->raw->counters.life_ns == 0);
		for (unsigned i = 0; i < 3; i++)
			sample_reset(&scene->samples[i]);
	}
}

/* It was read under its old name, before it called exec. */
SCENE_TEST(test_renamed)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(50), SEC(101), 20);

	task_set_comm(scene_add(&scene->samples[0], 5, 5, SEC(50))->task, "shell", 5);
	merge(scene, 1, false, &record, 1);
	assert_string_equal(row_of(scene, 5, true)->task->comm, "worker");
}

/* The pid is another's now: the old one has ended, the new one lives. */
SCENE_TEST(test_reuse)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(50), SEC(101), 20);
	const struct row *row;

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	give(scene_add(&scene->samples[1], 5, 5, SEC(101) + MS(500)), 30);
	merge(scene, 1, false, &record, 1);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, true), 7, 20);
	assert_false(row_of(scene, 5, true)->born);
	row = row_of(scene, 5, false);
	check_delta(row, 0, 30);
	assert_true(row->born);
	assert_int_equal(scene->info.born, 1);
}

/* The old one has ended, and the new one too; the order of their records is free. */
SCENE_TEST(test_reuse_both)
{
	struct scene *scene = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct exit_record old = ended(5, SEC(50), SEC(101), 20);
		struct exit_record new = ended(5, SEC(101) + MS(100), SEC(101) + MS(150), 30);
		struct exit_record records[] = { i ? old : new, i ? new : old };
		unsigned born = 0;

		give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
		merge(scene, 1, false, records, 2);
		assert_int_equal(scene->frame.n, 2);
		for (unsigned k = 0; k < 2; k++) {
			const struct row *row = &scene->frame.rows[k];

			assert_true(row->exited);
			check_delta(row, row->born ? 0 : 7, row->born ? 30 : 20);
			born += row->born;
		}
		assert_int_equal(born, 1);
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* So young that by their starts either record might be the one read before: the longer life is. */
SCENE_TEST(test_reuse_young)
{
	struct scene *scene = *state;

	for (unsigned i = 0; i < 4; i++) {
		struct exit_record old = ended(5, SEC(100) - MS(50), SEC(101), 20);
		struct exit_record new = ended(5, SEC(101) + MS(600), SEC(101) + MS(650), 30);
		struct exit_record records[] = { i % 2 ? old : new, i % 2 ? new : old };
		bool threads = i / 2;
		unsigned born = 0;

		give(scene_add(&scene->samples[0], 5, 5, SEC(100) - MS(50)), 7);
		merge(scene, 1, threads, records, 2);
		assert_int_equal(scene->frame.n, 2);
		for (unsigned k = 0; k < 2; k++) {
			const struct row *row = &scene->frame.rows[k];

			check_delta(row, row->born ? 0 : 7, row->born ? 30 : 20);
			born += row->born;
		}
		assert_int_equal(born, 1);
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* The record might be the new one's, by its start; but the old one was there, and has gone. */
SCENE_TEST(test_reuse_young_lives)
{
	struct scene *scene = *state;
	struct exit_record record = ended(5, SEC(100) - MS(50), SEC(100) + MS(150), 20);

	give(scene_add(&scene->samples[0], 5, 5, SEC(100) - MS(50)), 7);
	give(scene_add(&scene->samples[1], 5, 5, SEC(101) + MS(500)), 30);
	merge(scene, 1, false, &record, 1);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, true), 7, 20);
	check_delta(row_of(scene, 5, false), 0, 30);
}

/* The old one has ended, and the new one is a zombie that reads 0. */
SCENE_TEST(test_reuse_zombie)
{
	struct scene *scene = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct exit_record old = ended(5, SEC(50), SEC(101), 20);
		struct exit_record new = ended(5, SEC(101) + MS(100), SEC(101) + MS(150), 30);
		struct exit_record records[] = { i ? old : new, i ? new : old };

		give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
		scene_add(&scene->samples[1], 5, 5, SEC(101) + MS(100));
		merge(scene, 1, false, records, 2);
		assert_int_equal(scene->frame.n, 2);
		check_delta(&scene->frame.rows[0], 0, 30);
		assert_true(scene->frame.rows[0].exited && scene->frame.rows[0].born);
		check_delta(&scene->frame.rows[1], 7, 20);
		assert_true(scene->frame.rows[1].exited && !scene->frame.rows[1].born);
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* In the first sample ends only mark who is there. */
SCENE_TEST(test_first)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		ended(5, SEC(50), SEC(100), 20),
		ended(6, SEC(50), SEC(100), 20),
	};
	struct task_raw *raw;

	for (unsigned i = 0; i < 2; i++) {
		records[i].lo_ns = SEC(99);
		records[i].hi_ns = DRAINED(0);
	}
	scene_add(&scene->samples[0], 5, 5, SEC(50));
	scene_add(&scene->samples[0], 7, 7, SEC(50));
	merge(scene, 0, false, records, 2);
	assert_int_equal(scene->frame.n, 2);
	assert_true(scene->frame.rows[0].exited);
	assert_false(scene->frame.rows[1].exited);
	assert_int_equal(scene->samples[0].raw[0]->counters.delay[DELAY_CPU].ns, MS(20));
	/* It is a baseline for what comes. */
	raw = scene_again(&scene->samples[1], scene->samples[0].raw[0]);
	*raw = (struct task_raw){ .task = raw->task,
				  .tgid = 5,
				  .pid = 5,
				  .counters.members = 1,
				  .read_ns = SEC(102),
				  .counters.valid = SCENE_VALID };
	merge(scene, 1, false, NULL, 0);
	check_delta(row_of(scene, 5, false), 1, 1);
}

/* A record that does not say its group: a process's, if nothing has that id any more. */
SCENE_TEST(test_old_version)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(0, 5, SEC(50), SEC(101), 20),
		thread_ended(0, 6, SEC(50), SEC(101), 20),
	};

	give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
	give(scene_add(&scene->samples[0], 6, 6, SEC(50)), 7);
	give(scene_again(&scene->samples[1], scene->samples[0].raw[1]), 12);
	merge(scene, 1, false, records, 2);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, true), 7, 20);
	check_delta(row_of(scene, 6, false), 7, 12);
}
