/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/cgroupstats.h"

#include <errno.h>
#include <linux/cgroupstats.h>
#include <netlink/attr.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "kernel/netlink.h"

/* A reply has 64 bytes, an error that repeats the request not many more. */
#define REPLY_SIZE 4096
/* A request is followed by the answer and an acknowledgement. */
#define REPLIES 2
#define SILENCE_NS (60 * NSEC_PER_SEC)

/* The five numbers of the answer, in this order (include/uapi/linux/cgroupstats.h). */
#define STATES 5

struct cgroupstats_conn {
	struct netlink nl;
	struct netlink_batch *replies;
	uint64_t silent_until_ns;
};

/* One request in progress. */
struct question {
	uint32_t seq;
	bool acked; /* the kernel has answered */
	bool answered;
	int error;
	struct cgroup_states states;
};

/* Allocates the connection's buffers. */
static struct cgroupstats_conn *conn_new(const struct netlink *nl)
{
	struct cgroupstats_conn *conn = xcalloc(1, sizeof(*conn));

	conn->nl = *nl;
	conn->replies = netlink_batch_new(REPLIES, REPLY_SIZE);
	return conn;
}

int cgroupstats_open(struct cgroupstats_conn **out)
{
	struct netlink nl;
	int err = netlink_open(&nl, 0);

	if (!err)
		*out = conn_new(&nl);
	return err;
}

int cgroupstats_open_fd(struct cgroupstats_conn **out, int fd, uint16_t family, int timeout_ms)
{
	struct netlink nl;

	netlink_open_fd(&nl, fd, family, timeout_ms);
	*out = conn_new(&nl);
	return 0;
}

/* Reads the numbers in a reply. */
static void read_states(struct question *question, const struct netlink_message *message)
{
	const struct nlattr *attr =
		nla_find(message->attributes, (int)message->len, CGROUPSTATS_TYPE_CGROUP_STATS);
	uint64_t values[STATES];

	question->answered = true;
	if (!attr || (size_t)nla_len(attr) < sizeof(values)) {
		question->error = -EBADMSG;
		return;
	}
	/* Attributes are aligned to 4 bytes only. */
	memcpy(values, nla_data(attr), sizeof(values));
	question->states =
		(struct cgroup_states){ values[0], values[1], values[2], values[3], values[4] };
}

/* Handles a message. False if it does not belong to the request. */
static bool handle_states(void *arg, const struct netlink_message *message)
{
	struct question *question = arg;

	if (message->seq != question->seq)
		return false;
	if (message->kind == NETLINK_STATUS && message->error <= 0) {
		question->acked = true;
		if (message->error)
			question->error = message->error;
		return true;
	}
	if (message->kind != NETLINK_ANSWER || message->command != CGROUPSTATS_CMD_NEW ||
	    question->answered)
		return false;
	read_states(question, message);
	return true;
}

/* Receives until the kernel has answered completely. 0 or -errno. */
static int receive_answer(struct cgroupstats_conn *conn, struct question *question)
{
	uint64_t deadline = netlink_deadline(&conn->nl);

	while (!question->acked) {
		int err =
			netlink_receive(&conn->nl, conn->replies, REPLIES, handle_states, question);

		if (err == -EAGAIN)
			err = netlink_await(&conn->nl, deadline);
		else if (!question->acked && clock_ns(CLOCK_MONOTONIC) >= deadline)
			err = -ETIMEDOUT; /* messages for others must not delay us */
		if (err < 0 && err != -EINTR)
			return err;
	}
	if (question->error)
		return question->error;
	return question->answered ? 0 : -EBADF;
}

/* Sends the request and receives the answer. 0 or -errno. */
static int request_states(struct cgroupstats_conn *conn, int dirfd, struct question *question)
{
	uint32_t fd = (uint32_t)dirfd;
	/* For a bad descriptor the kernel sends nothing but the acknowledgement. */
	struct netlink_request request = { .command = CGROUPSTATS_CMD_GET,
					   .ack = true,
					   .attribute = CGROUPSTATS_CMD_ATTR_FD,
					   .value = &fd,
					   .len = sizeof(fd) };
	int err = netlink_ask(&conn->nl, &request);

	question->seq = conn->nl.seq;
	return err ? err : receive_answer(conn, question);
}

int cgroupstats_ask(struct cgroupstats_conn *conn, int dirfd, struct cgroup_states *out)
{
	struct question question = { 0 };
	int err;

	/* Else each of many groups would wait for the time-out. */
	if (conn->silent_until_ns && clock_ns(CLOCK_MONOTONIC) < conn->silent_until_ns)
		return -ETIMEDOUT;
	err = request_states(conn, dirfd, &question);
	conn->silent_until_ns = 0;
	if (err == -ETIMEDOUT)
		conn->silent_until_ns = clock_ns(CLOCK_MONOTONIC) + SILENCE_NS;
	if (!err)
		*out = question.states;
	return err;
}

void cgroupstats_close(struct cgroupstats_conn *conn)
{
	if (!conn)
		return;
	netlink_close(&conn->nl);
	netlink_batch_free(conn->replies);
	free(conn);
}
