// SPDX-License-Identifier: GPL-2.0-or-later
/* Short-lived tasks that are alike become one row; how tasks ended; all their fields. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>

#include "base/util.h"
#include "tests/lib/departing.h"

/* As the kernel's wait status: by exit, by signal. */
#define EXIT(n) ((n) << 8)
#define KILLED(n) (n)

/* Where libc does not know the short names there are numbers. */
#ifdef HAVE_SIGABBREV_NP
#define WORD(name, number) "SIG" name
#else
#define WORD(name, number) "signal " number
#endif

/* How one task ended is told where it is not as usual. */
SCENE_TEST(test_epitaph)
{
	static const struct {
		uint32_t status;
		const char *words;
	} cases[] = {
		{ EXIT(0), NULL },
		{ EXIT(3), "exit 3" },
		{ EXIT(255), "exit 255" },
		{ KILLED(SIGKILL), WORD("KILL", "9") },
		{ KILLED(SIGSEGV) | 0x80, WORD("SEGV", "11") },
		{ KILLED(SIGTERM), WORD("TERM", "15") },
		{ KILLED(100), "signal 100" },
	};
	struct scene *scene = *state;

	for (unsigned zombie = 0; zombie < 2; zombie++) {
		for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
			struct exit_record record = ended(5, SEC(101), SEC(101) + MS(50), 20);
			const struct row *row;

			record.status = cases[i].status;
			if (zombie)
				scene_add(&scene->samples[1], 5, 5, SEC(101));
			merge(scene, 1, false, &record, 1);
			row = row_of(scene, 5, true);
			assert_int_equal(row->raw->task->status, cases[i].status);
			if (cases[i].words)
				assert_string_equal(row->task->ended, cases[i].words);
			else
				assert_null(row->task->ended);
			sample_reset(&scene->samples[1]);
		}
	}
}

/* Many alike are one row; what they did is added up. */
SCENE_TEST(test_fold)
{
	struct scene *scene = *state;
	struct exit_record records[8];
	const struct row *row;
	char words[32];

	for (unsigned n = 3; n <= 8; n++) {
		uint64_t sum = n * (n + 1) / 2;

		make_alike(records, n);
		records[2].status = KILLED(SIGKILL);
		merge(scene, 1, false, records, n);
		assert_int_equal(scene->info.born, n);
		if (n < EXIT_FOLD_MANY) {
			assert_int_equal(scene->frame.n, n);
			for (unsigned i = 0; i < n; i++)
				check_delta(row_of(scene, (pid_t)(20 + i), true), 0, i + 1);
		} else {
			assert_int_equal(scene->frame.n, 1);
			row = &scene->frame.rows[0];
			assert_int_equal(row->members, n);
			assert_true(row->born && row->exited);
			assert_false(row->raw->single);
			assert_string_equal(row->task->comm, "worker");
			assert_int_equal(row->task->ppid, 1);
			assert_int_equal(row->task->uid, 1000);
			assert_int_equal(row->deltas->grown.delay[DELAY_BLKIO].ns, MS(sum) + n);
			assert_int_equal(row->deltas->grown.delay[DELAY_BLKIO].count, 10 * sum + n);
			assert_int_equal(row->deltas->grown.run_ns, MS(sum) + 50 * n);
			assert_int_equal(row->raw->counters.user_ns, MS(3 * sum));
			snprintf(words, sizeof(words), "%u tasks, " WORD("KILL", "9"), n);
			assert_string_equal(row->task->ended, words);
		}
		sample_reset(&scene->samples[1]);
	}
}

/* Without a status that is worth a word it is their number alone. */
SCENE_TEST(test_fold_words)
{
	struct scene *scene = *state;
	struct exit_record records[5];

	make_alike(records, 5);
	merge(scene, 1, false, records, 5);
	assert_string_equal(scene->frame.rows[0].task->ended, "5 tasks");
}

/* What differs in parent, user or name is not alike. */
SCENE_TEST(test_fold_unlike)
{
	struct scene *scene = *state;

	for (unsigned what = 0; what < 4; what++) {
		struct exit_record records[6];

		make_alike(records, 6);
		for (unsigned i = 0; i < 3; i++) {
			if (what == 0)
				records[2 * i].ppid = 2;
			if (what == 1)
				records[2 * i].uid = 1001;
			if (what == 2)
				records[2 * i].comm[6] = '2';
		}
		/* Three of each stay; as a whole they are folded. */
		merge(scene, 1, false, records, 6);
		assert_int_equal(scene->frame.n, what == 3 ? 1 : 6);
		assert_int_equal(scene->info.born, 6);
		sample_reset(&scene->samples[1]);
	}
}

