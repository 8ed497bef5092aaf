// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that have exited, where each has a row; leaders that go first; exec by a thread. */
#include "tests/lib/test.h"

#include "tests/lib/departing.h"

/* A process of threads 5, 6 ... that began at 50 s, with base 7 each, in sample 0. */
static void add_process(struct scene *scene, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++)
		give(scene_add(&scene->samples[0], 5, 5 + (pid_t)i, SEC(50) + MS(i)), 7);
}

/* The next reading of one of them. */
static struct task_raw *read_again(struct scene *scene, unsigned to, pid_t pid, uint64_t base)
{
	struct task_raw *raw =
		scene_again(&scene->samples[to], sample_find(&scene->samples[to - 1], 5, pid));

	raw->exited = false;
	raw->was = 0;
	give(raw, base);
	return raw;
}

/* The leader's end, while others go on. */
static struct exit_record leader_ended(uint64_t base)
{
	return thread_ended(5, 5, SEC(50), SEC(101), base);
}

/* A thread ends: known before or not, its process goes on. */
SCENE_TEST(test_thread)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 7, SEC(50) + MS(2), SEC(101), 20),
		thread_ended(5, 8, SEC(101), SEC(101) + MS(50), 30),
	};
	const struct row *row;

	add_process(scene, 3);
	read_again(scene, 1, 5, 12);
	read_again(scene, 1, 6, 13);
	merge(scene, 1, true, records, 2);
	assert_int_equal(scene->frame.n, 4);
	check_delta(row_of(scene, 5, false), 7, 12);
	check_delta(row_of(scene, 6, false), 7, 13);
	check_delta(row_of(scene, 7, true), 7, 20);
	row = row_of(scene, 8, true);
	check_delta(row, 0, 30);
	assert_true(row->born);
	assert_int_equal(row->task->tgid, 5);
	assert_int_equal(row->task->key.pid, 8);
	assert_int_equal(row->raw->tgid, 5);
	assert_int_equal(scene->info.born, 1);
	assert_int_equal(scene->info.gone, 1);
}

/* A thread ends right after it was read; the other is there no more, and without a record. */
SCENE_TEST(test_just_read)
{
	struct scene *scene = *state;
	struct exit_record record = thread_ended(5, 6, SEC(50) + MS(1), SEC(102) + MS(5), 20);

	add_process(scene, 3);
	read_again(scene, 1, 5, 12);
	read_again(scene, 1, 6, 13);
	merge(scene, 1, true, &record, 1);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, false), 7, 12);
	check_delta(row_of(scene, 6, true), 7, 20);
	read_again(scene, 2, 5, 14);
	merge(scene, 2, true, NULL, 0);
	assert_int_equal(scene->frame.n, 1);
	check_delta(row_of(scene, 5, false), 12, 14);
}

/* The process ends with all its threads; the last one's record has the task's counters. */
SCENE_TEST(test_all)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 7, SEC(50) + MS(2), SEC(101), 20),
		leader_ended(30),
		thread_ended(5, 6, SEC(50) + MS(1), SEC(101) + MS(1), 40),
	};

	records[2].last = true;
	add_process(scene, 3);
	merge(scene, 1, true, records, 3);
	assert_int_equal(scene->frame.n, 3);
	check_delta(row_of(scene, 5, true), 7, 30);
	check_delta(row_of(scene, 6, true), 7, 40);
	check_delta(row_of(scene, 7, true), 7, 20);
	assert_int_equal(scene->info.gone, 3);
}

