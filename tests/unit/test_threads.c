// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads of some processes beside a sampler's sample, from a made-up /proc. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "kernel/delayacct.h"
#include "sampler/sampler.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree_thread.h"

#define SWITCH "sys/kernel/task_delayacct"

static const struct thread leader = { 42, 42, "leader", 10, 20, 900, 5, 1000, 2000, 3, 1000 };
static const struct thread worker = { 42, 50, "worker", 1, 2, 950, 7, 100, 200, 30, 1001 };
static const struct thread other = { 7, 7, "other", 0, 0, 100, 0, 9, 8, 7, 0 };

/* A sampler over the tree, its last frame, and the threads. */
struct beside {
	struct sampler_config config;
	struct sampler *sampler;
	const struct frame *frame;
	struct threads threads;
};

/* Puts two processes, one with two threads, and opens all. */
static void open_beside(const struct tree *tree, struct beside *beside)
{
	*beside = (struct beside){ .config = { .proc = tree->proc, .source = "procfs" } };
	put_text(tree, SWITCH, "1\n");
	put_thread(tree, &leader);
	put_thread(tree, &worker);
	put_thread(tree, &other);
	assert_int_equal(sampler_open(&beside->sampler, &beside->config), 0);
	assert_int_equal(sampler_tick(beside->sampler, 0, &beside->frame), 0);
}

/* Frees all. */
static void close_beside(struct beside *beside)
{
	threads_close(&beside->threads);
	sampler_close(beside->sampler);
}

/* Reads the threads of one process. */
static const struct frame *read_of(struct beside *beside, pid_t pid, unsigned needs)
{
	threads_want(&beside->threads, &pid, 1, false);
	assert_int_equal(sampler_read_threads(beside->sampler, &beside->threads, needs), 0);
	assert_non_null(beside->threads.frame);
	return beside->threads.frame;
}

/* The time since boot in clock ticks: the start of who starts now. */
static unsigned now_ticks(void)
{
	return (unsigned)(clock_ns(CLOCK_BOOTTIME) * (uint64_t)sysconf(_SC_CLK_TCK) / NSEC_PER_SEC);
}

/* A row a thread of that process alone, and what happened to each since the reading before. */
TREE_TEST(test_rows)
{
	const struct tree *tree = *state;
	struct thread grown = worker, born = worker;
	struct beside beside;
	const struct frame *frame;

	open_beside(tree, &beside);
	frame = read_of(&beside, 42, 0);
	assert_true(frame->info->threads);
	assert_string_equal(frame->group_by, "thread");
	assert_null(frame->info->prev);
	assert_int_equal(frame->n, 2);
	assert_int_equal(frame->rows[0].task->key.pid, 42);
	assert_int_equal(frame->rows[1].task->key.pid, 50);
	assert_int_equal(frame->rows[1].task->tgid, 42);
	assert_string_equal(frame->rows[1].task->comm, "worker");
	assert_non_null(frame->rows[1].task->user);
	assert_int_equal(frame->rows[1].raw->counters.run_ns, worker.run);
	assert_int_equal(frame->rows[1].interval_ns, 0);
	grown.run += 30;
	grown.wait += 40;
	put_thread(tree, &grown);
	born.tid = 60;
	born.start = now_ticks();
	put_thread(tree, &born);
	frame = read_of(&beside, 42, 0);
	assert_int_equal(frame->n, 3);
	assert_true(frame->info->interval_ns > 0);
	assert_true(frame->rows[1].interval_ns > 0);
	assert_int_equal(frame->rows[0].deltas->grown.run_ns, 0);
	assert_int_equal(frame->rows[1].deltas->grown.run_ns, 30);
	assert_int_equal(frame->rows[1].deltas->grown.delay[DELAY_CPU].ns, 40);
	assert_false(frame->rows[1].born);
	assert_true(frame->rows[2].born);
	assert_int_equal(frame->rows[2].deltas->grown.run_ns, born.run);
	close_beside(&beside);
}

