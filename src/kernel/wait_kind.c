/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sort of file that is waited for, and what the wait is about. */
#include <string.h>

#include "base/util.h"
#include "kernel/sockets.h"
#include "kernel/wait_target.h"
#include "kernel/wait_target_parts.h"

/* Whether a socket is a connection whose other end sends a stream. */
static bool is_stream(struct wait_targets *targets, pid_t tid, uint64_t ino)
{
	const struct socket_entry *entry;
	struct unix_socket own;

	if (!sockets_enter(targets->sockets, tid))
		return false;
	if (sockets_ours(targets->sockets) && targets->diag >= 0) {
		if (!unix_diag_ask(targets->diag, ino, &own))
			return own.connected && own.stream;
	}
	entry = sockets_find(targets->sockets, ino);
	return entry && (entry->list == SOCKETS_TCP || entry->list == SOCKETS_TCP6) &&
	       entry->peer.port;
}

enum wait_fd wait_target_kind(struct wait_targets *targets, pid_t tid, int fd)
{
	static const char *const others[] = { "/dev/", "/proc/", "/sys/" };
	struct fd_link link;
	struct span text;
	uint64_t number;

	if (wait_target_link(targets, tid, fd, &link))
		return WAIT_FD_OTHER;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		return WAIT_FD_PIPE;
	if (take_word(&text, "socket:[") && take_uint(&text, &number))
		return is_stream(targets, tid, number) ? WAIT_FD_STREAM : WAIT_FD_SOCKET;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (take_word(&text, others[i]))
			return WAIT_FD_OTHER;
	return *link.text == '/' ? WAIT_FD_FILE : WAIT_FD_OTHER;
}

enum wait_state wait_target_state(struct wait_targets *targets, pid_t tid, int fd)
{
	struct fd_link link;
	struct span text;

	if (wait_target_link(targets, tid, fd, &link))
		return STATE_OTHER;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "pipe:["))
		return STATE_PIPE;
	return take_word(&text, "socket:[") ? STATE_NET : STATE_OTHER;
}

/* The subject of waits for a connection of the lists. */
static enum wait_about about_listed(struct wait_targets *targets, const struct socket_entry *entry)
{
	switch (entry->list) {
	case SOCKETS_TCP:
	case SOCKETS_TCP6:
		if (entry->listening)
			return ABOUT_REQUESTS;
		if (!entry->peer.port)
			return ABOUT_UNKNOWN;
		return sockets_serves(targets->sockets, entry) ? ABOUT_REQUESTS : ABOUT_ANSWER;
	case SOCKETS_UDP:
	case SOCKETS_UDP6:
		return entry->peer.port ? ABOUT_ANSWER : ABOUT_REQUESTS;
	case SOCKETS_NETLINK:
	case SOCKETS_PACKET:
	case SOCKETS_RAW:
	case SOCKETS_RAW6:
		return ABOUT_EVENTS;
	default:
		return ABOUT_UNKNOWN;
	}
}

/* The subject of waits for a Unix socket of our own namespace. */
static enum wait_about about_unix(struct wait_targets *targets, const struct unix_socket *own)
{
	struct unix_socket peer;

	if (!own->connected)
		return ABOUT_REQUESTS;
	/* The server's end has the name that it listened on. */
	if (own->len)
		return ABOUT_REQUESTS;
	if (own->peer && unix_diag_ask(targets->diag, own->peer, &peer))
		return ABOUT_UNKNOWN;
	return !own->peer || peer.len ? ABOUT_ANSWER : ABOUT_UNKNOWN;
}

/* The subject of waits for the socket of an inode. */
static enum wait_about about_socket(struct wait_targets *targets, pid_t tid, uint64_t ino)
{
	const struct socket_entry *entry;
	struct unix_socket own;

	if (!sockets_enter(targets->sockets, tid))
		return ABOUT_UNKNOWN;
	if (sockets_ours(targets->sockets) && targets->diag >= 0) {
		if (!unix_diag_ask(targets->diag, ino, &own))
			return about_unix(targets, &own);
	}
	entry = sockets_find(targets->sockets, ino);
	return entry ? about_listed(targets, entry) : ABOUT_UNKNOWN;
}

/*
 * The subject of waits for completions of a ring, by io_uring/fdinfo.c: as many requests are under
 * way as were taken less the completions (requests with several completions make it less), and
 * requests that wait until something can be read or written are listed.
 */
static enum wait_about about_ring(struct wait_targets *targets, pid_t tid, int fd)
{
	char text[FDINFO_BYTES];
	int len = wait_target_fdinfo(targets, tid, fd, text);
	struct span all = { text, text + (len > 0 ? len : 0) }, line;
	uint64_t taken, completed, polls = 0;
	bool listed = false;

	/* Fields of Linux 5.17 and later. */
	if (!find_line(all, "SqHead:", &line) || !take_uint(&line, &taken) ||
	    !find_line(all, "CqTail:", &line) || !take_uint(&line, &completed))
		return ABOUT_UNKNOWN;
	while (take_line(&all, &line)) {
		if (take_word(&line, "PollList:"))
			listed = true;
		else if (take_word(&line, "  op="))
			polls++;
		else if (listed)
			break;
	}
	/* The part that did not fit may have more of the list. */
	if (!listed || len >= FDINFO_BYTES - 1)
		return ABOUT_UNKNOWN;
	return (uint32_t)(taken - completed) <= polls ? ABOUT_IDLE_RING : ABOUT_DISK_RING;
}

enum wait_about wait_target_about(struct wait_targets *targets, pid_t tid, int fd)
{
	static const char *const events[] = { "/dev/", "/proc/", "/sys/", "pidfd:[" };
	struct fd_link link;
	struct span text;
	uint64_t number;

	if (wait_target_link(targets, tid, fd, &link))
		return ABOUT_UNKNOWN;
	text = (struct span){ link.text, link.text + link.len };
	if (take_word(&text, "socket:[") && take_uint(&text, &number))
		return about_socket(targets, tid, number);
	if (take_word(&text, "anon_inode:"))
		return take_word(&text, "[io_uring]") ? about_ring(targets, tid, fd) : ABOUT_EVENTS;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (take_word(&text, events[i]))
			return ABOUT_EVENTS;
	return *link.text == '/' ? ABOUT_FILE : ABOUT_UNKNOWN;
}
