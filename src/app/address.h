/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where clients connect to: [ADDRESS]:PORT, or a path with a slash for a Unix socket. */
#ifndef STALLTOP_APP_ADDRESS_H
#define STALLTOP_APP_ADDRESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* What :PORT means: this machine alone. */
#define ADDRESS_DEFAULT "127.0.0.1"

/* Whether a text has the form of an address; nothing is resolved. */
bool address_is_good(const char *text);

/* A listening socket; `inode` is that of a Unix socket's file, 0 for others. */
struct address_socket {
	int fd;
	ino_t inode;
};

/*
 * Opens a socket that listens, and does not wait. A file left behind by a Unix socket where nobody
 * listens any more gives way. False, with what is wrong appended to `why`.
 */
bool address_listen(const char *text, struct address_socket *out, struct buf *why);

/* Closes the socket, and removes its file. */
void address_close(const char *text, struct address_socket *socket);

#endif
