// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_hang MODE: sleeps uninterruptibly without I/O, as over a kernel's lock: a parent in vfork()
 * does so until its child ends (kernel/fork.c:wait_for_vfork_done). It prints "ready" before.
 *   hold           one process, for ever
 *   threads N      a process of N threads, of which one does
 *   waits N MS     from SIGUSR1 on N times for so long, with as long a sleep of the usual kind in
 *                  between; then prints "done", N and how long it has waited in all, in us
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Sleeps as the child of vfork(), which must end with its parent, and ends. */
_Noreturn static void child_sleeps(unsigned ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ms)
		nanosleep(&left, NULL);
	else
		pause();
	_exit(0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Hangs for so long, 0 for ever. */
static void hang(unsigned ms)
{
	pid_t pid = vfork();

	if (!pid)
		child_sleeps(ms);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}
#pragma GCC diagnostic pop

static void *hang_on(void *arg)
{
	hang(0);
	return arg;
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Threads of which the last hangs. */
static int start_threads(unsigned long n)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);

	if (!err)
		err = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN * 4);
	while (!err && n-- > 1)
		err = pthread_create(&thread, &attr, n > 1 ? sleep_on : hang_on, NULL);
	return err;
}

/* Says that all is there. */
static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

/* The time now, in us. */
static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Waits now and then, when it is told to. */
static void wait_often(unsigned long n, unsigned ms)
{
	struct timespec rest = { ms / 1000, (long)(ms % 1000) * 1000000 };
	uint64_t waited = 0;
	sigset_t begin;
	int sig;

	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);
	say("ready");
	sigwait(&begin, &sig);
	for (unsigned long i = 0; i < n; i++) {
		uint64_t begun = now_us();

		hang(ms);
		waited += now_us() - begun;
		nanosleep(&rest, NULL);
	}
	printf("done %lu %" PRIu64 "\n", n, waited);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(mode, "threads") && argc > 2) {
		if (start_threads(strtoul(argv[2], NULL, 10)))
			return 1;
		say("ready");
	} else if (!strcmp(mode, "waits") && argc > 3) {
		wait_often(strtoul(argv[2], NULL, 10), (unsigned)strtoul(argv[3], NULL, 10));
	} else if (!strcmp(mode, "hold")) {
		say("ready");
		hang(0);
	} else {
		return 2;
	}
	sleep_on(NULL);
	return 0;
}
