// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is kept waiting in a system call, and who has nothing to do, from a made-up /proc. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frame/frame.h"
#include "kernel/syscall_target.h"
#include "read/blocked_scan.h"
#include "tests/lib/calls.h"
#include "tests/lib/lone.h"

/* The process, and who hangs. */
struct scene {
	struct lone lone;
	struct blocked_scan blocked;
};

/* CPU 1 has run its tasks for 500 s when it is 100 s, CPU 2 for 300 s; others are not known. */
static int made_up_lag(struct proc *proc, unsigned cpu, int64_t *ns)
{
	(void)proc;
	*ns = (cpu == 1 ? -400 : -200) * (int64_t)NSEC_PER_SEC;
	return cpu == 1 || cpu == 2 ? 0 : -EINVAL;
}

/* Makes a process of one thread that ran for 10 ns. */
static int make_scene(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct task_raw *raw;

	if (lone_make(&scene->lone))
		return -1;
	scene->blocked.proc = scene->lone.tree->proc;
	scene->blocked.read_lag = made_up_lag;
	raw = scene->lone.sample.raw[0];
	raw->single = true;
	raw->counters.valid = VALID_RUN;
	raw->counters.run_ns = 10;
	*state = scene;
	return 0;
}

/* Removes it. */
static int remove_scene(void **state)
{
	struct scene *scene = *state;
	int err = lone_remove(&scene->lone);

	blocked_scan_free(&scene->blocked);
	free(scene);
	return err;
}

/* Puts the call of a thread, by its number and its first arguments. */
static void put_call(const struct scene *scene, pid_t tid, long number, unsigned a, unsigned b,
		     unsigned c)
{
	char text[128];

	snprintf(text, sizeof(text), "%ld 0x%x 0x%x 0x%x 0x0 0x0 0x0 0x7ffe 0x7f01\n", number, a, b,
		 c);
	lone_put(&scene->lone, tid, "syscall", text);
}

/* Puts how long a thread has run. */
static void put_run(const struct scene *scene, pid_t tid, unsigned ns)
{
	char text[64];

	snprintf(text, sizeof(text), "%u 0 1\n", ns);
	lone_put(&scene->lone, tid, "schedstat", text);
}

/* Makes a link of the tree. */
static void put_link(const struct scene *scene, const char *path, const char *to)
{
	assert_int_equal(symlinkat(to, scene->lone.tree->fd, path), 0);
}

/* Takes the next sample, a second later: for how many seconds the row hangs; -1: it does not. */
static int take_next(struct scene *scene)
{
	uint64_t ns;

	lone_next(&scene->lone);
	blocked_scan_read(&scene->blocked, &scene->lone.sample, false);
	return row_hang(&scene->lone.frame, &scene->lone.row, &ns) ? (int)(ns / NSEC_PER_SEC) : -1;
}

/* A wait is looked at once, when the thread has slept through an interval. */
TEST_WITH(test_once, make_scene, remove_scene)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene->lone.sample.raw[0];

	put_call(scene, 7, SYS_openat, 0, 0, 0);
	assert_int_equal(take_next(scene), -1);
	assert_int_equal(take_next(scene), 1);
	assert_int_equal(CALLS_OF(assert_int_equal(take_next(scene), 2)), 0);
	/* it ran: another wait, which is no hang */
	raw->counters.run_ns++;
	put_call(scene, 7, SYS_rt_sigsuspend, 0, 0, 0);
	assert_int_equal(take_next(scene), -1);
	assert_int_equal(take_next(scene), -1);
	assert_int_equal(take_next(scene), -1);
	/* stopped, and gone */
	raw->counters.run_ns++;
	put_call(scene, 7, SYS_openat, 0, 0, 0);
	take_next(scene);
	assert_int_equal(take_next(scene), 1);
	raw->now.state = 'T';
	assert_int_equal(take_next(scene), -1);
	raw->now.state = 'S';
	scene->lone.row.exited = true;
	assert_int_equal(take_next(scene), -1);
}

/* Puts on which CPU the thread ran last, and when by that CPU's clock, in ms. */
static void put_ran(const struct scene *scene, unsigned cpu, const char *ms)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "7 (x) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "17 %u 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 cpu);
	lone_put(&scene->lone, 7, "stat", text);
	snprintf(text, sizeof(text),
		 "x (7, #threads: 1)\n--------------------------------\nse.exec_start : %s\n", ms);
	lone_put(&scene->lone, 7, "sched", text);
}

/* How long the wait has been when it is found, in s. */
static int age_of(struct scene *scene, unsigned cpu, const char *ms)
{
	scene->lone.sample.raw[0]->counters.run_ns++;
	put_ran(scene, cpu, ms);
	take_next(scene);
	return take_next(scene);
}

/*
 * The kernel tells when a thread ran last, by the clock of its CPU: before it was seen, but not
 * before the task began, and not later.
 */
TEST_WITH(test_age, make_scene, remove_scene)
{
	struct scene *scene = *state;

	put_call(scene, 7, SYS_openat, 0, 0, 0);
	/* it is 102 s at the second look of each */
	assert_int_equal(age_of(scene, 1, "470000.000000"), 32);
	assert_int_equal(take_next(scene), 33);
	assert_int_equal(age_of(scene, 2, "270000.000000"), 35);
	assert_int_equal(age_of(scene, 1, "0.000001"), 106); /* the task is of the 1st */
	assert_int_equal(age_of(scene, 2, "600000.000000"), 1);
	assert_int_equal(age_of(scene, 3, "270000.000000"), 1);
}

