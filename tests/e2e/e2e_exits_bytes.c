// SPDX-License-Identifier: GPL-2.0-or-later
/* Storage bytes of tasks that end: all of them, each once, and none with who reaps. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/watch.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What each writes. */
#define KILOBYTES 4096

#define WRITERS 5

/* Writes a file that nobody will read. */
static void *write_file(void *arg)
{
	static const char kilobyte[1024];
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/XXXXXX", e2e_folder());
	fd = mkstemp(path);
	unlink(path);
	for (unsigned i = 0; i < KILOBYTES; i++)
		if (write(fd, kilobyte, sizeof(kilobyte)) != sizeof(kilobyte))
			_exit(1);
	close(fd);
	return arg;
}

/* Writes by so many threads. */
static _Noreturn void run_writer(const char *name, unsigned threads)
{
	pthread_t thread;

	prctl(PR_SET_NAME, name);
	if (threads > 1 && pthread_create(&thread, NULL, write_file, NULL))
		_exit(1);
	write_file(NULL);
	if (threads > 1)
		pthread_join(thread, NULL);
	_exit(0);
}

/* Waits for a signal, then has writers run and reaps them, and waits to be ended. */
static _Noreturn void run_parent(const sigset_t *set)
{
	int sig;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "bytes-parent");
	sigwait(set, &sig);
	for (unsigned i = 0; i < 2 * WRITERS; i++) {
		unsigned threads = 1 + i / WRITERS;

		if (!fork())
			run_writer(threads > 1 ? "bytes-threads" : "bytes-single", threads);
	}
	while (wait(NULL) > 0)
		;
	kill(getppid(), SIGUSR2);
	for (;;)
		pause();
}

/* Kilobytes that rows of a name have written, in all samples but the baseline. */
static double written_by(const struct watch *watch, const char *comm)
{
	double sum = 0;
	json_t *task;
	size_t i, k;

	for (i = 0; i < watch->n; i++) {
		json_array_foreach(json_object_get(watch->v[i], "tasks"), k, task)
		{
			json_t *fields = json_object_get(task, "fields");

			if (strcmp(member_text(task, "comm"), comm) != 0)
				continue;
			if (!json_is_null(json_object_get(fields, "write")))
				sum += member_real(fields, "write") * member_real(task, "interval");
		}
	}
	return sum;
}

/* Whether what is written to the folder is counted: in memory it is not. */
static bool is_counted(void)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	write_file(NULL);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_oublock > before.ru_oublock;
}

/* Watches a parent and its writers by a source. */
static void check_source(const char *options)
{
	struct watch watch;
	sigset_t set;
	pid_t pid;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_parent(&set);
	guard_push_child(pid);
	watch_start(&watch, NULL, options);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	sigwait(&set, &sig);
	watch_past(&watch);
	watch_some(&watch, 1);
	watch_end(&watch);
	e2e_kill(pid);
	guard_forget_child(pid);
	assert_in_range((uint64_t)written_by(&watch, "bytes-single"), WRITERS * KILOBYTES * 0.99,
			WRITERS * KILOBYTES * 1.01);
	assert_in_range((uint64_t)written_by(&watch, "bytes-threads"),
			2 * WRITERS * KILOBYTES * 0.99, 2 * WRITERS * KILOBYTES * 1.01);
	assert_in_range((uint64_t)written_by(&watch, "bytes-parent"), 0, KILOBYTES / 100);
}

/* Both sources that hear of ends. */
E2E_TEST(test_written)
{
	e2e_require();
	if (!is_counted())
		e2e_skip("no storage bytes are counted for this file system");
	/* What a process of several threads wrote can be told where all of it is in one interval.
	 */
	check_source("-d 3 -F write --source taskstats");
	e2e_require_bpf();
	check_source("-d 3 -F write --source bpf");
}
