/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the samples of batch mode go: a descriptor, a file replaced whole, clients over HTTP. */
#ifndef STALLTOP_APP_SINK_H
#define STALLTOP_APP_SINK_H

#include <stdbool.h>

#include "app/batch.h"
#include "app/options.h"
#include "app/server.h"

struct sink {
	const struct options *options;
	int fd; /* -1: not to a descriptor */
	struct server *server; /* NULL: not over HTTP */
	bool replaces; /* the file of --output is replaced at each sample */
	struct batch_sink batch; /* for batch mode, where fd is -1 */
};

/*
 * Opens what the options ask for, for samples. False, with a line printed, on failure. The sink
 * must stay where it is.
 */
bool sink_open(struct sink *sink, const struct options *options);

void sink_close(struct sink *sink);

/*
 * Opens the file of --output, or takes the standard descriptor. The descriptor, or -1 with a line
 * printed.
 */
int sink_open_output(const struct options *options, int standard);

#endif
