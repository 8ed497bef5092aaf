// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that come, go and change:
 *   load_churn forks            processes that live for some ms, some with threads
 *   load_churn threads          one process whose threads live for some ms
 *   load_churn setuid MS        a process that becomes nobody after so many ms
 *   load_churn orphan MS        prints a child's pid, leaves it alone after that
 *   load_churn thread-exec MS   a thread that is not the leader runs /bin/sleep
 *   load_churn leaderless       the leader ends, another thread spins
 * Each prints "ready" when it has begun.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IN_FLIGHT	8

/* Sleeps for so many us. */
static void nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* Spins for so many us. */
static void spin(long us)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += us * 1000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* A thread's short life. */
static void *short_thread(void *arg)
{
	(void)arg;
	spin(1000);
	nap(5000);
	return NULL;
}

/* A process's short life; every third has a thread. */
static void short_process(unsigned int n)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (n % 3 == 0 && !pthread_create(&thread, NULL, short_thread, NULL))
		pthread_join(thread, NULL);
	spin(500);
	nap((long)(n % 50) * 1000);
	_exit(0);
}

/* Always so many at a time, each of another age. */
static int churn_forks(void)
{
	unsigned int n = 0, alive = 0;

	for (;; n++) {
		pid_t pid = fork();

		if (pid == 0)
			short_process(n);
		alive += pid > 0;
		while (alive >= IN_FLIGHT && wait(NULL) > 0)
			alive--;
		nap(1000);
	}
	return 0;
}

/* The same of threads. */
static int churn_threads(void)
{
	pthread_t thread[IN_FLIGHT];
	unsigned int n;

	for (n = 0;; n++) {
		if (n >= IN_FLIGHT)
			pthread_join(thread[n % IN_FLIGHT], NULL);
		if (pthread_create(&thread[n % IN_FLIGHT], NULL, short_thread, NULL))
			return 1;
		nap(500);
	}
	return 0;
}

/* Becomes another user in mid-life, having used some time so that it shows. */
static int change_user(long ms)
{
	nap(ms * 1000);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	/* the change of user cleared it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		nap(10000);
	return 0;
}

/* Leaves a child behind. */
static int leave_orphan(long ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* whoever gets it ends it; if nobody does, it ends */
		prctl(PR_SET_PDEATHSIG, 0);
		alarm(60);
		for (;;)
			nap(10000);
	}
	printf("ready %d\n", (int)pid);
	fflush(stdout);
	nap(ms * 1000);
	return 0;
}

/* The thread takes the leader's place, its pid and its start. */
static void *exec_sleep(void *arg)
{
	spin(20000);
	nap(*(long *)arg * 1000);
	execl("/bin/sleep", "sleep", "60", (char *)NULL);
	_exit(1);
	return NULL;
}

/* Spins for ever. */
static void *spin_on(void *arg)
{
	(void)arg;
	for (;;)
		spin(100000);
	return NULL;
}

/* Starts a thread and says that it is there. */
static int with_thread(void *(*start)(void *), long ms, int leave)
{
	static long arg;
	pthread_t thread;

	arg = ms;
	if (pthread_create(&thread, NULL, start, &arg))
		return 1;
	puts("ready");
	fflush(stdout);
	if (leave)
		pthread_exit(NULL);
	for (;;)
		nap(1000000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long ms = argc > 2 ? atol(argv[2]) : 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* longer than the longest soak */
	alarm(4000);
	if (!strcmp(what, "orphan"))
		return leave_orphan(ms);
	if (!strcmp(what, "thread-exec"))
		return with_thread(exec_sleep, ms, 0);
	if (!strcmp(what, "leaderless"))
		return with_thread(spin_on, 0, 1);
	puts("ready");
	fflush(stdout);
	if (!strcmp(what, "forks"))
		return churn_forks();
	if (!strcmp(what, "threads"))
		return churn_threads();
	if (!strcmp(what, "setuid"))
		return change_user(ms);
	fputs("usage: load_churn forks|threads|setuid|orphan|thread-exec|leaderless [MS]\n",
	      stderr);
	return 2;
}
