/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/unix_diag.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netlink/attr.h>
#include <netinet/tcp.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for an answer: some 200 bytes with a name of full length. */
#define ANSWER_BYTES 1024

/* Room for a part of a long answer: the kernel makes no longer one. */
#define DUMP_BYTES 16384

/* A request for one socket, as it is sent. */
struct unix_diag_request {
	struct nlmsghdr header;
	struct unix_diag_req body;
};

int unix_diag_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int err;

	if (fd < 0)
		return -errno;
	/* The socket is connected to the kernel, so that no other messages are received. */
	if (!connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Copies an address; an abstract one begins with a NUL. */
static void copy_name(const struct nlattr *attr, struct unix_socket *out)
{
	out->len = (size_t)nla_len(attr);
	if (out->len > sizeof(out->name))
		out->len = sizeof(out->name);
	memcpy(out->name, nla_data(attr), out->len);
	if (out->len && !out->name[0])
		out->name[0] = '@';
	else
		out->len = strnlen(out->name, out->len);
}

/* The body of an answer, or NULL where it is none; *err says why. */
static const struct unix_diag_msg *answer_body(const struct nlmsghdr *header, size_t len, int *err)
{
	*err = -EBADMSG;
	if (len > INT_MAX || !nlmsg_ok(header, (int)len))
		return NULL;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = nlmsg_data(header);

		if (nlmsg_datalen(header) >= (int)sizeof(*error) && error->error < 0)
			*err = error->error;
		return NULL;
	}
	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    nlmsg_datalen(header) < (int)sizeof(struct unix_diag_msg))
		return NULL;
	return nlmsg_data(header);
}

/* An attribute of an answer with at least so many bytes, or NULL. */
static const struct nlattr *find_attr(const void *bytes, int type, int least)
{
	const struct nlattr *attr =
		nlmsg_find_attr((struct nlmsghdr *)bytes, sizeof(struct unix_diag_msg), type);

	return attr && nla_len(attr) >= least ? attr : NULL;
}

int unix_diag_decode(const void *bytes, size_t len, struct unix_socket *out)
{
	const struct unix_diag_msg *body;
	const struct nlattr *attr;
	int err;

	*out = (struct unix_socket){ 0 };
	body = answer_body(bytes, len, &err);
	if (!body)
		return err;
	out->ino = body->udiag_ino;
	out->connected = body->udiag_state == TCP_ESTABLISHED;
	out->stream = body->udiag_type == SOCK_STREAM;
	attr = find_attr(bytes, UNIX_DIAG_PEER, sizeof(uint32_t));
	if (attr)
		out->peer = nla_get_u32((struct nlattr *)attr);
	attr = find_attr(bytes, UNIX_DIAG_NAME, 1);
	if (attr)
		copy_name(attr, out);
	return 0;
}

/* Sends a request. 0 or -errno. */
static int send_request(int fd, uint16_t flags, const struct unix_diag_req *body)
{
	struct unix_diag_request request = {
		.header = { .nlmsg_len = sizeof(request),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		.body = *body,
	};

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int unix_diag_ask(int fd, uint64_t ino, struct unix_socket *out)
{
	const struct unix_diag_req body = {
		.sdiag_family = AF_UNIX,
		.udiag_ino = (uint32_t)ino,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
		.udiag_cookie = { UINT32_MAX, UINT32_MAX },
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	ssize_t n;
	int err;

	if (ino > UINT32_MAX)
		return -ENOENT;
	err = send_request(fd, 0, &body);
	if (err)
		return err;
	/* The kernel answers within the send. */
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	err = n < 0 ? -errno : unix_diag_decode(answer, (size_t)n, out);
	return !err && out->ino != ino ? -EBADMSG : err;
}

/* Whether a listening socket has a connection that it has not accepted: the client's inode. */
static bool has_pending(const struct nlmsghdr *header, uint64_t ino)
{
	const struct nlattr *attr = find_attr(header, UNIX_DIAG_ICONS, sizeof(uint32_t));
	uint32_t pending;

	for (int at = 0; attr && at + (int)sizeof(pending) <= nla_len(attr);
	     at += (int)sizeof(pending)) {
		memcpy(&pending, (const char *)nla_data(attr) + at, sizeof(pending));
		if (pending == ino)
			return true;
	}
	return false;
}

int unix_diag_ask_listener(int fd, uint64_t ino, struct unix_socket *out)
{
	const struct unix_diag_req body = {
		.sdiag_family = AF_UNIX,
		.udiag_states = 1 << TCP_LISTEN,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_ICONS,
	};
	_Alignas(struct nlmsghdr) char answers[DUMP_BYTES];
	int err = send_request(fd, NLM_F_DUMP, &body), found = -ENOENT;
	ssize_t n = 0;

	/* The kernel makes the next part of its answer when one is received, until its end. */
	while (!err && (n = recv(fd, answers, sizeof(answers), MSG_DONTWAIT)) > 0) {
		struct nlmsghdr *header = (struct nlmsghdr *)answers;
		int rest = (int)n;

		for (; !err && nlmsg_ok(header, rest); header = nlmsg_next(header, &rest)) {
			if (header->nlmsg_type == NLMSG_DONE)
				return found;
			if (!answer_body(header, header->nlmsg_len, &err))
				break;
			err = 0;
			if (has_pending(header, ino))
				found = unix_diag_decode(header, header->nlmsg_len, out);
		}
	}
	if (n < 0 && errno != EAGAIN)
		err = -errno;
	return err ? err : found;
}
