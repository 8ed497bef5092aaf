// SPDX-License-Identifier: GPL-2.0-or-later
/* The procfs source while threads come, go and call exec: a process counts on. */
#include "tests/lib/test.h"

#include <time.h>

#include "frame/resolve.h"
#include "tests/lib/taken.h"

/* Adds a thread's counters to what is expected of its process. */
static void add(struct thread *sum, const struct thread *thread)
{
	sum->utime += thread->utime;
	sum->stime += thread->stime;
	sum->blkio += thread->blkio;
	sum->run += thread->run;
	sum->wait += thread->wait;
	sum->slices += thread->slices;
}

/* Lets a thread count on, and its process with it. */
static void grow(const struct tree *tree, struct thread *thread, unsigned by, struct thread *sum)
{
	struct thread growth = { .utime = by,
				 .stime = 2 * by,
				 .blkio = 3 * by,
				 .run = 40 * by,
				 .wait = 50 * by,
				 .slices = 6 * by };

	add(thread, &growth);
	add(sum, &growth);
	put_thread(tree, thread);
}

/* Holds the counters of an element against what is expected. */
static void check_sum(const struct task_raw *raw, const struct thread *sum)
{
	assert_int_equal(raw->counters.valid, TAKEN_VALID);
	assert_int_equal(raw->counters.run_ns, sum->run);
	assert_int_equal(raw->counters.delay[DELAY_CPU].ns, sum->wait);
	assert_int_equal(raw->counters.delay[DELAY_CPU].count, sum->slices);
	assert_int_equal(raw->counters.delay[DELAY_BLKIO].ns, sum->blkio * tick());
	assert_int_equal(raw->counters.user_ns, sum->utime * tick());
	assert_int_equal(raw->counters.system_ns, sum->stime * tick());
}

/* Puts the threads of one process, and takes the first sample: of their sum. */
static void begin(const struct tree *tree, struct taken *taken, const struct thread *threads,
		  size_t n, struct thread *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < n; i++) {
		put_thread(tree, &threads[i]);
		add(sum, &threads[i]);
	}
	open_taken(taken, &(struct source_env){ .proc = tree->proc });
	check_sum(take(taken)->raw[0], sum);
}

/* A thread is born: all it has counted is news. */
static void bear(const struct tree *tree, struct thread *thread, struct thread *sum)
{
	thread->start = (unsigned)(clock_ns(CLOCK_BOOTTIME) / tick());
	put_thread(tree, thread);
	add(sum, thread);
}

/* A process's counters go on growing while threads end, are born, and have an id again. */
TREE_TEST(test_churn)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker, worker, worker }, sum;
	struct taken taken;

	t[2].tid = 30; /* ids wrap around: a thread's can be below its process's */
	t[3].tid = 60;
	begin(tree, &taken, t, 3, &sum);
	/* One ends, the others grow. */
	end_thread(tree, &t[1]);
	grow(tree, &t[0], 1, &sum);
	grow(tree, &t[2], 10, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	/* Births, one of them with an id of before. */
	bear(tree, &t[3], &sum);
	bear(tree, &t[1], &sum);
	check_sum(take(&taken)->raw[0], &sum);
	/* An id that is used again at once, by a thread that has counted more. */
	t[2].run += 1000000;
	bear(tree, &t[2], &sum);
	grow(tree, &t[3], 7, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	/* All but the main thread end: nothing is lost. */
	for (unsigned i = 1; i < 4; i++)
		end_thread(tree, &t[i]);
	check_sum(take(&taken)->raw[0], &sum);
	grow(tree, &t[0], 2, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	assert_false(taken.samples[taken.now].raw[0]->single);
	close_taken(&taken);
}

/*
 * The lives of its threads, ended ones too, say what a process can have waited: a wait that the
 * kernel booked from a stale stamp is known for what it is.
 */
TREE_TEST(test_lives)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker }, sum;
	const struct counters *counters;
	struct taken taken;
	uint64_t begin_ns, life_ns;

	t[0].start = t[1].start = (unsigned)(clock_ns(CLOCK_BOOTTIME) / tick());
	begin(tree, &taken, t, 2, &sum);
	begin_ns = t[0].start * tick();
	life_ns = taken.samples[taken.now].raw[0]->counters.life_ns;
	assert_in_range(life_ns, 1, 2 * (clock_ns(CLOCK_BOOTTIME) - begin_ns));
	end_thread(tree, &t[1]);
	t[0].blkio = (unsigned)(clock_ns(CLOCK_BOOTTIME) / tick()) + 1000;
	put_thread(tree, &t[0]);
	counters = &take(&taken)->raw[0]->counters;
	assert_in_range(counters->life_ns, life_ns + 1,
			life_ns + clock_ns(CLOCK_BOOTTIME) - begin_ns);
	assert_int_equal(waited_life(taken.samples[taken.now].raw[0], NULL).valid,
			 TAKEN_VALID & ~DELAY_BIT(DELAY_BLKIO));
	close_taken(&taken);
}

