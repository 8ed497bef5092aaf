/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/taskstats.h"

/*
 * A kernel to ask: the other end of a socket pair, and what came back from it. A
 * thread takes the requests of each send apart and has `play` answer them.
 */

#define PEER_FAMILY 0x1b
#define PEER_ASKS_MAX 256

struct ask {
	uint32_t seq, id;
	bool tgid;
};

struct peer {
	int fd; /* the kernel's end */
	struct taskstats_client *conn;
	pthread_t thread;
	void (*play)(struct peer *peer, const struct ask *asks, size_t n);
	atomic_uint packs; /* sends seen */
	atomic_uint requests; /* in all of them */
	atomic_uint malformed; /* requests that no kernel would take */
	atomic_bool stop; /* for a play that does not end by itself */
	unsigned step; /* the test's own */
	uint32_t number; /* the test's own */
	bool running;
};

/* Opens the pair, and a thread that plays. Without a play the test answers itself. */
void peer_open(struct peer *peer, int timeout_ms,
	       void (*play)(struct peer *peer, const struct ask *asks, size_t n));

/* Closes the connection and ends the thread. */
void peer_close(struct peer *peer);

/* Sends bytes as one datagram. */
void peer_send(struct peer *peer, const void *bytes, size_t len);

/* Writes a reply to an ask: the record says in each figure of which id it is. */
size_t peer_reply_bytes(uint8_t *to, const struct ask *ask);

/* Sends such a reply. */
void peer_reply(struct peer *peer, const struct ask *ask);

/* Sends an error. */
void peer_error(struct peer *peer, const struct ask *ask, int error);

/* Answers all, as they came. */
void peer_play_all(struct peer *peer, const struct ask *asks, size_t n);

/* What taskstats_client_query() answered. */
struct answers {
	size_t n;
	unsigned *calls; /* by request: how often it was answered */
	int *errors;
	bool *right; /* a record, and the one that was asked for */
	bool ordered_times; /* before_ns was never behind after_ns */
	unsigned between;
};

/* Asks for ids first, first + 1 ... and collects. Returns what taskstats_client_query() did. */
int answers_query(struct answers *answers, struct peer *peer, bool tgid, uint32_t first, size_t n,
		  void (*between)(void *));

/* Every request was answered once. */
bool answers_once(const struct answers *answers);

/* How many got that error; 0 counts those with the right record. */
size_t answers_count(const struct answers *answers, int error);

void answers_free(struct answers *answers);
