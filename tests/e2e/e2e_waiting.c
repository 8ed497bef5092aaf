// SPDX-License-Identifier: GPL-2.0-or-later
/* What tasks wait on right now, of real ones: the call, the file or peer or child, the function. */
#include "tests/lib/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 8

/* Children of the test, ended with it. */
static pid_t children[CHILDREN];

/* Where a file system is mounted that hangs; "": nowhere. */
static char mounted[4096];

/* Starts a child that does this. */
static pid_t launch(const char *name, void (*run)(const int *arg), const int *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		run(arg);
		_exit(1);
	}
	for (unsigned i = 0; i < CHILDREN; i++) {
		if (children[i])
			continue;
		children[i] = pid;
		break;
	}
	return pid;
}

/* The same, and waits until it sleeps in it. */
static pid_t start(const char *name, void (*run)(const int *arg), const int *arg)
{
	pid_t pid = launch(name, run, arg);

	e2e_await_sleep(pid);
	return pid;
}

/* Ends the children, and what a test started besides. */
static int teardown(void **state)
{
	if (*mounted)
		umount2(mounted, MNT_FORCE | MNT_DETACH);
	*mounted = '\0';
	for (unsigned i = 0; i < CHILDREN; i++) {
		if (children[i] <= 0)
			continue;
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		children[i] = 0;
	}
	return e2e_teardown(state);
}

/* The wait of a process in one sample. */
static json_t *wait_of(const struct e2e_how *how, pid_t pid, const char *options)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, how, "-b -o json -n 1 -d 0.1 -p %d -F syscall,on,where %s", (int)pid, options);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	return json_object_get(task_must(s.v[0], pid), "waiting");
}

/* Asserts what a process waits on. on, where: NULL for what need not be compared. */
static void check_wait(pid_t pid, const char *state, const char *call, const char *on,
		       const char *where)
{
	json_t *wait = wait_of(NULL, pid, "");

	assert_true(json_is_object(wait));
	assert_string_equal(text_or_none(wait, "state"), state);
	assert_string_equal(text_or_none(wait, "syscall"), call);
	if (on)
		assert_string_equal(text_or_none(wait, "on"), on);
	if (where && !strstr(text_or_none(wait, "where"), where))
		fail_msg("%s in %s, not %s", call, text_or_none(wait, "where"), where);
}

static void read_first(const int *arg)
{
	char byte;

	close(arg[1]);
	while (read(arg[0], &byte, 1) >= 0)
		;
}

static void keep_second(const int *arg)
{
	close(arg[0]);
	for (;;)
		pause();
}

#define WAITING_TEST(name) E2E_TEST_WITH(name, e2e_setup, teardown)

/* A reader of an empty pipe, and who has its other end; the writer of a full one the other way. */
WAITING_TEST(test_pipe)
{
	pid_t reader, writer;
	int ends[2];

	e2e_require();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	writer = start("holds-it", keep_second, ends);
	reader = start("reads-it", read_first, ends);
	close(ends[0]);
	close(ends[1]);
	check_wait(reader, "pipe", "read", e2e_format("pipe of %d holds-it", (int)writer),
		   "pipe_read");
}

static void sleep_long(const int *arg)
{
	struct timespec time = { 1000, 0 };

	nanosleep(&time, NULL);
	_exit(*arg);
}

static void poll_one(const int *arg)
{
	struct pollfd polled = { .fd = arg[0], .events = POLLIN };

	poll(&polled, 1, -1);
}

static void select_one(const int *arg)
{
	fd_set files;

	FD_ZERO(&files);
	FD_SET(arg[0], &files);
	select(arg[0] + 1, NULL, NULL, &files, NULL);
}

static void select_two(const int *arg)
{
	fd_set reads, writes;

	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_SET(arg[0], &reads);
	FD_SET(arg[1], &writes);
	pselect(arg[1] + 1, &reads, &writes, NULL, NULL, NULL);
}

static void wait_for(const int *arg)
{
	for (;;)
		waitpid(arg[0], NULL, 0);
}

/* What the library makes of select(): each machine has one of the two, some have both. */
static const char *select_call(pid_t pid)
{
	return strcmp(text_or_none(wait_of(NULL, pid, ""), "syscall"), "select") ? "pselect6"
										 : "select";
}

