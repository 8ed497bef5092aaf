/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/record.h"
#include "history/segments.h"

/*
 * Number of segments into which the time, and the room, is divided: a segment begins with all
 * tasks, and the oldest is removed as a whole.
 */
#define SPAN_PARTS 4
#define ROOM_PARTS 6

struct ring {
	struct ring_limits limits;
	struct record_state *state;
	struct packer packer;
	struct segment_list segments;
	struct buf record; /* scratch buffer */
	uint64_t key_bytes; /* bytes of the last segment when it had one record */
	bool full; /* there is not even room for one record */
	bool held; /* nothing is removed for its age */
	bool begins; /* the next record begins a segment */
	size_t taken; /* records of the first segment that were taken */
	uint64_t lost; /* records removed without being taken since the last one that was */
	struct segment_reader reader;
};

bool ring_parse(const char *text, struct ring_limits *limits)
{
	struct segment_limits parsed = { 0 };

	*limits = (struct ring_limits){ 0 };
	if (!strcmp(text, "0"))
		return true;
	if (!segment_parse_limits(text, &parsed))
		return false;
	limits->span_ns = parsed.age_ns;
	limits->bytes = parsed.bytes ? parsed.bytes : RING_BYTES;
	return true;
}

struct ring *ring_open(const struct ring_limits *limits)
{
	struct ring *ring = xcalloc(1, sizeof(*ring));

	ring->limits = *limits;
	ring->state = record_open();
	return ring;
}

void ring_pin_segments(struct ring *ring, bool held)
{
	ring->held = held;
}

void ring_begin(struct ring *ring)
{
	ring->begins = true;
}

/* The last segment, which grows; NULL: there is none. */
static struct segment *last_segment(const struct ring *ring)
{
	return ring->segments.n ? ring->segments.list[ring->segments.n - 1] : NULL;
}

/* The bytes that a segment takes. */
static uint64_t size_of_segment(const struct segment *segment)
{
	return segment->bytes + segment->cap * sizeof(*segment->entries);
}

/* Age of a segment; now_ns: CLOCK_MONOTONIC, which cannot be set. */
static uint64_t segment_age(const struct segment *segment, uint64_t now_ns)
{
	uint64_t first = segment->n ? segment->entries[0].begin_ns : now_ns;

	return now_ns > first ? now_ns - first : 0;
}

/* True if a frame should begin a new segment. */
static bool begins_segment(const struct ring *ring, const struct frame_info *info)
{
	const struct segment *last = last_segment(ring);
	uint64_t least;

	if (!last || ring->begins || last->threads != info->threads || !info->prev)
		return true;
	if (ring->limits.span_ns && !ring->held &&
	    segment_age(last, info->cur->begin_ns) >= ring->limits.span_ns / SPAN_PARTS)
		return true;
	least = ring->limits.bytes / ROOM_PARTS;
	/* The list of all tasks at the start of a segment should be a small part of it. */
	if (least < 3 * ring->key_bytes)
		least = 3 * ring->key_bytes;
	return size_of_segment(last) >= least || size_of_segment(last) >= ring->limits.bytes / 2;
}

/* True if the first segment is older than the limit: the second alone covers that time. */
static bool is_too_old(const struct ring *ring, uint64_t now_ns)
{
	const struct segment_list *all = &ring->segments;

	return all->n > 1 && ring->limits.span_ns && !ring->held && all->list[1]->n &&
	       segment_age(all->list[1], now_ns) >= ring->limits.span_ns;
}

/* Removes a segment; the next one then lacks its predecessor. */
static void remove_segment(struct ring *ring, size_t at)
{
	ring->lost += ring->segments.list[at]->n - (at ? 0 : ring->taken);
	ring->taken = at ? ring->taken : 0;
	segments_remove(&ring->segments, at);
	if (at < ring->segments.n)
		ring->segments.list[at]->torn = true;
}

/* Removes the oldest segments until the rest is within the limits. */
static void remove_oldest(struct ring *ring, uint64_t now_ns)
{
	struct segment_list *all = &ring->segments;
	bool old = is_too_old(ring, now_ns);

	for (size_t i = 0; i + 1 < all->n;) {
		uint64_t lost = ring->lost;

		if (!old && ring_bytes(ring) <= ring->limits.bytes)
			return;
		/* A pinned segment stays; others are removed instead. */
		if (all->list[i]->pins) {
			i++;
			old = false;
			continue;
		}
		remove_segment(ring, i);
		/* Records removed for their age only do not count as lost. */
		if (old)
			ring->lost = lost;
		old = !i && is_too_old(ring, now_ns);
	}
}

int ring_add(struct ring *ring, const struct frame *frame, const struct frame *folded,
	     unsigned found)
{
	const struct frame_info *info = frame->info;
	struct record_entry entry;
	struct segment *segment;
	bool key;

	if (ring->full)
		return -ENOSPC;
	if (begins_segment(ring, info)) {
		if (last_segment(ring))
			segment_end(last_segment(ring), &ring->packer);
		segments_add(&ring->segments);
		record_restart(ring->state, 0);
	}
	ring->begins = false;
	segment = last_segment(ring);
	key = record_is_due(ring->state);
	ring->record.len = 0;
	record_encode(ring->state, frame, folded, &ring->record);
	entry = record_entry_of(frame, key, found);
	segment_add(segment, &ring->packer, &entry, ring->record.data, ring->record.len);
	if (ring->record.cap > BLOCK_BYTES)
		buf_free(&ring->record);
	if (segment->n == 1)
		ring->key_bytes = size_of_segment(segment);
	ring->full = ring->key_bytes > ring->limits.bytes;
	remove_oldest(ring, info->cur->begin_ns);
	if (ring->full && !segment->pins)
		remove_segment(ring, ring->segments.n - 1);
	return ring->full ? -ENOSPC : 0;
}

struct segment_list *ring_segments(struct ring *ring)
{
	return &ring->segments;
}

uint64_t ring_bytes(const struct ring *ring)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < ring->segments.n; i++)
		bytes += size_of_segment(ring->segments.list[i]);
	return bytes;
}

size_t ring_records(const struct ring *ring)
{
	size_t n = 0;

	for (size_t i = 0; i < ring->segments.n; i++)
		n += ring->segments.list[i]->n;
	return n - ring->taken;
}

const struct record_entry *ring_first(struct ring *ring, const void **bytes, size_t *len,
				      uint64_t *lost)
{
	struct segment *first;

	/* It grew no more when its last record was taken. */
	if (ring->segments.n > 1 && ring->taken == ring->segments.list[0]->n)
		remove_segment(ring, 0);
	first = ring->segments.n ? ring->segments.list[0] : NULL;
	if (!first || ring->taken == first->n ||
	    segment_bytes(&ring->reader, first, ring->taken, bytes, len))
		return NULL;
	*lost = ring->lost;
	return &first->entries[ring->taken];
}

void ring_take(struct ring *ring)
{
	ring->lost = 0;
	/* The last segment grows: its taken records are removed with it. */
	if (++ring->taken == ring->segments.list[0]->n && ring->segments.n > 1)
		remove_segment(ring, 0);
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	segments_free(&ring->segments);
	segment_reader_free(&ring->reader);
	record_close(ring->state);
	packer_free(&ring->packer);
	buf_free(&ring->record);
	free(ring);
}
