/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where clients connect to: [ADDRESS]:PORT, or a path with a slash for a Unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

/* The address that :PORT means: this machine alone. */
#define ADDRESS_DEFAULT "127.0.0.1"

/* Whether a text has the form of an address; nothing is resolved. */
bool address_is_good(const char *text);

/* The most addresses of a name that are listened at. */
#define ADDRESS_SOCKETS 8

/* Listening sockets; `inode` is that of a Unix socket's file, 0 for others. */
struct address_sockets {
	int fds[ADDRESS_SOCKETS];
	size_t count;
	ino_t inode;
};

/*
 * Opens a socket that listens, and does not wait, at each address that the name has and this
 * machine knows: localhost is ::1 and 127.0.0.1. Replaces the file of a Unix socket that has no
 * listener any more. False, with what is wrong appended to `why`; then nothing is open.
 */
bool address_listen(const char *text, struct address_sockets *out, struct buf *why);

/* Whether one of the sockets is reached from other machines. */
bool address_is_open(const struct address_sockets *sockets);

/*
 * Whether a client may call the address `text` by that name, as in Host of its request, NULL: by
 * none. It may by an address, as localhost, by the name that `text` has, and by the machine's,
 * `node`, whatever the domain (NULL: not by that). Any other is one that a page in a browser has
 * resolve to this machine, to read with the browser what only this machine can. names: further
 * ones, parted by commas, such as that by which a proxy calls; NULL: none.
 */
bool address_takes_host(const char *text, const char *node, const char *names, const char *host);

/* Closes the sockets, and removes the file of a Unix socket. */
void address_close(const char *text, struct address_sockets *sockets);