/* In select(): for the other end of a pipe, and for any of two files. */
WAITING_TEST(test_select)
{
	int ends[2], full[2];
	char byte = 0;
	pid_t holder, pid;

	e2e_require();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(pipe2(full, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(full[1], &byte, 1) == 1)
		;
	holder = start("holds-it", keep_second, (int[2]){ full[0], ends[1] });
	close(ends[1]);
	pid = start("selects", select_one, ends);
	check_wait(pid, "poll", select_call(pid), e2e_format("pipe of %d holds-it", (int)holder),
		   "do_select");
	pid = start("selects", select_two, (int[2]){ ends[0], full[1] });
	check_wait(pid, "poll", select_call(pid), "2 files", "do_select");
	close(ends[0]);
	close(full[0]);
	close(full[1]);
}

/* Sleeping for a time, polling a file, waiting for a signal. */
WAITING_TEST(test_calls)
{
	int ends[2] = { 0, 0 };
	pid_t pid;

	e2e_require();
	pid = start("sleeps", sleep_long, ends);
	check_wait(pid, "timer", "clock_nanosleep", "(none)", "hrtimer_nanosleep");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start("polls", poll_one, ends);
	check_wait(pid, "poll", "poll", NULL, "do_sys_poll");
	pid = start("pauses", keep_second, ends);
	check_wait(pid, "poll", "pause", "(none)", NULL);
	close(ends[0]);
	close(ends[1]);
}

static void wait_child(const int *arg)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	wait_for(arg[0] ? &pid : &(const int){ -1 });
}

/* A parent in wait4(): for any child, and for one. */
WAITING_TEST(test_child)
{
	json_t *wait;
	pid_t pid;

	e2e_require();
	pid = start("parent", wait_child, &(const int){ 0 });
	check_wait(pid, "child", "wait4", "any child", "do_wait");
	pid = start("parent", wait_child, &(const int){ 1 });
	check_wait(pid, "child", "wait4", NULL, "do_wait");
	wait = wait_of(NULL, pid, "");
	assert_memory_equal(member_text(wait, "on"), "child ", 6);
	assert_true(atoi(member_text(wait, "on") + 6) > 0);
}

#define WAITERS 4

/* As who wants a mutex that has waiters: its word is 2. */
static void *wait_futex(void *arg)
{
	for (;;)
		syscall(SYS_futex, arg, FUTEX_WAIT_PRIVATE, *(uint32_t *)arg, NULL);
	return NULL;
}

static void fight(const int *arg)
{
	static uint32_t word = 2;
	pthread_t thread;

	(void)arg;
	for (unsigned i = 1; i < WAITERS; i++)
		pthread_create(&thread, NULL, wait_futex, &word);
	wait_futex(&word);
}

/* As who waits for a condition, or for work. */
static void park(const int *arg)
{
	static uint32_t word = 7;

	(void)arg;
	wait_futex(&word);
}

/* Threads that wait for one futex: how many, and whether it is a lock. */
WAITING_TEST(test_futex)
{
	const char *on;
	pid_t pid;
	int tries = 50;

	e2e_require();
	pid = start("fights", fight, NULL);
	do {
		on = member_text(wait_of(NULL, pid, ""), "on");
	} while (!strstr(on, "(4 wait)") && tries--);
	assert_memory_equal(on, "futex 0x", 8);
	assert_non_null(strstr(on, " (4 wait)"));
	check_wait(pid, "lock", "futex", NULL, "futex_wait");
	/* The same in its row of threads. */
	on = member_text(wait_of(NULL, pid, "-H"), "on");
	assert_non_null(strstr(on, " (4 wait)"));
	check_wait(start("parks", park, NULL), "park", "futex", NULL, "futex_wait");
}

static void recv_first(const int *arg)
{
	char byte;

	close(arg[1]);
	while (recv(arg[0], &byte, 1, 0) >= 0)
		;
}

static void accept_first(const int *arg)
{
	while (accept(arg[0], NULL, NULL) >= 0)
		;
}

/* A client that waits for a slow server on this machine, and the server that waits for clients. */
WAITING_TEST(test_tcp)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int ends[2], listening;
	pid_t client, server;

	e2e_require();
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &len), 0);
	server = start("accepts", accept_first, &listening);
	check_wait(server, "net", "accept",
		   e2e_format("tcp 127.0.0.1:%u (listening)", ntohs(address.sin_port)),
		   "inet_csk_accept");

	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	children[0] = 0;
	assert_int_equal(connect(ends[0], (struct sockaddr *)&address, len), 0);
	ends[1] = accept(listening, NULL, NULL);
	assert_true(ends[1] >= 0);
	server = start("is-slow", keep_second, ends);
	client = start("asks", recv_first, ends);
	close(ends[0]);
	close(ends[1]);
	close(listening);
	check_wait(
		client, "net", "recvfrom",
		e2e_format("tcp 127.0.0.1:%u of %d is-slow", ntohs(address.sin_port), (int)server),
		"tcp_recvmsg");
}

