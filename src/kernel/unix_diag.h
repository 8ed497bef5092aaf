/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the kernel for Unix sockets of our own network namespace (sock_diag(7)). */
#ifndef STALLTOP_KERNEL_UNIX_DIAG_H
#define STALLTOP_KERNEL_UNIX_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
