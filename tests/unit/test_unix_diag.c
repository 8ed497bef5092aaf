// SPDX-License-Identifier: GPL-2.0-or-later
/* Which sockets are at the other end: the kernel's own answers, and what goes wrong. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/sockets.h"

/* A socket's inode. */
static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* A connection to the kernel; the test is skipped where it has none of the kind. */
static int ask_kernel(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		skip();
	return fd;
}

/* The peer of a pair, and a socket that there is not. */
TEST(test_pair)
{
	struct unix_socket found;
	int fd = ask_kernel(), pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(unix_diag_ask(fd, inode_of(pair[0]), &found), 0);
	assert_int_equal(found.peer, inode_of(pair[1]));
	assert_int_equal(unix_diag_ask(fd, 1, &found), -ENOENT);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

/* Who listens and has not accepted a connection; nobody does once it has. */
TEST(test_listener)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = ask_kernel(), server, client, accepted;
	struct unix_socket found;
	socklen_t len;

	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			  (size_t)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
					   "stalltop-test-%d", (int)getpid()));
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	assert_int_equal(unix_diag_ask_listener(fd, inode_of(client), &found), 0);
	assert_int_equal(found.ino, inode_of(server));
	accepted = accept(server, NULL, NULL);
	assert_true(accepted >= 0);
	assert_int_equal(unix_diag_ask_listener(fd, inode_of(client), &found), -ENOENT);
	close(accepted);
	close(client);
	close(server);
	close(fd);
}

/* A request that cannot be sent is no answer that there is none. */
TEST(test_unsent)
{
	struct unix_socket found;

	assert_int_equal(unix_diag_ask(-1, 5, &found), -EBADF);
	assert_int_equal(unix_diag_ask_listener(-1, 5, &found), -EBADF);
}

/* Answers that are errors, or cut. */
TEST(test_decode)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = { .header = { .nlmsg_len = sizeof(answer), .nlmsg_type = NLMSG_ERROR },
		     .error = { .error = -EPERM } };
	struct unix_socket found;

	assert_int_equal(unix_diag_decode(&answer, sizeof(answer), &found), -EPERM);
	assert_int_equal(unix_diag_decode(&answer, 8, &found), -EBADMSG);
	answer.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	answer.header.nlmsg_len = NLMSG_HDRLEN + 4;
	assert_int_equal(unix_diag_decode(&answer, sizeof(answer), &found), -EBADMSG);
}
