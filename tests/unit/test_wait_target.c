// SPDX-License-Identifier: GPL-2.0-or-later
/* What descriptors are: from a made-up /proc, and those of this process. */
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/wait_target.h"
#include "kernel/wait_target_parts.h"
#include "tests/lib/tree.h"

/* What the tests share. */
struct kit {
	struct proc proc;
	struct wait_targets *targets;
	struct buf out;
};

/* Opens the real /proc. */
static int open_kit(void **state)
{
	struct kit *kit = xcalloc(1, sizeof(*kit));

	kit->proc.fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kit->targets = wait_targets_open(&kit->proc);
	*state = kit;
	return kit->proc.fd < 0;
}

/* Closes it. */
static int close_kit(void **state)
{
	struct kit *kit = *state;

	wait_targets_close(kit->targets);
	close(kit->proc.fd);
	buf_free(&kit->out);
	free(kit);
	return 0;
}

/* What a descriptor of this process is. */
static const char *target_of(struct kit *kit, int fd)
{
	kit->out.len = 0;
	assert_int_equal(wait_target_fd(kit->targets, getpid(), fd, 0, 0, &kit->out), 0);
	return buf_cstr(&kit->out);
}

/* Starts a child that keeps a descriptor, has the name "holder" and closes another. */
static pid_t start_holder(int keeps, int closes)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "holder");
		close(closes);
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(keeps);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Ends it. */
static void end_holder(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Fails unless the text is "WHAT of PID holder". */
static void assert_of_holder(const char *text, const char *what, pid_t pid)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "%s of %d holder", what, (int)pid);
	assert_string_equal(text, expected);
}

/* Pipes: who has the other end, which is not who has the same; and when that has changed. */
TEST_WITH(test_pipe, open_kit, close_kit)
{
	struct kit *kit = *state;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_string_equal(target_of(kit, ends[0]), "pipe");
	wait_targets_renew(kit->targets);
	pid = start_holder(ends[1], ends[0]);
	/* The reader waits for the child; what was looked for in vain is known for a while. */
	for (unsigned i = 0; i < 16; i++)
		wait_targets_renew(kit->targets);
	assert_of_holder(target_of(kit, ends[0]), "pipe", pid);
	assert_string_equal(target_of(kit, ends[1]), "pipe");
	end_holder(pid);
	wait_targets_renew(kit->targets);
	assert_string_equal(target_of(kit, ends[0]), "pipe");
	close(ends[0]);
	close(ends[1]);
}

/* Has an epoll descriptor look at another. */
static void look_at(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

/* What an epoll descriptor looks at is told: the one file, or how many. */
static void check_polled(struct kit *kit)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), outer = epoll_create1(EPOLL_CLOEXEC);
	int event = eventfd(0, EFD_CLOEXEC), more[100];

	look_at(epoll, event);
	assert_string_equal(target_of(kit, epoll), "eventpoll: eventfd");
	look_at(outer, epoll);
	assert_string_equal(target_of(kit, outer), "eventpoll: eventpoll");
	/* The number is that of one that looks at it. */
	more[0] = dup(epoll);
	assert_int_equal(dup3(outer, epoll, O_CLOEXEC), epoll);
	assert_string_equal(target_of(kit, outer), "eventpoll: eventpoll");
	assert_int_equal(dup3(more[0], epoll, O_CLOEXEC), epoll);
	close(more[0]);
	/* The number is another file's by now. */
	more[0] = dup(event);
	assert_int_equal(dup3(STDIN_FILENO, event, O_CLOEXEC), event);
	assert_string_equal(target_of(kit, epoll), "eventpoll");
	look_at(epoll, more[0]);
	assert_string_equal(target_of(kit, epoll), "eventpoll of 2 files");
	for (unsigned i = 1; i < ARRAY_SIZE(more); i++)
		look_at(epoll, more[i] = eventfd(0, EFD_CLOEXEC));
	assert_non_null(strstr(target_of(kit, epoll), " files and more"));
	for (unsigned i = 0; i < ARRAY_SIZE(more); i++)
		close(more[i]);
	close(event);
	close(outer);
	close(epoll);
}

