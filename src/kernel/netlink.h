/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of the kernel's generic netlink family "TASKSTATS", for those that ask for tasks
 * (taskstats_client), listen for exits (exits) or ask for cgroups (cgroupstats): a socket, requests
 * of one attribute, and messages received in batches. The kernel answers within the send.
 */
#ifndef STALLTOP_KERNEL_NETLINK_H
#define STALLTOP_KERNEL_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long the kernel's answers are waited for. */
#define NETLINK_TIMEOUT_MS 1000

/*
 * What a record takes of a receive buffer at most, with the kernel's bookkeeping (of version 17;
 * 1.3 kB were seen on 6.18).
 */
#define NETLINK_TRUESIZE 2560

/* A socket of libnl's (netlink/socket.h). */
struct nl_sock;

/* A connection. Other modules read, and change nothing. */
struct netlink {
	struct nl_sock *sock; /* owns fd; NULL: fd is owned here, or -1 */
	int fd;
	uint16_t family;
	int timeout_ms;
	uint32_t seq; /* of the last request written */
	uint64_t sends, receives; /* system calls; waits count as receives */
	uint64_t foreign; /* messages dropped: not the kernel's, malformed, unwanted */
};

/* A connection that is not open: closing it does nothing. */
#define NETLINK_CLOSED ((struct netlink){ .fd = -1 })

/*
 * Opens a socket. family: 0 to look it up. 0 or -errno: -ENOENT when the kernel has no
 * taskstats. Closed by netlink_close().
 */
int netlink_open(struct netlink *nl, uint16_t family);

/*
 * A connection over a descriptor that keeps message boundaries; takes it over. timeout_ms: how
 * long answers are waited for.
 */
void netlink_open_fd(struct netlink *nl, int fd, uint16_t family, int timeout_ms);

void netlink_close(struct netlink *nl);

/* Asks for a receive buffer of that many bytes. The bytes given, 0 where that cannot be read. */
size_t netlink_size_buffer(struct netlink *nl, size_t wanted);

/* A request: a command of the family's with one attribute. */
struct netlink_request {
	uint8_t command;
	bool ack; /* the kernel shall say, too, when it is done */
	uint16_t attribute;
	const void *value;
	size_t len; /* of the value, up to NETLINK_VALUE_MAX */
};

#define NETLINK_VALUE_MAX 32

/* Room for any request. */
#define NETLINK_REQUEST_MAX 64

/* Writes a request, with the next sequence number. Its length; another may follow at once. */
size_t netlink_write(struct netlink *nl, void *to, const struct netlink_request *request);

/* Sends requests that were written, in one call. 0 or -errno. */
int netlink_send(struct netlink *nl, const void *requests, size_t len);

/* Writes and sends one request. 0 or -errno. */
int netlink_ask(struct netlink *nl, const struct netlink_request *request);

/* What a message is. */
enum netlink_kind {
	NETLINK_ANSWER, /* of the family's: command, attributes, len */
	NETLINK_STATUS, /* how a request went: error */
	NETLINK_CUT, /* did not fit into the buffer; only its seq is known */
};

/* A message of the kernel's. Its attributes are valid during the call only. */
struct netlink_message {
	enum netlink_kind kind;
	uint32_t seq; /* of the request that it belongs to */
	uint8_t command;
	int error; /* as the kernel gives it: 0, or -errno */
	const void *attributes;
	size_t len;
};

/* Takes a message. False for one that is not wanted: it is counted as foreign. */
typedef bool netlink_take_fn(void *arg, const struct netlink_message *message);

/* Buffers for messages that are received in one call; several connections may share them. */
struct netlink_batch;

/* n messages of up to that many bytes at a time. Freed by netlink_batch_free(). */
struct netlink_batch *netlink_batch_new(size_t n, size_t room);

/* The bytes that a message has room in, and more of them (not while messages are taken). */
size_t netlink_batch_room(const struct netlink_batch *batch);
void netlink_batch_enlarge(struct netlink_batch *batch, size_t room);

void netlink_batch_free(struct netlink_batch *batch);

/*
 * Receives what is there, without waiting and at most `max` datagrams (or what the batch
 * holds), and hands on the kernel's messages. The number of datagrams, or -errno: -EAGAIN for
 * none, -ENOBUFS when the kernel had no room for some, -ECONNRESET when the other end has closed.
 */
int netlink_receive(struct netlink *nl, struct netlink_batch *batch, size_t max,
		    netlink_take_fn *take, void *arg);

/* When an answer to what is asked now has not come in time (CLOCK_MONOTONIC). */
uint64_t netlink_deadline(const struct netlink *nl);

/* Waits for messages. 0 when there are some (or a signal came), -ETIMEDOUT or another -errno. */
int netlink_await(struct netlink *nl, uint64_t deadline_ns);

#endif