/* Neither the sampler's frame nor its files are touched, and nobody else's files are read. */
TREE_TEST(test_beside)
{
	const struct tree *tree = *state;
	struct thread crowd = other;
	struct beside beside;
	const struct row *rows;
	size_t n;

	open_beside(tree, &beside);
	for (crowd.tgid = 100; crowd.tgid < 300; crowd.tgid++) {
		crowd.tid = crowd.tgid;
		put_thread(tree, &crowd);
	}
	assert_int_equal(sampler_tick(beside.sampler, 0, &beside.frame), 0);
	rows = beside.frame->rows;
	n = beside.frame->n;
	assert_int_equal(n, 202);
	/* The source is opened. Two threads of at most ten each, and their list. */
	assert_in_range(CALLS_OF(read_of(&beside, 42, 0)), 2, 200);
	assert_in_range(CALLS_OF(read_of(&beside, 42, 0)), 2, 30);
	assert_ptr_equal(beside.frame->rows, rows);
	assert_int_equal(beside.frame->n, n);
	assert_int_equal(rows[0].task->key.pid, 7);
	close_beside(&beside);
}

/* Of other processes there is a baseline first; of none there is nothing. */
TREE_TEST(test_want)
{
	static const pid_t pids[] = { 7, 42 };
	const struct tree *tree = *state;
	struct beside beside;
	struct threads *threads = &beside.threads;

	open_beside(tree, &beside);
	assert_false(threads_want(threads, NULL, 0, false));
	assert_int_equal(sampler_read_threads(beside.sampler, threads, 0), 0);
	assert_null(threads->frame);
	assert_true(threads_want(threads, &pids[1], 1, false));
	assert_null(threads->frame);
	read_of(&beside, 42, 0);
	assert_false(threads_want(threads, &pids[1], 1, false));
	assert_int_equal(threads->frame->n, 2);
	assert_true(threads_want(threads, pids, 2, false));
	assert_null(threads->frame);
	assert_int_equal(sampler_read_threads(beside.sampler, threads, 0), 0);
	assert_null(threads->frame->info->prev);
	assert_int_equal(threads->frame->n, 3);
	assert_true(threads_want(threads, NULL, 0, false));
	assert_null(threads->frame);
	close_beside(&beside);
}

/* Who has ended leaves no row and no error; whoever has the id then is somebody else. */
TREE_TEST(test_end)
{
	const struct tree *tree = *state;
	struct thread again = worker;
	struct beside beside;
	const struct frame *frame;

	open_beside(tree, &beside);
	read_of(&beside, 42, 0);
	end_thread(tree, &worker);
	frame = read_of(&beside, 42, 0);
	assert_int_equal(frame->n, 1);
	assert_int_equal(frame->info->gone, 1);
	again.start = 960;
	put_thread(tree, &again);
	frame = read_of(&beside, 42, 0);
	assert_int_equal(frame->n, 2);
	assert_null(frame->rows[1].before);
	assert_int_equal(frame->rows[1].interval_ns, 0);
	/* Between two readings, without one that misses it. */
	again.start = now_ticks();
	put_thread(tree, &again);
	frame = read_of(&beside, 42, 0);
	assert_null(frame->rows[1].before);
	assert_true(frame->rows[1].born);
	assert_int_equal(frame->info->gone, 1);
	end_thread(tree, &leader);
	end_thread(tree, &again);
	assert_int_equal(read_of(&beside, 42, 0)->n, 0);
	assert_int_equal(read_of(&beside, 42, 0)->n, 0);
	close_beside(&beside);
}