/* What descriptors are. */
TEST_WITH(test_kinds, open_kit, close_kit)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int file = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	int stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	socklen_t len = sizeof(address);
	struct kit *kit = *state;
	pid_t self = getpid();
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(wait_target_kind(kit->targets, self, ends[0]), WAIT_FD_PIPE);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(wait_target_kind(kit->targets, self, ends[0]), WAIT_FD_OTHER);
	assert_int_equal(wait_target_kind(kit->targets, self, null), WAIT_FD_OTHER);
	assert_int_equal(wait_target_kind(kit->targets, self, stat), WAIT_FD_OTHER);
	assert_int_equal(wait_target_kind(kit->targets, self, file), WAIT_FD_FILE);
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		assert_int_equal(socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, ends), 0);
		assert_int_equal(wait_target_kind(kit->targets, self, ends[0]),
				 types[i] == SOCK_STREAM ? WAIT_FD_STREAM : WAIT_FD_SOCKET);
		close(ends[0]);
		close(ends[1]);
	}
	assert_int_equal(bind(server, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(wait_target_kind(kit->targets, self, server), WAIT_FD_SOCKET);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	wait_targets_renew(kit->targets);
	assert_int_equal(wait_target_kind(kit->targets, self, client), WAIT_FD_STREAM);
	close(server);
	close(client);
	close(null);
	close(file);
	close(stat);
}

/* TCP on this machine: the server and who it is; a listening socket; one that is not connected. */
TEST_WITH(test_tcp, open_kit, close_kit)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);
	struct kit *kit = *state;
	char expected[64];
	pid_t pid;

	assert_int_equal(bind(server, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &len), 0);
	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%u (listening)",
		 ntohs(address.sin_port));
	assert_string_equal(target_of(kit, server), expected);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	pid = start_holder(server, client);
	close(server);
	wait_targets_renew(kit->targets);
	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%u", ntohs(address.sin_port));
	assert_of_holder(target_of(kit, client), expected, pid);
	end_holder(pid);
	close(client);
	/* IPv4 addresses of an IPv6 socket, and any address. */
	kit->out.len = 0;
	wait_target_inet(AF_INET6, IPPROTO_TCP, (const uint8_t[16]){ 0 }, 80,
			 (const uint8_t[16]){ 0 }, 0, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_inet(AF_INET, IPPROTO_UDP, (const uint8_t[4]){ 0 }, 53,
			 (const uint8_t[4]){ 10, 0, 0, 1 }, 5432, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_inet(AF_INET6, IPPROTO_TCP, (const uint8_t[16]){ 0 }, 80,
			 (const uint8_t[16]){ 0x20, 1, 0xd, 0xb8, [15] = 1 }, 443, &kit->out);
	assert_string_equal(buf_cstr(&kit->out),
			    "tcp *:80\nudp 10.0.0.1:5432\ntcp [2001:db8::1]:443");
}

/* Whose turn it is at a socket: of a server, of a client, of a connection that was accepted. */
TEST_WITH(test_about, open_kit, close_kit)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted, pair[2];
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address), named = sizeof(path.sun_family) + 8;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int file = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	struct wait_targets *targets = ((struct kit *)*state)->targets;
	pid_t self = getpid();

	assert_int_equal(bind(server, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	assert_true(accepted >= 0);
	assert_int_equal(wait_target_about(targets, self, server), WAIT_FOR_REQUESTS);
	assert_int_equal(wait_target_about(targets, self, client), WAIT_FOR_ANSWER);
	assert_int_equal(wait_target_about(targets, self, accepted), WAIT_FOR_REQUESTS);
	close(server);
	close(client);
	close(accepted);
	snprintf(path.sun_path + 1, sizeof(path.sun_path) - 1, "%07d", (int)self);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&path, named), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&path, named), 0);
	assert_int_equal(wait_target_about(targets, self, server), WAIT_FOR_REQUESTS);
	assert_int_equal(wait_target_about(targets, self, client), WAIT_FOR_ANSWER);
	accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(wait_target_about(targets, self, client), WAIT_FOR_ANSWER);
	assert_int_equal(wait_target_about(targets, self, accepted), WAIT_FOR_REQUESTS);
	close(server);
	close(client);
	close(accepted);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(wait_target_about(targets, self, pair[0]), WAIT_FOR_UNKNOWN);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(wait_target_about(targets, self, null), WAIT_FOR_EVENTS);
	assert_int_equal(wait_target_about(targets, self, file), WAIT_FOR_FILE);
	close(null);
	close(file);
	assert_int_equal(wait_target_about(targets, self, file), WAIT_FOR_UNKNOWN);
}