/* A leader that ended stays listed while threads go on: its counters once, then no more. */
SCENE_TEST(test_leader_first)
{
	struct scene *scene = *state;
	struct exit_record leader = leader_ended(20), last;

	add_process(scene, 2);
	read_again(scene, 1, 5, 20);
	read_again(scene, 1, 6, 13);
	merge(scene, 1, true, &leader, 1);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, true), 7, 20);
	check_delta(row_of(scene, 6, false), 7, 13);
	/* The other thread ends too. */
	last = thread_ended(5, 6, SEC(50) + MS(1), SEC(103), 25);
	last.last = true;
	last.lo_ns = DRAINED(1);
	last.hi_ns = DRAINED(2);
	read_again(scene, 2, 5, 20);
	merge(scene, 2, true, &last, 1);
	assert_int_equal(scene->frame.n, 2);
	check_delta(row_of(scene, 5, false), 20, 20);
	check_delta(row_of(scene, 6, true), 13, 25);
}

/* A leader that ended right after it was read is no thread that called exec. */
SCENE_TEST(test_leader_just_read)
{
	struct scene *scene = *state;
	struct exit_record record = thread_ended(5, 5, SEC(50), SEC(102) + MS(5), 20);

	add_process(scene, 2);
	read_again(scene, 1, 5, 19);
	read_again(scene, 1, 6, 13);
	merge(scene, 1, true, &record, 1);
	assert_int_equal(scene->frame.n, 2);
	assert_int_equal(scene->info.born, 0);
	check_delta(row_of(scene, 5, true), 7, 20);
	check_delta(row_of(scene, 6, false), 7, 13);
	/* It is listed as before. */
	read_again(scene, 2, 5, 20);
	read_again(scene, 2, 6, 14);
	merge(scene, 2, true, NULL, 0);
	check_delta(row_of(scene, 5, false), 20, 20);
	check_delta(row_of(scene, 6, false), 13, 14);
}

/* The same where only whole processes have a row: the process goes on, until the last ends. */
SCENE_TEST(test_leader_first_process)
{
	struct scene *scene = *state;
	struct exit_record leader = leader_ended(20), last;

	add_process(scene, 1);
	read_again(scene, 1, 5, 35);
	merge(scene, 1, false, &leader, 1);
	assert_int_equal(scene->frame.n, 1);
	check_delta(row_of(scene, 5, false), 7, 35);
	last = ended(6, SEC(50), SEC(103), 50);
	last.tgid = 5;
	last.lo_ns = DRAINED(1);
	last.hi_ns = DRAINED(2);
	merge(scene, 2, false, &last, 1);
	assert_int_equal(scene->frame.n, 1);
	check_delta(row_of(scene, 5, true), 35, 50);
}

/* Thread 6 called exec: it is 5 now, and goes on from its own counters. The old 5 has ended. */
SCENE_TEST(test_exec)
{
	struct scene *scene = *state;

	/* It may have done more than the leader, or less. */
	for (uint64_t base = 2; base < 60; base += 50) {
		struct exit_record records[] = {
			leader_ended(30),
			thread_ended(5, 7, SEC(50) + MS(2), SEC(101), 20),
		};
		const struct row *row;
		struct task_raw *raw;

		add_process(scene, 3);
		give(sample_find(&scene->samples[0], 5, 6), base);
		raw = read_again(scene, 1, 5, base + 4);
		merge(scene, 1, true, records, 2);
		assert_int_equal(raw->was, 6);
		assert_int_equal(scene->frame.n, 3);
		row = row_of(scene, 5, false);
		check_delta(row, base, base + 4);
		assert_ptr_equal(row->before, sample_find(&scene->samples[0], 5, 6));
		assert_false(row->born);
		check_delta(row_of(scene, 5, true), 7, 30);
		assert_ptr_equal(row_of(scene, 5, true)->before, scene->samples[0].raw[0]);
		check_delta(row_of(scene, 7, true), 7, 20);
		assert_int_equal(scene->info.born, 0);
		/* From then on it is a task as all others. */
		raw = read_again(scene, 2, 5, base + 10);
		merge(scene, 2, true, NULL, 0);
		assert_int_equal(scene->frame.n, 1);
		check_delta(row_of(scene, 5, false), base + 4, base + 10);
		for (unsigned i = 0; i < 3; i++)
			sample_reset(&scene->samples[i]);
	}
}