/* A process with the id of another begins with its own counters, threads included. */
TREE_TEST(test_process_again)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker }, sum;
	struct taken taken;

	begin(tree, &taken, t, 1, &sum);
	assert_true(taken.samples[taken.now].raw[0]->single);
	bear(tree, &t[1], &sum);
	check_sum(take(&taken)->raw[0], &sum);
	assert_false(taken.samples[taken.now].raw[0]->single);
	t[0].start++;
	t[0].run -= 10;
	sum.run -= 10;
	put_thread(tree, &t[0]);
	check_sum(take(&taken)->raw[0], &sum);
	end_thread(tree, &t[1]);
	t[0].start++;
	put_thread(tree, &t[0]);
	check_sum(take(&taken)->raw[0], &t[0]);
	assert_true(taken.samples[taken.now].raw[0]->single);
	close_taken(&taken);
}

/* A counter of a thread that falls gives nothing, and counts on from where it is. */
TREE_TEST(test_falling)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker }, sum;
	struct taken taken;

	begin(tree, &taken, t, 2, &sum);
	t[1].wait -= 50;
	t[1].blkio -= 2;
	put_thread(tree, &t[1]);
	grow(tree, &t[0], 1, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	grow(tree, &t[1], 1, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	end_thread(tree, &t[1]);
	check_sum(take(&taken)->raw[0], &sum);
	/* The same without another thread. */
	t[0].run -= 100;
	put_thread(tree, &t[0]);
	check_sum(take(&taken)->raw[0], &sum);
	grow(tree, &t[0], 3, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	close_taken(&taken);
}

/* Who calls exec gets the main thread's id and start, and keeps its own counters. */
TREE_TEST(test_exec)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker, worker }, sum;
	struct taken taken;
	struct task *task;

	t[1].run = 2000000000;
	t[2].tid = 51;
	t[2].run = 1900000000;
	begin(tree, &taken, t, 3, &sum);
	task = taken.samples[taken.now].raw[0]->task;
	/* The main thread cannot have run for two seconds since. */
	end_thread(tree, &t[1]);
	end_thread(tree, &t[2]);
	t[1].tid = leader.tid;
	t[1].start = leader.start;
	grow(tree, &t[1], 1, &sum);
	task->fresh = false;
	check_sum(take(&taken)->raw[0], &sum);
	assert_true(task->fresh);
	/* Nor can it have run for less than it had: a thread born in between did this. */
	t[1].run = 700;
	put_thread(tree, &t[1]);
	task->fresh = false;
	check_sum(take(&taken)->raw[0], &sum);
	assert_true(task->fresh);
	grow(tree, &t[1], 1, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	close_taken(&taken);
}

/* What was missed by one reading is no news for the next. */
TREE_TEST(test_missed)
{
	const struct tree *tree = *state;
	struct thread t[] = { leader, worker, worker }, sum;
	struct taken taken;

	begin(tree, &taken, t, 2, &sum);
	put_text(tree, "42/task/50/stat", "50 (worker) S not numbers");
	check_sum(take(&taken)->raw[0], &sum);
	grow(tree, &t[1], 5, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	/* Older than the reading that did not have it: from now on. */
	t[2].tid = 55;
	put_thread(tree, &t[2]);
	check_sum(take(&taken)->raw[0], &sum);
	grow(tree, &t[2], 4, &sum);
	check_sum(take(&taken)->raw[0], &sum);
	close_taken(&taken);
}

/* Many processes with many threads that go again leave nothing behind. */
TREE_TEST(test_crowd)
{
	const struct tree *tree = *state;
	struct thread t[400];
	struct taken taken;

	put_thread(tree, &other);
	open_taken(&taken, &(struct source_env){ .proc = tree->proc });
	for (int i = 0; i < 400; i++) {
		t[i] = worker;
		t[i].tgid = 1000 + i / 8 * 8;
		t[i].tid = 1000 + i;
		put_thread(tree, &t[i]);
	}
	take(&taken);
	assert_int_equal(take(&taken)->n, 51);
	assert_int_equal(taken.samples[taken.now].raw[50]->counters.run_ns, 8 * worker.run);
	for (int i = 0; i < 400; i++)
		end_thread(tree, &t[i]);
	for (int i = 0; i < 4; i++)
		assert_int_equal(take(&taken)->n, 1);
	check_sum(taken.samples[taken.now].raw[0], &other);
	close_taken(&taken);
}
