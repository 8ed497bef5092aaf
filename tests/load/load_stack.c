// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_stack WAITS FILE: waits so often, each time for 2 to 4 ms, in one of four functions that one
 * of two others calls, by chance. It prints "ready"; at the end it makes the file, with a line for
 * each pair ("call_even wait_in_poll 123"), and waits on in `idle`. With GENERATED, a third
 * argument, call_odd is called by code that is made first, as compilers that run make it, with its
 * line in /tmp/perf-PID.map; that argument is the function's name.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

typedef void caller(unsigned which, long ns);

/* Code that calls call_odd, with a frame pointer; and its line for perf. */
static void generate(const char *name, void (**code)(unsigned which, long ns, caller *called))
{
	static const unsigned char bytes[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd2, 0x5d, 0xc3 };
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "wxe");
	if (at == MAP_FAILED || !map)
		exit(1);
	memcpy(at, bytes, sizeof(bytes));
	memcpy(code, &at, sizeof(at));
	fprintf(map, "%lx %zx %s\n", (unsigned long)at, sizeof(bytes), name);
	if (fclose(map) || mprotect(at, 4096, PROT_READ | PROT_EXEC))
		exit(1);
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
	void (*generated)(unsigned which, long ns, caller *called) = NULL;
	long n = argc > 1 ? atol(argv[1]) : 100;
	unsigned seed = 1;
	pthread_t thread;

	if (pipe(quiet) || pipe(talk) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	if (argc > 3)
		generate(argv[3], &generated);
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; i < n; i++) {
		unsigned which = (unsigned)rand_r(&seed) / 8 % 4;
		long ns = 2000000 + rand_r(&seed) % 3 * 1000000L;

		if (rand_r(&seed) / 16 % 2 && generated)
			generated(which, ns, call_odd);
		else if (rand_r(&seed) / 16 % 2)
			call_odd(which, ns);
		else
			call_even(which, ns);
	}
	if (argc > 2)
		write_counts(argv[2]);
	idle();
}
