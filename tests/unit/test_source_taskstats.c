// SPDX-License-Identifier: GPL-2.0-or-later
/* The taskstats source and the sampler on this kernel: who is who, and what a sample costs. */
#include "kernel/proc.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/delayacct.h"
#include "kernel/taskstats.h"
#include "read/source.h"
#include "sampler/sampler.h"
#include "tests/lib/calls.h"

#define CHILDREN 400

/* Children that sleep until they are killed. */
struct crowd {
	struct proc proc;
	pid_t pids[CHILDREN];
	unsigned n;
};

/* Waits for the end. */
static _Noreturn void child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* Starts the crowd. */
static int open_crowd(void **state)
{
	struct crowd *crowd = xcalloc(1, sizeof(*crowd));
	char name[16];

	/* They have it from the first on, before any of them has run. */
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "asleep");
	crowd->proc.fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (; crowd->n < CHILDREN; crowd->n++) {
		pid_t pid = fork();

		if (!pid)
			child();
		if (pid < 0)
			break;
		crowd->pids[crowd->n] = pid;
	}
	prctl(PR_SET_NAME, name);
	*state = crowd;
	return crowd->proc.fd < 0 ? -1 : 0;
}

/* Ends the crowd. */
static int close_crowd(void **state)
{
	struct crowd *crowd = *state;

	for (unsigned i = 0; i < crowd->n; i++)
		kill(crowd->pids[i], SIGKILL);
	for (unsigned i = 0; i < crowd->n; i++)
		waitpid(crowd->pids[i], NULL, 0);
	close(crowd->proc.fd);
	free(crowd);
	return 0;
}

/* Opens taskstats; a test that cannot is skipped. */
static void open_or_skip(struct source *source, const struct source_env *env, const char *name)
{
	int err = source_open(source, "taskstats", env);

	if (err == -EPERM)
		printf("# skip: %s: no CAP_NET_ADMIN\n", name);
	else if (err == -ENOENT || err == -EPROTONOSUPPORT)
		printf("# skip: %s: no taskstats\n", name);
	if (err == -EPERM || err == -ENOENT || err == -EPROTONOSUPPORT)
		skip();
	assert_int_equal(err, 0);
}

/* Takes a sample by hand. */
static void take(struct source *source, struct sample *prev, struct sample *cur, unsigned needs)
{
	sample_reset(cur);
	cur->begin_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(source->ops->sample(source->state, prev, cur, needs), 0);
}

/* Samples are sorted, with a task each, and every child is in them under its name. */
TEST(test_processes)
{
	struct crowd *crowd = *state;
	struct source_env env = { .proc = &crowd->proc };
	struct sample a = { 0 }, b = { 0 };
	struct source source;
	const struct task_raw *self;

	open_or_skip(&source, &env, "test_processes");
	take(&source, &b, &a, 0);
	take(&source, &a, &b, NEED_RECORD);
	for (size_t i = 1; i < b.n; i++)
		assert_true(b.raw[i - 1]->tgid < b.raw[i]->tgid && b.raw[i]->task);
	for (unsigned i = 0; i < crowd->n; i++) {
		pid_t pid = crowd->pids[i];
		const struct task_raw *before = sample_find(&a, pid, pid);
		const struct task_raw *now = sample_find(&b, pid, pid);

		assert_non_null(before);
		assert_non_null(now);
		assert_ptr_equal(before->task, now->task);
		assert_int_equal(now->task->ppid, getpid());
		assert_int_equal(now->task->uid, getuid());
		assert_string_equal(now->task->comm, "asleep");
		assert_true(now->counters.valid & VALID_RUN && now->read_ns > before->read_ns);
		assert_true(b.records[sample_index(&b, now)].field[RECORD_ac_pid] == (uint64_t)pid);
	}
	self = sample_find(&b, getpid(), getpid());
	assert_non_null(self);
	assert_true(self->counters.run_ns > 0);
	assert_true(source.ops->version(source.state) >= TASKSTATS_OLDEST);
	source_close(&source);
	sample_free(&a);
	sample_free(&b);
}

/* Sleeps until it is cancelled. */
static void *sleep_long(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* A row a thread, those of a process that had one before included. */
TEST(test_threads)
{
	struct crowd *crowd = *state;
	pid_t pid = getpid();
	struct source_env env = { .proc = &crowd->proc, .threads = true, .pids = &pid, .npids = 1 };
	struct sample a = { 0 }, b = { 0 };
	struct source source;
	pthread_t threads[3];

	open_or_skip(&source, &env, "test_threads");
	take(&source, &b, &a, 0);
	assert_int_equal(a.n, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, sleep_long, NULL), 0);
	take(&source, &a, &b, 0);
	assert_int_equal(b.n, 4);
	for (size_t i = 0; i < b.n; i++) {
		assert_int_equal(b.raw[i]->tgid, pid);
		assert_int_equal(b.raw[i]->task->key.pid, b.raw[i]->pid);
		assert_int_equal(b.raw[i]->task->tgid, pid);
	}
	/* ids begin anew some time, so threads may come before their leader */
	assert_ptr_equal(sample_find(&b, pid, pid)->task, a.raw[0]->task);
	for (unsigned i = 0; i < 3; i++) {
		pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
	source_close(&source);
	sample_free(&a);
	sample_free(&b);
}

/* The row of that thread. */
static const struct row *row_of(const struct frame *frame, pid_t pid)
{
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].task->key.pid == pid)
			return &frame->rows[i];
	return NULL;
}

