// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals and nice values: for the task that is meant, and no other that has its pid. */
#include "kernel/proc.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "sampler/target.h"
#include "tests/lib/scratch.h"

/* A process that waits for its end, and when it was started. */
struct state {
	struct proc proc;
	pid_t pid;
	struct target_seen seen;
};

/* That a task which begins now is there. */
static struct target_seen seen_now(void)
{
	return (struct target_seen){ .start_ns = clock_ns(CLOCK_MONOTONIC),
				     .by_ns = clock_ns(CLOCK_BOOTTIME) };
}

/* Starts the process. */
static int start_child(void **state)
{
	static struct state s;

	scratch_begin();
	s.proc.fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s.pid = scratch_child(fork());
	if (!s.pid)
		for (;;)
			pause();
	s.seen = seen_now();
	*state = &s;
	return s.pid < 0 || s.proc.fd < 0;
}

/* Ends it. */
static int end_child(void **state)
{
	struct state *s = *state;

	close(s->proc.fd);
	scratch_end();
	return 0;
}

#define TARGET_TEST(name) TEST_WITH(name, start_child, end_child)

/* What is found gets what is meant for it, while it is there. */
TARGET_TEST(test_found)
{
	struct state *s = *state;
	struct target target;
	size_t threads;
	int status;

	assert_int_equal(target_find(&target, &s->proc, s->pid, 0, &s->seen), 0);
	assert_int_equal(target_renice(&target, 5, &threads), 0);
	assert_int_equal(threads, 1);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), 5);
	assert_int_equal(target_signal(&target, SIGTERM), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	scratch_forget(s->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(target_signal(&target, SIGTERM), -ESRCH);
	assert_int_equal(target_renice(&target, 5, &threads), -ESRCH);
	assert_int_equal(target_find(&target, &s->proc, s->pid, 0, &s->seen), -ESRCH);
}

/* One of its threads, by its own id. */
TARGET_TEST(test_thread)
{
	struct state *s = *state;
	struct target target;
	size_t threads;

	assert_int_equal(target_find(&target, &s->proc, s->pid, s->pid, &s->seen), 0);
	assert_int_equal(target_renice(&target, 7, &threads), 0);
	assert_int_equal(threads, 1);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), 7);
	assert_int_equal(target_find(&target, &s->proc, s->pid, getpid(), &s->seen), -ESRCH);
}

/* Who has the pid of another is left alone: by the sample's start, and by that when found. */
TARGET_TEST(test_other)
{
	struct state *s = *state;
	struct target target;
	struct target_seen late = s->seen;
	size_t threads;

	late.start_ns += 10 * NSEC_PER_SEC;
	assert_int_equal(target_find(&target, &s->proc, s->pid, 0, &late), -ESRCH);
	assert_int_equal(target_find(&target, &s->proc, s->pid, 0, &s->seen), 0);
	target.start--;
	assert_int_equal(target_signal(&target, SIGKILL), -ESRCH);
	assert_int_equal(target_renice(&target, 9, &threads), -ESRCH);
	assert_int_equal(kill(s->pid, 0), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), getpriority(PRIO_PROCESS, 0));
}

/* A child that waits for its end, with a pid that is free. -errno where it cannot be had. */
static pid_t start_with_pid(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uint64_t)(uintptr_t)&pid,
				   .set_tid_size = 1 };
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		for (;;)
			pause();
	return child < 0 ? -errno : child;
}

/* Ends the process of a test, and starts the next owner of its pid some ticks later. */
static void start_next(pid_t pid)
{
	const struct timespec ticks = { .tv_nsec =
						(long)(3 * NSEC_PER_SEC) / sysconf(_SC_CLK_TCK) };
	pid_t next;

	nanosleep(&ticks, NULL);
	scratch_kill(pid);
	next = start_with_pid(pid);
	if (next == -EPERM)
		scratch_skip("no choice of pids without privileges");
	assert_int_equal(scratch_child(next), pid);
}

/* The pid's next owner is spared by who meant the one before, found in time or too late. */
TARGET_TEST(test_next_owner)
{
	struct state *s = *state;
	struct target targets[2], late;
	size_t threads;

	for (int i = 0; i < 2; i++)
		assert_int_equal(
			target_find(&targets[i], &s->proc, s->pid, i ? s->pid : 0, &s->seen), 0);
	start_next(s->pid);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(target_signal(&targets[i], SIGKILL), -ESRCH);
		assert_int_equal(target_renice(&targets[i], 9, &threads), -ESRCH);
		assert_int_equal(threads, 0);
		assert_int_equal(target_find(&late, &s->proc, s->pid, i ? s->pid : 0, &s->seen),
				 -ESRCH);
	}
	assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), getpriority(PRIO_PROCESS, 0));
}

/* Where /proc is of another pid namespace, its pids are others' here: nothing is done to them. */
static int find_in_namespace(void *state)
{
	const struct state *s = state;
	struct proc proc = s->proc;
	struct target target;

	/* Both, who has that pid there and who has it here, live. */
	if (target_find(&target, &proc, s->pid, 0, &s->seen) != -EXDEV)
		return 1;
	return target_find(&target, &proc, getpid(), 0, &s->seen) == -EXDEV ? 0 : 2;
}

TARGET_TEST(test_other_namespace)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	int status;
	pid_t pid = clone(find_in_namespace, stack + sizeof(stack), CLONE_NEWPID | SIGCHLD, *state);

	if (pid < 0 && errno == EPERM)
		scratch_skip("not root");
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
