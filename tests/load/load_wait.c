// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_wait MODE [FOLDER]: waits whose cause is known, until it is killed. It prints "ready" and
 * what a test must know of it: ids of processes, a path, a port.
 *
 * - files FOLDER: reads one of four open files past the page cache ("ready PATH")
 * - fsync FOLDER: a process writes and syncs a file that another writes ("ready WRITER PATH")
 * - fuse FOLDER: reads a file of a file system that does not answer ("ready READER PATH")
 * - futex: eight threads want one lock ("ready")
 * - net: a client asks a server that takes its time ("ready CLIENT SERVER PORT")
 * - unix: the same over a pair of Unix sockets ("ready CLIENT SERVER")
 * - pipe: a reader of an empty pipe, a writer that does not write ("ready READER WRITER")
 * - talk: the same, where the writer writes every 10 ms
 * - polled, epolled: the same, where the reader polls first, or by epoll
 * - child: waits for a child that sleeps ("ready CHILD")
 * - cpu: two processes want one CPU ("ready VICTIM CULPRIT")
 * - write FOLDER: writes a file every 5 ms ("ready PATH")
 * - poll: waits for one of two pipes ("ready")
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/load/silent.h"

#define BLOCK 4096
#define BLOCKS 4096

static const char *folder = "";
/* The command line, as others read it. */
static char *command_line;
static size_t command_len;

/* Ends it with a word where something that must work does not. */
_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

/* Sleeps for so many ms. */
static void nap(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&left, NULL);
}

/* A child that ends with its parent, under a name of its own, or that of LOAD_WAIT_CHILD. */
static pid_t start_child(const char *name)
{
	const char *wanted = getenv("LOAD_WAIT_CHILD");
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, wanted ? wanted : name);
	}
	if (!pid && wanted) {
		memset(command_line, 0, command_len);
		snprintf(command_line, command_len, "%s", wanted);
	}
	return pid;
}

_Noreturn static void sleep_on(void)
{
	for (;;)
		pause();
}

/* A block of memory that may be read into directly. */
static void *new_block(void)
{
	void *block = NULL;

	if (posix_memalign(&block, BLOCK, BLOCK))
		give_up("memory");
	memset(block, 1, BLOCK);
	return block;
}

