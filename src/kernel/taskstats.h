/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder of taskstats messages, and the client that requests them. The decoder depends on the
 * record's version and the attribute's length, never on a struct of this build.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/delay.h"

/* The oldest version whose layout is known. Later ones only add at the end. */
#define TASKSTATS_OLDEST 8

/* One record of a message: of the task or the thread group with that id. */
struct taskstats_part {
	bool tgid;
	uint32_t id;
	const uint8_t *record; /* within the message */
	size_t len;
};

/* The identity of a task as in a PID record. */
struct taskstats_identity {
	pid_t pid, ppid;
	uid_t uid;
	uint64_t elapsed_ns; /* rounded down to whole us */
	const char *comm; /* raw bytes within the record, perhaps without a NUL */
	size_t comm_len;
};

/*
 * Finds the records in the attributes of a message (a reply has one; an exit record may have a
 * task's and its group's). Unknown attributes are skipped. Returns the number found, at most `max`;
 * -EBADMSG if an attribute exceeds its end or an id or a record is misplaced.
 */
int taskstats_parts(const void *attributes, size_t len, struct taskstats_part *parts, int max);

/* The version of a record; -EBADMSG if it is too short for one, -EPROTONOSUPPORT if too old. */
int taskstats_version(const uint8_t *record, size_t len);

/*
 * Reads counters and their valid mask from a record; members and life_ns are unchanged. Fields
 * beyond `len` or the version are invalid. Errors as taskstats_version().
 */
int taskstats_counters(const uint8_t *record, size_t len, struct counters *counters);

/*
 * Reads the identity from a PID record (a TGID record has none,
 * kernel/taskstats.c:fill_stats_for_tgid).
 */
int taskstats_identity(const uint8_t *record, size_t len, struct taskstats_identity *out);

/* The elapsed time of a record in ns: of the task, or the sum over a group's threads. */
int taskstats_elapsed(const uint8_t *record, size_t len, uint64_t *elapsed_ns);

/*
 * Reads some fields from a PID record: RECORD_BIT()s. Only fields_valid, and the fields that the
 * record has, are set in `out`. Errors as taskstats_version().
 */
int taskstats_fields(const uint8_t *record, size_t len, uint64_t wanted, struct task_record *out);

/* Reads all other fields from a PID record. */
int taskstats_record(const uint8_t *record, size_t len, struct task_record *out);

/*
 * A connection to the kernel's taskstats over generic netlink, for requests: they are sent in
 * packs, one send per pack; replies are received by recvmmsg(2). (The kernel has no dump of
 * taskstats: each task needs a request, kernel/taskstats.c:taskstats_ops.)
 */

struct taskstats_client;

/* The connection's work so far. */
struct taskstats_client_stats {
	uint64_t sends, receives; /* system calls; polls for late replies count as receives */
	uint64_t foreign; /* messages dropped: not from the kernel, malformed, stale */
	uint64_t overruns; /* times the socket was out of buffer (ENOBUFS) */
	unsigned pack; /* requests per pack, as the buffer allows */
};

/*
 * Receives the answer to the request with that index. error: 0 with a record; -ESRCH for a task
 * that has exited; -EPERM without CAP_NET_ADMIN; -EBADMSG for a reply to something else; -ENOBUFS,
 * -ETIMEDOUT when none came. The kernel took the reading between before_ns and after_ns
 * (CLOCK_MONOTONIC). The record is valid during the call only.
 */
typedef void taskstats_client_reply_fn(void *arg, size_t index, int error,
				       const struct taskstats_part *part, uint64_t before_ns,
				       uint64_t after_ns);

/* Opens a socket and looks up the family. 0, or -errno: -ENOENT if the kernel has no taskstats. */
int taskstats_client_open(struct taskstats_client **out);

/*
 * Creates a connection over a descriptor that keeps message boundaries, and takes ownership of it.
 * Waits at most timeout_ms for replies.
 */
int taskstats_client_open_fd(struct taskstats_client **out, int fd, uint16_t family,
			     int timeout_ms);

/*
 * Requests n ids, as processes (TGID) or as tasks (PID), and calls `reply` once for each, in any
 * order. `between` (may be NULL) is called between packs. Never hangs: if no reply comes in time
 * the rest is answered with -ETIMEDOUT. 0, or -errno if the connection is useless from now on; even
 * then every request has been answered.
 */
int taskstats_client_query(struct taskstats_client *conn, bool tgid, const pid_t *ids, size_t n,
			   taskstats_client_reply_fn *reply, void (*between)(void *), void *arg);

struct taskstats_client_stats taskstats_client_stats(const struct taskstats_client *conn);

void taskstats_client_close(struct taskstats_client *conn);
