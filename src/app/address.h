/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where clients connect: [ADDRESS]:PORT, or a path with a slash for a Unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

/* The address for :PORT: this machine only. */
#define ADDRESS_DEFAULT "127.0.0.1"

/* True if a text is a well-formed address; nothing is resolved. */
bool address_is_good(const char *text);

/* Maximum number of a name's addresses to listen at. */
#define ADDRESS_SOCKETS 8

/* Listening sockets; `inode` is that of a Unix socket's file, 0 for others. */
struct address_sockets {
	int fds[ADDRESS_SOCKETS];
	size_t count;
	ino_t inode;
};

/*
 * Opens non-blocking listening sockets at all addresses of the name that this machine has:
 * localhost is ::1 and 127.0.0.1. Replaces the file of a Unix socket without a listener. False,
 * with the error appended to `why`; then nothing is open.
 */
bool address_listen(const char *text, struct address_sockets *out, struct buf *why);

/* True if one of the sockets is reachable from other machines. */
bool address_is_open(const struct address_sockets *sockets);

/*
 * True if a client may call the address `text` by that name, as in Host of its request, NULL: by
 * none. It may by an address, as localhost, by the name in `text`, and by the machine's, `node`,
 * whatever the domain (NULL: not by that). Any other name could be one that a page in a browser
 * resolves to this machine, to read through the browser what only this machine can. names: further
 * ones, separated by commas, such as that of a proxy; NULL: none.
 */
bool address_takes_host(const char *text, const char *node, const char *names, const char *host);

/* Closes the sockets, and removes the file of a Unix socket. */
void address_close(const char *text, struct address_sockets *sockets);
