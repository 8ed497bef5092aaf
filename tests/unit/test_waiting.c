// SPDX-License-Identifier: GPL-2.0-or-later
/* What tasks wait on, from a made-up /proc: which thread is read, when, and what is hidden. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sampler/waiting.h"
#include "tests/lib/calls.h"
#include "tests/lib/lone.h"

/* The process, and who reads its waits. */
struct scene {
	struct lone lone;
	struct waiting_reader *reader;
};

/* Makes a process with a thread. */
static int make_scene(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	if (lone_make(&scene->lone))
		return -1;
	scene->reader = waiting_open(scene->lone.tree->proc);
	*state = scene;
	return 0;
}

/* Removes it. */
static int remove_scene(void **state)
{
	struct scene *scene = *state;
	int err = lone_remove(&scene->lone);

	waiting_close(scene->reader);
	free(scene);
	return err;
}

/* Puts a thread's files. */
static void put_wait(const struct scene *scene, pid_t tid, const char *call, const char *stack,
		     const char *wchan)
{
	const char *const names[] = { "syscall", "stack", "wchan" };
	const char *const texts[] = { call, stack, wchan };

	for (unsigned i = 0; i < 3; i++)
		if (texts[i])
			lone_put(&scene->lone, tid, names[i], texts[i]);
}

/* Reads the wait of the row for the next sample. NULL: it does not wait. */
static const struct task_waiting *read_next(struct scene *scene, bool threads, unsigned needs)
{
	const struct row *row = &scene->lone.row;

	lone_next(&scene->lone);
	waiting_renew(scene->reader);
	waiting_fill(scene->reader, &scene->lone.info, &row, 1, threads, needs);
	return row_waiting(&scene->lone.frame, row);
}

#define NANOSLEEP "35 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe 0x7f01\n"
#define SLEEP_STACK "[<0>] hrtimer_nanosleep+0x1/0x2\n[<0>] do_syscall_64+0x1/0x2\n"

/* A wait is of one sample: read once for it, and gone with it. */
TEST_WITH(test_sample, make_scene, remove_scene)
{
	struct scene *scene = *state;
	const struct row *row = &scene->lone.row;
	const struct task_waiting *waiting;
	uint64_t before;

	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "do_nanosleep");
	assert_null(row_waiting(&scene->lone.frame, row));
	/* Nothing is read that nobody wants. */
	assert_int_equal(CALLS_OF(assert_null(read_next(scene, false, NEED_COMMAND))), 0);
	waiting = read_next(scene, false, NEED_WAITING);
	assert_non_null(waiting);
	assert_int_equal(waiting->number, 35);
	assert_int_equal(waiting->args[2], 3);
	assert_string_equal(waiting->where.data, "hrtimer_nanosleep");
	assert_string_equal(waiting->on.data, "");
	assert_string_equal(waiting->stack.data, "");
	before = calls_made();
	waiting_fill(scene->reader, &scene->lone.info, &row, 1, false, NEED_WAITING);
	assert_int_equal(calls_made(), before);
	waiting_fill(scene->reader, &scene->lone.info, &row, 1, false, NEED_STACK);
	assert_string_equal(waiting->stack.data,
			    "hrtimer_nanosleep+0x1/0x2\ndo_syscall_64+0x1/0x2\n");
	/* The stack is hidden: the function that the kernel names. */
	assert_int_equal(unlinkat(scene->lone.tree->fd, "7/task/7/stack", 0), 0);
	assert_string_equal(read_next(scene, false, NEED_WAITING)->where.data, "do_nanosleep");
	lone_next(&scene->lone);
	assert_null(row_waiting(&scene->lone.frame, row));
}

/* The same, where the source says that the task did nothing; it may have run before. */
static uint64_t calls_for_still(struct scene *scene, bool ran)
{
	uint64_t before;

	sample_mark(&scene->lone.sample, 0);
	scene->lone.sample.marks[0] = (uint8_t)(ran ? 0 : MARK_UNCHANGED);
	if (ran)
		scene->lone.sample.raw[0]->read_ns = scene->lone.sample.begin_ns + SEC(1) + 5;
	before = calls_made();
	assert_non_null(read_next(scene, false, NEED_WAITING));
	return calls_made() - before;
}

/* Who did not run since waits as before: that is not read again. */
TEST_WITH(test_still, make_scene, remove_scene)
{
	struct scene *scene = *state;

	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "do_nanosleep");
	assert_true(calls_for_still(scene, true));
	assert_false(calls_for_still(scene, false));
	assert_false(calls_for_still(scene, false));
	assert_int_equal(waiting_refused(scene->reader), 0);
	/* It runs, perhaps in a sample in which nobody asks, and waits for what others change. */
	put_wait(scene, 7, "202 0x100 0x80 0x3 0x4 0x5 0x6 0x7ffe 0x7f01\n", SLEEP_STACK,
		 "futex_wait");
	scene->lone.sample.raw[0]->read_ns = scene->lone.sample.begin_ns + 9;
	assert_true(calls_for_still(scene, false));
	assert_int_equal(scene->lone.sample.extras[0]->waiting->number, 202);
	assert_true(calls_for_still(scene, false));
	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "do_nanosleep");
	assert_true(calls_for_still(scene, true));
	assert_false(calls_for_still(scene, false));
	/* A reading that did not succeed says nothing of the next sample. */
	put_wait(scene, 7, "running\n", "", "0");
	scene->lone.sample.raw[0]->read_ns++;
	sample_mark(&scene->lone.sample, 0);
	scene->lone.sample.marks[0] = MARK_UNCHANGED;
	assert_null(read_next(scene, false, NEED_WAITING));
	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "do_nanosleep");
	assert_true(calls_for_still(scene, false));
}

