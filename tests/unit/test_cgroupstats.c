// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking for states in a cgroup: a socket whose other end plays the kernel, well and badly. */
#include "tests/lib/test.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/cgroupstats.h"
#include "tests/lib/calls.h"
#include "tests/lib/records.h"

#define FAMILY 0x1b
#define DIRFD 77

/* Nothing here should ever wait for this long. */
#define LONG_MS 20000
/* What no answer costs. */
#define SHORT_MS 50

/*
 * The kernel answers before the send returns, so what it says can lie in the socket before it is
 * asked: the first request has the number 1.
 */
struct kernel {
	int fd;
	struct cgroupstats_conn *conn;
};

/* A reply, of which a test changes what it likes. */
struct reply {
	uint32_t len; /* what the message says, 0: what it is */
	uint16_t type;
	uint32_t seq;
	uint8_t cmd;
	uint16_t attr;
	size_t numbers; /* bytes of the answer */
};

static const struct reply good = { .type = FAMILY, .seq = 1, .cmd = 5, .attr = 1, .numbers = 40 };

/* Opens the pair. */
static void open_kernel(struct kernel *kernel, int timeout_ms)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	kernel->fd = fds[1];
	assert_int_equal(cgroupstats_open_fd(&kernel->conn, fds[0], FAMILY, timeout_ms), 0);
}

/* Closes both ends. */
static void close_kernel(struct kernel *kernel)
{
	cgroupstats_close(kernel->conn);
	close(kernel->fd);
}

/* Says something. */
static void say(const struct kernel *kernel, const void *bytes, size_t len)
{
	assert_int_equal(send(kernel->fd, bytes, len, MSG_NOSIGNAL), len);
}

/* Writes a reply whose numbers are 100, 101 ... Its length. */
static size_t write_reply(uint8_t *to, const struct reply *reply)
{
	struct nlmsghdr header = { .nlmsg_type = reply->type, .nlmsg_seq = reply->seq };
	struct genlmsghdr generic = { .cmd = reply->cmd, .version = 1 };
	struct nlattr attr = { .nla_type = reply->attr,
			       .nla_len = (uint16_t)(sizeof(attr) + reply->numbers) };
	uint8_t *at = to + sizeof(header);

	memcpy(at, &generic, sizeof(generic));
	at += sizeof(generic);
	if (reply->attr) {
		memcpy(at, &attr, sizeof(attr));
		at += sizeof(attr);
		for (size_t i = 0; i < reply->numbers; i += sizeof(uint64_t)) {
			uint64_t number = 100 + i / sizeof(uint64_t);

			memcpy(at + i, &number, sizeof(number));
		}
		at += reply->numbers;
	}
	header.nlmsg_len = reply->len ? reply->len : (uint32_t)(at - to);
	memcpy(to, &header, sizeof(header));
	return (size_t)(at - to);
}

/* Says a reply. */
static void say_reply(const struct kernel *kernel, const struct reply *reply)
{
	uint8_t bytes[1024];

	say(kernel, bytes, write_reply(bytes, reply));
}

/* Says an error, or that all is well. */
static void say_error(const struct kernel *kernel, uint32_t seq, int error)
{
	uint8_t bytes[64];

	say(kernel, bytes, record_error(bytes, seq, error));
}

/* Asks; what is not answered must stay untouched. */
static int ask(const struct kernel *kernel)
{
	struct cgroup_states states = { 1, 2, 3, 4, 5 };
	int err = cgroupstats_ask(kernel->conn, DIRFD, &states);

	assert_int_equal(states.sleeping, err ? 1 : 100);
	assert_int_equal(states.running, err ? 2 : 101);
	assert_int_equal(states.stopped, err ? 3 : 102);
	assert_int_equal(states.uninterruptible, err ? 4 : 103);
	assert_int_equal(states.io_wait, err ? 5 : 104);
	return err;
}