/* A client of a Unix socket with a path. */
WAITING_TEST(test_unix)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pid_t client, server;
	int ends[2], listening;

	e2e_require();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", e2e_folder());
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(connect(ends[0], (struct sockaddr *)&address, sizeof(address)), 0);
	ends[1] = accept(listening, NULL, NULL);
	close(listening);
	server = start("serves", keep_second, ends);
	client = start("asks", recv_first, ends);
	close(ends[0]);
	close(ends[1]);
	check_wait(client, "net", "recvfrom",
		   e2e_format("unix %s of %d serves", address.sun_path, (int)server),
		   "unix_stream");
}

static char fifo_path[4096];

static void open_fifo(const int *arg)
{
	close(open(fifo_path, O_RDONLY));
	_exit(*arg);
}

static void read_fifo(const int *arg)
{
	char byte;
	int fd = open(fifo_path, O_RDWR);

	while (read(fd, &byte, 1) >= 0)
		;
	_exit(*arg);
}

/* Opening a fifo that nobody writes to, and reading one: by its path, hostile bytes and all. */
WAITING_TEST(test_fifo)
{
	const int none = 0;
	pid_t pid;

	e2e_require();
	snprintf(fifo_path, sizeof(fifo_path), "%s/fi\033fo\n", e2e_folder());
	assert_int_equal(mkfifo(fifo_path, 0600), 0);
	pid = start("opens", open_fifo, &none);
	check_wait(pid, "pipe", "openat", e2e_path("fi\\x1bfo\\x0a"), NULL);
	pid = start("reads", read_fifo, &none);
	check_wait(pid, "pipe", "read", e2e_path("fi\\x1bfo\\x0a"), "pipe_read");
}

/* A task in state D: the sample knows its state and how long, the thread that hangs is read. */
WAITING_TEST(test_hang)
{
	json_t *wait;
	pid_t pid;

	e2e_require();
	pid = e2e_load(NULL, "load_hang threads 5");
	assert_true(pid > 0);
	e2e_await_hang(pid);
	for (unsigned i = 0; i < 2; i++) {
		wait = wait_of(NULL, pid, i ? "--source procfs" : "--source taskstats");
		assert_string_equal(member_text(wait, "state"), "dwait");
		assert_string_equal(member_text(wait, "syscall"), "vfork");
		assert_int_equal(strncmp(member_text(wait, "on"), "child ", 6), 0);
		assert_true(member_u64(wait, "ns") > 0);
	}
	e2e_require_bpf();
	wait = wait_of(NULL, pid, "--source bpf");
	assert_string_equal(member_text(wait, "state"), "dwait");
	assert_string_equal(member_text(wait, "syscall"), "vfork");
}

static void stat_below(const int *arg)
{
	struct stat info;

	stat(fifo_path, &info);
	_exit(*arg);
}

/* A FUSE file system whose server does not answer: the path is named, and nothing hangs with it. */
WAITING_TEST(test_fuse)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	const char *folder, *on;
	json_t *wait;
	pid_t pid;

	e2e_require();
	/* Below the test's folder, which has the program. */
	folder = e2e_path("hung");
	assert_int_equal(mkdir(folder, 0700), 0);
	if (fuse < 0 || mount("hung", folder, "fuse", 0,
			      e2e_format("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse)))
		e2e_skip("no FUSE");
	snprintf(fifo_path, sizeof(fifo_path), "%s/file", folder);
	snprintf(mounted, sizeof(mounted), "%s", folder);
	pid = launch("looks", stat_below, &fuse);
	e2e_await_hang(pid);
	wait = wait_of(NULL, pid, "");
	assert_string_equal(member_text(wait, "syscall"), "newfstatat");
	on = e2e_format("%s (fuse hung", fifo_path);
	assert_memory_equal(member_text(wait, "on"), on, strlen(on));
	assert_non_null(strstr(member_text(wait, "where"), "fuse_"));
	close(fuse);
}

/* The columns in text and CSV, by which can be sorted; without them nothing is read. */
WAITING_TEST(test_formats)
{
	struct e2e_result r;
	struct text text;
	struct csv csv;
	int ends[2], sockets[2];
	pid_t pid, asks;

	e2e_require();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start("reads-it", read_first, ends);
	e2e_run(&r, NULL, "-b -o csv -n 1 -d 0.1 -p %d,%d -F syscall,on,where,cpu-nr -s -syscall",
		(int)pid, (int)getpid());
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_string_equal(csv_cell(&csv, csv_row(&csv, pid), "syscall"), "read");
	assert_memory_equal(csv_cell(&csv, csv_row(&csv, pid), "on"), "pipe of ", 8);
	assert_true(*csv_cell(&csv, csv_row(&csv, pid), "cpu-nr") >= '0');
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -p %d -F pid,syscall,where,comm", (int)pid);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	assert_string_equal(text_cell(&text.v[0], pid, "SYSCALL"), "read");
	/*
	 * Who asks how long tasks have been waiting has it of those that wait for somebody in
	 * calls, too; who reads a pipe has nothing to do.
	 */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	asks = start("asks", read_first, sockets);
	e2e_sleep(1);
	e2e_run(&r, NULL, "-b -n 2 -d 0.3 -p %d,%d -F +wait", (int)pid, (int)asks);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	assert_true(atof(text_cell(&text.v[1], asks, "WAIT")) >= 1);
	assert_string_equal(text_cell(&text.v[1], pid, "WAIT"), "-");
	close(sockets[0]);
	close(sockets[1]);
	assert_true(json_is_null(json_object_get(
		task_must(parse_one(e2e_format("-b -o json -n 1 -d 0.1 -p %d", (int)pid)), pid),
		"waiting")));
	close(ends[0]);
	close(ends[1]);
}

static void spin_on(const int *arg)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)*arg, &set);
	for (;;)
		sched_setaffinity(0, sizeof(set), &set);
}

