// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_stack WAITS FILE: waits so often, each time for 2 to 4 ms, in one of four functions that one
 * of two others calls, by chance. It prints "ready"; at the end it makes the file, with a line for
 * each pair ("call_even wait_in_poll 123"), and waits on in `idle`.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A function that calls another as its last thing must stay on the stack. */
#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("")

static int quiet[2], talk[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

KEPT static void wait_in_sleep(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
	STAY();
}

KEPT static void wait_in_poll(long ns)
{
	poll(&(struct pollfd){ .fd = quiet[0], .events = POLLIN }, 1, (int)(ns / 1000000));
	STAY();
}

KEPT static void wait_in_condition(long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&never, &lock, &until);
	pthread_mutex_unlock(&lock);
	STAY();
}

/* Another thread writes what is read here. */
KEPT static void wait_in_read(long ns)
{
	char byte[sizeof(ns)];

	(void)!write(talk[1], &ns, sizeof(ns));
	(void)!read(quiet[0], byte, 1);
	STAY();
}

static void *answer(void *arg)
{
	long ns;

	while (read(talk[0], &ns, sizeof(ns)) == sizeof(ns)) {
		nanosleep(&(struct timespec){ 0, ns }, NULL);
		(void)!write(quiet[1], "x", 1);
	}
	return arg;
}

static void (*const waits[])(long ns) = { wait_in_sleep, wait_in_poll, wait_in_condition,
					  wait_in_read };
static const char *const names[] = { "wait_in_sleep", "wait_in_poll", "wait_in_condition",
				     "wait_in_read" };
static unsigned long counts[2][4];

KEPT static void call_even(unsigned which, long ns)
{
	waits[which](ns);
	counts[0][which]++;
	STAY();
}

KEPT static void call_odd(unsigned which, long ns)
{
	waits[which](ns);
	counts[1][which]++;
	STAY();
}

KEPT static void idle(void)
{
	for (;;)
		pause();
}

static void write_counts(const char *path)
{
	FILE *file;
	char name[512];

	snprintf(name, sizeof(name), "%s.new", path);
	file = fopen(name, "we");
	for (unsigned i = 0; file && i < 8; i++)
		fprintf(file, "call_%s %s %lu\n", i / 4 ? "odd" : "even", names[i % 4],
			counts[i / 4][i % 4]);
	if (!file || fclose(file) || rename(name, path))
		exit(1);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	unsigned seed = 1;
	pthread_t thread;

	if (pipe(quiet) || pipe(talk) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; i < n; i++) {
		unsigned which = (unsigned)rand_r(&seed) / 8 % 4;
		long ns = 2000000 + rand_r(&seed) % 3 * 1000000L;

		if (rand_r(&seed) / 16 % 2)
			call_odd(which, ns);
		else
			call_even(which, ns);
	}
	if (argc > 2)
		write_counts(argv[2]);
	idle();
}
