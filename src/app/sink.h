/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where batch mode's samples go: a descriptor, a file replaced whole, clients over HTTP. */
#pragma once

#include "app/batch.h"

struct options;
struct server;

struct sink {
	const struct options *options;
	int fd; /* -1: not to a descriptor */
	bool appends; /* to a file: SIGHUP may mean that it was replaced */
	struct server *server; /* NULL: not over HTTP */
	struct batch_sink batch; /* for batch mode, where fd is -1 */
};

/*
 * Opens what the options request, for samples. False, with a line printed, on failure. The sink
 * must not be moved.
 */
bool sink_open(struct sink *sink, const struct options *options);

/*
 * Opens the file of --output, or uses the standard descriptor. The descriptor, or -1 with a line
 * printed.
 */
int sink_open_output(const struct options *options, int standard);

/* The handler of SIGHUP for a sink that appends: records that the file may have been replaced. */
void sink_catch_rotation(int number);

/*
 * Reopens the file of --output after SIGHUP: logrotate may have moved it away. A new file starts
 * with a header, like the first. arg: the sink. 0 or -errno.
 */
int sink_renew(void *arg, struct out *out);

void sink_close(struct sink *sink);
