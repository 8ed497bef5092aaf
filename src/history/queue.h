/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded queue of messages from a process to a forked child, in shared memory. The sender never
 * waits. The receiver sleeps on a socket, which wakes it for messages and when the sender exits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of waiting messages. */
#define QUEUE_MESSAGES 64

/* Maximum bytes of waiting messages. A message that finds the queue empty may have QUEUE_ALONE. */
#define QUEUE_BYTES (UINT64_C(16) << 20)
#define QUEUE_ALONE (UINT64_C(128) << 20)

/*
 * The receiver's reports to the sender. (All members are words: riscv64 has atomic exchange for no
 * smaller ones.)
 */
struct queue_status {
	_Atomic int error; /* -errno: the receiver has given up; 0: no error */
	_Atomic int segment; /* not 0: the next message should begin a segment */
	_Atomic int ready; /* not 0: the receiver is ready, or has failed (error) */
	_Atomic uint64_t bytes; /* bytes written so far */
};

struct queue;

/* Creates a queue; the caller forks after this. 0 or -errno. */
int queue_open(struct queue **out);

/* Make this process the sender, or the receiver, after the fork. */
void queue_init_sender(struct queue *queue);
void queue_init_receiver(struct queue *queue);

/*
 * Copies a message into the queue. 0, -ENOBUFS if there is no room, -EPIPE if the receiver has
 * exited.
 */
int queue_send(struct queue *queue, const void *message, uint64_t size);

/*
 * Waits for a message, at most timeout_ms (negative: forever). Returns it, to be released with
 * queue_done(), or NULL. *ended: no message will come any more.
 */
const void *queue_receive(struct queue *queue, int timeout_ms, bool *ended);

/* Releases the last received message, so that its room can be reused. */
void queue_done(struct queue *queue);

/* Returns the receiver's reports. */
struct queue_status *queue_status(struct queue *queue);

/* Ends the queue: the sender has no more messages. */
void queue_hang_up(struct queue *queue);

/* Returns the descriptor that the receiver sleeps on. */
int queue_fd(const struct queue *queue);

void queue_close(struct queue *queue);
