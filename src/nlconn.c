/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "nlconn.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
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

#include "util.h"

/* Above 64 a larger pack saves nothing measurable, but it halves the system calls. */
#define PACK_MAX 128
/* A v17 reply takes this much of the receive buffer at most (skb and its bookkeeping). */
#define REPLY_TRUESIZE 2560
#define RECEIVE_BUFFER (1 << 20)
/* Room for a reply; grows when a kernel with a longer record is met. */
#define REPLY_SIZE 1024
#define REPLY_SIZE_MAX (1 << 16)
#define REPLY_TIMEOUT_MS 1000

struct nlconn {
	struct nl_sock *sock; /* owns fd where it is set */
	int fd;
	uint16_t family;
	int timeout_ms;
	uint32_t seq; /* of the last request sent */
	struct nl_msg *request[2]; /* templates: by PID, by TGID */
	struct nlconn_stats stats;
	size_t reply_size;
	uint8_t *send_buffer, *replies;
	struct mmsghdr *headers;
	struct iovec *vectors;
	struct sockaddr_nl *senders;
};

/* One pack under way. */
struct pack {
	struct nlconn *conn;
	bool tgid;
	const pid_t *ids;
	size_t first, n; /* of the query's requests */
	size_t missing;
	size_t cut; /* of those: their replies came, but did not fit */
	bool done[PACK_MAX];
	bool lost; /* replies that will not come any more */
	uint32_t seq; /* of the first request */
	uint64_t before_ns, after_ns;
	nlconn_reply_fn *reply;
	void *arg;
};

/* Builds the request that all others of its sort are copies of. */
static struct nl_msg *request_template(uint16_t family, int attribute)
{
	struct nl_msg *msg = nlmsg_alloc();

	/* Without NLM_F_ACK, which libnl's own send adds: it would double the replies. */
	if (!msg ||
	    !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_REQUEST,
			 TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION) ||
	    nla_put_u32(msg, attribute, 0) < 0)
		die("out of memory");
	return msg;
}

/* Points the receive headers at buffers of the present size. */
static void lay_out_replies(struct nlconn *conn)
{
	conn->replies = xreallocarray(conn->replies, PACK_MAX, conn->reply_size);
	for (size_t i = 0; i < PACK_MAX; i++) {
		conn->vectors[i].iov_base = conn->replies + i * conn->reply_size;
		conn->vectors[i].iov_len = conn->reply_size;
		conn->headers[i].msg_hdr.msg_iov = &conn->vectors[i];
		conn->headers[i].msg_hdr.msg_iovlen = 1;
		conn->headers[i].msg_hdr.msg_name = &conn->senders[i];
	}
}

