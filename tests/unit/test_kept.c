// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who is kept waiting by the server of a file system, or by who has a lock, of all tasks: from a
 * made-up /proc.
 */
#include "tests/lib/test.h"

#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/util.h"
#include "sampler/lock_waits.h"
#include "sampler/server_waits.h"
#include "tests/lib/calls.h"
#include "tests/lib/lone.h"

/* The process, and what is known of it. */
struct scene {
	struct lone lone;
	struct server_waits stuck;
	struct lock_waits locked;
	struct deltas deltas; /* of its row */
	uint64_t calls; /* of the last look */
};

/* A process that ran before, and not in the interval. */
static int make_scene(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct lone *lone = &scene->lone;

	if (lone_make(lone))
		return -1;
	lone->sample.raw[0]->counters.run_ns = 10;
	lone->row.deltas = &scene->deltas;
	lone->row.interval_ns = SEC(1);
	lone->frame.rows = &lone->row;
	lone->frame.n = 1;
	*state = scene;
	return 0;
}

static int remove_scene(void **state)
{
	struct scene *scene = *state;
	int err = lone_remove(&scene->lone);

	server_waits_free(&scene->stuck);
	lock_waits_free(&scene->locked);
	free(scene);
	return err;
}

/* The next sample, a second later, in which it ran for that long. */
static void go_on(struct scene *scene, uint64_t ran_ns)
{
	struct lone *lone = &scene->lone;

	lone_next(lone);
	lone->sample.raw[0]->counters.run_ns += ran_ns;
	lone->sample.raw[0]->read_ns = lone->sample.begin_ns;
	scene->deltas.grown.run_ns = ran_ns;
}

/* For how many seconds a server keeps it waiting; -1: none does. */
static int stuck_for(struct scene *scene, uint64_t ran_ns)
{
	const struct row *rows[SERVER_WAITS_MAX];
	uint64_t ns;
	size_t n;

	go_on(scene, ran_ns);
	scene->calls = CALLS_OF(n = server_waits_find(&scene->stuck, scene->lone.tree->proc,
						      &scene->lone.frame, rows));
	assert_int_equal(n, row_hang(&scene->lone.frame, &scene->lone.row, &ns));
	return n ? (int)(ns / NSEC_PER_SEC) : -1;
}

/* A request to a server, seen once it has slept through an interval, and until it runs again. */
TEST_WITH(test_server, make_scene, remove_scene)
{
	struct scene *scene = *state;

	lone_put(&scene->lone, 7, "wchan", "request_wait_answer");
	assert_int_equal(stuck_for(scene, 5), -1);
	assert_int_equal(scene->calls, 0);
	assert_int_equal(stuck_for(scene, 0), 1);
	assert_int_equal(stuck_for(scene, 0), 2);
	assert_int_equal(scene->calls, 0);
	assert_int_equal(stuck_for(scene, 5), -1);
	lone_put(&scene->lone, 7, "wchan", "do_epoll_wait");
	assert_int_equal(stuck_for(scene, 0), -1);
	/* once looked at, it is not looked at again before it runs */
	lone_put(&scene->lone, 7, "wchan", "request_wait_answer");
	assert_int_equal(stuck_for(scene, 0), -1);
}

/* One that slept before the first sample; not in state D, of which the sample itself tells. */
TEST_WITH(test_server_before, make_scene, remove_scene)
{
	struct scene *scene = *state;

	lone_put(&scene->lone, 7, "wchan", "request_wait_answer");
	assert_int_equal(stuck_for(scene, 0), 0);
	assert_int_equal(stuck_for(scene, 0), 1);
	scene->lone.sample.raw[0]->now.state = 'D';
	assert_int_equal(stuck_for(scene, 0), -1);
}

/* For how many seconds a lock keeps a thread waiting, and which; -1: none. */
static int locked_for(struct scene *scene, pid_t *tid)
{
	const struct row *rows[1];
	uint64_t ns;
	size_t n;

	go_on(scene, 5);
	scene->calls = CALLS_OF(n = lock_waits_find(&scene->locked, scene->lone.tree->proc,
						    &scene->lone.frame, rows, 0, 1));
	assert_int_equal(n, row_hang(&scene->lone.frame, &scene->lone.row, &ns));
	*tid = n ? scene->lone.sample.extras[0]->hang.tid : 0;
	return n ? (int)(ns / NSEC_PER_SEC) : -1;
}

