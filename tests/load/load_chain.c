// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_chain KIND DEPTH SLEEP RUN [FOLDER]: processes that wait for one another, again and again:
 * the first for the second, and so on; the last, DEPTH processes further, sleeps for SLEEP ms and
 * runs for RUN ms of CPU time. Prints "ready" and the pids of the first and the last.
 *   pipe, socket   each asks the next, and waits for its answer
 *   flock          each holds a file's lock while it waits for the next's; files are in FOLDER
 *   mutex          the same with locks in shared memory
 *   deadlock       each of a circle of DEPTH holds a file's lock, and waits for the next's for ever
 * They are called chain0 and so on, or as LOAD_CHAIN_NAMES says, with commas between.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 16

/* The pause of the others of a chain of locks, in which the one before gets its turn. */
#define PAUSE_MS 1

static unsigned depth, sleep_ms, run_ms;
static int asks[DEPTH_MAX + 1][2], answers[DEPTH_MAX + 1][2]; /* of the process before */
static int locks[DEPTH_MAX + 1];
static pthread_mutex_t *mutexes;

static void doze(unsigned ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (ms && nanosleep(&left, &left))
		;
}

/* Uses so much CPU time. */
static void burn(unsigned ms)
{
	struct timespec now, begun;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 <
			 (long)run_ms &&
		 ms);
}

/* The root of all waits. */
static void work(void)
{
	doze(sleep_ms);
	burn(run_ms);
}

static void must(int result)
{
	if (result < 0) {
		perror("load_chain");
		_exit(1);
	}
}

/* Asks the process after the i-th, and waits for its answer. */
static void ask(unsigned i)
{
	char byte = 'x';

	must((int)write(asks[i + 1][1], &byte, 1));
	if (read(answers[i + 1][0], &byte, 1) != 1)
		_exit(0);
}

/* Answers the process before the i-th. */
static void serve(unsigned i)
{
	char byte;

	for (;;) {
		if (i && read(asks[i][0], &byte, 1) != 1)
			_exit(0);
		if (i < depth)
			ask(i);
		else
			work();
		if (i)
			must((int)write(answers[i][1], &byte, 1));
	}
}

static void lock(unsigned i)
{
	if (mutexes)
		must(-pthread_mutex_lock(&mutexes[i]));
	else
		must(flock(locks[i], LOCK_EX));
}

static void unlock(unsigned i)
{
	if (mutexes)
		must(-pthread_mutex_unlock(&mutexes[i]));
	else
		must(flock(locks[i], LOCK_UN));
}

/* Opens the files that are locked; each process has descriptors of its own, as locks are theirs. */
static void open_locks(const char *folder)
{
	char path[4096];

	for (unsigned i = 0; i <= depth && folder; i++) {
		snprintf(path, sizeof(path), "%s/lock%u", folder, i);
		locks[i] = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		must(locks[i]);
	}
}

/* Holds its lock while it waits for the next's; the last holds its own while it works. */
static void hold(unsigned i)
{
	for (;;) {
		if (i)
			lock(i);
		if (i < depth) {
			lock(i + 1);
			unlock(i + 1);
		} else {
			work();
		}
		if (i)
			unlock(i);
		doze(PAUSE_MS);
	}
}

/* One of a circle. */
static void hold_for_ever(unsigned i)
{
	lock(i);
	doze(300);
	lock((i + 1) % depth);
	pause();
}

static void make_mutexes(void)
{
	pthread_mutexattr_t shared;

	mutexes = mmap(NULL, (DEPTH_MAX + 1) * sizeof(*mutexes), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutexes == MAP_FAILED)
		must(-1);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	for (unsigned i = 0; i <= DEPTH_MAX; i++)
		pthread_mutex_init(&mutexes[i], &shared);
}

/* Makes the ends by which processes ask the next. */
static void make_ends(bool sockets)
{
	for (unsigned i = 1; i <= depth; i++) {
		if (!sockets) {
			must(pipe(asks[i]));
			must(pipe(answers[i]));
			continue;
		}
		/* One pair for both ways: [0] is the end of who is asked. */
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, asks[i]));
		answers[i][0] = asks[i][1];
		answers[i][1] = asks[i][0];
	}
}

/* Closes the ends of others, so that each process ends with its neighbours. */
static void run(const char *kind, unsigned i, const char *folder)
{
	const char *names = getenv("LOAD_CHAIN_NAMES");
	char name[16];

	snprintf(name, sizeof(name), "chain%u", i);
	for (unsigned at = 0; names && at < i; at++)
		names = strchr(names, ',') ? strchr(names, ',') + 1 : NULL;
	if (names)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_locks(folder);
	if (!strcmp(kind, "deadlock"))
		hold_for_ever(i);
	else if (folder || mutexes)
		hold(i);
	else
		serve(i);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 4 ? argv[1] : "", *folder = argc > 5 ? argv[5] : NULL;
	pid_t pids[DEPTH_MAX + 1];
	unsigned last;

	if (argc < 5)
		return 2;
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	sleep_ms = (unsigned)strtoul(argv[3], NULL, 10);
	run_ms = (unsigned)strtoul(argv[4], NULL, 10);
	if (!depth || depth > DEPTH_MAX)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(kind, "mutex"))
		make_mutexes();
	else if (!folder)
		make_ends(!strcmp(kind, "socket"));
	last = strcmp(kind, "deadlock") != 0 ? depth : depth - 1;
	for (unsigned i = 0; i <= last; i++) {
		pids[i] = fork();
		must(pids[i]);
		if (!pids[i]) {
			run(kind, i, folder);
			_exit(1);
		}
	}
	printf("ready %d %d\n", (int)pids[0], (int)pids[last]);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
