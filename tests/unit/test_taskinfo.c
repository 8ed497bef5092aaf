// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read beside the counters: files of a screen's rows are kept open, and let go. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/scene.h"
#include "model/taskinfo.h"
#include "base/util.h"

#define MANY 70

/* Descriptors that are open. */
static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A child that waits for a signal. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

/* Ends a child. */
static void finish(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Reads stat of the i-th element anew, with the system calls that it took. Whether it is there. */
static bool reads_stat(struct taskinfo *info, struct sample *sample, size_t i, uint64_t *calls)
{
	uint64_t before = taskinfo_syscalls(info);

	sample_extend(sample, NEED_STAT);
	sample->procs[i].children_valid = false;
	taskinfo_fill(info, sample, i, NEED_STAT);
	*calls = taskinfo_syscalls(info) - before;
	return sample->procs[i].children_valid;
}

/* The file is opened once, read by one call, and is of that task only. */
static void test_kept(void **state)
{
	struct scene *scene = *state;
	struct sample *sample = &scene->samples[0], none = { 0 };
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	struct taskinfo *info = taskinfo_open(procfd, false);
	unsigned open_before = descriptors();
	pid_t pid = sleeper();
	uint64_t calls;

	scene_add(sample, pid, pid, SEC(1));
	assert_true(reads_stat(info, sample, 0, &calls));
	assert_int_equal(calls, 2);
	assert_true(reads_stat(info, sample, 0, &calls));
	assert_int_equal(calls, 1);
	assert_int_equal(descriptors(), open_before + 1);
	finish(pid);
	/* What is read of one that has gone is nothing, and its file is closed. */
	assert_false(reads_stat(info, sample, 0, &calls));
	assert_int_equal(descriptors(), open_before);
	/* A file that nobody asks for any more is closed in the end. */
	pid = sleeper();
	scene_add(sample, pid, pid, SEC(2));
	assert_true(reads_stat(info, sample, 1, &calls));
	assert_int_equal(descriptors(), open_before + 1);
	for (unsigned i = 0; i < 4; i++)
		taskinfo_update(info, &none, 0, NULL, NULL);
	assert_int_equal(descriptors(), open_before);
	finish(pid);
	taskinfo_close(info);
	close(procfd);
}

/* More than are kept are read all the same. */
static void test_many(void **state)
{
	struct scene *scene = *state;
	struct sample *sample = &scene->samples[0];
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	struct taskinfo *info = taskinfo_open(procfd, false);
	unsigned open_before = descriptors();
	uint64_t calls, again = 0;
	pid_t pids[MANY];

	for (size_t i = 0; i < MANY; i++) {
		pids[i] = sleeper();
		scene_add(sample, pids[i], pids[i], SEC(1));
	}
	for (size_t i = 0; i < MANY; i++)
		assert_true(reads_stat(info, sample, i, &calls));
	assert_true(descriptors() < open_before + MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_true(reads_stat(info, sample, i, &calls));
		again += calls;
	}
	assert_true(again < 2 * MANY);
	for (size_t i = 0; i < MANY; i++)
		finish(pids[i]);
	taskinfo_close(info);
	assert_int_equal(descriptors(), open_before);
	close(procfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_many, scene_setup, scene_teardown),
	};

	return cmocka_run_group_tests_name("taskinfo", tests, NULL, NULL);
}