/* Asks for a large receive buffer and derives the pack from what was given. */
static void size_pack(struct nlconn *conn)
{
	int size = RECEIVE_BUFFER;
	socklen_t len = sizeof(size);

	/* After connecting, as libnl sets 32 KiB there; by force, else up to rmem_max. */
	if (setsockopt(conn->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(conn->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		debug_log("receive buffer: %s", strerror(errno));
	if (getsockopt(conn->fd, SOL_SOCKET, SO_RCVBUF, &size, &len) || size < REPLY_TRUESIZE)
		size = REPLY_TRUESIZE;
	conn->stats.pack = (unsigned)size / REPLY_TRUESIZE;
	if (conn->stats.pack > PACK_MAX)
		conn->stats.pack = PACK_MAX;
	debug_log("receive buffer %d, pack %u", size, conn->stats.pack);
}

/* A connection over fd with all its buffers. */
static struct nlconn *nlconn_new(struct nl_sock *sock, int fd, uint16_t family, int timeout_ms)
{
	struct nlconn *conn = xcalloc(1, sizeof(*conn));

	conn->sock = sock;
	conn->fd = fd;
	conn->family = family;
	conn->timeout_ms = timeout_ms;
	conn->reply_size = REPLY_SIZE;
	conn->request[false] = request_template(family, TASKSTATS_CMD_ATTR_PID);
	conn->request[true] = request_template(family, TASKSTATS_CMD_ATTR_TGID);
	conn->send_buffer = xcalloc(PACK_MAX, nlmsg_hdr(conn->request[0])->nlmsg_len);
	conn->headers = xcalloc(PACK_MAX, sizeof(*conn->headers));
	conn->vectors = xcalloc(PACK_MAX, sizeof(*conn->vectors));
	conn->senders = xcalloc(PACK_MAX, sizeof(*conn->senders));
	lay_out_replies(conn);
	size_pack(conn);
	return conn;
}

int nlconn_connect(struct nl_sock **out, uint16_t *family)
{
	struct timeval timeout = { .tv_sec = REPLY_TIMEOUT_MS / 1000 };
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	if (!sock)
		die("out of memory");
	err = genl_connect(sock);
	if (err < 0) {
		nl_socket_free(sock);
		return err == -NLE_NOMEM ? -ENOMEM : -EAFNOSUPPORT;
	}
	/* The look-up waits for its reply without a limit of its own. */
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		debug_log("receive time-out: %s", strerror(errno));
	err = genl_ctrl_resolve(sock, TASKSTATS_GENL_NAME);
	if (err < 0) {
		debug_log("taskstats family: %s", nl_geterror(err));
		nl_socket_free(sock);
		return err == -NLE_AGAIN ? -ETIMEDOUT : -ENOENT;
	}
	*out = sock;
	*family = (uint16_t)err;
	return 0;
}

int nlconn_open(struct nlconn **out)
{
	struct nl_sock *sock;
	uint16_t family;
	int err = nlconn_connect(&sock, &family);

	if (!err)
		*out = nlconn_new(sock, nl_socket_get_fd(sock), family, REPLY_TIMEOUT_MS);
	return err;
}

int nlconn_open_fd(struct nlconn **out, int fd, uint16_t family, int timeout_ms)
{
	*out = nlconn_new(NULL, fd, family, timeout_ms);
	return 0;
}

void nlconn_close(struct nlconn *conn)
{
	if (!conn)
		return;
	if (conn->sock)
		nl_socket_free(conn->sock);
	else
		close(conn->fd);
	nlmsg_free(conn->request[false]);
	nlmsg_free(conn->request[true]);
	free(conn->send_buffer);
	free(conn->replies);
	free(conn->headers);
	free(conn->vectors);
	free(conn->senders);
	free(conn);
}

const struct nlconn_stats *nlconn_stats(const struct nlconn *conn)
{
	return &conn->stats;
}

/* Gives the request at that place of the pack its answer, once. */
static void answer(struct pack *pack, size_t i, int error, const struct taskstats_part *part)
{
	if (pack->done[i])
		return;
	pack->done[i] = true;
	pack->missing--;
	pack->reply(pack->arg, pack->first + i, error, part, pack->before_ns, pack->after_ns);
}

/* Answers what is missing with an error. */
static void answer_missing(struct pack *pack, int error)
{
	for (size_t i = 0; i < pack->n; i++)
		answer(pack, i, error, NULL);
}

/* Sends the requests of the pack in one call. 0 or -errno. */
static int send_pack(struct pack *pack)
{
	struct nlconn *conn = pack->conn;
	const struct nlmsghdr *template = nlmsg_hdr(conn->request[pack->tgid]);
	size_t size = template->nlmsg_len;
	uint8_t *to = conn->send_buffer;
	ssize_t sent;

	pack->seq = conn->seq + 1;
	for (size_t i = 0; i < pack->n; i++, to += size) {
		uint32_t id = (uint32_t)pack->ids[pack->first + i];

		memcpy(to, template, size);
		((struct nlmsghdr *)to)->nlmsg_seq = ++conn->seq;
		memcpy(to + size - sizeof(id), &id, sizeof(id));
	}
	pack->before_ns = clock_ns(CLOCK_MONOTONIC);
	do {
		conn->stats.sends++;
		sent = send(conn->fd, conn->send_buffer, size * pack->n, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	/* The kernel answers within the send: its readings lie between these times. */
	pack->after_ns = clock_ns(CLOCK_MONOTONIC);
	return sent < 0 ? -errno : 0;
}

/* Takes one message. False for one that is no answer to a request of this pack. */
static bool take_message(struct pack *pack, struct nlmsghdr *header)
{
	/* Unsigned: a stale sequence number lies far above the pack's end. */
	size_t i = header->nlmsg_seq - pack->seq;
	struct taskstats_part part;
	struct genlmsghdr *generic;

	if (i >= pack->n || pack->done[i])
		return false;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = nlmsg_data(header);

		if (nlmsg_datalen(header) < (int)sizeof(*error) || error->error >= 0)
			return false;
		answer(pack, i, error->error, NULL);
		return true;
	}
	if (header->nlmsg_type != pack->conn->family || !genlmsg_valid_hdr(header, 0))
		return false;
	generic = genlmsg_hdr(header);
	if (generic->cmd != TASKSTATS_CMD_NEW)
		return false;
	if (taskstats_parts(genlmsg_attrdata(generic, 0), (size_t)genlmsg_attrlen(generic, 0),
			    &part, 1) != 1 ||
	    part.tgid != pack->tgid || part.id != (uint32_t)pack->ids[pack->first + i])
		answer(pack, i, -EBADMSG, NULL);
	else
		answer(pack, i, 0, &part);
	return true;
}

/* Takes a reply that was cut off: left unanswered it is asked for again, with more room. */
static void take_cut_off(struct pack *pack, const struct mmsghdr *datagram)
{
	struct nlconn *conn = pack->conn;
	const struct nlmsghdr *header = datagram->msg_hdr.msg_iov->iov_base;
	size_t room = datagram->msg_hdr.msg_iov->iov_len;
	size_t i = header->nlmsg_seq - pack->seq;

	if (i >= pack->n || pack->done[i]) {
		conn->stats.foreign++;
	} else if (room >= REPLY_SIZE_MAX) {
		answer(pack, i, -EMSGSIZE, NULL);
	} else {
		pack->cut++;
		conn->reply_size = 2 * room;
		debug_log("reply cut off: room for %zu bytes from now", conn->reply_size);
	}
}

/* Takes one datagram, which may hold several messages. */
static void take_datagram(struct pack *pack, const struct mmsghdr *datagram)
{
	struct nlconn *conn = pack->conn;
	const struct sockaddr_nl *sender = datagram->msg_hdr.msg_name;
	struct nlmsghdr *header = datagram->msg_hdr.msg_iov->iov_base;
	int rest = (int)datagram->msg_len;

	/* Any process may write to our port; only port 0 is the kernel. */
	if (datagram->msg_hdr.msg_namelen >= sizeof(*sender) &&
	    sender->nl_family == AF_NETLINK && sender->nl_pid != 0) {
		conn->stats.foreign++;
		return;
	}
	if (datagram->msg_hdr.msg_flags & MSG_TRUNC) {
		take_cut_off(pack, datagram);
		return;
	}
	if (!nlmsg_ok(header, rest))
		conn->stats.foreign++;
	for (; nlmsg_ok(header, rest); header = nlmsg_next(header, &rest))
		if (!take_message(pack, header))
			conn->stats.foreign++;
}

/* Receives what is there. The number of datagrams, or -errno. */
static int receive_some(struct pack *pack)
{
	struct nlconn *conn = pack->conn;
	size_t reply_size = conn->reply_size;
	int n;

	for (size_t i = 0; i < PACK_MAX; i++)
		conn->headers[i].msg_hdr.msg_namelen = sizeof(*conn->senders);
	conn->stats.receives++;
	n = recvmmsg(conn->fd, conn->headers, (unsigned)(pack->missing - pack->cut), MSG_DONTWAIT,
		     NULL);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		if (conn->headers[i].msg_len)
			take_datagram(pack, &conn->headers[i]);
	if (conn->reply_size != reply_size)
		lay_out_replies(conn);
	/* Of a stream of packets whose other end has closed (tests) every read is empty. */
	return n && !conn->headers[0].msg_len && !conn->headers[0].msg_hdr.msg_namelen ?
		       -ECONNRESET : n;
}

/* Waits for late replies until the deadline. 0 when there are some, or -errno. */
static int await_more(struct pack *pack, uint64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = pack->conn->fd, .events = POLLIN };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int n;

	if (now >= deadline_ns)
		return -ETIMEDOUT;
	pack->conn->stats.receives++;
	n = poll(&pollfd, 1, (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Receives until every request is answered. 0, or -errno with some missing. */
static int receive_pack(struct pack *pack)
{
	uint64_t deadline = pack->after_ns + (uint64_t)pack->conn->timeout_ms * NSEC_PER_MSEC;

	while (pack->missing > pack->cut) {
		size_t missing = pack->missing;
		int n = receive_some(pack);

		if (n == -ENOBUFS) {
			/* Dropped replies; what is queued still comes, the rest never. */
			pack->conn->stats.overruns++;
			pack->lost = true;
		} else if (n == -EAGAIN) {
			int err = pack->lost ? -ENOBUFS : await_more(pack, deadline);

			if (err)
				return err;
		} else if (n < 0 && n != -EINTR) {
			return n;
		} else if (pack->missing == missing && clock_ns(CLOCK_MONOTONIC) >= deadline) {
			/* Others' messages must not keep us here. */
			return -ETIMEDOUT;
		}
	}
	return pack->cut ? -EMSGSIZE : 0;
}

/* Asks again for what an overrun or a cut-off lost. Fills `missing`, returns how many. */
static size_t collect_missing(const struct pack *pack, pid_t *ids, size_t *places)
{
	size_t n = 0;

	for (size_t i = 0; i < pack->n; i++) {
		if (pack->done[i])
			continue;
		ids[n] = pack->ids[pack->first + i];
		places[n++] = pack->first + i;
	}
	return n;
}

/* Replies of a second query, given on under the first one's indexes. */
struct forward {
	nlconn_reply_fn *reply;
	void *arg;
	const size_t *places;
};

/* Gives a reply on. */
static void forward_reply(void *arg, size_t index, int error, const struct taskstats_part *part,
			  uint64_t before_ns, uint64_t after_ns)
{
	const struct forward *forward = arg;

	forward->reply(forward->arg, forward->places[index], error, part, before_ns, after_ns);
}

/* The lost requests once more; after an overrun in packs of half the size from now on. */
static int ask_again(struct pack *pack, bool overrun)
{
	struct nlconn *conn = pack->conn;
	pid_t ids[PACK_MAX];
	size_t places[PACK_MAX];
	size_t n = collect_missing(pack, ids, places);
	struct forward forward = { pack->reply, pack->arg, places };

	if (overrun && conn->stats.pack == 1) {
		answer_missing(pack, -ENOBUFS);
		return 0;
	}
	if (overrun)
		conn->stats.pack /= 2;
	debug_log("%zu replies lost for want of room, pack %u from now", n, conn->stats.pack);
	return nlconn_query(conn, pack->tgid, ids, n, forward_reply, NULL, &forward);
}

int nlconn_query(struct nlconn *conn, bool tgid, const pid_t *ids, size_t n,
		 nlconn_reply_fn *reply, void (*between)(void *), void *arg)
{
	int err = 0;
	bool late = false;

	for (size_t first = 0; first < n;) {
		struct pack pack = { .conn = conn, .tgid = tgid, .ids = ids, .first = first,
				     .reply = reply, .arg = arg };

		pack.n = n - first < conn->stats.pack ? n - first : conn->stats.pack;
		pack.missing = pack.n;
		if (!err)
			err = send_pack(&pack);
		if (!err)
			err = receive_pack(&pack);
		if (err == -ENOBUFS || (err == -EMSGSIZE && pack.cut)) {
			err = ask_again(&pack, err == -ENOBUFS);
		} else if (err) {
			/* One lost reply is one lost reply; a second silence ends the query. */
			bool go_on = err == -ETIMEDOUT && pack.missing < pack.n && !late;

			answer_missing(&pack, err);
			late = true;
			err = go_on ? 0 : err;
		}
		first += pack.n;
		if (between && !err && first < n)
			between(arg);
	}
	return err;
}