/* Cumulative figures, and the switch of the accounting as the sampler saw it last. */
TREE_TEST(test_since_start)
{
	const struct tree *tree = *state;
	struct beside beside;
	const struct row *row;
	pid_t pid = 42;

	open_beside(tree, &beside);
	assert_true(threads_want(&beside.threads, &pid, 1, true));
	for (unsigned i = 0; i < 4; i++) {
		/* On, off, on again: then what is booked first may be nonsense. */
		bool on = i != 1, known = on && i != 2;

		put_text(tree, SWITCH, on ? "1\n" : "0\n");
		assert_int_equal(sampler_tick(beside.sampler, 0, &beside.frame), 0);
		assert_int_equal(sampler_read_threads(beside.sampler, &beside.threads, 0), 0);
		assert_true(beside.threads.frame->info->since_start);
		row = &beside.threads.frame->rows[1];
		assert_int_equal(row->deltas->grown.run_ns, worker.run);
		assert_true(row->valid & DELAY_BIT(DELAY_CPU));
		assert_int_equal(!!(row->raw->counters.valid & DELAY_BIT(DELAY_BLKIO)), on);
		assert_int_equal(!!(row->valid & DELAY_BIT(DELAY_BLKIO)), known);
	}
	close_beside(&beside);
}

/* Command lines are read of rows that are asked for. */
TREE_TEST(test_fill)
{
	const struct tree *tree = *state;
	struct beside beside;
	const struct frame *frame;
	const struct row *row;

	open_beside(tree, &beside);
	put_text(tree, "42/cmdline", "one");
	frame = read_of(&beside, 42, 0);
	row = &frame->rows[1];
	assert_null(row->task->command);
	sampler_fill_threads(beside.sampler, &beside.threads, &row, 1, NEED_COMMAND);
	assert_int_equal(row_state(row), 'S');
	assert_string_equal(row->task->command, "one");
	assert_null(frame->rows[0].task->command);
	/* Or of all with the reading. */
	frame = read_of(&beside, 42, NEED_COMMAND);
	assert_string_equal(frame->rows[0].task->command, "one");
	close_beside(&beside);
}

/* Where they cannot be read none are wanted, until somebody wants them anew. */
TREE_TEST(test_refused)
{
	static const struct source_ops nothing = { .name = "nothing" };
	const struct tree *tree = *state;
	struct delayacct delayacct;
	struct threads_env env = { .proc = tree->proc,
				   .source = &nothing,
				   .delayacct = &delayacct };
	struct threads threads = { 0 };
	pid_t pid = 42;

	put_thread(tree, &leader);
	delayacct_open(&delayacct, tree->fd, 0);
	assert_true(threads_want(&threads, &pid, 1, false));
	assert_int_equal(threads_read(&threads, &env, 0), -EINVAL);
	assert_null(threads.frame);
	assert_int_equal(threads.n, 0);
	assert_int_equal(threads_read(&threads, &env, 0), 0);
	assert_null(threads.frame);
	env.source = &source_procfs;
	assert_true(threads_want(&threads, &pid, 1, false));
	assert_int_equal(threads_read(&threads, &env, 0), 0);
	assert_int_equal(threads.frame->n, 1);
	threads_close(&threads);
	delayacct_close(&delayacct);
}

/* Reads the threads while the sampler's sample is under way, as a key may ask for. */
static void read_between(void *arg)
{
	struct beside *beside = arg;

	assert_int_equal(read_of(beside, 42, 0)->n, 2);
}

/* That does no harm to either. */
TREE_TEST(test_between)
{
	const struct tree *tree = *state;
	struct thread crowd = other;
	struct beside beside;

	open_beside(tree, &beside);
	for (crowd.tgid = 100; crowd.tgid < 300; crowd.tgid++) {
		crowd.tid = crowd.tgid;
		put_thread(tree, &crowd);
	}
	sampler_close(beside.sampler);
	beside.config.between = read_between;
	beside.config.arg = &beside;
	assert_int_equal(sampler_open(&beside.sampler, &beside.config), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(sampler_tick(beside.sampler, 0, &beside.frame), 0);
		assert_int_equal(beside.frame->n, 202);
		assert_non_null(beside.threads.frame);
		assert_int_equal(beside.threads.frame->n, 2);
	}
	assert_non_null(beside.threads.frame->info->prev);
	close_beside(&beside);
}
