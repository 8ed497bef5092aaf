// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_io FOLDER: threads that read and write a file directly, write and sync another, and spin, on
 * all CPUs, beside short processes of some threads that write: what makes kernels book waits from
 * stale stamps. It prints "ready" when the files are there.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 4096
#define BLOCKS 4096

static const char *folder;

/* A file of the folder, opened; -1 where that cannot be. */
static int open_file(const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags | O_CREAT | O_CLOEXEC, 0600);
}

/* A block of memory that may be read into directly. */
static void *new_block(void)
{
	void *block = NULL;

	if (posix_memalign(&block, BLOCK, BLOCK))
		_exit(1);
	memset(block, 1, BLOCK);
	return block;
}

/* Reads and writes at random places, past the page cache. */
static void *work_directly(void *seed)
{
	unsigned state = (unsigned)(uintptr_t)seed;
	int fd = open_file("direct", O_RDWR | O_DIRECT);
	void *block = new_block();

	for (;;) {
		off_t at = (off_t)(rand_r(&state) % BLOCKS) * BLOCK;
		ssize_t n = rand_r(&state) % 4 ? pread(fd, block, BLOCK, at)
					       : pwrite(fd, block, BLOCK, at);

		if (n < 0)
			usleep(1000);
	}
	return NULL;
}

/* Writes through the cache, and has it written out now and then. */
static void *write_often(void *count)
{
	int fd = open_file("cached", O_RDWR);
	void *block = new_block();

	for (uintptr_t i = 0; !count || i < (uintptr_t)count; i++) {
		if (pwrite(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) < 0)
			usleep(1000);
		if (i % 64 == 63)
			fsync(fd);
	}
	return NULL;
}

static void *spin(void *arg)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
	return arg;
}

/* A process of three threads that write a little, and ends. */
_Noreturn static void be_short(void)
{
	pthread_t threads[2];

	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_often, (void *)(uintptr_t)100);
	write_often((void *)(uintptr_t)100);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/*
 * Has short processes run, one by one. By a process of its own that has no threads, whose locks
 * a child would inherit as they are.
 */
static void run_short(void)
{
	pid_t pid = fork();

	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "load_forks");
	for (;;) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, "load_short");
			be_short();
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	void *block = new_block();
	pthread_t thread;
	int fd;

	if (argc < 2)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	folder = argv[1];
	fd = open_file("direct", O_RDWR);
	for (unsigned i = 0; fd >= 0 && i < BLOCKS; i++)
		if (pwrite(fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
			return 1;
	if (fd < 0 || fsync(fd))
		return 1;
	run_short();
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&thread, NULL, work_directly, (void *)(i + 1));
	for (unsigned i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, write_often, NULL);
		pthread_create(&thread, NULL, spin, NULL);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