/* Groups of many sorts at once: each is folded by itself, and nothing gets lost. */
SCENE_TEST(test_fold_sorts)
{
	struct scene *scene = *state;
	struct exit_record records[60];
	unsigned folded = 0;
	uint64_t sum = 0;

	make_alike(records, 60);
	for (unsigned i = 0; i < 60; i++) {
		/* 3 of parent 2, 5 of 3, 11 of 4, 41 of 1 */
		records[i].ppid = i % 20 == 0 ? 2 : i % 12 == 1 ? 3 : i % 5 == 2 ? 4 : 1;
		records[i].counters.life_ns = SEC(1);
	}
	merge(scene, 1, false, records, 60);
	assert_int_equal(scene->frame.n, 3 + 1 + 1 + 1);
	for (size_t i = 0; i < scene->frame.n; i++) {
		const struct row *row = &scene->frame.rows[i];

		folded += row->members;
		sum += row->deltas->grown.delay[DELAY_CPU].ns;
		assert_int_equal(row->members, row->task->ppid == 2   ? 1
					       : row->task->ppid == 3 ? 5
					       : row->task->ppid == 4 ? 11
								      : 41);
	}
	assert_int_equal(folded, 60);
	assert_int_equal(scene->info.ended, 60);
	assert_int_equal(sum, MS(60 * 61 / 2));
}

/* Those known before have a row of their own: it goes on from their last reading. */
SCENE_TEST(test_fold_known)
{
	struct scene *scene = *state;
	struct exit_record records[9];

	make_alike(records, 9);
	for (unsigned i = 0; i < 4; i++) {
		records[2 * i] = ended((pid_t)(20 + 2 * i), SEC(50), SEC(101), 20);
		give(scene_add(&scene->samples[0], records[2 * i].pid, records[2 * i].pid, SEC(50)),
		     7);
	}
	/* Older than the interval but never read: what it did in it is not known. */
	records[8] = ended(28, SEC(50), SEC(101), 20);
	merge(scene, 1, false, records, 9);
	assert_int_equal(scene->frame.n, 4 + 1 + 1);
	for (pid_t pid = 20; pid < 28; pid += 2) {
		check_delta(row_of(scene, pid, true), 7, 20);
		assert_int_equal(row_of(scene, pid, true)->members, 1);
	}
	assert_int_equal(row_of(scene, 28, true)->valid, 0);
	assert_int_equal(scene->info.born, 4);
}

/* What several threads waited may be more than the others lived: that is not impossible. */
SCENE_TEST(test_fold_threads)
{
	struct scene *scene = *state;

	for (unsigned at = 0; at < 4; at++) {
		struct exit_record records[4];

		make_alike(records, 4);
		fill(&records[at].counters, 900);
		records[at].single = false;
		records[at].counters.life_ns = 0;
		merge(scene, 1, false, records, 4);
		assert_int_equal(scene->frame.n, 1);
		assert_int_equal(scene->info.stale, 0);
		assert_int_equal(scene->frame.rows[0].valid, SCENE_VALID);
		sample_reset(&scene->samples[1]);
	}
}

/* All fields come along, for the zombie and for who has gone. */
SCENE_TEST(test_fields)
{
	struct scene *scene = *state;
	struct exit_record records[] = {
		ended(5, SEC(50), SEC(101), 20),
		ended(6, SEC(101), SEC(101) + MS(40), 20),
		ended(7, SEC(101), SEC(101) + MS(40), 20),
	};
	struct task_record fields[4] = { 0 };
	struct exit_batch batch = { .records = records, .n = 3, .fields = fields };

	for (unsigned i = 0; i < 4; i++) {
		fields[i].fields_valid = 1;
		fields[i].field[0] = 100 + i;
	}
	for (unsigned i = 0; i < 3; i++)
		records[i].field = 3 - i;
	for (unsigned wanted = 0; wanted < 2; wanted++) {
		give(scene_add(&scene->samples[0], 5, 5, SEC(50)), 7);
		scene_add(&scene->samples[1], 4, 4, SEC(1));
		scene_add(&scene->samples[1], 6, 6, SEC(101));
		if (wanted)
			sample_extend(&scene->samples[1], NEED_RECORD);
		batch.fields = wanted ? fields : NULL;
		exit_merge(&batch, &scene->samples[0], &scene->samples[1]);
		scene_build(scene, 1, false, 0);
		assert_int_equal(scene->frame.n, 4);
		for (size_t i = 0; i < scene->frame.n; i++) {
			const struct row *row = &scene->frame.rows[i];
			const struct task_record *record = row_record(&scene->frame, row);

			assert_int_equal(record != NULL, wanted);
			if (record)
				assert_true(record->field[0] ==
					    (row->exited ? 108 - (unsigned)row->raw->pid : 0));
		}
		sample_reset(&scene->samples[0]);
		sample_reset(&scene->samples[1]);
	}
}

