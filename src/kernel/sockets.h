/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets by inode: what /proc/TID/net says of sockets in the task's own network namespace. They
 * are looked at from outside; asking a socket itself would take a copy of the task's descriptor,
 * which keeps a connection open that the task closes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file.h"

struct proc;

/* The lists of sockets that are read, in the order in which they are looked through. */
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
	uint64_t ino; /* 0: not accepted yet */
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

/* Lists that were read before no longer prove that a socket is not there. */
void sockets_renew(struct sockets *sockets);

/*
 * Chooses the network namespace of a task for the calls that follow. False where it is not known:
 * the task has gone, or is another user's.
 */
bool sockets_enter(struct sockets *sockets, pid_t tid);

/* Whether it is our own. */
bool sockets_ours(const struct sockets *sockets);

/* The socket with that inode, or NULL. Valid until the next call. */
const struct socket_entry *sockets_find(struct sockets *sockets, uint64_t ino);

/*
 * The other end of a TCP or UDP socket that was just found, where it is in the same namespace; the
 * listening socket where the connection is not accepted yet. Else NULL.
 */
const struct socket_entry *sockets_find_peer(struct sockets *sockets,
					     const struct socket_entry *entry);

/* Whether a TCP connection that was just found was accepted: its own end has a listener. */
bool sockets_serves(struct sockets *sockets, const struct socket_entry *entry);

/* The name of a Unix socket that was just found: raw bytes. */
struct span sockets_name(const struct sockets *sockets, const struct socket_entry *entry);

void sockets_close(struct sockets *sockets);

/* Asks the kernel for Unix sockets of our own network namespace (sock_diag(7)). */

/* A Unix socket. */
struct unix_socket {
	uint64_t ino;
	bool connected;
	bool stream; /* else what it receives are messages */
	uint64_t peer; /* the inode of the socket that it is connected to; 0: none, or not accepted
			  yet */
	/* Its address: a path, or '@' and an abstract name; raw bytes, its length 0 for none. */
	char name[108];
	size_t len;
};

/* Opens a socket to ask by: a descriptor, or -errno. */
int unix_diag_open(void);

/*
 * Asks for the socket of an inode. 0, or -errno: -ENOENT where our namespace has none, -EBADMSG for
 * an invalid answer.
 */
int unix_diag_ask(int fd, uint64_t ino, struct unix_socket *out);

/*
 * Asks for the listening socket that has not yet accepted the connection of that inode. 0 or
 * -errno: -ENOENT where there is none.
 */
int unix_diag_ask_listener(int fd, uint64_t ino, struct unix_socket *out);

/* Pure decoder of an answer. 0 or -errno as above. */
int unix_diag_decode(const void *bytes, size_t len, struct unix_socket *out);
