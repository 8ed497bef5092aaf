/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Clients of --listen, well-behaved and others. */

#define SCRAPE_GET \
	"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n"

/* A port that nobody has. */
unsigned scrape_port(void);

/*
 * Connects to the Unix socket at a path (which has a slash), or to a port at an address, NULL:
 * 127.0.0.1. The descriptor or -1.
 */
int scrape_call(unsigned port, const char *where);

/* Reads up to the end of a connection, for so long at most, and closes it. False: it went on. */
bool scrape_read(int fd, char *text, size_t size, double seconds);

/* Sends a request and returns the answer, good until the next; NULL: nobody is there. */
const char *scrape_ask(unsigned port, const char *where, const char *request);

/* Waits until there are metrics. */
void scrape_await(unsigned port, const char *where);