/* A thread that was never read called exec: all of it is new. */
SCENE_TEST(test_exec_new)
{
	struct scene *scene = *state;
	struct exit_record record = leader_ended(30);
	const struct row *row;

	add_process(scene, 1);
	read_again(scene, 1, 5, 3);
	merge(scene, 1, true, &record, 1);
	assert_int_equal(scene->samples[1].raw[0]->was, -1);
	assert_int_equal(scene->frame.n, 2);
	row = row_of(scene, 5, false);
	check_delta(row, 0, 3);
	assert_true(row->born);
	check_delta(row_of(scene, 5, true), 7, 30);
	assert_int_equal(scene->info.born, 1);
}

/* It called exec and ended, all in one interval. */
SCENE_TEST(test_exec_ended)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		leader_ended(30),
		ended(5, SEC(50), SEC(101) + MS(9), 15),
	};
	uint64_t sum = 0;

	add_process(scene, 2);
	give(sample_find(&scene->samples[0], 5, 6), 10);
	merge(scene, 1, true, records, 2);
	assert_int_equal(scene->frame.n, 2);
	assert_true(scene->frame.rows[0].exited && scene->frame.rows[1].exited);
	/* Which of the two goes on from the leader's reading is not known. */
	for (unsigned i = 0; i < 2; i++)
		sum += scene->frame.rows[i].deltas->grown.delay[DELAY_CPU].ns;
	assert_true(sum <= MS(30 - 7 + 15));
}

/* An id that another process's thread had: a thread is known by both. */
SCENE_TEST(test_moved_id)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 6, SEC(50) + MS(1), SEC(101), 20),
		thread_ended(9, 6, SEC(101) + MS(500), SEC(101) + MS(550), 30),
	};

	add_process(scene, 2);
	give(scene_add(&scene->samples[0], 9, 9, SEC(60)), 7);
	read_again(scene, 1, 5, 12);
	scene_again(&scene->samples[1], scene->samples[0].raw[2]);
	merge(scene, 1, true, records, 2);
	assert_int_equal(scene->frame.n, 4);
	for (size_t i = 2; i < 4; i++) {
		const struct row *row = &scene->frame.rows[i];

		assert_true(row->exited);
		assert_int_equal(row->raw->pid, 6);
		check_delta(row, row->raw->tgid == 5 ? 7 : 0, row->raw->tgid == 5 ? 20 : 30);
	}
}

/* The same thread id twice in one process. */
SCENE_TEST(test_reuse)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		thread_ended(5, 6, SEC(101) + MS(500), SEC(101) + MS(550), 30),
		thread_ended(5, 6, SEC(50) + MS(1), SEC(101), 20),
	};

	add_process(scene, 2);
	read_again(scene, 1, 5, 12);
	merge(scene, 1, true, records, 2);
	assert_int_equal(scene->frame.n, 3);
	for (size_t i = 1; i < 3; i++) {
		const struct row *row = &scene->frame.rows[i];

		check_delta(row, row->born ? 0 : 7, row->born ? 30 : 20);
	}
	assert_int_equal(scene->info.born, 1);
}

/* Many short-lived threads of one name are one row. */
SCENE_TEST(test_fold)
{
	struct scene *scene = *state;
	struct exit_record records[10];
	const struct row *row;

	add_process(scene, 1);
	read_again(scene, 1, 5, 12);
	for (unsigned i = 0; i < 10; i++)
		records[i] = thread_ended(5, 20 + (pid_t)i, SEC(101), SEC(101) + MS(40), 10);
	merge(scene, 1, true, records, 10);
	assert_int_equal(scene->frame.n, 2);
	row = &scene->frame.rows[1];
	assert_int_equal(row->members, 10);
	assert_int_equal(row->deltas->grown.delay[DELAY_CPU].ns, MS(100));
	assert_string_equal(row->task->ended, "10 tasks");
	assert_int_equal(scene->info.born, 10);
}