/* Tasks that run, have ended or left have no wait. */
TEST_WITH(test_none, make_scene, remove_scene)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene->lone.sample.raw[0];

	put_wait(scene, 7, "running\n", "", "0");
	assert_null(read_next(scene, false, NEED_WAITING));
	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "0");
	assert_non_null(read_next(scene, false, NEED_WAITING));
	raw->now.state = 'R';
	assert_null(read_next(scene, false, NEED_WAITING));
	raw->now.state = 'Z';
	assert_null(read_next(scene, false, NEED_WAITING));
	raw->now.state = 0;
	assert_non_null(read_next(scene, false, NEED_WAITING));
	scene->lone.row.exited = true;
	assert_null(read_next(scene, false, NEED_WAITING));
	scene->lone.row.exited = false;
	scene->lone.sample.n = 0;
	assert_null(read_next(scene, false, NEED_WAITING));
	scene->lone.sample.n = 1;
	put_wait(scene, 7, "garbage", SLEEP_STACK, "0");
	assert_null(read_next(scene, false, NEED_WAITING));
	assert_int_equal(waiting_refused(scene->reader), 0);
}

/* Of a process's threads the one in state D for longest is read; of a thread's row the thread. */
TEST_WITH(test_thread, make_scene, remove_scene)
{
	struct scene *scene = *state;
	struct task_waits *waits = &scene->lone.sample.raw[0]->now.waits;
	const struct task_waiting *waiting;

	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "0");
	put_wait(scene, 8, "-1 0x1 0x2\n",
		 "[<0>] folio_wait_bit_common+0x1/0x2\n"
		 "[<0>] filemap_fault+0x1/0x2\n",
		 "0");
	waits_add(waits, SEEN_CPU, SEC(1), SEC(100), 0);
	waits_of_thread(waits, SEEN_CPU, 10, SEC(1));
	assert_int_equal(read_next(scene, false, NEED_WAITING)->tid, 7);
	waits_add(waits, SEEN_DWAIT, SEC(60), SEC(100), 0);
	waits_of_thread(waits, SEEN_DWAIT, 9, SEC(60));
	waits_add(waits, SEEN_BLKIO, SEC(50), SEC(100), 0);
	waits_of_thread(waits, SEEN_BLKIO, 8, SEC(50));
	waits_add(waits, SEEN_BLKIO, SEC(55), SEC(100), 0);
	waits_of_thread(waits, SEEN_BLKIO, 10, SEC(55));
	waiting = read_next(scene, false, NEED_WAITING);
	assert_int_equal(waiting->tid, 8);
	assert_int_equal(waiting->number, -1);
	assert_null(waiting->syscall);
	assert_int_equal(waiting->state, STATE_DWAIT);
	assert_string_equal(waiting->where.data, "filemap_fault");
	assert_int_equal(read_next(scene, true, NEED_WAITING)->tid, 7);
}

/* Where the system call is hidden the function may be known; nothing at all gives the reason. */
TEST_WITH(test_hidden, make_scene, remove_scene)
{
	struct scene *scene = *state;
	const struct task_waiting *waiting;

	put_wait(scene, 7, NANOSLEEP, SLEEP_STACK, "do_nanosleep");
	assert_int_equal(fchmodat(scene->lone.tree->fd, "7/task/7/syscall", 0, 0), 0);
	assert_int_equal(fchmodat(scene->lone.tree->fd, "7/task/7/stack", 0, 0), 0);
	if (!faccessat(scene->lone.tree->fd, "7/task/7/syscall", R_OK, AT_EACCESS)) {
		/* Root reads all: as somebody else. */
		assert_int_equal(fchmodat(scene->lone.tree->fd, ".", 0755, 0), 0);
		assert_int_equal(fchmodat(scene->lone.tree->fd, "7", 0755, 0), 0);
		assert_int_equal(fchmodat(scene->lone.tree->fd, "7/task", 0755, 0), 0);
		assert_int_equal(fchmodat(scene->lone.tree->fd, "7/task/7", 0755, 0), 0);
		assert_int_equal(fchmodat(scene->lone.tree->fd, "7/task/7/wchan", 0644, 0), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	waiting = read_next(scene, false, NEED_WAITING);
	assert_non_null(waiting);
	assert_null(waiting->syscall);
	assert_int_equal(waiting->state, WAIT_STATES);
	assert_string_equal(waiting->where.data, "do_nanosleep");
	assert_int_equal(waiting_refused(scene->reader), -EACCES);
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
}

/* A futex is named with how many of the process's threads wait for it. */
TEST_WITH(test_futex, make_scene, remove_scene)
{
	struct scene *scene = *state;
	const struct task_waiting *waiting;

	put_wait(scene, 7, "202 0x7f10 0x0 0x2 0x4 0x5 0x6 0x7ffe 0x7f01\n",
		 "[<0>] futex_do_wait+0x1/0x2\n[<0>] futex_wait+0x1/0x2\n", "0");
	put_wait(scene, 8, "202 0x7f10 0x0 0x3 0x4 0x5 0x6 0x7ffe 0x7f01\n", NULL, NULL);
	put_wait(scene, 9, "202 0x7f20 0x0 0x3 0x4 0x5 0x6 0x7ffe 0x7f01\n", NULL, NULL);
	put_wait(scene, 10, NANOSLEEP, NULL, NULL);
	waiting = read_next(scene, false, NEED_WAITING);
#ifdef __x86_64__
	assert_string_equal(waiting->syscall, "futex");
	assert_string_equal(waiting->on.data, "futex 0x7f10 (2 wait)");
	assert_int_equal(waiting->state, STATE_LOCK);
#endif
	assert_string_equal(waiting->where.data, "futex_wait");
}
