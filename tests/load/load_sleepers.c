// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_sleepers N [THREADS [NAMES]]: N processes that wait for nothing, of so many threads each
 * (1), which have one name or by turns so many, for measuring what it costs to look at them.
 * It prints "ready" when all are there; they end with it.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

/* Wakes pause() up. */
static void on_end(int sig)
{
	(void)sig;
	ended = 1;
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Threads with stacks that take next to nothing. 0, or an error number. */
static int add_threads(unsigned long n)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);

	if (!err)
		err = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	while (!err && n--)
		err = pthread_create(&thread, &attr, sleep_on, NULL);
	return err;
}

/*
 * A sleeper's life; it must not outlive its parent, however that ends. It says that all
 * its threads are there by closing `ready`, and that they cannot be by a byte.
 */
static void sleeper(pid_t parent, unsigned long threads, int ready)
{
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || (add_threads(threads - 1) && write(ready, "!", 1)))
		_exit(1);
	close(ready);
	sleep_on(NULL);
}

/* Starts them; returns how many there are, fewer than asked for on an error or a signal. */
static unsigned long start(pid_t *pids, unsigned long n, unsigned long threads, unsigned long names,
			   int ready)
{
	pid_t parent = getpid();
	unsigned long i;
	char name[32]; /* the kernel cuts it */

	for (i = 0; i < n && !ended; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			snprintf(name, sizeof(name), "sleeper%lu", names ? i % names : 0);
			if (names)
				prctl(PR_SET_NAME, name);
			sleeper(parent, threads, ready);
		}
		if (pids[i] < 0) {
			fprintf(stderr, "load_sleepers: process %lu: %s\n", i + 1, strerror(errno));
			break;
		}
	}
	return i;
}

/* Waits until each sleeper has its threads: nobody has the pipe's other end any more. */
static int all_there(int ready)
{
	char byte;
	ssize_t got = read(ready, &byte, 1);

	if (got > 0)
		fputs("load_sleepers: a process cannot have its threads\n", stderr);
	return got == 0;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	unsigned long names = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	struct sigaction end = { .sa_handler = on_end };
	pid_t *pids = calloc(n + 1, sizeof(*pids));
	unsigned long there;
	int ready[2];

	if (!n || !threads || argc > 4 || !pids || pipe(ready)) {
		fputs("usage: load_sleepers N [THREADS [NAMES]]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	there = start(pids, n, threads, names, ready[1]);
	close(ready[1]);
	if (there == n && all_there(ready[0])) {
		puts("ready");
		fflush(stdout);
		while (!ended)
			pause();
	}
	while (there)
		kill(pids[--there], SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	free(pids);
	return !ended;
}
