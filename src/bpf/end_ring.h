/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends of threads that a program in the kernel writes, the newest over the oldest: each begins with
 * a struct thread_end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/thread_end.h"

struct end_ring {
	const char *kept; /* mapped; not owned */
	size_t size; /* of an end */
	uint64_t room; /* for so many: a power of two */
	const uint64_t *written; /* how many were written since the start; mapped, too */
	uint64_t taken; /* the same of those that were taken */
	char *ends; /* those taken last; owned */
};

/* Where ends of threads lie one after the other: that of an index. */
static inline const struct thread_end *thread_end_at(const char *ends, size_t size, size_t i)
{
	return (const void *)(ends + i * size);
}

/*
 * The ends of threads since the call before, in their order: up to the room. Valid until the next
 * call. lost: some are missing, as more ended than are kept.
 */
const char *end_ring_take(struct end_ring *ring, size_t *n, bool *lost);

/* Frees what was taken. */
void end_ring_free(struct end_ring *ring);
