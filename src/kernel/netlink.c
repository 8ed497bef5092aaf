/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

/* The bytes of a request as it is sent. */
struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attr;
	uint8_t value[NETLINK_VALUE_MAX];
};

_Static_assert(sizeof(struct request) <= NETLINK_REQUEST_MAX, "a request has room");

struct netlink_batch {
	size_t n, room;
	uint8_t *bytes;
	struct mmsghdr *headers;
	struct iovec *vectors;
	struct sockaddr_nl *senders;
};

/* Looks up the family. Returns its number or -errno. */
static int find_family(struct nl_sock *sock)
{
	struct timeval timeout = { .tv_sec = NETLINK_TIMEOUT_MS / 1000 };
	int err;

	/* The look-up itself would wait for its reply without a limit. */
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		debug_log("receive time-out: %s", strerror(errno));
	err = genl_ctrl_resolve(sock, TASKSTATS_GENL_NAME);
	if (err >= 0)
		return err;
	debug_log("taskstats family: %s", nl_geterror(err));
	return err == -NLE_AGAIN ? -ETIMEDOUT : -ENOENT;
}

/* Translates libnl's error of connecting to -errno; libnl has no code for a lack of descriptors. */
static int connect_error(int error, int number)
{
	if (number == EMFILE || number == ENFILE)
		return -number;
	return error == -NLE_NOMEM ? -ENOMEM : -EAFNOSUPPORT;
}

int netlink_open(struct netlink *nl, uint16_t family)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	*nl = NETLINK_CLOSED;
	if (!sock)
		die("out of memory");
	errno = 0;
	err = genl_connect(sock);
	if (err < 0)
		err = connect_error(err, errno);
	else
		err = family ? family : find_family(sock);
	if (err < 0) {
		nl_socket_free(sock);
		return err;
	}
	netlink_open_fd(nl, nl_socket_get_fd(sock), (uint16_t)err, NETLINK_TIMEOUT_MS);
	nl->sock = sock;
	return 0;
}

void netlink_open_fd(struct netlink *nl, int fd, uint16_t family, int timeout_ms)
{
	*nl = (struct netlink){ .fd = fd, .family = family, .timeout_ms = timeout_ms };
}

void netlink_close(struct netlink *nl)
{
	if (nl->sock)
		nl_socket_free(nl->sock);
	else if (nl->fd >= 0)
		close(nl->fd);
	*nl = NETLINK_CLOSED;
}

