/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of the kernel's generic netlink family "TASKSTATS", for the modules that request tasks
 * (taskstats_client), listen for exits (exits) or request cgroups (cgroupstats): a socket, requests
 * of one attribute, and messages received in batches. The kernel answers within the send.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long to wait for the kernel's answers. */
#define NETLINK_TIMEOUT_MS 1000

/*
 * Maximum size of a record in a receive buffer, with the kernel's bookkeeping (of version 17; 1.3
 * kB were seen on 6.18).
 */
#define NETLINK_TRUESIZE 2560

/* A socket of libnl (netlink/socket.h). */
struct nl_sock;

/* A connection. Other modules only read its fields. */
struct netlink {
	struct nl_sock *sock; /* owns fd; NULL: fd is owned here, or -1 */
	int fd;
	uint16_t family;
	int timeout_ms;
	uint32_t seq; /* of the last request written */
	uint64_t sends, receives; /* system calls; waits count as receives */
	uint64_t foreign; /* messages dropped: not from the kernel, malformed, unwanted */
};

/* A closed connection: closing it again has no effect. */
#define NETLINK_CLOSED ((struct netlink){ .fd = -1 })

/*
 * Opens a socket. family: 0 to look it up. 0 or -errno: -ENOENT if the kernel has no taskstats.
 * Closed by netlink_close().
 */
int netlink_open(struct netlink *nl, uint16_t family);

/*
 * Creates a connection over a descriptor that keeps message boundaries, and takes ownership of it.
 * timeout_ms: how long to wait for answers.
 */
void netlink_open_fd(struct netlink *nl, int fd, uint16_t family, int timeout_ms);

void netlink_close(struct netlink *nl);

/* Requests a receive buffer of that many bytes. Returns its size, 0 if that cannot be read. */
size_t netlink_size_buffer(struct netlink *nl, size_t wanted);

/* A request: a command of the family, with one attribute. */
struct netlink_request {
	uint8_t command;
	bool ack; /* the kernel is to acknowledge the request, too */
	uint16_t attribute;
	const void *value;
	size_t len; /* of the value, up to NETLINK_VALUE_MAX */
};

#define NETLINK_VALUE_MAX 32

/* Room for any request. */
#define NETLINK_REQUEST_MAX 64

/* Writes a request, with the next sequence number. Returns its length; another may follow. */
size_t netlink_write(struct netlink *nl, void *to, const struct netlink_request *request);

/* Sends written requests in one call. 0 or -errno. */
int netlink_send(struct netlink *nl, const void *requests, size_t len);

/* Writes and sends one request. 0 or -errno. */
int netlink_ask(struct netlink *nl, const struct netlink_request *request);

/* The kinds of messages. */
enum netlink_kind {
	NETLINK_ANSWER, /* from the family: command, attributes, len */
	NETLINK_STATUS, /* the result of a request: error */
	NETLINK_CUT, /* did not fit into the buffer; only its seq is known */
};

/* A message of the kernel. Its attributes are valid during the call only. */
struct netlink_message {
	enum netlink_kind kind;
	uint32_t seq; /* of the request that it belongs to */
	uint8_t command;
	int error; /* as the kernel returns it: 0, or -errno */
	const void *attributes;
	size_t len;
};

/* Handles a message. False for an unwanted one, which is counted as foreign. */
typedef bool netlink_message_fn(void *arg, const struct netlink_message *message);

/* Buffers for messages that are received in one call; several connections may share them. */
struct netlink_batch;

/* Makes buffers for n messages of up to `room` bytes each. Freed by netlink_batch_free(). */
struct netlink_batch *netlink_batch_new(size_t n, size_t room);

/* Return the bytes of room for a message, and enlarge it (not while messages are received). */
size_t netlink_batch_room(const struct netlink_batch *batch);
void netlink_batch_enlarge(struct netlink_batch *batch, size_t room);

void netlink_batch_free(struct netlink_batch *batch);

/*
 * Receives pending datagrams, without waiting and at most `max` (or as many as the batch holds),
 * and passes on the kernel's messages. The number of datagrams, or -errno: -EAGAIN for none,
 * -ENOBUFS if the kernel had no room for some, -ECONNRESET if the other end has closed.
 */
int netlink_receive(struct netlink *nl, struct netlink_batch *batch, size_t max,
		    netlink_message_fn *take, void *arg);

/* The deadline for answers to requests sent now (CLOCK_MONOTONIC). */
uint64_t netlink_deadline(const struct netlink *nl);

/* Waits for messages. 0 if there are some (or a signal came), -ETIMEDOUT or another -errno. */
int netlink_await(struct netlink *nl, uint64_t deadline_ns);
