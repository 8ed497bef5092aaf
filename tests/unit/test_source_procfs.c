// SPDX-License-Identifier: GPL-2.0-or-later
/* The procfs source, from a made-up /proc: sums over threads, identity, what cannot be read. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/calls.h"
#include "tests/lib/taken.h"

/* A process row is the sum of its threads, and its leader by name and user. */
TREE_TEST(test_processes)
{
	const struct tree *tree = *state;
	struct taken taken;
	const struct sample *sample;
	const struct task_raw *raw;

	put_thread(tree, &leader);
	put_thread(tree, &worker);
	put_thread(tree, &other);
	put_text(tree, "self", "no process");
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	sample = take(&taken);
	assert_int_equal(sample->n, 2);
	assert_int_equal(sample->raw[0]->pid, 7);
	raw = sample->raw[1];
	assert_int_equal(raw->tgid, 42);
	assert_int_equal(raw->pid, 42);
	assert_int_equal(raw->counters.valid, TAKEN_VALID);
	assert_true(raw->counters.run_ns == 1100);
	assert_true(raw->counters.delay[DELAY_CPU].ns == 2200 &&
		    raw->counters.delay[DELAY_CPU].count == 33);
	assert_true(raw->counters.delay[DELAY_BLKIO].ns == 12 * tick());
	assert_true(raw->counters.user_ns == 11 * tick() && raw->counters.system_ns == 22 * tick());
	assert_string_equal(raw->task->comm, "leader");
	assert_int_equal(raw->task->uid, 1000);
	assert_int_equal(raw->task->ppid, 41);
	assert_int_equal(raw->task->tgid, 42);
	assert_int_equal(raw->task->key.pid, 42);
	assert_true(raw->task->fresh);
	assert_false(raw->single);
	assert_true(sample->raw[0]->single);
	close_taken(&taken);
}

/* A row a thread, each with its own figures, name and user. */
TREE_TEST(test_threads)
{
	const struct tree *tree = *state;
	struct taken taken;
	const struct sample *sample;

	put_thread(tree, &leader);
	put_thread(tree, &worker);
	put_thread(tree, &other);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc, .threads = true });
	sample = take(&taken);
	assert_int_equal(sample->n, 3);
	assert_int_equal(sample->raw[1]->pid, 42);
	assert_int_equal(sample->raw[2]->pid, 50);
	assert_int_equal(sample->raw[2]->tgid, 42);
	assert_true(sample->raw[1]->counters.run_ns == 1000);
	assert_true(sample->raw[2]->counters.delay[DELAY_CPU].ns == 200);
	assert_true(sample->raw[2]->single);
	assert_string_equal(sample->raw[2]->task->comm, "worker");
	assert_int_equal(sample->raw[2]->task->uid, 1001);
	assert_int_equal(sample->raw[2]->task->key.pid, 50);
	close_taken(&taken);
}

/* Who is there again is the same object; who only has the pid is another. */
TREE_TEST(test_identity)
{
	const struct tree *tree = *state;
	struct thread changed = leader;
	struct taken taken;
	const struct sample *sample;
	struct task *task;

	put_thread(tree, &leader);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	task = take(&taken)->raw[0]->task;
	task->fresh = false;
	sample = take(&taken);
	assert_ptr_equal(sample->raw[0]->task, task);
	assert_false(task->fresh);
	/* It ran: what is known of it may have changed. */
	changed.run++;
	changed.comm = "renamed";
	changed.uid = 1234;
	put_thread(tree, &changed);
	sample = take(&taken);
	assert_ptr_equal(sample->raw[0]->task, task);
	assert_true(task->fresh);
	assert_string_equal(task->comm, "renamed");
	assert_int_equal(task->uid, 1234);
	/* The pid again with another start. */
	changed.start++;
	put_thread(tree, &changed);
	sample = take(&taken);
	assert_ptr_not_equal(sample->raw[0]->task, task);
	assert_true(sample->raw[0]->task->fresh);
	close_taken(&taken);
}

