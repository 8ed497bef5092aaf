/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cgroupstats.h"

#include <errno.h>
#include <linux/cgroupstats.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nlconn.h"
#include "util.h"

/* A reply takes 64 bytes, an error that repeats the request not much more. */
#define REPLY_SIZE 4096
#define REPLY_TIMEOUT_MS 1000
#define SILENCE_NS (60 * NSEC_PER_SEC)

/* The answer's five numbers, in this order (include/uapi/linux/cgroupstats.h). */
#define STATES 5

struct cgroupstats_conn {
	struct nl_sock *sock; /* owns fd where it is set */
	int fd;
	uint16_t family;
	int timeout_ms;
	uint32_t seq; /* of the last request */
	uint64_t silent_until_ns;
	uint64_t syscalls;
};

/* One question under way. */
struct question {
	struct cgroupstats_conn *conn;
	uint32_t seq;
	bool acked;    /* the kernel is done with it */
	bool answered;
	int error;
	struct cgroup_states states;
};

/* A connection over fd. */
static struct cgroupstats_conn *conn_new(struct nl_sock *sock, int fd, uint16_t family,
					 int timeout_ms)
{
	struct cgroupstats_conn *conn = xcalloc(1, sizeof(*conn));

	conn->sock = sock;
	conn->fd = fd;
	conn->family = family;
	conn->timeout_ms = timeout_ms;
	return conn;
}

int cgroupstats_open(struct cgroupstats_conn **out)
{
	struct nl_sock *sock;
	uint16_t family;
	int err = nlconn_connect(&sock, &family);

	if (!err)
		*out = conn_new(sock, nl_socket_get_fd(sock), family, REPLY_TIMEOUT_MS);
	return err;
}

int cgroupstats_open_fd(struct cgroupstats_conn **out, int fd, uint16_t family, int timeout_ms)
{
	*out = conn_new(NULL, fd, family, timeout_ms);
	return 0;
}

/* Sends the request. 0 or -errno. */
static int send_question(struct question *question, int dirfd)
{
	struct cgroupstats_conn *conn = question->conn;
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *header;
	ssize_t sent;
	int err;

	/* For a bad descriptor the kernel says nothing at all, but that it is done. */
	if (!msg ||
	    !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, conn->family, 0,
			 NLM_F_REQUEST | NLM_F_ACK, CGROUPSTATS_CMD_GET, TASKSTATS_GENL_VERSION) ||
	    nla_put_u32(msg, CGROUPSTATS_CMD_ATTR_FD, (uint32_t)dirfd) < 0)
		die("out of memory");
	header = nlmsg_hdr(msg);
	header->nlmsg_seq = question->seq = ++conn->seq;
	do {
		conn->syscalls++;
		sent = send(conn->fd, header, header->nlmsg_len, MSG_NOSIGNAL);
		err = sent < 0 ? -errno : 0;
	} while (err == -EINTR);
	nlmsg_free(msg);
	return err;
}

/* Takes the numbers out of a reply. */
static void take_states(struct question *question, struct genlmsghdr *generic)
{
	struct nlattr *attr = nla_find(genlmsg_attrdata(generic, 0), genlmsg_attrlen(generic, 0),
				       CGROUPSTATS_TYPE_CGROUP_STATS);
	uint64_t values[STATES];

	question->answered = true;
	if (!attr || (size_t)nla_len(attr) < sizeof(values)) {
		question->error = -EBADMSG;
		return;
	}
	/* Attributes are aligned to 4 bytes only. */
	memcpy(values, nla_data(attr), sizeof(values));
	question->states = (struct cgroup_states){ values[0], values[1], values[2], values[3],
						   values[4] };
}

/* Takes one message; what does not belong to the question is passed over. */
static void take_message(struct question *question, struct nlmsghdr *header)
{
	if (header->nlmsg_seq != question->seq)
		return;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = nlmsg_data(header);

		if (nlmsg_datalen(header) < (int)sizeof(*error) || error->error > 0)
			return;
		question->acked = true;
		if (error->error)
			question->error = error->error;
	} else if (header->nlmsg_type == question->conn->family && genlmsg_valid_hdr(header, 0) &&
		   genlmsg_hdr(header)->cmd == CGROUPSTATS_CMD_NEW && !question->answered) {
		take_states(question, genlmsg_hdr(header));
	}
}

/* Receives one datagram, which may hold several messages. 0, or -errno: -EAGAIN for none. */
static int receive(struct question *question)
{
	struct cgroupstats_conn *conn = question->conn;
	_Alignas(NLMSG_ALIGNTO) char bytes[REPLY_SIZE];
	struct nlmsghdr *header = (struct nlmsghdr *)bytes;
	struct sockaddr_nl sender = { 0 };
	socklen_t sender_len = sizeof(sender);
	ssize_t got;
	int rest;

	conn->syscalls++;
	got = recvfrom(conn->fd, bytes, sizeof(bytes), MSG_DONTWAIT, (struct sockaddr *)&sender,
		       &sender_len);
	if (got < 0)
		return -errno;
	/* Of a stream of packets whose other end has closed (tests) every read is empty. */
	if (!got && !sender_len)
		return -ECONNRESET;
	/* Any process may write to our port; only port 0 is the kernel. */
	if (sender_len >= sizeof(sender) && sender.nl_family == AF_NETLINK && sender.nl_pid)
		return 0;
	for (rest = (int)got; nlmsg_ok(header, rest); header = nlmsg_next(header, &rest))
		take_message(question, header);
	return 0;
}

/* Waits for more until the deadline. 0 or -errno. */
static int await(struct cgroupstats_conn *conn, uint64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = conn->fd, .events = POLLIN };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int n;

	if (now >= deadline_ns)
		return -ETIMEDOUT;
	conn->syscalls++;
	n = poll(&pollfd, 1, (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Receives until the kernel is done with the question. 0 or -errno. */
static int receive_answer(struct question *question)
{
	struct cgroupstats_conn *conn = question->conn;
	uint64_t deadline = clock_ns(CLOCK_MONOTONIC) +
			    (uint64_t)conn->timeout_ms * NSEC_PER_MSEC;

	while (!question->acked) {
		int err = receive(question);

		if (err == -EAGAIN)
			err = await(conn, deadline);
		else if (!question->acked && clock_ns(CLOCK_MONOTONIC) >= deadline)
			err = -ETIMEDOUT; /* others' messages must not keep us here */
		if (err && err != -EINTR)
			return err;
	}
	if (question->error)
		return question->error;
	return question->answered ? 0 : -EBADF;
}

int cgroupstats_ask(struct cgroupstats_conn *conn, int dirfd, struct cgroup_states *out)
{
	struct question question = { .conn = conn };
	int err;

	/* Of many groups each would be waited for. */
	if (conn->silent_until_ns && clock_ns(CLOCK_MONOTONIC) < conn->silent_until_ns)
		return -ETIMEDOUT;
	err = send_question(&question, dirfd);
	if (!err)
		err = receive_answer(&question);
	conn->silent_until_ns = 0;
	if (err == -ETIMEDOUT)
		conn->silent_until_ns = clock_ns(CLOCK_MONOTONIC) + SILENCE_NS;
	if (!err)
		*out = question.states;
	return err;
}

uint64_t cgroupstats_syscalls(const struct cgroupstats_conn *conn)
{
	return conn->syscalls;
}

void cgroupstats_close(struct cgroupstats_conn *conn)
{
	if (!conn)
		return;
	if (conn->sock)
		nl_socket_free(conn->sock);
	else
		close(conn->fd);
	free(conn);
}