/* Whoever looks at several files has no work where one takes requests, or all are of events. */
TEST_WITH(test_about_any, open_kit, close_kit)
{
	struct wait_targets *targets = ((struct kit *)*state)->targets;
	struct epoll_event wanted = { .events = EPOLLIN };
	int polls = epoll_create1(EPOLL_CLOEXEC), pipes[2];
	int events[] = { eventfd(0, EFD_CLOEXEC), timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), again;
	struct polled_set set = { .n = 0 };
	pid_t self = getpid();

	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(wait_target_about_any(targets, self, &set), WAIT_FOR_EVENTS);
	for (unsigned i = 0; i < 2; i++) {
		polled_set_add(&set, events[i], 0);
		assert_int_equal(wait_target_about_any(targets, self, &set), WAIT_FOR_EVENTS);
		assert_int_equal(epoll_ctl(polls, EPOLL_CTL_ADD, events[i], &wanted), 0);
	}
	assert_int_equal(wait_target_about(targets, self, polls), WAIT_FOR_EVENTS);
	assert_int_equal(epoll_ctl(polls, EPOLL_CTL_ADD, pipes[0], &wanted), 0);
	assert_int_equal(wait_target_about(targets, self, polls), WAIT_FOR_UNKNOWN);
	assert_int_equal(epoll_ctl(polls, EPOLL_CTL_ADD, server, &wanted), 0);
	assert_int_equal(wait_target_about(targets, self, polls), WAIT_FOR_REQUESTS);
	/* Its file lives on by another number, and the server's is another file's. */
	again = dup(server);
	assert_true(again >= 0);
	assert_int_equal(dup2(pipes[0], server), server);
	assert_int_equal(wait_target_about(targets, self, polls), WAIT_FOR_UNKNOWN);
	assert_int_equal(epoll_ctl(polls, EPOLL_CTL_DEL, pipes[0], NULL), 0);
	assert_int_equal(dup2(events[0], server), server);
	assert_int_equal(wait_target_about(targets, self, polls), WAIT_FOR_UNKNOWN);
	/* Beyond so many there may be others. */
	while (set.n < WAIT_SET_MAX)
		polled_set_add(&set, events[0], 0);
	assert_int_equal(wait_target_about_any(targets, self, &set), WAIT_FOR_EVENTS);
	polled_set_add(&set, events[0], 0);
	assert_int_equal(wait_target_about_any(targets, self, &set), WAIT_FOR_UNKNOWN);
	set.all[1].fd = again;
	assert_int_equal(wait_target_about_any(targets, self, &set), WAIT_FOR_REQUESTS);
	for (unsigned i = 0; i < 2; i++)
		close(events[i]);
	for (unsigned i = 0; i < 2; i++)
		close(pipes[i]);
	close(again);
	close(server);
	close(polls);
}

/* Rings, by what fdinfo has of them. */
TREE_TEST(test_ring)
{
	static const struct {
		const char *text;
		enum wait_purpose about;
	} cases[] = {
		{ "SqHead:\t3\nCqTail:\t2\nPollList:\n  op=22, task_works=0\nCqOverflowList:\n",
		  WAIT_FOR_IDLE_RING },
		{ "SqHead:\t0\nCqTail:\t0\nPollList:\nCqOverflowList:\n", WAIT_FOR_IDLE_RING },
		{ "SqHead:\t3\nCqTail:\t1\nPollList:\n  op=22, task_works=0\nCqOverflowList:\n",
		  WAIT_FOR_DISK_RING },
		{ "SqHead:\t4294967295\nCqTail:\t4294967293\nPollList:\nCqOverflowList:\n",
		  WAIT_FOR_DISK_RING },
		{ "PollList:\n", WAIT_FOR_UNKNOWN },
		{ "SqHead:\tx\nCqTail:\t1\nPollList:\n", WAIT_FOR_UNKNOWN },
		{ "", WAIT_FOR_UNKNOWN },
	};
	const struct tree *tree = *state;
	struct wait_targets *targets = wait_targets_open(tree->proc);

	put_text(tree, "7/fd/x", "");
	assert_int_equal(symlinkat("anon_inode:[io_uring]", tree->fd, "7/fd/3"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_text(tree, "7/fdinfo/3", cases[i].text);
		assert_int_equal(wait_target_about(targets, 7, 3), cases[i].about);
	}
	wait_targets_close(targets);
}

/* Unix sockets: a pair by who has the other end, a connected one by the server's path. */
TEST_WITH(test_unix, open_kit, close_kit)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct kit *kit = *state;
	int pair[2], server, client;
	char expected[64];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pid = start_holder(pair[1], pair[0]);
	close(pair[1]);
	assert_of_holder(target_of(kit, pair[0]), "unix", pid);
	end_holder(pid);
	close(pair[0]);
	/* An abstract name, which begins with a NUL. */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%07d", (int)getpid());
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address.sun_family) + 8),
			 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(
		connect(client, (struct sockaddr *)&address, sizeof(address.sun_family) + 8), 0);
	wait_targets_renew(kit->targets);
	snprintf(expected, sizeof(expected), "unix @%07d", (int)getpid());
	assert_string_equal(target_of(kit, server), expected);
	pid = start_holder(server, client);
	close(server);
	wait_targets_renew(kit->targets);
	/* Nobody has accepted the connection: it is for whoever listens. */
	assert_of_holder(target_of(kit, client), expected, pid);
	end_holder(pid);
	close(client);
}