/* The CPU that a task runs on, by all sources. */
WAITING_TEST(test_cpu)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	const int cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	struct e2e_result r;
	struct csv csv;
	pid_t pid;

	e2e_require();
	pid = launch("spins", spin_on, &cpu);
	for (unsigned i = 0; i < 3; i++) {
		e2e_run(&r, NULL, "-b -o csv -n 2 -d 0.2 --source %s -p %d -F cpu-nr", sources[i],
			(int)pid);
		if (r.status)
			continue;
		parse_csv(r.out.data, r.out.len, &csv);
		assert_int_equal(atoi(csv_cell(&csv, 2, "cpu-nr")), cpu);
	}
}

/* How often a process opened the file that is marked, as far as that is queued. */
static unsigned count_opens(int fanotify, pid_t by)
{
	struct fanotify_event_metadata events[64], *event = events;
	ssize_t n = read(fanotify, events, sizeof(events));
	unsigned opens = 0;

	for (; n > 0 && FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
		opens += event->pid == by;
		if (event->fd >= 0)
			close(event->fd);
	}
	return opens;
}

/* What explains tasks that wait for a CPU is read without asking anew for each how many there are.
 */
WAITING_TEST(test_cpus_asked_once)
{
	enum { HOGS = 4, SAMPLES = 6 };
	const int cpu = 0;
	unsigned opens = 0, explained = 0;
	int fanotify = fanotify_init(FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY);
	pid_t pids[HOGS];
	struct e2e_proc p;
	struct e2e_result r;

	e2e_require();
	e2e_need(fanotify < 0 ? -EOPNOTSUPP : 0, "fanotify is needed");
	assert_int_equal(fanotify_mark(fanotify, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD,
				       "/sys/devices/system/cpu/online"),
			 0);
	for (unsigned i = 0; i < HOGS; i++)
		pids[i] = launch("spins", spin_on, &cpu);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -o json -n %d -d 0.3 -p %d,%d,%d,%d", SAMPLES,
				      (int)pids[0], (int)pids[1], (int)pids[2], (int)pids[3]));
	for (unsigned i = 0; i < SAMPLES; i++) {
		const char *line = e2e_line(&p, 30);

		assert_non_null(line);
		explained += strstr(line, "for a CPU") != NULL;
		opens += count_opens(fanotify, p.pid);
	}
	e2e_finish(&p, 30, &r);
	close(fanotify);
	/* What is counted was read. */
	assert_true(explained >= SAMPLES / 2);
	assert_true(opens <= 2);
}

/* Whoever may not look is told so, once; of what is his own he sees what the kernel lets him. */
WAITING_TEST(test_nobody)
{
	static const struct e2e_how nobody = { .uid = NOBODY };
	struct e2e_result r;
	struct samples s;
	int ends[2];
	pid_t pid;

	e2e_require();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start("reads-it", read_first, ends);
	e2e_run(&r, &nobody, "-b -o json -n 2 -d 0.1 -p %d -F syscall,on,where", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++) {
		assert_true(json_is_null(json_object_get(task_must(s.v[i], pid), "waiting")));
		assert_non_null(note_of(s.v[i], "waiting-hidden"));
	}
	e2e_run(&r, &nobody, "-b -o json -n 1 -d 0.1 -p %d", (int)pid);
	parse_json(&r, &s);
	assert_null(note_of(s.v[0], "waiting-hidden"));
	close(ends[0]);
	close(ends[1]);
}
