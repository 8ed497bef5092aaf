/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that answers requests, with bounds for clients that are slow, many or hostile. */
#pragma once

#include <stdint.h>

#include "app/address.h"
#include "out/out_openmetrics.h"

/*
 * Connections at a time. Beyond that the oldest is closed: it has had time enough, and a client
 * that holds many connections open must not keep others out.
 */
#define HTTP_CONNECTIONS 64

/* The longest that a connection may take, in seconds. */
#define HTTP_SECONDS 10

/* The most bytes of a request: its line and all headers. */
#define HTTP_REQUEST_BYTES (16 * 1024)

/* The message that comes with the descriptor of a file, which has the texts one after the other. */
struct http_texts {
	uint64_t size[EXPOSITIONS];
};

/* The names that clients may call: see address_takes_host(). */
struct http_names {
	const char *address, *node, *more;
};

/*
 * Answers on listening sockets with the texts received last by `texts`, until the other end of
 * `texts` is closed. Returns 0 or -errno.
 */
int http_serve(const struct address_sockets *listening, int texts, const struct http_names *names);
