// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that ended are folded in the middle of a long interval, as their number has no bound. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>

#include "base/util.h"
#include "tests/lib/departing.h"

/* Folds between two drains. How many remain. */
static size_t fold_long(const struct scene *scene, struct exit_record *records, size_t n,
			bool (*gone)(void *arg, pid_t pid), void *arg)
{
	struct exit_batch batch = { .records = records, .n = n, .gone = gone, .arg = arg };

	return exit_fold_kept(&batch, &scene->samples[0], SIZE_MAX);
}

/* Whether the pid is even; counts the questions. */
static bool is_even(void *arg, pid_t pid)
{
	++*(unsigned *)arg;
	return pid % 2 == 0;
}

/* In a long interval what began in it and has gone for good is folded, however few. */
SCENE_TEST(test_long)
{
	struct scene *scene = *state;
	struct exit_record records[20];
	unsigned asked = 0, members = 0;
	uint64_t sum = 0;
	size_t n;

	make_alike(records, 20);
	/* 28, 29: older. 30 ... 33 another's; of 34 ... 39 one name each. */
	for (unsigned i = 8; i < 20; i++) {
		if (i < 10)
			records[i] = ended((pid_t)(20 + i), SEC(50), SEC(101), i + 1);
		else if (i < 14)
			records[i].ppid = 2;
		else
			records[i].comm[6] = (char)('a' + i);
	}
	n = fold_long(scene, records, 20, is_even, &asked);
	assert_int_equal(asked, 18);
	/* 20 22 24 26 and 30 32 become one each. */
	assert_int_equal(n, 20 - 3 - 1);
	for (size_t i = 0; i < n; i++) {
		members += records[i].counters.members;
		sum += records[i].counters.run_ns - 50 * records[i].counters.members;
		if (records[i].counters.members > 1)
			assert_int_equal(records[i].counters.members, records[i].ppid == 2 ? 2 : 4);
	}
	assert_int_equal(members, 20);
	assert_int_equal(sum, MS(20 * 21 / 2));
	/* Again, and then into a sample: nothing is counted twice. */
	n = fold_long(scene, records, n, is_even, &asked);
	assert_int_equal(n, 16);
	merge(scene, 1, false, records, n);
	assert_int_equal(scene->info.born, 18);
	for (sum = n = 0; n < scene->frame.n; n++)
		sum += scene->frame.rows[n].deltas->grown.delay[DELAY_CPU].count;
	assert_int_equal(sum, 10 * (20 * 21 / 2 - 9 - 10));
}

/* Names that are too many: who did most is kept, the others are one for each user, all is there. */
SCENE_TEST(test_long_names)
{
	struct scene *scene = *state;
	struct exit_record records[60];
	struct exit_batch batch = { .records = records, .n = 0, .gone = is_gone };
	uint64_t sum = 0;
	unsigned members = 0, others = 0;

	/* In three portions, of which the last is for the sample. */
	for (unsigned i = 0; i < 60; i++) {
		struct exit_record *record = &records[batch.n++];

		*record = ended((pid_t)(20 + i), SEC(101), SEC(101) + MS(40), 1 + i * 7 % 60);
		snprintf(record->comm, sizeof(record->comm), "new-%u", i);
		record->ppid = 10 + (pid_t)i % 3;
		record->uid = 1000 + i % 2;
		if (i % 20 == 19 && i < 59) {
			batch.n = exit_fold_kept(&batch, &scene->samples[0], 10);
			assert_int_equal(batch.n, 10 + 2);
		}
	}
	assert_int_equal(exit_fold_others(&batch), 30);
	merge(scene, 1, false, records, batch.n);
	assert_int_equal(scene->frame.n, 10 + 2 + 20);
	for (size_t i = 0; i < scene->frame.n; i++) {
		const struct row *row = &scene->frame.rows[i];

		members += row->members;
		sum += row->deltas->grown.delay[DELAY_CPU].ns;
		if (row->members > 1) {
			assert_string_equal(row->task->comm, EXIT_OTHERS);
			assert_true(row->task->mixed);
			others += row->members;
		}
	}
	assert_int_equal(others, 30);
	assert_int_equal(members, 60);
	assert_int_equal(sum, MS(60 * 61 / 2));
}

/* Ends of threads stay apart from those of their processes, which count them already. */
SCENE_TEST(test_long_threads)
{
	struct scene *scene = *state;

	for (unsigned order = 0; order < 2; order++) {
		struct exit_record records[24];
		size_t n;

		for (unsigned i = 0; i < 24; i++) {
			pid_t pid = (pid_t)(20 + (order ? 23 - i : i)), tgid = pid - pid % 3 + 2;
			struct exit_record *record = &records[i];

			*record = thread_ended(tgid, pid, SEC(101), SEC(101) + MS(40), 10);
			if (pid % 3 != 1)
				continue;
			/* The third is the last, with the sum. */
			fill(&record->counters, 30);
			record->last = true;
			record->single = false;
			record->counters.life_ns = 0;
		}
		/* The processes are one; of 20 it is a thread that ended, alone. */
		n = fold_long(scene, records, 24, is_gone, NULL);
		assert_int_equal(n, 2);
		merge(scene, 1, false, records, n);
		assert_int_equal(scene->frame.n, 1);
		assert_int_equal(scene->frame.rows[0].members, 8);
		assert_int_equal(scene->frame.rows[0].deltas->grown.delay[DELAY_CPU].ns,
				 MS(8 * 30));
		sample_reset(&scene->samples[1]);
	}
}

/* Who was read before goes on from there, though by its record alone it might be new. */
SCENE_TEST(test_long_known)
{
	struct scene *scene = *state;
	struct exit_record records[5];
	size_t n;

	make_alike(records, 5);
	for (unsigned i = 0; i < 5; i++)
		records[i].life_ns = records[i].counters.life_ns = MS(500);
	give(scene_add(&scene->samples[0], 22, 22, SEC(100) - MS(10)), 1);
	records[2].hi_ns = SEC(101) + MS(20);
	n = fold_long(scene, records, 5, is_gone, NULL);
	assert_int_equal(n, 2);
	merge(scene, 1, false, records, n);
	check_delta(row_of(scene, 22, true), 1, 3);
	assert_int_equal(run_of_all(&scene->frame), MS(1 + 2 + 2 + 4 + 5) + 4 * 50);
}

/* A process is there as long as its leader is, whichever thread was its last. */
SCENE_TEST(test_long_leader)
{
	struct scene *scene = *state;
	struct exit_record records[8];
	unsigned asked = 0;

	make_alike(records, 8);
	for (unsigned i = 0; i < 8; i++) {
		records[i].tgid = 21 + 20 * (pid_t)i;
		records[i].pid = 22 + 20 * (pid_t)i;
	}
	assert_int_equal(fold_long(scene, records, 8, is_even, &asked), 8);
	assert_int_equal(asked, 8);
}

/* Nothing to fold. */
SCENE_TEST(test_long_none)
{
	struct exit_record record = ended(5, SEC(101), SEC(101) + MS(40), 10);
	const struct scene *scene = *state;

	assert_int_equal(fold_long(scene, &record, 0, is_gone, NULL), 0);
	assert_int_equal(fold_long(scene, &record, 1, is_gone, NULL), 1);
	assert_int_equal(record.counters.members, 1);
	assert_int_equal(record.pid, 5);
}
