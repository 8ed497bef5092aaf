/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends of threads in a ring that a BPF program writes, overwriting the oldest: each begins with a
 * struct thread_end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/thread_end.h"

struct end_ring {
	const char *kept; /* mapped; not owned */
	size_t size; /* of an end */
	uint64_t room; /* capacity: a power of two */
	const uint64_t *written; /* number written since start; mapped, too */
	uint64_t taken; /* number read, by the same count */
	char *ends; /* those read last; owned */
};

/* The end of an index in an array of ends. */
static inline const struct thread_end *thread_end_at(const char *ends, size_t size, size_t i)
{
	return (const void *)(ends + i * size);
}

/*
 * The ends of threads since the previous call, in order, as many as fit. Valid until the next call.
 * lost: some are missing, as more threads ended than the ring holds.
 */
const char *end_ring_take(struct end_ring *ring, size_t *n, bool *lost);

/* Frees the ends read. */
void end_ring_free(struct end_ring *ring);
