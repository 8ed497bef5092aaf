// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_held WAY FOLDER: a process that hangs with a lock that readers of its files in /proc need.
 * What it hangs on is a file system in user space that is silent, or (fault) one that is frozen. It
 * prints "ready PID" when it is about to hang; whoever awaits the hang looks at its threads.
 *
 * - exec: within execve(), in closing a file, with exec_update_lock
 * - unmap: in munmap() of a page that is to be written, with mmap_lock
 * - epoll: in adding a file to an epoll, descriptor 100, with the lock of that
 * - fault FILE: on SIGUSR1, in writing to a page of a frozen file and in munmap() of another
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/load/silent.h"

#define BLOCK 4096

/* Where the epoll is: whoever looks at it knows the number. */
#define EPOLL_FD 100

static const char *path;
static char *page;

_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static int open_file(int flags)
{
	int fd = open(path, O_RDWR | flags);

	if (fd < 0)
		give_up(path);
	return fd;
}

static void nap(long ms)
{
	const struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&left, NULL);
}

static void start_thread(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		give_up("thread");
	nap(200);
}

/* Wants the lock for itself: whoever reads waits behind it. */
static void *want_lock(void *arg)
{
	void *mapped = mmap(NULL, BLOCK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped != MAP_FAILED)
		munmap(mapped, BLOCK);
	return arg;
}

static void hang_in_exec(void)
{
	open_file(O_CLOEXEC);
	execl("/bin/sleep", "sleep", "1000", NULL);
	give_up("/bin/sleep");
}

static void *unmap(void *arg)
{
	munmap(page, BLOCK);
	return arg;
}

/* Writing the page is never answered; unmapping waits for that. */
static void hang_in_unmap(void)
{
	static char block[BLOCK];
	int fd = open_file(0);

	memset(block, 1, sizeof(block));
	if (pwrite(fd, block, sizeof(block), 0) != BLOCK)
		give_up(path);
	page = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		give_up("mmap");
	page[0] = 2;
	start_thread(unmap, NULL);
	start_thread(want_lock, NULL);
}

static void *add_to_epoll(void *arg)
{
	const int *fds = arg;
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(fds[0], EPOLL_CTL_ADD, fds[1], &event);
	return arg;
}

static void *wait_for_epoll(void *arg)
{
	const int *fds = arg;
	struct epoll_event event;

	epoll_wait(fds[0], &event, 1, -1);
	return arg;
}

static void hang_in_epoll(void)
{
	static int fds[2];

	fds[0] = dup2(epoll_create1(EPOLL_CLOEXEC), EPOLL_FD);
	fds[1] = open_file(O_CLOEXEC);
	start_thread(wait_for_epoll, fds);
	start_thread(add_to_epoll, fds);
}

static void *touch(void *arg)
{
	page[0] = 2;
	return arg;
}

static void *unmap_next(void *arg)
{
	munmap(page + BLOCK, BLOCK);
	return arg;
}

static void hang_in_fault(void)
{
	int fd = open_file(O_CREAT), sig;
	sigset_t go;

	if (ftruncate(fd, 2 * BLOCK))
		give_up(path);
	page = mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		give_up("mmap");
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	sigwait(&go, &sig);
	start_thread(touch, NULL);
	start_thread(unmap_next, NULL);
	start_thread(want_lock, NULL);
}

_Noreturn static void sleep_on(void)
{
	for (;;)
		pause();
}

/* Serves the file system to a child that hangs in it. */
static void serve(const char *folder, void (*hang)(void))
{
	const struct silent how = { .init_flags = FUSE_WRITEBACK_CACHE };
	static char file[512];
	int fd = silent_mount(folder);
	pid_t pid;

	if (fd < 0)
		give_up(folder);
	snprintf(file, sizeof(file), "%s/silent-file", folder);
	path = file;
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid) {
		printf("ready %d\n", (int)pid);
		fflush(stdout);
		silent_serve(fd, &how);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "held");
	close(fd);
	hang();
	sleep_on();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*hang)(void);
	} ways[] = {
		{ "exec", hang_in_exec },
		{ "unmap", hang_in_unmap },
		{ "epoll", hang_in_epoll },
	};

	if (argc < 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			serve(argv[2], ways[i].hang);
	if (strcmp(argv[1], "fault") != 0)
		return 2;
	path = argv[2];
	prctl(PR_SET_NAME, "held");
	hang_in_fault();
	sleep_on();
}
