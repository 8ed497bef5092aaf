/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics over HTTP. A separate process without any privilege answers them; of the program it has
 * only the texts passed to it: each sample's, in a sealed file in memory. So no client delays a
 * sample, and the code that reads requests cannot read anything else.
 */
#pragma once

#include <stdbool.h>

#include "base/util.h"
#include "out/out_openmetrics.h"

struct server;

/* True if it is built in. */
bool server_is_built(void);

/* Listens at an address, which must outlive it. False, with the error appended to `why`. */
bool server_open(struct server **out, const char *address, const char *names, struct buf *why);

/* True if other machines can send requests. */
bool server_is_open(const struct server *server);

/*
 * Passes on the texts of a sample, unless the previous ones are less than 0.75 s old, or the
 * process has not taken them yet. 0, or if it has exited -ECHILD, or -EPERM: by its filter of
 * calls.
 */
int server_send(struct server *server, const struct out *out);

/* Ends the process. NULL is allowed. */
void server_close(struct server *server);