/*
 * Threads beside a sample: taskstats is asked for those of the process alone, also where the
 * sampler's source is one for many tasks, and gives their whole records.
 */
TEST(test_beside)
{
	static const struct source_ops *const sources[] = { &source_taskstats, &source_bpf };
	struct crowd *crowd = *state;
	struct source_env env = { .proc = &crowd->proc };
	pid_t self = getpid();
	struct source source;
	pthread_t thread;

	open_or_skip(&source, &env, "test_beside");
	source_close(&source);
	assert_int_equal(pthread_create(&thread, NULL, sleep_long, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct delayacct delayacct;
		struct threads_env beside = { .proc = &crowd->proc,
					      .source = sources[i],
					      .delayacct = &delayacct };
		struct threads threads = { 0 };
		const struct row *row;
		uint64_t calls;

		delayacct_open(&delayacct, crowd->proc.fd, 0);
		assert_true(threads_want(&threads, &self, 1, false));
		assert_int_equal(threads_read(&threads, &beside, NEED_RECORD), 0);
		assert_int_equal(threads.frame->n, 2);
		/* Run time is booked when a task goes to sleep. */
		usleep(20000);
		calls = calls_made();
		assert_int_equal(threads_read(&threads, &beside, NEED_RECORD), 0);
		/* Two questions, their answers, the list of threads, and states. */
		assert_in_range(calls_made() - calls, 4, 20);
		assert_int_equal(threads.frame->n, 2);
		row = row_of(threads.frame, self);
		assert_non_null(row);
		assert_true(row->interval_ns > 0);
		/* Nobody but taskstats says that together with the record. */
		assert_true(row->deltas->grown.run_ns > 0);
		assert_true(row_record(threads.frame, row)->fields_valid);
		assert_true(row_record_before(threads.frame, row)->fields_valid);
		/* The other one would say exactly when a wait began. */
		assert_int_equal(threads_read(&threads, &beside, 0), 0);
		assert_int_equal(row_of(threads.frame, self)->raw->now.state, 'R');
		assert_false(row_of(threads.frame, self)->raw->now.exact);
		threads_close(&threads);
		delayacct_close(&delayacct);
	}
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

/* System calls for the states of those that ran: their files, and lists of threads. */
static uint64_t calls_for_states(const struct frame *frame)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < frame->n; i++) {
		const struct task_raw *raw = frame->rows[i].raw;

		if (frame->rows[i].deltas->grown.run_ns || !frame->rows[i].before)
			calls += raw->single ? 3 : 4 + 3 * (uint64_t)raw->now.threads;
		calls += 6 * (uint64_t)waits_in_d(&raw->now.waits);
	}
	return calls;
}

/* In steady state a sample takes at most a system call for 32 tasks, and 20. */
TEST(test_cost)
{
	struct crowd *crowd = *state;
	struct sampler_config config = { .proc = &crowd->proc, .source = "taskstats" };
	struct source_env env = { .proc = &crowd->proc };
	struct source source;
	struct sampler *sampler;
	const struct frame *frame;
	uint64_t best = UINT64_MAX;

	open_or_skip(&source, &env, "test_cost");
	source_close(&source);
	assert_int_equal(sampler_open(&sampler, &config), 0);
	assert_int_equal(sampler_tick(sampler, 0, &frame), 0);
	/* Other tests may start processes meanwhile: the quietest interval counts. */
	for (unsigned i = 0; i < 5; i++) {
		uint64_t calls, allowed;

		usleep(20000);
		calls = CALLS_OF(assert_int_equal(sampler_tick(sampler, 0, &frame), 0));
		assert_true(frame->n > CHILDREN);
		allowed = frame->n / 32 + 20 + calls_for_states(frame);
		if (calls <= allowed)
			best = 0;
		else if (calls - allowed < best)
			best = calls - allowed;
	}
	assert_int_equal(best, 0);
	sampler_close(sampler);
}

/* The kernel's own answers give the same figures by either way. */
TEST(test_agree)
{
	struct crowd *crowd = *state;
	struct source_env env = { .proc = &crowd->proc };
	struct sample a = { 0 }, b = { 0 }, none = { 0 };
	struct source taskstats, procfs;

	open_or_skip(&taskstats, &env, "test_agree");
	assert_int_equal(source_open(&procfs, "procfs", &env), 0);
	take(&taskstats, &none, &a, 0);
	take(&procfs, &none, &b, 0);
	for (unsigned i = 0; i < crowd->n; i++) {
		const struct task_raw *x = sample_find(&a, crowd->pids[i], crowd->pids[i]);
		const struct task_raw *y = sample_find(&b, crowd->pids[i], crowd->pids[i]);

		assert_non_null(x);
		assert_non_null(y);
		/* They sleep: nothing moves between the two. */
		assert_true(x->counters.run_ns == y->counters.run_ns);
		assert_true(x->counters.delay[DELAY_CPU].ns == y->counters.delay[DELAY_CPU].ns);
		assert_string_equal(x->task->comm, y->task->comm);
		/* Starts agree to a clock tick; taskstats' is known as well as a pack is quick. */
		assert_true(x->task->start_lo < y->task->latest_ns + 10 * NSEC_PER_MSEC &&
			    y->task->key.start_ns < x->task->latest_ns + 10 * NSEC_PER_MSEC);
	}
	source_close(&taskstats);
	source_close(&procfs);
	sample_free(&a);
	sample_free(&b);
}

TESTS_WITHIN(open_crowd, close_crowd)
