/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics over HTTP. They are answered by a process of their own, without any privilege, which has
 * of the program only the texts that it is handed: each sample's, in a sealed file in memory. So no
 * client is waited for, none makes a sample wait, and what reads requests cannot read anything
 * else.
 */
#pragma once

#include <stdbool.h>

#include "base/util.h"
#include "out/out_openmetrics.h"

struct server;

/* Whether it is built in. */
bool server_is_built(void);

/*
 * Listens at an address, which must outlive the listener. False, with what is wrong appended to
 * `why`.
 */
bool server_open(struct server **out, const char *address, const char *names, struct buf *why);

/* Whether other machines can ask. */
bool server_is_open(const struct server *server);

/*
 * Hands on the texts of a sample, unless the ones before are less than 0.75 s old, or the process
 * has not taken them yet. 0, or when it has ended -ECHILD, or -EPERM: by its filter of calls.
 */
int server_send(struct server *server, const struct out *out);

/* Ends the process. NULL is allowed. */
void server_close(struct server *server);
