/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/queue.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"

/*
 * The queue's address space: a page takes memory only once it is written. An empty queue restarts
 * at its beginning, so that few pages ever are.
 */
#define ROOM (QUEUE_ALONE + QUEUE_BYTES)

/* Messages begin at multiples of this. */
#define ALIGNMENT UINT64_C(64)

/* The memory of larger messages is returned to the system. */
#define LARGE (UINT64_C(1) << 20)

/* The position and size of a message. */
struct queue_slot {
	uint64_t at, size;
};

/* The memory shared by both processes. */
struct shared {
	struct queue_status told;
	_Atomic uint64_t sent, done; /* number of messages sent, and of those handled */
	struct queue_slot slots[QUEUE_MESSAGES];
	_Alignas(ALIGNMENT) char room[];
};

struct queue {
	struct shared *shared;
	int fds[2]; /* the sender's and the receiver's end; -1: closed in this process */
	uint64_t at; /* where the sender stores the next message */
};

int queue_open(struct queue **out)
{
	struct queue *queue = xcalloc(1, sizeof(*queue));
	int err;

	queue->shared = mmap(NULL, sizeof(*queue->shared) + ROOM, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (queue->shared == MAP_FAILED) {
		err = -errno;
		free(queue);
		return err;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, queue->fds)) {
		err = -errno;
		munmap(queue->shared, sizeof(*queue->shared) + ROOM);
		free(queue);
		return err;
	}
	*out = queue;
	return 0;
}

/* Closes one end. */
static void close_end(struct queue *queue, unsigned end)
{
	if (queue->fds[end] >= 0)
		close(queue->fds[end]);
	queue->fds[end] = -1;
}

void queue_init_sender(struct queue *queue)
{
	close_end(queue, 1);
}

void queue_init_receiver(struct queue *queue)
{
	close_end(queue, 0);
}

/* Finds room for a message. False: there is none. */
static bool find_room(struct queue *queue, uint64_t size, uint64_t sent, uint64_t done)
{
	const struct queue_slot *first = &queue->shared->slots[done % QUEUE_MESSAGES];

	if (sent == done) {
		queue->at = 0;
		return size <= QUEUE_ALONE;
	}
	if (sent - done >= QUEUE_MESSAGES)
		return false;
	/* The room is after the newest message, or at the start, before the oldest one. */
	if (first->at < queue->at) {
		uint64_t waiting = queue->at - first->at;

		if (waiting + size <= QUEUE_BYTES && queue->at + size <= ROOM)
			return true;
		if (waiting + size > QUEUE_BYTES || size > first->at)
			return false;
		queue->at = 0;
		return true;
	}
	return queue->at + size <= first->at;
}

int queue_send(struct queue *queue, const void *message, uint64_t size)
{
	struct shared *shared = queue->shared;
	uint64_t sent = atomic_load_explicit(&shared->sent, memory_order_relaxed);
	uint64_t done = atomic_load_explicit(&shared->done, memory_order_acquire);

	uint64_t room = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);

	if (!find_room(queue, room, sent, done))
		return -ENOBUFS;
	memcpy(shared->room + queue->at, message, size);
	shared->slots[sent % QUEUE_MESSAGES] = (struct queue_slot){ queue->at, room };
	queue->at += room;
	atomic_store_explicit(&shared->sent, sent + 1, memory_order_release);
	/* If the socket is full, the receiver will wake up anyway. */
	if (send(queue->fds[0], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE)
		return -EPIPE;
	return 0;
}

const void *queue_receive(struct queue *queue, int timeout_ms, bool *ended)
{
	struct shared *shared = queue->shared;
	struct pollfd pollfd = { .fd = queue->fds[1], .events = POLLIN };
	uint64_t done = atomic_load_explicit(&shared->done, memory_order_relaxed);
	bool last = false;
	char bytes[64];
	ssize_t n;

	*ended = false;
	for (;;) {
		if (atomic_load_explicit(&shared->sent, memory_order_acquire) != done)
			return shared->room + shared->slots[done % QUEUE_MESSAGES].at;
		if (last) {
			*ended = true;
			return NULL;
		}
		n = recv(queue->fds[1], bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			continue;
		/* The sender has exited; its earlier messages are still to be received. */
		last = !n || (errno != EAGAIN && errno != EINTR);
		if (!last && poll(&pollfd, 1, timeout_ms) == 0)
			return NULL;
	}
}

void queue_done(struct queue *queue)
{
	struct shared *shared = queue->shared;
	uint64_t done = atomic_load_explicit(&shared->done, memory_order_relaxed);
	const struct queue_slot *slot = &shared->slots[done % QUEUE_MESSAGES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from, to;

	if (slot->size >= LARGE) {
		from = (offsetof(struct shared, room) + slot->at + page - 1) / page * page;
		to = (offsetof(struct shared, room) + slot->at + slot->size) / page * page;
		madvise((char *)shared + from, to - from, MADV_REMOVE);
	}
	atomic_store_explicit(&shared->done, done + 1, memory_order_release);
}

struct queue_status *queue_status(struct queue *queue)
{
	return &queue->shared->told;
}

void queue_hang_up(struct queue *queue)
{
	close_end(queue, 0);
}

int queue_fd(const struct queue *queue)
{
	return queue->fds[1];
}

void queue_close(struct queue *queue)
{
	if (!queue)
		return;
	close_end(queue, 0);
	close_end(queue, 1);
	munmap(queue->shared, sizeof(*queue->shared) + ROOM);
	free(queue);
}
