// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_program MODE [ARGUMENT]: programs of a sort that is hard to have otherwise, until they are
 * killed. Each says "ready" when it is up, and is called what it is for.
 *
 * - pool N: N threads wait for work (pthread_cond_wait)
 * - semaphores N: the same by a semaphore
 * - mutex N: N threads want a lock that the thread lock-holder has, nearly always
 * - uring: a server that waits for a request by io_uring
 * - aio: waits for completions of AIO, of which there are none
 * - daemon: waits for signals, timers and clients by one epoll, as systemd does
 * - spawn: starts a child now and then by vfork(), and waits for it
 * - fuse FOLDER: a file system that answers nothing but that it is there
 * - hog: runs all the time, as batch-hog
 * - read MS: reads a page of its standard input every MS, as slow-reader
 * - bulk FILE: writes 256 MB again and again, and has them on the disk, as bulk-writer
 * - cache FILE: reads a file all over again, a page here, a page there
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static sem_t work_count;

/* Ends it with a word where something that must work does not. */
_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void *want_work(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&work, &lock);
	return arg;
}

static void *want_semaphore(void *arg)
{
	for (;;)
		sem_wait(&work_count);
	return arg;
}

static void *want_lock(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		nap(1);
	}
	return arg;
}

/* Has the lock all the time but for a moment now and then. */
static void *hold_lock(void *arg)
{
	pthread_setname_np(pthread_self(), "lock-holder");
	for (;;) {
		pthread_mutex_lock(&lock);
		nap(5000);
		pthread_mutex_unlock(&lock);
		nap(1);
	}
	return arg;
}

static void start_threads(void *(*run)(void *arg), const char *n)
{
	pthread_t thread;

	for (int i = 0; i < atoi(n); i++)
		if (pthread_create(&thread, NULL, run, NULL))
			give_up("thread");
}

static void pool(const char *n)
{
	start_threads(want_work, n);
	say_ready();
	want_work(NULL);
}

static void semaphores(const char *n)
{
	start_threads(want_semaphore, n);
	say_ready();
	want_semaphore(NULL);
}

static void mutex(const char *n)
{
	start_threads(hold_lock, "1");
	nap(100);
	start_threads(want_lock, n);
	say_ready();
	for (;;)
		pause();
}

/* Reads from a socket by io_uring, and waits for that. */
static void uring(const char *unused)
{
	struct io_uring_params params = { 0 };
	struct io_uring_sqe *sqes;
	static char buf[PAGE];
	int sockets[2], fd;
	unsigned *tail, *array;
	char *ring;

	(void)unused;
	fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		give_up("io_uring");
	ring = mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(unsigned),
		    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, params.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqes == MAP_FAILED)
		give_up("mmap");
	tail = (unsigned *)(void *)(ring + params.sq_off.tail);
	array = (unsigned *)(void *)(ring + params.sq_off.array);
	sqes[0] = (struct io_uring_sqe){ .opcode = IORING_OP_RECV,
					 .fd = sockets[0],
					 .addr = (uintptr_t)buf,
					 .len = sizeof(buf) };
	array[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	say_ready();
	for (unsigned submit = 1;; submit = 0)
		syscall(SYS_io_uring_enter, fd, submit, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void aio(const char *unused)
{
	aio_context_t context = 0;
	struct io_event event;

	(void)unused;
	if (syscall(SYS_io_setup, 4, &context))
		give_up("io_setup");
	say_ready();
	for (;;)
		syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
}

/* Adds a descriptor to those that are waited for. */
static void await(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		give_up("epoll");
}

static void serve_all(const char *unused)
{
	struct itimerspec soon = { .it_interval = { 1, 0 }, .it_value = { 1, 0 } };
	int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), sockets[2];
	struct epoll_event event;
	uint64_t times;
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || timerfd_settime(timer, 0, &soon, NULL))
		give_up("timer");
	await(epoll, signalfd(-1, &all, 0));
	await(epoll, timer);
	await(epoll, sockets[0]);
	say_ready();
	while (epoll_wait(epoll, &event, 1, -1) >= 0)
		if (read(timer, &times, sizeof(times)) < 0)
			give_up("timerfd");
}

static void spawn(const char *unused)
{
	char *const argv[] = { "sleep", "1", NULL }, *const env[] = { NULL };
	pid_t pid;

	(void)unused;
	say_ready();
	while (!posix_spawnp(&pid, argv[0], NULL, NULL, argv, env))
		waitpid(pid, NULL, 0);
	give_up("posix_spawn");
}

/* Answers that it is there, and nothing else, what is asked of it. */
static void serve_silence(const char *folder)
{
	static char request[1 << 17] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = PAGE };
	struct fuse_out_header out = { .len = sizeof(out) + sizeof(init) };
	const struct iovec parts[] = { { &out, sizeof(out) }, { &init, sizeof(init) } };
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("silent", folder, "fuse.silent", MS_NOSUID | MS_NODEV, options))
		give_up(folder);
	say_ready();
	while (read(fd, request, sizeof(request)) > 0) {
		out.unique = in->unique;
		if (in->opcode == FUSE_INIT && writev(fd, parts, 2) < 0)
			give_up("fuse");
	}
}

static void hog(const char *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "batch-hog");
	say_ready();
	for (;;)
		__asm__ volatile("");
}

static void read_slowly(const char *ms)
{
	char buf[PAGE];

	prctl(PR_SET_NAME, "slow-reader");
	say_ready();
	while (read(STDIN_FILENO, buf, sizeof(buf)) > 0)
		nap(atol(ms));
}

static void write_much(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char block[1 << 20];

	prctl(PR_SET_NAME, "bulk-writer");
	say_ready();
	for (unsigned i = 0; fd >= 0; i++) {
		if (pwrite(fd, block, sizeof(block), (off_t)(i % 256) << 20) < 0)
			break;
		if (i % 32 == 31)
			fdatasync(fd);
	}
	give_up(path);
}

static void read_cached(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char byte;

	if (size < PAGE)
		give_up(path);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	say_ready();
	while (pread(fd, &byte, 1, random() % (size / PAGE) * PAGE) == 1)
		;
	give_up(path);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *argument);
	} modes[] = {
		{ "pool", pool },	 { "semaphores", semaphores },
		{ "mutex", mutex },	 { "uring", uring },
		{ "aio", aio },		 { "daemon", serve_all },
		{ "spawn", spawn },	 { "fuse", serve_silence },
		{ "hog", hog },		 { "bulk", write_much },
		{ "read", read_slowly }, { "cache", read_cached },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run(argc > 2 ? argv[2] : "");
	fprintf(stderr, "usage: load_program MODE [ARGUMENT]\n");
	return 2;
}
