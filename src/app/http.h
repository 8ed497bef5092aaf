/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that answers requests, with limits for slow, many or hostile clients. */
#pragma once

#include <stdint.h>

#include "app/address.h"
#include "out/out_openmetrics.h"

/*
 * Maximum connections. Beyond that the oldest is closed: it has had time enough, and a client with
 * many open connections must not lock out others.
 */
#define HTTP_CONNECTIONS 64

/* Maximum duration of a connection, in seconds. */
#define HTTP_SECONDS 10

/* Maximum bytes of a request: its line and all headers. */
#define HTTP_REQUEST_BYTES (16 * 1024)

/*
 * The message that comes with the descriptor of a file, which contains the texts one after the
 * other.
 */
struct http_texts {
	uint64_t size[EXPOSITIONS];
};

/* The names by which clients may call: see address_takes_host(). */
struct http_names {
	const char *address, *node, *more;
};

/*
 * Answers on listening sockets with the texts received last from `texts`, until the other end of
 * `texts` is closed. Returns 0 or -errno.
 */
int http_serve(const struct address_sockets *listening, int texts, const struct http_names *names);