/* Files by path, also when they are deleted, and what is none. */
TEST_WITH(test_files, open_kit, close_kit)
{
	char path[] = "/tmp/stalltop-target-XXXXXX";
	int file = mkostemp(path, O_CLOEXEC), fd;
	struct kit *kit = *state;
	char expected[64];
	struct stat info;

	assert_string_equal(target_of(kit, file), path);
	assert_int_equal(fstat(file, &info), 0);
	kit->out.len = 0;
	assert_int_equal(wait_target_fd(kit->targets, getpid(), file, 0, info.st_ino, &kit->out),
			 0);
	assert_string_equal(buf_cstr(&kit->out), path);
	assert_int_equal(
		wait_target_fd(kit->targets, getpid(), file, 0, info.st_ino + 1, &kit->out),
		-ESTALE);
	unlink(path);
	snprintf(expected, sizeof(expected), "%s (deleted)", path);
	assert_string_equal(target_of(kit, file), expected);
	close(file);
	assert_int_equal(wait_target_fd(kit->targets, getpid(), file, 0, 0, &kit->out), -ENOENT);
	fd = eventfd(0, EFD_CLOEXEC);
	assert_string_equal(target_of(kit, fd), "eventfd");
	close(fd);
	fd = epoll_create1(EPOLL_CLOEXEC);
	assert_string_equal(target_of(kit, fd), "eventpoll");
	close(fd);
	check_polled(kit);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	assert_int_equal(
		bind(fd, (struct sockaddr *)&(struct sockaddr_storage){ .ss_family = AF_NETLINK },
		     12),
		0);
	wait_targets_renew(kit->targets);
	assert_string_equal(target_of(kit, fd), "netlink");
	close(fd);
}

/* No process has it: above the kernel's PID_MAX_LIMIT. */
#define NO_PID 99999998