/* The request is as the kernel takes it, and the answer what it said. */
TEST(test_answer)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr generic;
		struct nlattr attr;
		uint32_t fd;
	} request;
	struct kernel kernel;

	open_kernel(&kernel, LONG_MS);
	for (uint32_t seq = 1; seq < 4; seq++) {
		struct reply reply = good;

		reply.seq = seq;
		say_reply(&kernel, &reply);
		say_error(&kernel, seq, 0);
		assert_int_equal(CALLS_OF(assert_int_equal(ask(&kernel), 0)), 2);
		assert_int_equal(recv(kernel.fd, &request, sizeof(request), 0), sizeof(request));
		assert_int_equal(request.header.nlmsg_len, sizeof(request));
		assert_int_equal(request.header.nlmsg_type, FAMILY);
		assert_int_equal(request.header.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
		assert_int_equal(request.header.nlmsg_seq, seq);
		assert_int_equal(request.generic.cmd, 4);
		assert_int_equal(request.generic.version, 1);
		assert_int_equal(request.attr.nla_type, 1);
		assert_int_equal(request.attr.nla_len, 8);
		assert_int_equal(request.fd, DIRFD);
	}
	close_kernel(&kernel);
}

/* Reply and acknowledgement in one datagram, and a longer answer of a kernel to come. */
TEST(test_together)
{
	struct kernel kernel;
	struct reply reply = good;
	uint8_t bytes[1024];
	size_t len;

	open_kernel(&kernel, LONG_MS);
	len = write_reply(bytes, &good);
	len += record_error(bytes + len, 1, 0);
	say(&kernel, bytes, len);
	assert_int_equal(ask(&kernel), 0);
	reply.seq = 2;
	reply.numbers = 64;
	say_reply(&kernel, &reply);
	say_error(&kernel, 2, 0);
	assert_int_equal(ask(&kernel), 0);
	close_kernel(&kernel);
}

/* What the kernel refuses; the next question is answered. */
TEST(test_errors)
{
	static const int errors[] = { -EINVAL, -ENOENT, -EPERM };
	struct kernel kernel;
	struct reply reply = good;
	uint32_t seq = 0;

	open_kernel(&kernel, LONG_MS);
	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		say_error(&kernel, ++seq, errors[i]);
		assert_int_equal(ask(&kernel), errors[i]);
	}
	/* A bad descriptor is success without an answer. */
	say_error(&kernel, ++seq, 0);
	assert_int_equal(ask(&kernel), -EBADF);
	reply.seq = ++seq;
	say_reply(&kernel, &reply);
	say_error(&kernel, seq, 0);
	assert_int_equal(ask(&kernel), 0);
	close_kernel(&kernel);
}

/* No answer is waited for only so long, and then not again for each group. */
TEST(test_silence)
{
	struct kernel kernel;
	uint64_t begin, calls;

	open_kernel(&kernel, SHORT_MS);
	begin = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(ask(&kernel), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin >= SHORT_MS * NSEC_PER_MSEC);
	calls = calls_made();
	for (int i = 0; i < 100; i++)
		assert_int_equal(ask(&kernel), -ETIMEDOUT);
	assert_int_equal(calls_made(), calls);
	close_kernel(&kernel);
	/* An answer without the end of it is none. */
	open_kernel(&kernel, SHORT_MS);
	say_reply(&kernel, &good);
	assert_int_equal(ask(&kernel), -ETIMEDOUT);
	close_kernel(&kernel);
}

/* Whoever has gone answers no more. */
TEST(test_closed)
{
	struct kernel kernel;

	open_kernel(&kernel, LONG_MS);
	close(kernel.fd);
	assert_int_equal(ask(&kernel), -EPIPE);
	cgroupstats_close(kernel.conn);
	cgroupstats_close(NULL);
	open_kernel(&kernel, LONG_MS);
	assert_int_equal(shutdown(kernel.fd, SHUT_WR), 0);
	assert_int_equal(ask(&kernel), -ECONNRESET);
	close_kernel(&kernel);
}