/* Of a process that hangs within execve() nothing is read that would hang the reader. */
TEST_WITH(test_executes, make_scene, remove_scene)
{
	struct scene *scene = *state;

	put_text(scene->lone.tree, "7/statm", "1 1 0 0 0 1 0\n");
	/* its call, which would be no hang, is not looked at */
	put_call(scene, 7, SYS_rt_sigsuspend, 0, 0, 0);
	take_next(scene);
	assert_int_equal(take_next(scene), 1);
	/* a program that has begun, and a thread of the kernel */
	put_text(scene->lone.tree, "7/statm", "765 418 389 5 0 123 0\n");
	scene->lone.sample.raw[0]->counters.run_ns++;
	take_next(scene);
	assert_int_equal(take_next(scene), -1);
	put_text(scene->lone.tree, "7/statm", "0 0 0 0 0 0 0\n");
	scene->lone.sample.raw[0]->counters.run_ns++;
	take_next(scene);
	assert_int_equal(take_next(scene), -1);
}

/* Of several threads the one counts that has been kept waiting for longest. */
TEST_WITH(test_threads, make_scene, remove_scene)
{
	struct scene *scene = *state;
	struct task_raw *raw = scene->lone.sample.raw[0];

	raw->single = false;
	put_call(scene, 7, SYS_futex, 0x1000, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0);
	put_run(scene, 7, 5);
	put_call(scene, 8, SYS_openat, 0, 0, 0);
	put_run(scene, 8, 5);
	put_call(scene, 9, SYS_futex, 0x1000, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2);
	put_run(scene, 9, 1);
	assert_int_equal(take_next(scene), -1);
	/* the last ran meanwhile */
	raw->counters.run_ns++;
	put_run(scene, 9, 2);
	assert_int_equal(take_next(scene), 1);
	assert_int_equal(scene->lone.sample.extras[0]->hang.tid, 8);
	/* none ran */
	assert_int_equal(take_next(scene), 2);
	assert_int_equal(scene->lone.sample.extras[0]->hang.tid, 8);
	/* the one that waited longest goes on, and the last is left */
	raw->counters.run_ns++;
	put_run(scene, 8, 6);
	assert_int_equal(take_next(scene), 2);
	assert_int_equal(scene->lone.sample.extras[0]->hang.tid, 9);
}

/* The rule, case by case: 3 to 8 are descriptors. */
TEST_WITH(test_rule, make_scene, remove_scene)
{
	static const struct {
		long number;
		unsigned args[3];
		bool hangs;
	} cases[] = {
		{ SYS_read, { 3 }, true }, /* a file */
		{ SYS_fsync, { 3 }, true },
		{ SYS_flock, { 3 }, true },
		{ SYS_read, { 4 }, false }, /* a pipe */
		{ SYS_write, { 4 }, true },
		{ SYS_read, { 5 }, false }, /* a terminal */
		{ SYS_write, { 5 }, true },
		{ SYS_ioctl, { 5 }, false },
		{ SYS_read, { 6 }, false }, /* an event */
		{ SYS_read, { 7 }, false }, /* /proc/kmsg */
		{ SYS_recvmsg, { 8 }, false }, /* a socket of which nothing is known */
		{ SYS_sendto, { 8 }, true },
		{ SYS_connect, { 8 }, true },
		{ SYS_accept4, { 8 }, false },
		{ SYS_epoll_pwait, { 6 }, false },
		{ SYS_ppoll, { 0x1000, 1 }, false },
		{ SYS_clock_nanosleep, { 0 }, false },
		{ SYS_wait4, { 12 }, false },
		{ SYS_pselect6, { 0 }, false },
		{ SYS_rt_sigtimedwait, { 0 }, false },
		{ SYS_newfstatat, { 0 }, true },
		{ SYS_futex, { 0x1000, FUTEX_WAIT, 2 }, true },
		{ SYS_futex, { 0x1000, FUTEX_WAIT_PRIVATE, 2 }, true },
		{ SYS_futex, { 0x1000, FUTEX_LOCK_PI_PRIVATE }, true },
		{ SYS_futex, { 0x1000, FUTEX_WAIT_PRIVATE, 0 }, false },
		{ SYS_futex, { 0x1000, FUTEX_WAIT_BITSET_PRIVATE, 2 }, false },
		{ -1, { 0 }, false },
		{ 100000, { 3 }, false },
		{ SYS_read, { 99 }, false }, /* none such */
	};
	struct scene *scene = *state;
	struct wait_targets *targets = wait_targets_open(scene->lone.tree->proc);

	put_text(scene->lone.tree, "7/fd/0", "");
	put_link(scene, "7/fd/3", "/mnt/file");
	put_link(scene, "7/fd/4", "pipe:[12]");
	put_link(scene, "7/fd/5", "/dev/pts/1");
	put_link(scene, "7/fd/6", "anon_inode:[eventfd]");
	put_link(scene, "7/fd/7", "/proc/kmsg");
	put_link(scene, "7/fd/8", "socket:[99]");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct procwait_syscall call = { .number = (int)cases[i].number };

		for (unsigned arg = 0; arg < 3; arg++)
			call.args[arg] = cases[i].args[arg];
		if (syscall_hangs(targets, 7, &call) != cases[i].hangs)
			fail_msg("case %zu, call %ld", i, cases[i].number);
	}
	wait_targets_close(targets);
}