/* A file of the folder, of BLOCKS blocks; its path in `path`. */
static int open_file(const char *name, int flags, char path[512])
{
	void *block = new_block();
	int fd;

	snprintf(path, 512, "%s/%s", folder, name);
	fd = open(path, flags | O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (off_t i = 0; fd >= 0 && i < BLOCKS; i++)
		if (pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK)
			give_up(path);
	if (fd < 0 || fsync(fd))
		give_up(path);
	free(block);
	return fd;
}

static void read_files(void)
{
	void *block = new_block();
	unsigned seed = 1;
	char path[512], name[16];
	int fd[4];

	for (int i = 3; i >= 0; i--) {
		snprintf(name, sizeof(name), "file%d", i);
		fd[i] = open_file(name, O_DIRECT, path);
	}
	printf("ready %s/file2\n", folder);
	fflush(stdout);
	for (;;)
		if (pread(fd[2], block, BLOCK, (off_t)(rand_r(&seed) % BLOCKS) * BLOCK) < 0)
			give_up("read");
}

/*
 * The writer appends past the page cache: it holds the file's lock while the disk works. The other
 * writes through the cache and syncs.
 */
static void write_one_file(void)
{
	char path[512];
	void *block = new_block();
	int fd = open_file("shared", 0, path);
	pid_t writer = start_child("wait_writer");

	if (writer) {
		printf("ready %d %s\n", (int)getpid(), path);
		fflush(stdout);
	} else {
		fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	}
	for (unsigned i = 0; fd >= 0; i++) {
		/* The writer's place is beyond the end, until it has come far. */
		off_t at = (off_t)(writer ? i % BLOCKS : BLOCKS + i % BLOCKS) * BLOCK;

		if (!writer && i % BLOCKS == 0 && ftruncate(fd, (off_t)BLOCKS * BLOCK))
			break;
		if (pwrite(fd, block, BLOCK, at) < 0)
			break;
		if (writer && i % 16 == 15)
			fsync(fd);
	}
	give_up(path);
}

static void read_silent_files(void)
{
	const struct silent how = { .open_flags = FOPEN_DIRECT_IO };
	char path[512], block[BLOCK];
	int fd = silent_mount(folder);
	pid_t reader;

	if (fd < 0)
		give_up(folder);
	snprintf(path, sizeof(path), "%s/silent-file", folder);
	reader = start_child("wait_reader");
	if (reader) {
		printf("ready %d %s\n", (int)reader, path);
		fflush(stdout);
		silent_serve(fd, &how);
	}
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, block, sizeof(block)) < 0)
		give_up(path);
	sleep_on();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *want_lock(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		nap(1);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void fight(void)
{
	pthread_t thread;

	for (unsigned i = 0; i < 7; i++)
		if (pthread_create(&thread, NULL, want_lock, NULL))
			give_up("thread");
	puts("ready");
	fflush(stdout);
	want_lock(NULL);
}

/* Answers each byte after a while. */
_Noreturn static void serve(int fd)
{
	char byte;

	while (fd >= 0 && recv(fd, &byte, 1, 0) == 1) {
		/* It works rather than sleep, as a server that is slow does. */
		struct timespec now, end;

		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += end.tv_nsec / 990000000;
		end.tv_nsec = (end.tv_nsec + 10000000) % 1000000000;
		do {
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while (now.tv_sec < end.tv_sec ||
			 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
		if (send(fd, &byte, 1, 0) != 1)
			break;
	}
	give_up("serve");
}

/* deaf: the server never answers. */
static void ask_by_tcp(bool deaf)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);
	char byte = 'x';
	pid_t server;

	if (listening < 0 || fd < 0 || bind(listening, (struct sockaddr *)&address, len) ||
	    listen(listening, 1) || getsockname(listening, (struct sockaddr *)&address, &len))
		give_up("socket");
	server = start_child("wait_server");
	if (!server && deaf && accept4(listening, NULL, NULL, SOCK_CLOEXEC) >= 0)
		sleep_on();
	if (!server)
		serve(accept4(listening, NULL, NULL, SOCK_CLOEXEC));
	if (connect(fd, (struct sockaddr *)&address, len))
		give_up("connect");
	printf("ready %d %d %u\n", (int)getpid(), (int)server, ntohs(address.sin_port));
	fflush(stdout);
	while (send(fd, &byte, 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1)
		;
	give_up("ask");
}

static void ask(void)
{
	ask_by_tcp(false);
}

static void ask_deaf(void)
{
	ask_by_tcp(true);
}

static void ask_at_home(void)
{
	pid_t server;
	char byte = 'x';
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		give_up("socketpair");
	server = start_child("wait_server");
	close(ends[server ? 1 : 0]);
	if (!server)
		serve(ends[1]);
	printf("ready %d %d\n", (int)getpid(), (int)server);
	fflush(stdout);
	while (send(ends[0], &byte, 1, 0) == 1 && recv(ends[0], &byte, 1, 0) == 1)
		;
	give_up("ask");
}

/* Waits for bytes by what is asked for, if anything is. */
static void await_bytes(int fd, int epoll, bool by_poll)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	struct epoll_event event;

	if (by_poll && poll(&polled, 1, -1) != 1)
		give_up("poll");
	if (epoll >= 0 && epoll_wait(epoll, &event, 1, -1) != 1)
		give_up("epoll_wait");
}

/* ms: how often the writer writes; 0: never. */
static void read_pipe(long ms, bool by_poll, bool by_epoll)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = by_epoll ? epoll_create1(EPOLL_CLOEXEC) : -1;
	pid_t writer;
	char byte = 'x';
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		give_up("pipe");
	writer = start_child("wait_writer");
	if (!writer) {
		close(ends[0]);
		if (!ms)
			sleep_on();
		while (write(ends[1], &byte, 1) == 1)
			nap(ms);
		give_up("write");
	}
	close(ends[1]);
	if (by_epoll && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event))
		give_up("epoll_ctl");
	printf("ready %d %d\n", (int)getpid(), (int)writer);
	fflush(stdout);
	do
		await_bytes(ends[0], epoll, by_poll);
	while (read(ends[0], &byte, 1) == 1);
	give_up("read");
}

static void await_child(void)
{
	pid_t child = start_child("wait_child");

	if (!child)
		sleep_on();
	printf("ready %d\n", (int)child);
	fflush(stdout);
	waitpid(child, NULL, 0);
}

static void want_cpu(void)
{
	cpu_set_t one;
	pid_t culprit;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		give_up("CPU 0");
	culprit = start_child("wait_culprit");
	if (culprit) {
		printf("ready %d %d\n", (int)getpid(), (int)culprit);
		fflush(stdout);
	}
	for (;;)
		__asm__ volatile("" : : : "memory");
}

static void poll_pipes(void)
{
	struct pollfd polled[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int ends[2];

	for (unsigned i = 0; i < 2; i++) {
		if (pipe2(ends, O_CLOEXEC))
			give_up("pipe");
		polled[i].fd = ends[0];
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		poll(polled, 2, -1);
}

static void write_slowly(void)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/written", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		give_up(path);
	printf("ready %s\n", path);
	fflush(stdout);
	while (pwrite(fd, path, sizeof(path), 0) > 0)
		nap(5);
	give_up(path);
}

static void read_quiet_pipe(void)
{
	read_pipe(0, false, false);
}

static void read_talking_pipe(void)
{
	read_pipe(10, false, false);
}

static void poll_talking_pipe(void)
{
	read_pipe(10, true, false);
}

static void epoll_talking_pipe(void)
{
	read_pipe(10, false, true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "files", read_files },
		{ "fsync", write_one_file },
		{ "fuse", read_silent_files },
		{ "futex", fight },
		{ "net", ask },
		{ "deaf", ask_deaf },
		{ "unix", ask_at_home },
		{ "pipe", read_quiet_pipe },
		{ "talk", read_talking_pipe },
		{ "polled", poll_talking_pipe },
		{ "epolled", epoll_talking_pipe },
		{ "child", await_child },
		{ "cpu", want_cpu },
		{ "write", write_slowly },
		{ "poll", poll_pipes },
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	folder = argc > 2 ? strdup(argv[2]) : ".";
	command_line = argv[0];
	command_len = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	return 2;
}