/* Answers that are too short, or have nothing in them. */
TEST(test_wrong)
{
	struct kernel kernel;
	uint32_t seq = 0;

	open_kernel(&kernel, LONG_MS);
	for (size_t numbers = 0; numbers < 40; numbers += 8) {
		struct reply reply = good;

		reply.seq = ++seq;
		reply.numbers = numbers;
		say_reply(&kernel, &reply);
		say_error(&kernel, seq, 0);
		assert_int_equal(ask(&kernel), -EBADMSG);
	}
	for (uint16_t attr = 0; attr < 4; attr++) {
		struct reply reply = good;

		reply.seq = ++seq;
		reply.attr = attr;
		say_reply(&kernel, &reply);
		say_error(&kernel, seq, 0);
		assert_int_equal(ask(&kernel), attr == 1 ? 0 : -EBADMSG);
	}
	close_kernel(&kernel);
}

/* What does not belong to the question is passed over: it must not be taken for its answer. */
TEST(test_foreign)
{
	static const struct reply odd[] = {
		{ .type = FAMILY + 1, .seq = 1, .cmd = 5, .attr = 2 },
		{ .type = FAMILY, .seq = 0, .cmd = 5, .attr = 2 },
		{ .type = FAMILY, .seq = 2, .cmd = 5, .attr = 2 },
		{ .type = FAMILY, .seq = 1, .cmd = 2, .attr = 2 },
		{ .type = NLMSG_DONE, .seq = 1, .cmd = 5, .attr = 2 },
		{ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2, .len = 16 },
		{ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2, .len = 17 },
		{ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2, .len = 15 },
		{ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2, .len = 0x7fffffff },
		{ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2, .len = 0xffffffff },
		{ .type = NLMSG_ERROR, .seq = 1, .cmd = 5, .len = 18 },
	};
	struct kernel kernel;
	_Alignas(struct nlmsghdr) uint8_t bytes[64];

	open_kernel(&kernel, LONG_MS);
	for (unsigned i = 0; i < ARRAY_SIZE(odd); i++)
		say_reply(&kernel, &odd[i]);
	say_error(&kernel, 0, -EPERM);
	say_error(&kernel, 2, -EPERM);
	say_error(&kernel, 1, 5);
	for (size_t cut = 1; cut < 20; cut++) {
		record_error(bytes, 1, -EPERM);
		say(&kernel, bytes, cut);
	}
	/* An error whose body its length leaves out. */
	record_error(bytes, 1, -EPERM);
	((struct nlmsghdr *)bytes)->nlmsg_len = 18;
	say(&kernel, bytes, 36);
	say_reply(&kernel, &good);
	/* The first answer counts. */
	say_reply(&kernel, &(struct reply){ .type = FAMILY, .seq = 1, .cmd = 5, .attr = 2 });
	say_error(&kernel, 1, 0);
	assert_int_equal(ask(&kernel), 0);
	close_kernel(&kernel);
}

/* Others' messages are not listened to for ever: here for no time at all. */
TEST(test_flood)
{
	struct kernel kernel;

	open_kernel(&kernel, 0);
	for (unsigned i = 0; i < 3; i++)
		say_error(&kernel, 99, -EPERM);
	say_reply(&kernel, &good);
	say_error(&kernel, 1, 0);
	assert_int_equal(ask(&kernel), -ETIMEDOUT);
	close_kernel(&kernel);
}

/* The real kernel: what is no v1 directory, and no descriptor, needs no privilege and no wait. */
TEST(test_live)
{
	struct cgroupstats_conn *conn;
	struct cgroup_states states;
	int fds[2];

	if (cgroupstats_open(&conn))
		skip();
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(cgroupstats_ask(conn, fds[0], &states), -EINVAL);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(cgroupstats_ask(conn, fds[0], &states), -EBADF);
	assert_int_equal(cgroupstats_ask(conn, -1, &states), -EBADF);
	cgroupstats_close(conn);
}