/* The start on the monotonic clock, and the latest it can have been. */
TREE_TEST(test_start)
{
	const struct tree *tree = *state;
	struct timespec boot, monotonic;
	struct taken taken;
	const struct task *task;
	int64_t suspended, start;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	suspended =
		(boot.tv_sec - monotonic.tv_sec) * 1000000000 + boot.tv_nsec - monotonic.tv_nsec;
	put_thread(tree, &leader);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	task = take(&taken)->raw[0]->task;
	start = (int64_t)(900 * tick()) - suspended;
	/* Between the readings of two clocks lies a little time. */
	if (start > 1000000000)
		assert_in_range(task->key.start_ns, start - 10000000, start + 10000000);
	assert_true(task->latest_ns == task->key.start_ns + tick());
	close_taken(&taken);
}

/* Files that are missing cost what they hold; a task without a stat has gone. */
TREE_TEST(test_missing)
{
	const struct tree *tree = *state;
	struct thread lone = other;
	struct taken taken;
	const struct sample *sample;

	put_thread(tree, &leader);
	put_thread(tree, &worker);
	put_thread(tree, &other);
	drop(tree, "42/task/50/schedstat", 0);
	lone.tgid = lone.tid = 9;
	put_thread(tree, &lone);
	drop(tree, "9/task/9/stat", 0);
	put_dir(tree, "10");
	put_dir(tree, "11");
	put_dir(tree, "11/task");
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	sample = take(&taken);
	assert_int_equal(sample->n, 2);
	assert_int_equal(sample->raw[1]->counters.valid, DELAY_BIT(DELAY_BLKIO) | VALID_TICK);
	assert_int_equal(sample->raw[0]->counters.valid, TAKEN_VALID);
	/* A process whose leader cannot be read has no name; its threads do. */
	drop(tree, "42/task/42/stat", 0);
	sample = take(&taken);
	assert_int_equal(sample->n, 1);
	assert_int_equal(sample->raw[0]->pid, 7);
	close_taken(&taken);
	put_text(tree, "7/task/7/stat", "7 (other) S not numbers");
	open_taken(&taken, &(struct source_env){ .proc = tree->proc, .threads = true });
	sample = take(&taken);
	assert_int_equal(sample->n, 1);
	assert_int_equal(sample->raw[0]->pid, 50);
	close_taken(&taken);
}

/* Takes a sample in which so many tasks could not be read, and so many rows are. */
static const struct sample *take_unread(struct taken *taken, size_t unread, size_t rows)
{
	const struct sample *sample = take(taken);

	assert_int_equal(sample->unread, unread);
	assert_int_equal(sample->unread_error, unread ? -ELOOP : 0);
	assert_int_equal(sample->n, rows);
	return sample;
}

/* Whatever of a task cannot be read though it is there: it is counted, and why is said. */
TREE_TEST(test_unread)
{
	static const char *const of_process[] = { "42/task", "42/task/42/stat",
						  "42/task/42/schedstat" };
	static const char *const of_thread[] = { "42/task/50/stat", "42/task/50/schedstat" };
	const struct tree *tree = *state;
	const struct sample *sample;
	struct taken taken;

	put_thread(tree, &leader);
	put_thread(tree, &worker);
	put_thread(tree, &other);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	for (unsigned i = 0; i < ARRAY_SIZE(of_process); i++) {
		bar(tree, of_process[i]);
		sample = take_unread(&taken, 1, 1);
		assert_int_equal(sample->raw[0]->pid, 7);
		unbar(tree, of_process[i]);
		take_unread(&taken, 0, 2);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(of_thread); i++) {
		bar(tree, of_thread[i]);
		/* What it had counted before stays in the process's total. */
		sample = take_unread(&taken, 1, 2);
		assert_int_equal(sample->raw[1]->counters.valid, TAKEN_VALID);
		assert_true(sample->raw[1]->counters.run_ns == 1100);
		unbar(tree, of_thread[i]);
		take_unread(&taken, 0, 2);
	}
	close_taken(&taken);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc, .threads = true });
	bar(tree, "42/task/50/stat");
	bar(tree, "42/task/42/schedstat");
	take_unread(&taken, 2, 1);
	bar(tree, "7/task");
	take_unread(&taken, 3, 0);
	close_taken(&taken);
}

