/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded queue of messages from a process to a child that it forks, in memory that both share.
 * The sender never waits. The receiver sleeps on a socket, which wakes it for messages and when the
 * sender ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most messages that may wait. */
#define QUEUE_MESSAGES 64

/* The most bytes that may wait. A message that finds the queue empty may have QUEUE_ALONE. */
#define QUEUE_BYTES (UINT64_C(16) << 20)
#define QUEUE_ALONE (UINT64_C(128) << 20)

/*
 * What the receiver tells the sender. (All members are words: riscv64 has atomic exchange for no
 * smaller ones.)
 */
struct queue_status {
	_Atomic int error; /* -errno: the receiver has given up; 0: all is well */
	_Atomic int segment; /* not 0: the next message is to begin a segment */
	_Atomic int ready; /* not 0: the receiver is ready, or has failed (error) */
	_Atomic uint64_t bytes; /* that it wrote so far */
};

struct queue;

/* Makes a queue; the caller forks after this. 0 or -errno. */
int queue_open(struct queue **out);

/* Make this process the sender, or the receiver, after the fork. */
void queue_init_sender(struct queue *queue);
void queue_init_receiver(struct queue *queue);

/*
 * Copies a message into the queue. 0, -ENOBUFS if there is no room, -EPIPE if the receiver has
 * ended.
 */
int queue_send(struct queue *queue, const void *message, uint64_t size);

/*
 * Waits for a message, for timeout_ms at most (negative: for ever). Returns it, to be given back
 * with queue_done(), or NULL. *ended: no message will come any more.
 */
const void *queue_receive(struct queue *queue, int timeout_ms, bool *ended);

/* Gives back the last message received, so that its room can be used again. */
void queue_done(struct queue *queue);

/* Returns what the receiver tells the sender. */
struct queue_status *queue_status(struct queue *queue);

/* Ends the queue: the sender has no more messages. */
void queue_hang_up(struct queue *queue);

/* Returns the descriptor that the receiver sleeps on. */
int queue_fd(const struct queue *queue);

void queue_close(struct queue *queue);