/* All that is a sum adds up where rows are folded; waits keep the longest. */
SCENE_TEST(test_fold_fields)
{
	struct scene *scene = *state;
	struct exit_record records[5];
	struct task_record fields[5] = { 0 };
	struct exit_batch batch = { .records = records, .n = 5, .fields = fields, .io = true };
	const struct task_record *record;
	const struct task_proc *proc;

	make_alike(records, 5);
	for (unsigned i = 0; i < 5; i++) {
		records[i].field = 4 - i;
		fields[i].fields_valid = RECORD_BIT(RECORD_FIELDS) - 1;
		for (unsigned f = 0; f < RECORD_FIELDS; f++)
			fields[i].field[f] = 1000 * f + i;
		fields[i].range_valid = DELAY_BIT(DELAY_BLKIO);
		fields[i].max[DELAY_BLKIO] = i == 3 ? MS(7) : MS(1);
	}
	sample_extend(&scene->samples[1], NEED_RECORD);
	exit_merge(&batch, &scene->samples[0], &scene->samples[1]);
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.n, 1);
	record = row_record(&scene->frame, &scene->frame.rows[0]);
	for (unsigned f = 0; f < RECORD_FIELDS; f++)
		if (record_table[f].fold == FOLD_SUM)
			assert_int_equal(record->field[f], 5 * 1000 * f + 10);
	assert_int_equal(record->max[DELAY_BLKIO], MS(7));
	proc = row_proc(&scene->frame, &scene->frame.rows[0]);
	assert_true(proc->io_valid && !proc->io_whole);
	assert_int_equal(proc->io.read, 5 * 1000 * RECORD_read_bytes + 10);
	assert_int_equal(proc->io.written, 5 * 1000 * RECORD_write_bytes + 10);
	assert_int_equal(proc->io.cancelled, 5 * 1000 * RECORD_cancelled_write_bytes + 10);
}

/* The same where there were too many to keep until the sample. */
SCENE_TEST(test_long_fields)
{
	struct scene *scene = *state;
	struct exit_record records[4];
	struct task_record fields[4] = { 0 };
	struct exit_batch batch = { .records = records, .n = 4, .fields = fields, .gone = is_gone };

	make_alike(records, 4);
	for (unsigned i = 0; i < 4; i++) {
		records[i].field = i;
		fields[i].fields_valid = RECORD_BIT(RECORD_write_bytes);
		fields[i].field[RECORD_write_bytes] = 1 << i;
	}
	assert_int_equal(exit_fold_kept(&batch, &scene->samples[0], SIZE_MAX), 1);
	assert_int_equal(fields[records[0].field].field[RECORD_write_bytes], 15);
}

/* A process has what its threads had, whenever they ended in the interval. */
SCENE_TEST(test_thread_fields)
{
	struct scene *scene = *state;

	for (unsigned between = 0; between < 3; between++) {
		struct exit_record records[4];
		struct task_record fields[4] = { 0 };
		struct exit_batch batch = {
			.records = records, .n = 4, .fields = fields, .gone = is_gone, .io = true
		};

		for (unsigned i = 0; i < 4; i++) {
			pid_t pid = (pid_t)(20 + i);

			records[i] = thread_ended(20, pid, SEC(101), SEC(101) + MS(40), 10);
			records[i].field = i;
			fields[i].fields_valid = UINT64_MAX;
			fields[i].field[RECORD_read_bytes] = 1 << i;
		}
		memcpy(records[0].comm, "leader", 7);
		records[3].last = true;
		records[3].single = false;
		/* Some are folded before the others come. */
		batch.n = between;
		if (between)
			batch.n = exit_fold_kept(&batch, &scene->samples[0], SIZE_MAX);
		assert_int_equal(batch.n, between > 0);
		memmove(&records[batch.n], &records[between], (4 - between) * sizeof(*records));
		batch.n += 4 - between;
		exit_merge(&batch, &scene->samples[0], &scene->samples[1]);
		scene_build(scene, 1, false, 0);
		assert_int_equal(scene->frame.n, 1);
		assert_string_equal(scene->frame.rows[0].task->comm, "leader");
		assert_int_equal(row_proc(&scene->frame, &scene->frame.rows[0])->io.read, 15);
		sample_reset(&scene->samples[1]);
	}
}

