/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets by inode: the lists in /proc/TID/net of the task's own network namespace. They are
 * examined from outside; asking a socket itself would need a copy of the task's descriptor, which
 * keeps a connection open after the task closed it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file.h"

struct proc;

/* The lists of sockets, in the order in which they are searched. */
enum socket_list {
	SOCKETS_TCP,
	SOCKETS_TCP6,
	SOCKETS_UDP,
	SOCKETS_UDP6,
	SOCKETS_NETLINK,
	SOCKETS_PACKET,
	SOCKETS_RAW,
	SOCKETS_RAW6,
	SOCKETS_UNIX, /* last: a path with a newline in it can forge a line */
	SOCKET_LISTS,
};

/* The end of a connection: IPv4 addresses are mapped into IPv6, the port is in host order. */
struct socket_end {
	uint8_t address[16];
	uint16_t port;
};

/* A socket of a list. */
struct socket_entry {
	uint64_t ino; /* 0: not yet accepted */
	enum socket_list list;
	bool listening;
	struct socket_end local, peer; /* of TCP and UDP; a peer of port 0: not connected */
	uint32_t name, name_len; /* of Unix sockets: see sockets_name() */
};

/* Parses a line of a list, of TCP and UDP, or of others (the inode alone; the name of Unix). */
bool socket_parse(enum socket_list list, struct span line, struct socket_entry *out,
		  struct span *name);

struct sockets;

struct sockets *sockets_open(struct proc *proc);

/* From now on, lists read earlier do not prove that a socket is missing. */
void sockets_renew(struct sockets *sockets);

/*
 * Selects the network namespace of a task for the calls that follow. False if unknown: the task has
 * exited, or is another user's.
 */
bool sockets_enter(struct sockets *sockets, pid_t tid);

/* True if it is our own. */
bool sockets_ours(const struct sockets *sockets);

/* The socket with that inode, or NULL. Valid until the next call. */
const struct socket_entry *sockets_find(struct sockets *sockets, uint64_t ino);

/*
 * The other end of a TCP or UDP socket just found, if it is in the same namespace; the listening
 * socket if the connection is not accepted yet. Else NULL.
 */
const struct socket_entry *sockets_find_peer(struct sockets *sockets,
					     const struct socket_entry *entry);

/* True if a TCP connection just found was accepted: its own end has a listener. */
bool sockets_serves(struct sockets *sockets, const struct socket_entry *entry);

/* The name of a Unix socket just found: raw bytes. */
struct span sockets_name(const struct sockets *sockets, const struct socket_entry *entry);

void sockets_close(struct sockets *sockets);

/* Asks the kernel for Unix sockets of our own network namespace (sock_diag(7)). */

/* A Unix socket. */
struct unix_socket {
	uint64_t ino;
	bool connected;
	bool stream; /* stream socket; else it receives messages */
	uint64_t peer; /* the inode of the socket it is connected to; 0: none, or not accepted
			* yet */
	/* Its address: a path, or '@' and an abstract name; raw bytes, length 0 for none. */
	char name[108];
	size_t len;
};

/* Opens a socket for requests: a descriptor, or -errno. */
int unix_diag_open(void);

/*
 * Requests the socket of an inode. 0, or -errno: -ENOENT if our namespace has none, -EBADMSG for an
 * invalid answer.
 */
int unix_diag_ask(int fd, uint64_t ino, struct unix_socket *out);

/*
 * Requests the listening socket that has not yet accepted the connection of that inode. 0 or
 * -errno: -ENOENT if there is none.
 */
int unix_diag_ask_listener(int fd, uint64_t ino, struct unix_socket *out);

/* Pure decoder of an answer. 0 or -errno as above. */
int unix_diag_decode(const void *bytes, size_t len, struct unix_socket *out);