size_t netlink_size_buffer(struct netlink *nl, size_t wanted)
{
	int size = (int)wanted;
	socklen_t len = sizeof(size);

	/* After connecting, as libnl sets 32 KiB there; by force, or else up to rmem_max. */
	if (setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		debug_log("receive buffer: %s", strerror(errno));
	if (getsockopt(nl->fd, SOL_SOCKET, SO_RCVBUF, &size, &len) || size < 0)
		return 0;
	return (size_t)size;
}

size_t netlink_write(struct netlink *nl, void *to, const struct netlink_request *request)
{
	struct request bytes = { .generic = { request->command, TASKSTATS_GENL_VERSION, 0 } };
	size_t len = NLMSG_ALIGN(offsetof(struct request, value) + request->len);

	bytes.header.nlmsg_len = (uint32_t)len;
	bytes.header.nlmsg_type = nl->family;
	/* An acknowledgement to each request would double the replies. */
	bytes.header.nlmsg_flags = request->ack ? NLM_F_REQUEST | NLM_F_ACK : NLM_F_REQUEST;
	bytes.header.nlmsg_seq = ++nl->seq;
	bytes.attr.nla_type = request->attribute;
	bytes.attr.nla_len = (uint16_t)(sizeof(bytes.attr) + request->len);
	memcpy(bytes.value, request->value, request->len);
	memcpy(to, &bytes, len);
	return len;
}

int netlink_send(struct netlink *nl, const void *requests, size_t len)
{
	ssize_t sent;

	do {
		nl->sends++;
		sent = send(nl->fd, requests, len, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int netlink_ask(struct netlink *nl, const struct netlink_request *request)
{
	uint8_t bytes[NETLINK_REQUEST_MAX];

	return netlink_send(nl, bytes, netlink_write(nl, bytes, request));
}

/* Points the receive headers at buffers of the current size. */
static void lay_out(struct netlink_batch *batch)
{
	batch->bytes = xreallocarray(batch->bytes, batch->n, batch->room);
	for (size_t i = 0; i < batch->n; i++) {
		batch->vectors[i].iov_base = batch->bytes + i * batch->room;
		batch->vectors[i].iov_len = batch->room;
		batch->headers[i].msg_hdr.msg_iov = &batch->vectors[i];
		batch->headers[i].msg_hdr.msg_iovlen = 1;
		batch->headers[i].msg_hdr.msg_name = &batch->senders[i];
	}
}

struct netlink_batch *netlink_batch_new(size_t n, size_t room)
{
	struct netlink_batch *batch = xcalloc(1, sizeof(*batch));

	batch->n = n;
	batch->room = room;
	batch->headers = xcalloc(n, sizeof(*batch->headers));
	batch->vectors = xcalloc(n, sizeof(*batch->vectors));
	batch->senders = xcalloc(n, sizeof(*batch->senders));
	lay_out(batch);
	return batch;
}

size_t netlink_batch_room(const struct netlink_batch *batch)
{
	return batch->room;
}

void netlink_batch_enlarge(struct netlink_batch *batch, size_t room)
{
	batch->room = room;
	lay_out(batch);
}

void netlink_batch_free(struct netlink_batch *batch)
{
	if (!batch)
		return;
	free(batch->bytes);
	free(batch->headers);
	free(batch->vectors);
	free(batch->senders);
	free(batch);
}

/* Reads a message's headers. False for a malformed message, or one of another family. */
static bool read_message(const struct netlink *nl, struct nlmsghdr *header,
			 struct netlink_message *message)
{
	const struct nlmsgerr *error = nlmsg_data(header);
	const struct genlmsghdr *generic;

	*message = (struct netlink_message){ .kind = NETLINK_STATUS, .seq = header->nlmsg_seq };
	if (header->nlmsg_type == NLMSG_ERROR) {
		if (nlmsg_datalen(header) < (int)sizeof(*error))
			return false;
		message->error = error->error;
		return true;
	}
	if (header->nlmsg_type != nl->family || !genlmsg_valid_hdr(header, 0))
		return false;
	generic = genlmsg_hdr(header);
	message->kind = NETLINK_ANSWER;
	message->command = generic->cmd;
	message->attributes = genlmsg_attrdata(generic, 0);
	message->len = (size_t)genlmsg_attrlen(generic, 0);
	return true;
}

/* Passes on the messages of a datagram, which may contain several. */
static void pass_datagram(struct netlink *nl, const struct mmsghdr *datagram,
			  netlink_message_fn *take, void *arg)
{
	const struct sockaddr_nl *sender = datagram->msg_hdr.msg_name;
	struct nlmsghdr *header = datagram->msg_hdr.msg_iov->iov_base;
	int rest = (int)datagram->msg_len;
	struct netlink_message message;

	/* Any process may write to our port; only port 0 is the kernel. */
	if (datagram->msg_hdr.msg_namelen >= sizeof(*sender) && sender->nl_family == AF_NETLINK &&
	    sender->nl_pid != 0) {
		nl->foreign++;
		return;
	}
	if (datagram->msg_hdr.msg_flags & MSG_TRUNC) {
		message = (struct netlink_message){ .kind = NETLINK_CUT, .seq = header->nlmsg_seq };
		nl->foreign += !take(arg, &message);
		return;
	}
	nl->foreign += !nlmsg_ok(header, rest);
	for (; nlmsg_ok(header, rest); header = nlmsg_next(header, &rest))
		nl->foreign += !read_message(nl, header, &message) || !take(arg, &message);
}

int netlink_receive(struct netlink *nl, struct netlink_batch *batch, size_t max,
		    netlink_message_fn *take, void *arg)
{
	int n;

	if (max > batch->n)
		max = batch->n;
	for (size_t i = 0; i < max; i++)
		batch->headers[i].msg_hdr.msg_namelen = sizeof(*batch->senders);
	nl->receives++;
	n = recvmmsg(nl->fd, batch->headers, (unsigned)max, MSG_DONTWAIT, NULL);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		if (batch->headers[i].msg_len)
			pass_datagram(nl, &batch->headers[i], take, arg);
	/* A packet stream whose other end has closed (tests) gives empty reads. */
	return n && !batch->headers[0].msg_len && !batch->headers[0].msg_hdr.msg_namelen
		       ? -ECONNRESET
		       : n;
}

uint64_t netlink_deadline(const struct netlink *nl)
{
	return clock_ns(CLOCK_MONOTONIC) + (uint64_t)nl->timeout_ms * NSEC_PER_MSEC;
}

int netlink_await(struct netlink *nl, uint64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = nl->fd, .events = POLLIN };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int n;

	if (now >= deadline_ns)
		return -ETIMEDOUT;
	nl->receives++;
	n = poll(&pollfd, 1, (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}