/* Whose a new task is nobody knows then: it is not root's. Of a known one that is known. */
TREE_TEST(test_unread_user)
{
	const struct tree *tree = *state;
	struct thread changed = leader;
	struct taken taken;

	put_thread(tree, &leader);
	put_thread(tree, &other);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	bar(tree, "42/status");
	take_unread(&taken, 1, 1);
	unbar(tree, "42/status");
	assert_int_equal(take_unread(&taken, 0, 2)->raw[1]->task->uid, 1000);
	changed.run++;
	put_thread(tree, &changed);
	bar(tree, "42/status");
	assert_int_equal(take_unread(&taken, 0, 2)->raw[1]->task->uid, 1000);
	close_taken(&taken);
}

/* Without run times nobody can be seen to have run: all may have changed. */
TREE_TEST(test_no_schedstat)
{
	const struct tree *tree = *state;
	struct taken taken;
	struct task *task;

	put_thread(tree, &other);
	drop(tree, "7/task/7/schedstat", 0);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	task = take(&taken)->raw[0]->task;
	task->fresh = false;
	assert_ptr_equal(take(&taken)->raw[0]->task, task);
	assert_true(task->fresh);
	close_taken(&taken);
}

/* Only processes that were named; one that is not there is no error. */
TREE_TEST(test_pids)
{
	static const pid_t pids[] = { 5, 42 };
	const struct tree *tree = *state;
	struct taken taken;
	const struct sample *sample;

	put_thread(tree, &leader);
	put_thread(tree, &other);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc, .pids = pids, .npids = 2 });
	sample = take(&taken);
	assert_int_equal(sample->n, 1);
	assert_int_equal(sample->raw[0]->pid, 42);
	close_taken(&taken);
}

/* Counts calls. */
static void count(void *arg)
{
	++*(unsigned *)arg;
}

/* Between some tasks the caller has its turn; a task costs at most ten system calls. */
TREE_TEST(test_cost)
{
	const struct tree *tree = *state;
	struct thread thread = other;
	struct taken taken;
	unsigned between = 0;

	for (unsigned i = 1; i <= 200; i++) {
		thread.tgid = thread.tid = (pid_t)i;
		put_thread(tree, &thread);
	}
	open_taken(&taken,
		   &(struct source_env){ .proc = tree->proc, .between = count, .arg = &between });
	assert_int_equal(take(&taken)->n, 200);
	assert_int_equal(between, 3);
	assert_in_range(CALLS_OF(take(&taken)), 200, 2000 + 10);
	close_taken(&taken);
}

/* Sources by name, and what is no /proc. */
TREE_TEST(test_open)
{
	const struct tree *tree = *state;
	struct source_env env = { .proc = tree->proc };
	struct source source;
	struct sample prev = { 0 }, cur = { 0 };

	for (unsigned i = 0; source_registry[i]; i++)
		assert_ptr_equal(source_by_name(source_registry[i]->name), source_registry[i]);
	assert_null(source_by_name("auto"));
	assert_int_equal(source_open(&source, "nothing", &env), -EINVAL);
	source_close(&source);
	env.proc = &(struct proc){ .fd = -1 };
	assert_int_equal(source_open(&source, "procfs", &env), 0);
	assert_true(source.ops->sample(source.state, &prev, &cur, 0) < 0);
	assert_int_equal(cur.n, 0);
	source_close(&source);
	sample_free(&cur);
}
