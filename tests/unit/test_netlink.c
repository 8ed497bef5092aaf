// SPDX-License-Identifier: GPL-2.0-or-later
/* The client under all that talk by netlink: requests, batches of messages, senders, waiting. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/netlink.h"
#include "tests/lib/records.h"

#define FAMILY 0x1b
#define BATCH 4
#define ROOM 256
#define SHORT_MS 50

/* A connection, the kernel's end, and what was taken last. */
struct line {
	struct netlink nl;
	struct netlink_batch *batch;
	int fd;
	unsigned taken;
	struct netlink_message last;
};

/* Opens a line over a socket pair. */
static void line_open(struct line *line)
{
	int fds[2];

	*line = (struct line){ 0 };
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	netlink_open_fd(&line->nl, fds[0], FAMILY, SHORT_MS);
	line->fd = fds[1];
	line->batch = netlink_batch_new(BATCH, ROOM);
}

/* Closes both ends. */
static void line_close(struct line *line)
{
	netlink_close(&line->nl);
	netlink_batch_free(line->batch);
	close(line->fd);
}

/* Takes all but what has the number 99. */
static bool take(void *arg, const struct netlink_message *message)
{
	struct line *line = arg;

	line->taken++;
	line->last = *message;
	return message->seq != 99;
}

/* Receives, up to so many datagrams. */
static int receive(struct line *line, size_t max)
{
	return netlink_receive(&line->nl, line->batch, max, take, line);
}

/* Says how a request went. */
static void say_status(const struct line *line, uint32_t seq, int error)
{
	uint8_t bytes[64];
	size_t len = record_error(bytes, seq, error);

	assert_int_equal(send(line->fd, bytes, len, MSG_NOSIGNAL), len);
}

/* A request, in the byte order of the machine. */
struct message {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char value[8];
};

/* Requests stand one behind the other, numbered, each aligned, with nothing stray in it. */
TEST(test_requests)
{
	static const struct message first = {
		.head = { .nlmsg_len = 28,
			  .nlmsg_type = FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST,
			  .nlmsg_seq = 1 },
		.generic = { .cmd = 7, .version = 1 },
		.attribute = { .nla_len = 8, .nla_type = 3 },
		.value = { 1, 2, 3, 4 },
	};
	static const struct message second = {
		.head = { .nlmsg_len = 32,
			  .nlmsg_type = FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
			  .nlmsg_seq = 2 },
		.generic = { .cmd = 9, .version = 1 },
		.attribute = { .nla_len = 9, .nla_type = 5 },
		.value = "0-15",
	};
	struct netlink_request request = {
		.command = 7, .attribute = 3, .value = "\1\2\3\4", .len = 4
	};
	uint8_t bytes[2 * NETLINK_REQUEST_MAX], got[2 * NETLINK_REQUEST_MAX];
	struct line line;
	size_t len;

	line_open(&line);
	memset(bytes, 0x55, sizeof(bytes));
	len = netlink_write(&line.nl, bytes, &request);
	assert_int_equal(len, 28);
	request = (struct netlink_request){
		.command = 9, .ack = true, .attribute = 5, .value = "0-15", .len = 5
	};
	len += netlink_write(&line.nl, bytes + len, &request);
	assert_int_equal(len, 28 + 32);
	assert_int_equal(netlink_send(&line.nl, bytes, len), 0);
	assert_int_equal(line.nl.sends, 1);
	assert_int_equal(recv(line.fd, got, sizeof(got), 0), len);
	assert_memory_equal(got, &first, 28);
	assert_memory_equal(got + 28, &second, 32);
	/* The longest. */
	request.len = NETLINK_VALUE_MAX;
	request.value = bytes;
	assert_int_equal(netlink_ask(&line.nl, &request), 0);
	assert_int_equal(recv(line.fd, got, sizeof(got), 0), 24 + NETLINK_VALUE_MAX);
	assert_int_equal(line.nl.seq, 3);
	close(line.fd);
	assert_int_equal(netlink_ask(&line.nl, &request), -EPIPE);
	line_close(&line);
}

/* As many datagrams as are asked for and as there is room for; then there are none. */
TEST(test_batches)
{
	struct line line;

	line_open(&line);
	for (uint32_t i = 0; i < 10; i++)
		say_status(&line, i < 9 ? i : 99, i ? -(int)i : 0);
	assert_int_equal(receive(&line, 3), 3);
	assert_int_equal(line.taken, 3);
	assert_int_equal(line.last.kind, NETLINK_STATUS);
	assert_int_equal(line.last.seq, 2);
	assert_int_equal(line.last.error, -2);
	assert_int_equal(receive(&line, 100), BATCH);
	assert_int_equal(receive(&line, 100), 3);
	assert_int_equal(line.taken, 10);
	assert_int_equal(receive(&line, 100), -EAGAIN);
	assert_int_equal(line.nl.receives, 4);
	/* The last one was not wanted. */
	assert_int_equal(line.nl.foreign, 1);
	close(line.fd);
	assert_int_equal(receive(&line, 100), -ECONNRESET);
	line_close(&line);
}