/* Children by their ids and by their descriptors; futexes. */
TEST_WITH(test_words, open_kit, close_kit)
{
	struct kit *kit = *state;
	pid_t pid = start_holder(0, -1);
	char expected[64];
	int fd;

	wait_target_child(kit->targets, NO_PID, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_child(kit->targets, -1, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_child(kit->targets, -12, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_waitid(kit->targets, getpid(), P_PID, NO_PID + 1, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_waitid(kit->targets, getpid(), P_ALL, 0, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_futex(kit->targets, 0x7f0012, 0, 0, &kit->out);
	buf_putc(&kit->out, '\n');
	wait_target_futex(kit->targets, 0x7f0012, NO_PID, 8, &kit->out);
	assert_string_equal(
		buf_cstr(&kit->out),
		"child 99999998\nany child\nchild of group 12\nchild 99999999\nany child\n"
		"futex 0x7f0012\nfutex 0x7f0012 held by 99999998 (8 wait)");
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0) {
		assert_of_holder(target_of(kit, fd), "pidfd", pid);
		assert_int_equal(wait_target_about(kit->targets, getpid(), fd), WAIT_FOR_UNKNOWN);
		kit->out.len = 0;
		assert_int_equal(
			wait_target_waitid(kit->targets, getpid(), 3, (uint64_t)fd, &kit->out), 0);
		snprintf(expected, sizeof(expected), "child %d holder", (int)pid);
		assert_string_equal(buf_cstr(&kit->out), expected);
		close(fd);
	}
	end_holder(pid);
}

/* Process 7 goes to a mount namespace with that table. */
static void enter_mounts(const struct tree *tree, const char *name, const char *table)
{
	unlinkat(tree->fd, "7/ns/mnt", 0);
	assert_int_equal(symlinkat(name, tree->fd, "7/ns/mnt"), 0);
	put_text(tree, "7/mountinfo", table);
}

/* A path within a device is shown by the mounts of the task's namespace. */
TREE_TEST(test_path)
{
	const struct tree *tree = *state;
	struct wait_targets *targets = wait_targets_open(tree->proc);
	struct buf out = { 0 };

	put_text(tree, "7/ns/x", "");
	put_text(tree, "7/mountinfo", "24 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
	assert_int_equal(wait_target_path(targets, 7, 8 << 20 | 1, "/x", &out), -ENOENT);
	enter_mounts(tree, "mnt:[1]", "24 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
	assert_int_equal(wait_target_path(targets, 7, 8 << 20 | 2, "/x", &out), -ENOENT);
	assert_int_equal(out.len, 0);
	assert_int_equal(wait_target_path(targets, 7, 8 << 20 | 1, "/x", &out), 0);
	assert_string_equal(buf_cstr(&out), "/mnt/x");
	enter_mounts(tree, "mnt:[2]", "24 1 8:1 / /else rw - ext4 /dev/sda1 rw\n");
	out.len = 0;
	assert_int_equal(wait_target_path(targets, 7, 8 << 20 | 1, "/x", &out), 0);
	assert_string_equal(buf_cstr(&out), "/else/x");
	/* What a server has is named with it. */
	enter_mounts(tree, "mnt:[3]", "24 1 8:1 / /else rw - nfs4 nas1:/export rw\n");
	out.len = 0;
	assert_int_equal(wait_target_path(targets, 7, 8 << 20 | 1, "/x", &out), 0);
	assert_string_equal(buf_cstr(&out), "/else/x (nfs nas1:/export)");
	out.len = 0;
	buf_puts(&out, "/else/../x");
	wait_target_server(targets, 7, 0, &out);
	assert_string_equal(buf_cstr(&out), "/else/../x");
	buf_free(&out);
	wait_targets_close(targets);
}

/* Links of a made-up /proc: hostile, long, of processes whose sockets nobody tells. */
TREE_TEST(test_links)
{
	static const struct {
		const char *link, *text;
	} cases[] = {
		{ "/a\033[31m\nb", "/a\033[31m\nb" },
		{ "anon_inode:[timerfd]", "timerfd" },
		{ "anon_inode:inotify", "inotify" },
		{ "anon_inode:", "" },
		{ "anon_inode:[", "[" },
		{ "anon_inode:[]", "[]" },
		{ "socket:[", "socket:[" },
		{ "socket:[x]", "socket:[x]" },
		{ "socket:[99999999999999999999999]", "socket:[99999999999999999999999]" },
		{ "socket:[12]", "socket" },
		{ "pipe:[x", "pipe" },
		{ "pipe:[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "pipe" },
	};
	const struct tree *tree = *state;
	struct wait_targets *targets = wait_targets_open(tree->proc);
	struct buf out = { 0 };
	char path[32], name[4001];

	put_text(tree, "7/fd/x", "");
	put_text(tree, "7/fdinfo/1", "pos:\t0\nflags:\t02\nmnt_id:\t24\n");
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(path, sizeof(path), "7/fd/%u", i);
		assert_int_equal(symlinkat(cases[i].link, tree->fd, path), 0);
		out.len = 0;
		assert_int_equal(wait_target_fd(targets, 7, (int)i, 0, 0, &out), 0);
		assert_string_equal(buf_cstr(&out), cases[i].text);
	}
	/* A kernel that does not tell the inode. */
	assert_int_equal(wait_target_fd(targets, 7, 1, 1, 1, &out), -ENODATA);
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(symlinkat(name, tree->fd, "7/fd/99"), 0);
	out.len = 0;
	assert_int_equal(wait_target_fd(targets, 7, 99, 0, 0, &out), 0);
	assert_string_equal(buf_cstr(&out), name);
	assert_int_equal(wait_target_fd(targets, 8, 1, 0, 0, &out), -ENOENT);
	buf_free(&out);
	wait_targets_close(targets);
	wait_targets_close(NULL);
}
