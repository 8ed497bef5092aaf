/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In-memory ring of records; drops the oldest segment when full or expired. Used for history and
 * for --before.
 */
#pragma once

#include "frame/frame.h"
#include "history/segment.h"

struct ring_limits {
	uint64_t span_ns; /* minimum time kept, if `bytes` permits; 0: no such limit */
	uint64_t bytes; /* maximum memory used */
};

/* The room if only a time is given, and the default limits: 15 minutes. */
#define RING_BYTES (UINT64_C(20) << 20)
#define RING_DEFAULT ((struct ring_limits){ UINT64_C(900) * NSEC_PER_SEC, RING_BYTES })

/* Parses limits: "15m" (s, m, h, d), "64M" (K, M, G, T), "0". False: none of these. */
bool ring_parse(const char *text, struct ring_limits *limits);

struct ring;

struct ring *ring_open(const struct ring_limits *limits);

/*
 * Adds a frame, which must follow the previous one, unless it has no interval. folded: the same
 * frame folded into groups, whose figures are kept, too; NULL: none. found: see record_entry. 0 or
 * -errno: there is not even room for one; then no more frames are added, and earlier ones stay.
 */
int ring_add(struct ring *ring, const struct frame *frame, const struct frame *folded,
	     unsigned found);

/* Switches removal by age off, or on again. */
void ring_pin_segments(struct ring *ring, bool held);

/* Makes the next record begin a segment. */
void ring_begin(struct ring *ring);

/* Returns the segments. Pinned segments are not removed. */
struct segment_list *ring_segments(struct ring *ring);

/* Returns the memory used now, and the number of records. */
uint64_t ring_bytes(const struct ring *ring);
size_t ring_records(const struct ring *ring);

/*
 * Returns the oldest record not taken yet, its bytes valid until the next call; NULL: there is
 * none. *lost: records before it that were removed for want of room and not taken.
 */
const struct record_entry *ring_first(struct ring *ring, const void **bytes, size_t *len,
				      uint64_t *lost);

/* Takes that one out of the ring. */
void ring_take(struct ring *ring);

/* NULL is allowed. */
void ring_close(struct ring *ring);