/* What does not fit is handed on as cut off, until there is room for it. */
TEST(test_cut)
{
	uint8_t record[RECORD_MAX] = { 16 }, bytes[2048];
	struct record_message message = { .type = FAMILY,
					  .cmd = 2,
					  .seq = 5,
					  .id = 70,
					  .record = record,
					  .len = record_size(16) };
	size_t len = record_message(bytes, &message);
	struct line line;

	line_open(&line);
	assert_true(len > ROOM && len < 4 * ROOM);
	assert_int_equal(netlink_batch_room(line.batch), ROOM);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(send(line.fd, bytes, len, 0), len);
		assert_int_equal(receive(&line, BATCH), 1);
		assert_int_equal(line.taken, i + 1);
		assert_int_equal(line.last.kind, i ? NETLINK_ANSWER : NETLINK_CUT);
		assert_int_equal(line.last.seq, 5);
		netlink_batch_enlarge(line.batch, 4 * ROOM);
	}
	assert_int_equal(line.last.command, 2);
	/* Behind both headers. */
	assert_int_equal(line.last.len, len - 20);
	assert_int_equal(line.nl.foreign, 0);
	line_close(&line);
}

/* A socket of the kind that other processes may write to. */
static int open_user_socket(struct sockaddr_nl *address)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	socklen_t len = sizeof(*address);

	assert_true(fd >= 0);
	*address = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
	assert_int_not_equal(address->nl_pid, 0);
	return fd;
}

/* Another process's message is dropped, however right it looks. */
TEST(test_sender)
{
	struct sockaddr_nl ours, theirs;
	int fd = open_user_socket(&ours), other = open_user_socket(&theirs);
	struct line line;
	uint8_t bytes[64];
	size_t len = record_error(bytes, 1, 0);

	line_open(&line);
	netlink_close(&line.nl);
	netlink_open_fd(&line.nl, fd, FAMILY, SHORT_MS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
			sendto(other, bytes, len, 0, (struct sockaddr *)&ours, sizeof(ours)), len);
	assert_int_equal(receive(&line, 100), 3);
	assert_int_equal(line.taken, 0);
	assert_int_equal(line.nl.foreign, 3);
	close(other);
	line_close(&line);
}

/* Waiting ends with a message, or with the deadline, and not before. */
TEST(test_await)
{
	struct line line;
	uint64_t begin, deadline;

	line_open(&line);
	begin = clock_ns(CLOCK_MONOTONIC);
	deadline = netlink_deadline(&line.nl);
	assert_true(deadline >= begin + SHORT_MS * NSEC_PER_MSEC);
	assert_int_equal(netlink_await(&line.nl, deadline), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) >= deadline);
	assert_int_equal(line.nl.receives, 1);
	/* What has passed is not waited for, and costs no call. */
	say_status(&line, 1, 0);
	assert_int_equal(netlink_await(&line.nl, deadline), -ETIMEDOUT);
	assert_int_equal(line.nl.receives, 1);
	assert_int_equal(netlink_await(&line.nl, netlink_deadline(&line.nl)), 0);
	assert_int_equal(receive(&line, 1), 1);
	line_close(&line);
}

/* The buffer's size is read back: it is what there is, not what was asked for. */
TEST(test_buffer)
{
	struct netlink closed = NETLINK_CLOSED;
	struct line line;
	int size;
	socklen_t len = sizeof(size);

	line_open(&line);
	for (size_t wanted = 1; wanted <= 1 << 20; wanted <<= 10) {
		size_t got = netlink_size_buffer(&line.nl, wanted);

		assert_int_equal(getsockopt(line.nl.fd, SOL_SOCKET, SO_RCVBUF, &size, &len), 0);
		assert_int_equal(got, size);
		/* Of more than the system allows, not everybody gets all. */
		assert_true(got >= wanted || wanted > 1024);
	}
	line_close(&line);
	assert_int_equal(netlink_size_buffer(&closed, 1000), 0);
	netlink_close(&closed);
}

/* The real kernel has one family for all, which needs to be looked up once. */
TEST(test_live)
{
	struct netlink first, second;
	int err = netlink_open(&first, 0);

	if (err == -ENOENT || err == -EAFNOSUPPORT) {
		printf("# skip: test_live: no taskstats\n");
		skip();
	}
	assert_int_equal(err, 0);
	assert_true(first.family >= NLMSG_MIN_TYPE);
	assert_int_equal(netlink_open(&second, first.family), 0);
	assert_int_equal(second.family, first.family);
	assert_int_not_equal(second.fd, first.fd);
	netlink_close(&first);
	netlink_close(&second);
	assert_int_equal(second.fd, -1);
	netlink_close(&second);
}

/* Without a descriptor to be had it says so. */
TEST(test_no_descriptor)
{
	struct rlimit before, none;
	struct netlink nl;
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = netlink_open(&nl, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(err, -EMFILE);
	assert_int_equal(nl.fd, -1);
}

/* What was never made is freed like what was. */
TEST(test_free_nothing)
{
	netlink_batch_free(NULL);
}