/* Pipelines that came and went: a subshell of the shell 10, and two commands below it. */
static size_t make_pipelines(struct exit_record *records, unsigned n)
{
	static const char *const names[] = { "sh", "echo", "cat" };

	for (unsigned i = 0; i < 3 * n; i++) {
		records[i] = ended((pid_t)(20 + i), SEC(101), SEC(101) + MS(40), 1);
		records[i].ppid = i % 3 ? (pid_t)(20 + i - i % 3) : 10;
		snprintf(records[i].comm, sizeof(records[i].comm), "%s", names[i % 3]);
	}
	return 3 * n;
}

/* Who did little is folded by command where parents differ, under who will have reaped them. */
SCENE_TEST(test_fold_parents)
{
	struct scene *scene = *state;
	struct exit_record records[60];
	size_t n = make_pipelines(records, 20);

	for (unsigned i = 0; i < 2; i++)
		scene_add(&scene->samples[i], 10, 10, SEC(50));
	/* One did more, and stays by itself; and so do those that were started elsewhere. */
	fill(&records[4].counters, 30);
	for (unsigned i = 56; i < 60; i++)
		records[i].ppid = 11;
	merge(scene, 1, false, records, n);
	assert_int_equal(scene->info.born, n);
	assert_int_equal(scene->frame.n, 1 + 3 + 1 + 4);
	check_delta(row_of(scene, 24, true), 0, 30);
	for (pid_t pid = 76; pid < 80; pid++)
		check_delta(row_of(scene, pid, true), 0, 1);
	for (size_t i = 1; i < scene->frame.n; i++) {
		const struct row *row = &scene->frame.rows[i];

		if (row->members == 1)
			continue;
		assert_in_range(row->members, 18, 19);
		assert_int_equal(row->task->ppid, 10);
		assert_int_equal(row->task->reaper, 10);
		assert_int_equal(row->task->mixed, strcmp(row->task->comm, "sh") != 0);
		assert_int_equal(row->deltas->grown.delay[DELAY_CPU].ns, MS(row->members));
	}
}

/* A few are not folded, nor are those of several users. */
SCENE_TEST(test_fold_few_parents)
{
	struct scene *scene = *state;

	for (unsigned users = 0; users < 2; users++) {
		struct exit_record records[12];
		size_t n = make_pipelines(records, users ? 4 : 3);

		for (unsigned i = 0; users && i < n; i++)
			records[i].uid = 1000 + i / 3 % 2;
		merge(scene, 1, false, records, n);
		assert_int_equal(scene->frame.n, n);
		sample_reset(&scene->samples[1]);
	}
}

/* Ends of tasks that began while sample 1 was taken, and so are not in it. */
static void make_unlisted(struct exit_record *records, unsigned n)
{
	make_alike(records, n);
	for (unsigned i = 0; i < n; i++) {
		records[i].lo_ns = SEC(102);
		records[i].hi_ns = DRAINED(1);
		records[i].life_ns = records[i].counters.life_ns = MS(3 + i);
	}
}

/*
 * They may be zombies in the next sample, where what they did must not be counted again: but for
 * what they ran since the last tick, which a record lacks.
 */
SCENE_TEST(test_fold_zombies)
{
	struct scene *scene = *state;

	for (unsigned lacks = 0; lacks < 10; lacks += 3) {
		struct exit_record records[6];
		uint64_t run_ns;

		make_unlisted(records, 6);
		merge(scene, 1, false, records, 6);
		run_ns = run_of_all(&scene->frame);
		assert_int_equal(scene->info.born, 6);
		assert_int_equal(row_of(scene, 20, true)->task->reaper, 1);
		for (unsigned i = 0; i < 6; i++) {
			pid_t pid = (pid_t)(20 + i);
			struct task_raw *raw =
				scene_add(&scene->samples[2], pid, pid, SEC(102) + MS(8));

			give(raw, i + 1);
			raw->counters.run_ns += MS(lacks);
		}
		merge(scene, 2, false, NULL, 0);
		/* It has not left: who will reap it is known when it does. */
		assert_int_equal(row_of(scene, 20, false)->task->reaper, 0);
		run_ns += run_of_all(&scene->frame);
		assert_int_equal(run_ns, MS(6 * 7 / 2) + 6 * 50 + MS(6 * lacks));
		assert_int_equal(scene->info.born, 0);
		sample_reset(&scene->samples[1]);
		sample_reset(&scene->samples[2]);
	}
}

