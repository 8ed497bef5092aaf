// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals and nice values: for the task that is meant, and no other that has its pid. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "model/target.h"
#include "tests/lib/scratch.h"

/* A process that waits for its end, and when it was started. */
struct state {
	int procfd;
	pid_t pid;
	uint64_t start_ns;
};

/* Starts the process. */
static int start_child(void **state)
{
	static struct state s;

	scratch_begin();
	s.procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s.start_ns = clock_ns(CLOCK_MONOTONIC);
	s.pid = scratch_child(fork());
	if (!s.pid)
		for (;;)
			pause();
	*state = &s;
	return s.pid < 0 || s.procfd < 0;
}

/* Ends it. */
static int end_child(void **state)
{
	const struct state *s = *state;

	close(s->procfd);
	scratch_end();
	return 0;
}

/* What is found gets what is meant for it, while it is there. */
static void test_found(void **state)
{
	const struct state *s = *state;
	struct target target;
	size_t threads;
	int status;

	assert_int_equal(
		target_find(&target, s->procfd, s->pid, 0, s->start_ns, clock_ns(CLOCK_BOOTTIME)),
		0);
	assert_int_equal(target_renice(&target, 5, &threads), 0);
	assert_int_equal(threads, 1);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), 5);
	assert_int_equal(target_signal(&target, SIGTERM), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	scratch_forget(s->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(target_signal(&target, SIGTERM), -ESRCH);
	assert_int_equal(target_renice(&target, 5, &threads), -ESRCH);
	assert_int_equal(
		target_find(&target, s->procfd, s->pid, 0, s->start_ns, clock_ns(CLOCK_BOOTTIME)),
		-ESRCH);
}

/* One of its threads, by its own id. */
static void test_thread(void **state)
{
	const struct state *s = *state;
	struct target target;
	size_t threads;

	assert_int_equal(target_find(&target, s->procfd, s->pid, s->pid, s->start_ns,
				     clock_ns(CLOCK_BOOTTIME)),
			 0);
	assert_int_equal(target_renice(&target, 7, &threads), 0);
	assert_int_equal(threads, 1);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), 7);
	assert_int_equal(target_find(&target, s->procfd, s->pid, getpid(), s->start_ns,
				     clock_ns(CLOCK_BOOTTIME)),
			 -ESRCH);
}

/* Who has the pid since after the task was seen is another, however near their starts are. */
static void test_seen(void **state)
{
	const struct state *s = *state;
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	struct target target;

	assert_int_equal(
		target_find(&target, s->procfd, s->pid, 0, s->start_ns, clock_ns(CLOCK_BOOTTIME)),
		0);
	assert_int_equal(
		target_find(&target, s->procfd, s->pid, 0, s->start_ns, target.start * tick_ns - 1),
		-ESRCH);
}

/* Who has the pid of another is left alone: by the sample's start, and by that when found. */
static void test_other(void **state)
{
	const struct state *s = *state;
	struct target target;
	size_t threads;

	assert_int_equal(target_find(&target, s->procfd, s->pid, 0, s->start_ns + 10 * NSEC_PER_SEC,
				     clock_ns(CLOCK_BOOTTIME)),
			 -ESRCH);
	assert_int_equal(
		target_find(&target, s->procfd, s->pid, 0, s->start_ns, clock_ns(CLOCK_BOOTTIME)),
		0);
	target.start--;
	assert_int_equal(target_signal(&target, SIGKILL), -ESRCH);
	assert_int_equal(target_renice(&target, 9, &threads), -ESRCH);
	assert_int_equal(kill(s->pid, 0), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)s->pid), getpriority(PRIO_PROCESS, 0));
}

#define TARGET_TEST(name) cmocka_unit_test_setup_teardown(name, start_child, end_child)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGET_TEST(test_found),
		TARGET_TEST(test_thread),
		TARGET_TEST(test_other),
		TARGET_TEST(test_seen),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
