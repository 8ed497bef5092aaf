/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to the kernel's taskstats over generic netlink, for asking: requests
 * go out in packs, one send a pack; replies come in by recvmmsg(2). (The kernel has no
 * dump of taskstats: every task is a request, kernel/taskstats.c:taskstats_ops.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/taskstats.h"

struct taskstats_client;

/* The work of a connection so far. */
struct taskstats_client_stats {
	uint64_t sends, receives; /* system calls; polls for late replies count as receives */
	uint64_t foreign; /* messages dropped: not the kernel's, malformed, stale */
	uint64_t overruns; /* times the socket was out of buffer (ENOBUFS) */
	unsigned pack; /* requests a pack, as the buffer allows */
};

/*
 * Receives the answer to the request with that index. error: 0 with a record; -ESRCH for a task
 * that has gone; -EPERM without CAP_NET_ADMIN; -EBADMSG for a reply that is not what was asked;
 * -ENOBUFS, -ETIMEDOUT when none came. The kernel took the reading between before_ns and after_ns
 * (CLOCK_MONOTONIC). The record is valid during the call only.
 */
typedef void taskstats_client_reply_fn(void *arg, size_t index, int error,
				       const struct taskstats_part *part, uint64_t before_ns,
				       uint64_t after_ns);

/*
 * Opens a socket and looks the family up. 0, or -errno: -ENOENT when the kernel has no
 * taskstats.
 */
int taskstats_client_open(struct taskstats_client **out);

/*
 * Makes a connection over a descriptor that keeps message boundaries, and takes it over. Waits for
 * replies for timeout_ms at most.
 */
int taskstats_client_open_fd(struct taskstats_client **out, int fd, uint16_t family,
			     int timeout_ms);

/*
 * Asks for n ids, as processes (TGID) or as tasks (PID), and calls `reply` once for each, in any
 * order. `between` (may be NULL) is called between packs. Never hangs: when no reply comes in time
 * the rest is answered with -ETIMEDOUT. 0, or -errno when the connection is useless from now on;
 * even then every request has been answered.
 */
int taskstats_client_query(struct taskstats_client *conn, bool tgid, const pid_t *ids, size_t n,
			   taskstats_client_reply_fn *reply, void (*between)(void *), void *arg);

struct taskstats_client_stats taskstats_client_stats(const struct taskstats_client *conn);

void taskstats_client_close(struct taskstats_client *conn);