/* Those that have gone for good are one row. */
SCENE_TEST(test_fold_unlisted)
{
	struct scene *scene = *state;
	struct exit_record records[6];
	struct exit_batch batch = { .records = records, .n = 6, .gone = is_gone };

	make_unlisted(records, 6);
	exit_merge(&batch, &scene->samples[0], &scene->samples[1]);
	scene_build(scene, 1, false, 0);
	assert_int_equal(scene->frame.n, 1);
	assert_int_equal(scene->info.born, 6);
	/* Whoever has the pid of one then is another. */
	give(scene_add(&scene->samples[2], 20, 20, SEC(103)), 4);
	merge(scene, 2, false, NULL, 0);
	check_delta(row_of(scene, 20, false), 0, 4);
	assert_int_equal(scene->info.born, 1);
}

/* Of a process that no sample has met it waits for its end, an interval at most. */
SCENE_TEST(test_left_out_early)
{
	struct scene *scene = *state;
	struct exit_record early = thread_ended(100, 150, SEC(101), SEC(101) + MS(50), 0),
			   records[2];
	struct exit_batch batch = { .records = records, .n = 1 };

	early.left_out = DELAY_BIT(DELAY_BLKIO);
	early.counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, SEC(5000) };
	scene_add(&scene->samples[0], 1, 1, SEC(1));
	scene_again(&scene->samples[1], scene->samples[0].raw[0]);
	records[0] = early;
	assert_int_equal(exit_merge(&batch, &scene->samples[0], &scene->samples[1]), 1);
	assert_true(records[0].kept);
	assert_int_equal(exit_merge(&batch, &scene->samples[0], &scene->samples[1]), 0);
	records[0].kept = false;
	assert_int_equal(exit_merge(&batch, &scene->samples[0], &scene->samples[1]), 1);
	records[1] = ended(100, SEC(101), SEC(101) + MS(100), 10);
	records[1].single = false;
	records[1].counters.delay[DELAY_BLKIO].ns += SEC(5000);
	merge(scene, 1, false, records, 2);
	assert_int_equal(scene->frame.n, 2);
	assert_int_equal(scene->frame.rows[1].deltas->grown.delay[DELAY_BLKIO].ns, MS(10) + 1);
	/* One that the sample has is no business of records. */
	sample_remove_exited(&scene->samples[1]);
	records[0] = early;
	records[0].tgid = 1;
	assert_int_equal(exit_merge(&batch, &scene->samples[0], &scene->samples[1]), 0);
}

/* What cannot be of one thread's is not in the sum of its process, nor in that of the row. */
SCENE_TEST(test_left_out)
{
	struct scene *scene = *state;
	struct exit_record records[EXIT_FOLD_MANY + 2];
	const struct row *row;
	uint64_t expected = 0;
	size_t n = 0;

	scene_add(&scene->samples[0], 1, 1, SEC(1));
	scene_again(&scene->samples[1], scene->samples[0].raw[0]);
	for (unsigned i = 0; i < EXIT_FOLD_MANY; i++) {
		records[n] = ended(100 + (pid_t)i, SEC(101), SEC(101) + MS(100), 10);
		expected += records[n++].counters.delay[DELAY_BLKIO].ns;
	}
	/* Of one the sum has what its thread cannot have waited; one has nothing else. */
	records[0].single = false;
	records[0].counters.delay[DELAY_BLKIO].ns += SEC(5000);
	records[n] = thread_ended(100, 150, SEC(101), SEC(101) + MS(50), 0);
	records[n].left_out = DELAY_BIT(DELAY_BLKIO);
	records[n++].counters.delay[DELAY_BLKIO] = (struct delay_sum){ 1, SEC(5000) };
	expected -= records[1].counters.delay[DELAY_BLKIO].ns;
	records[1].counters.delay[DELAY_BLKIO] = (struct delay_sum){ 0, 0 };
	records[1].left_out = DELAY_BIT(DELAY_BLKIO);
	merge(scene, 1, false, records, n);
	assert_int_equal(scene->frame.n, 2);
	row = &scene->frame.rows[1];
	assert_int_equal(row->members, EXIT_FOLD_MANY);
	assert_true(row->valid & DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(row->deltas->grown.delay[DELAY_BLKIO].ns, expected);
	/* By itself it is unknown. */
	records[0] = ended(100, SEC(101), SEC(101) + MS(100), 10);
	records[0].left_out = DELAY_BIT(DELAY_BLKIO);
	sample_remove_exited(&scene->samples[1]);
	merge(scene, 1, false, records, 1);
	assert_int_equal(scene->frame.n, 2);
	assert_false(scene->frame.rows[1].valid & DELAY_BIT(DELAY_BLKIO));
	assert_true(scene->frame.rows[1].valid & DELAY_BIT(DELAY_CPU));
}