/* A thread that waits for the futex at 16, of that value, and has run so often. */
static void put_thread(const struct scene *scene, pid_t tid, unsigned value, unsigned slices)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "%d 0x10 0x%x 0x%x 0x0 0x0 0x0 0x7ffe00000000 0x7f0100000000\n", SYS_futex,
		 FUTEX_WAIT_PRIVATE, value);
	lone_put(&scene->lone, tid, "syscall", text);
	snprintf(text, sizeof(text), "5 0 %u\n", slices);
	lone_put(&scene->lone, tid, "schedstat", text);
}

/* A mutex at 16 of a thread's memory: locked and wanted, with its owner. */
static void put_mutex(const struct scene *scene, pid_t tid, char owner)
{
	const char memory[] = { [16] = 2, [20] = 1, [24] = owner, [31] = 0 };
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", scene->lone.tree->path, (int)tid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/mem", scene->lone.tree->path, (int)tid);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(memory, sizeof(memory), 1, f), 1);
	fclose(f);
}

/* One of several threads waits for a lock that another has; one that waits for work does not. */
TEST_WITH(test_lock, make_scene, remove_scene)
{
	struct scene *scene = *state;
	pid_t tid;

	scene->lone.sample.raw[0]->now.threads = 3;
	put_thread(scene, 7, 0, 1);
	put_thread(scene, 8, 2, 1);
	put_thread(scene, 9, 0, 1);
	put_mutex(scene, 8, 9);
	assert_int_equal(locked_for(scene, &tid), -1);
	assert_int_equal(locked_for(scene, &tid), 1);
	assert_int_equal(tid, 8);
	assert_int_equal(locked_for(scene, &tid), 2);
	/* it had the lock since, and waits again */
	put_thread(scene, 8, 2, 2);
	assert_int_equal(locked_for(scene, &tid), -1);
	assert_int_equal(locked_for(scene, &tid), 1);
	/* nobody holds it */
	put_thread(scene, 8, 2, 3);
	put_mutex(scene, 8, 0);
	assert_int_equal(locked_for(scene, &tid), -1);
	assert_int_equal(locked_for(scene, &tid), -1);
}

/* Threads that wait for work, and a process of one thread, are let be. */
TEST_WITH(test_no_lock, make_scene, remove_scene)
{
	struct scene *scene = *state;
	pid_t tid;

	put_thread(scene, 7, 2, 1);
	put_mutex(scene, 7, 9);
	scene->lone.sample.raw[0]->now.threads = 1;
	assert_int_equal(locked_for(scene, &tid), -1);
	assert_int_equal(scene->calls, 0);
	scene->lone.sample.raw[0]->now.threads = 2;
	put_thread(scene, 7, 0, 1);
	put_thread(scene, 9, 0, 1);
	assert_int_equal(locked_for(scene, &tid), -1);
	assert_int_equal(locked_for(scene, &tid), -1);
}

/* Of many threads, in any order, others are looked at in each sample. */
TEST_WITH(test_turn, make_scene, remove_scene)
{
	struct scene *scene = *state;
	pid_t tid;

	scene->lone.sample.raw[0]->now.threads = 10;
	for (pid_t i = 7; i < 17; i++)
		put_thread(scene, i, 0, 1);
	put_thread(scene, 16, 2, 1);
	put_mutex(scene, 16, 9);
	for (unsigned i = 0; i < 4; i++)
		if (locked_for(scene, &tid) == 1)
			break;
	assert_int_equal(locked_for(scene, &tid) > 0 ? tid : 0, 16);
}

/* How many threads wait for a lock by the next sample, of which so many do; each ran since. */
static uint32_t locked_threads(struct scene *scene, unsigned waiting)
{
	static unsigned slices = 100;
	pid_t tid;

	slices++;
	for (unsigned i = 0; i < 3; i++)
		put_thread(scene, (pid_t)(8 + i), i < waiting ? 2 : 0, slices);
	locked_for(scene, &tid);
	return row_locked(&scene->lone.frame, &scene->lone.row);
}

/* Several threads wait in some samples in a row, though each has the lock in between. */
TEST_WITH(test_contended, make_scene, remove_scene)
{
	struct scene *scene = *state;

	scene->lone.sample.raw[0]->now.threads = 4;
	put_thread(scene, 7, 0, 1);
	for (pid_t i = 8; i < 11; i++)
		put_mutex(scene, i, 7);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(locked_threads(scene, 3), 0);
	assert_int_equal(locked_threads(scene, 3), 3);
	assert_int_equal(locked_threads(scene, 2), 2);
	/* one alone may be next: it is seen anew */
	assert_int_equal(locked_threads(scene, 1), 0);
	assert_int_equal(locked_threads(scene, 3), 0);
}
