/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded queue of messages from one process to one that it forks, in memory that both share. The
 * sender never waits; the receiver sleeps on a socket that tells it of messages and of the sender's
 * end.
 */
#ifndef STALLTOP_HISTORY_QUEUE_H
#define STALLTOP_HISTORY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most messages that wait. */
#define QUEUE_MESSAGES 64

/* The most bytes that wait; of a single message that finds the queue empty, QUEUE_ALONE. */
#define QUEUE_BYTES (UINT64_C(16) << 20)
#define QUEUE_ALONE (UINT64_C(128) << 20)

/* What the receiver tells the sender. (All are whole words: riscv64 exchanges no others by itself.)
 */
struct queue_told {
	_Atomic int error; /* -errno: it has given up; 0: all is well */
	_Atomic int segment; /* not 0: the next message is to begin a segment */
	_Atomic int ready; /* not 0: the first message was written */
};

struct queue;

/* Makes a queue. 0 or -errno. To be forked after. */
int queue_open(struct queue **out);

/* Says which end a process has, after the fork. */
void queue_be_sender(struct queue *queue);
void queue_be_receiver(struct queue *queue);

/* Copies a message into the queue. 0, or -ENOBUFS where it has no room, -EPIPE without receiver. */
int queue_send(struct queue *queue, const void *message, uint64_t size);

/*
 * Waits for a message, at most for timeout_ms (negative: for ever). Returns it, to be given back
 * with queue_done(), or NULL; then *ended: there will be none any more.
 */
const void *queue_receive(struct queue *queue, int timeout_ms, bool *ended);

/* Gives back the message received last: its memory is free for others. */
void queue_done(struct queue *queue);

/* What is told to the sender. */
struct queue_told *queue_told(struct queue *queue);

/* Says that no more messages come. */
void queue_hang_up(struct queue *queue);

/* The descriptor that the receiver sleeps on. */
int queue_fd(const struct queue *queue);

void queue_close(struct queue *queue);

#endif
