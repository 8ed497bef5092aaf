// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_busy PROCESSES THREADS WAKES FORKS: processes of so many threads that wake up WAKES times
 * a second each, and children that come and go, FORKS a second: a busy machine to be looked at, of
 * which each task takes little. It prints "ready" when all are there; they end with it.
 */
#include <errno.h>
#include <limits.h>
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

#define MOST 1000

static volatile sig_atomic_t ended;

static void on_end(int sig)
{
	(void)sig;
	ended = 1;
}

/* Waits for the next of so many points a second: on a grid, from which who is late returns. */
static void await_next(struct timespec *at, unsigned long per_second)
{
	at->tv_nsec += (long)(1000000000 / per_second);
	if (at->tv_nsec >= 1000000000) {
		at->tv_nsec -= 1000000000;
		at->tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL) == EINTR && !ended)
		;
}

static void *wake(void *arg)
{
	const unsigned long *per_second = arg;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (;;)
		await_next(&at, *per_second);
	return NULL;
}

/* A process of threads, which says that all are there by closing `ready`. */
static void run_threads(unsigned long threads, unsigned long per_second, int ready)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	if (!err)
		err = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	while (!err && --threads)
		err = pthread_create(&thread, &attr, wake, &per_second);
	if (err && write(ready, "!", 1))
		_exit(1);
	close(ready);
	wake(&per_second);
}

/* Children that end at once, one after the other, until there is a signal. */
static void fork_on(unsigned long per_second)
{
	struct timespec at;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &at);
	while (!ended) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		await_next(&at, per_second);
	}
}

int main(int argc, char **argv)
{
	struct sigaction end = { .sa_handler = on_end };
	unsigned long n[4] = { 0 }, there = 0;
	pid_t pids[MOST];
	int ready[2];
	char byte;

	for (int i = 0; i < 4 && i + 1 < argc; i++)
		n[i] = strtoul(argv[i + 1], NULL, 10);
	if (argc != 5 || !n[0] || n[0] > MOST || !n[1] || !n[2] || !n[3] || pipe(ready)) {
		fputs("usage: load_busy PROCESSES THREADS WAKES FORKS\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &end, NULL);
	for (; there < n[0]; there++) {
		pids[there] = fork();
		if (pids[there] == 0)
			run_threads(n[1], n[2], ready[1]);
		if (pids[there] < 0)
			break;
	}
	close(ready[1]);
	if (there < n[0] || read(ready[0], &byte, 1)) {
		fputs("load_busy: not all processes and threads can be had\n", stderr);
		ended = 1;
	} else {
		puts("ready");
		fflush(stdout);
	}
	fork_on(n[3]);
	while (there)
		kill(pids[--there], SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
