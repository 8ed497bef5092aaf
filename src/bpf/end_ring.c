/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/end_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Copies one end. False: it is being written. Counts it unless a newer one overwrote it. */
static bool take_end(struct end_ring *ring, size_t *n, bool *lost)
{
	const char *kept = ring->kept + (ring->taken & (ring->room - 1)) * ring->size;
	const __u64 *sequence = &((const struct thread_end *)(const void *)kept)->sequence;
	uint64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);

	if (before < ring->taken + 1)
		return false;
	memcpy(ring->ends + *n * ring->size, kept, ring->size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (before != ring->taken + 1 || __atomic_load_n(sequence, __ATOMIC_RELAXED) != before)
		*lost = true;
	else
		++*n;
	return true;
}

const char *end_ring_take(struct end_ring *ring, size_t *n, bool *lost)
{
	uint64_t until = __atomic_load_n(ring->written, __ATOMIC_ACQUIRE);

	*n = 0;
	*lost = until - ring->taken > ring->room;
	if (*lost)
		ring->taken = until - ring->room;
	if (ring->taken != until && !ring->ends)
		ring->ends = xcalloc(ring->room, ring->size);
	while (ring->taken != until && take_end(ring, n, lost))
		ring->taken++;
	return ring->ends;
}

void end_ring_free(struct end_ring *ring)
{
	free(ring->ends);
	*ring = (struct end_ring){ 0 };
}
