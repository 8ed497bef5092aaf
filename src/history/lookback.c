/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/lookback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/encode.h"
#include "history/segments.h"

/*
 * The number of stretches that the time, and the room, is divided into: a stretch begins with all
 * tasks, and the oldest is removed as a whole.
 */
#define SPAN_PARTS 4
#define ROOM_PARTS 6

struct lookback {
	struct lookback_limits limits;
	struct encoder *encoder;
	struct keeper keeper;
	struct stretches stretches;
	uint64_t whole_bytes; /* bytes of the last stretch when it had one moment */
	bool full; /* there is not even room for one moment */
};

bool lookback_parse(const char *text, struct lookback_limits *limits)
{
	struct segment_limits parsed = { 0 };

	*limits = (struct lookback_limits){ 0 };
	if (!strcmp(text, "0"))
		return true;
	if (!segment_parse_limits(text, &parsed))
		return false;
	limits->span_ns = parsed.age_ns;
	limits->bytes = parsed.bytes ? parsed.bytes : LOOKBACK_BYTES;
	return true;
}

struct lookback *lookback_open(const struct lookback_limits *limits)
{
	struct lookback *lookback = xcalloc(1, sizeof(*lookback));

	lookback->limits = *limits;
	lookback->encoder = encoder_open(1);
	return lookback;
}

/* Returns the last stretch, which grows; NULL: there is none. */
static struct stretch *last_stretch(const struct lookback *lookback)
{
	const struct stretches *all = &lookback->stretches;

	return all->n ? all->list[all->n - 1] : NULL;
}

/* Counts the bytes that a stretch takes. */
static uint64_t bytes_of(const struct stretch *stretch)
{
	return stretch->kept.bytes + stretch->cap * sizeof(*stretch->outlines);
}

/* Computes how long ago a stretch began. */
static uint64_t stretch_span(const struct stretch *stretch, uint64_t now_ns)
{
	uint64_t first = stretch->n ? stretch->outlines[0].real_ns : now_ns;

	return now_ns > first ? now_ns - first : 0;
}

/* Whether a frame is to begin a new stretch. */
static bool begins_stretch(const struct lookback *lookback, const struct frame_info *info)
{
	const struct stretch *last = last_stretch(lookback);
	uint64_t bytes, least;

	if (!last || last->threads != info->threads)
		return true;
	if (lookback->limits.span_ns &&
	    stretch_span(last, info->real_ns) >= lookback->limits.span_ns / SPAN_PARTS)
		return true;
	bytes = bytes_of(last);
	least = lookback->limits.bytes / ROOM_PARTS;
	/* All tasks, with which a stretch begins, should be a small part of it. */
	if (least < 3 * lookback->whole_bytes)
		least = 3 * lookback->whole_bytes;
	return bytes >= least || bytes >= lookback->limits.bytes / 2;
}

/* Begins a new stretch. */
static void begin_stretch(struct lookback *lookback, const struct frame_info *info)
{
	struct stretch *last = last_stretch(lookback), *stretch;

	if (last)
		kept_end(&last->kept, &lookback->keeper);
	stretch = stretches_add(&lookback->stretches);
	stretch->keeper = &lookback->keeper;
	stretch->threads = info->threads;
	stretch->listed = true;
	encoder_begin_segment(lookback->encoder);
}

/* Whether the first stretch is older than the time to keep: the second covers that alone. */
static bool is_too_old(const struct lookback *lookback, uint64_t now_ns)
{
	const struct stretches *all = &lookback->stretches;

	return all->n > 1 && lookback->limits.span_ns && all->list[1]->n &&
	       stretch_span(all->list[1], now_ns) >= lookback->limits.span_ns;
}

/* Removes the oldest stretches until the rest is within the limits. */
static void remove_oldest(struct lookback *lookback, uint64_t now_ns)
{
	struct stretches *all = &lookback->stretches;
	bool past = is_too_old(lookback, now_ns);

	for (size_t i = 0; i + 1 < all->n;) {
		if (!past && lookback_bytes(lookback) <= lookback->limits.bytes)
			return;
		/* A stretch that is looked at stays; others are removed instead. */
		if (all->list[i]->pins) {
			i++;
			past = false;
			continue;
		}
		stretches_remove(all, i);
		all->list[i]->torn = true;
		past = !i && is_too_old(lookback, now_ns);
	}
}

/* Removes the last stretch as well, unless it is looked at. */
static void remove_last(struct lookback *lookback)
{
	struct stretches *all = &lookback->stretches;

	if (all->n && !all->list[all->n - 1]->pins)
		stretches_remove(all, all->n - 1);
}

void lookback_stalls(const struct frame_info *info, float stalls[PSI_RESOURCES])
{
	const struct psi_reading *before = frame_pressure_before(info);

	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		uint64_t us;

		stalls[r] = -1;
		if (psi_grown(before ? &before->psi[r].some : NULL,
			      &frame_pressure(info)->psi[r].some, info->interval_ns, &us))
			stalls[r] = (float)((double)us * 1e5 / (double)info->interval_ns);
	}
}

/*
 * Adds up what was waited in the interval. The frame may have figures since the start instead, so
 * the moment is asked.
 */
static uint64_t waited_in(const struct moment *moment)
{
	const struct moment_change *changes = moment_part(moment, PART_CHANGES);
	uint64_t sum = 0;

	for (size_t i = 0; i < moment->bytes[PART_CHANGES] / sizeof(*changes); i++)
		if (changes[i].flags & CHANGE_ROW)
			sum += changes[i].waited.total;
	return sum;
}

/* Makes the outline of a frame. */
static struct outline outline_of(const struct frame *frame, const struct moment *moment,
				 int64_t number)
{
	struct outline outline = { .number = number,
				   .real_ns = frame->info->real_ns,
				   .begin_ns = frame->info->cur->begin_ns,
				   .interval_ns = frame->info->prev ? frame->info->interval_ns : 0,
				   .waited_ns = frame->info->prev ? waited_in(moment) : 0,
				   .pressure = -1 };

	lookback_stalls(frame->info, outline.stalls);
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		if (outline.stalls[r] > outline.pressure)
			outline.pressure = outline.stalls[r];
	return outline;
}

/* Adds a frame to the last stretch. */
static void add_frame(struct lookback *lookback, const struct frame *frame,
		      const struct frame *folded)
{
	struct stretch *stretch = last_stretch(lookback);
	const struct moment *moment = encoder_encode(lookback->encoder, frame, folded);
	struct outline outline = outline_of(frame, moment, (int64_t)stretch->n + 1);

	kept_add(&stretch->kept, &lookback->keeper, moment);
	encoder_keep(lookback->encoder);
	encoder_trim(lookback->encoder);
	stretch_add(stretch, &outline);
	if (stretch->n == 1)
		lookback->whole_bytes = bytes_of(stretch);
}

/* Closes the stretches that were read from, except those that are looked at. */
static void shut_stretches(struct lookback *lookback)
{
	for (size_t i = 0; i < lookback->stretches.n; i++)
		if (!lookback->stretches.list[i]->pins)
			stretch_shut(lookback->stretches.list[i]);
}

int lookback_add(struct lookback *lookback, const struct frame *frame, const struct frame *folded)
{
	const struct frame_info *info = frame->info;

	if (lookback->full)
		return -ENOSPC;
	shut_stretches(lookback);
	if (begins_stretch(lookback, info))
		begin_stretch(lookback, info);
	add_frame(lookback, frame, folded);
	/* There is not even room for one moment. */
	lookback->full = lookback->whole_bytes > lookback->limits.bytes;
	remove_oldest(lookback, info->real_ns);
	if (lookback->full)
		remove_last(lookback);
	return lookback->full ? -ENOSPC : 0;
}

struct stretches *lookback_stretches(struct lookback *lookback)
{
	return &lookback->stretches;
}

uint64_t lookback_bytes(const struct lookback *lookback)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < lookback->stretches.n; i++)
		bytes += bytes_of(lookback->stretches.list[i]);
	return bytes;
}

size_t lookback_moments(const struct lookback *lookback)
{
	size_t n = 0;

	for (size_t i = 0; i < lookback->stretches.n; i++)
		n += lookback->stretches.list[i]->n;
	return n;
}

void lookback_close(struct lookback *lookback)
{
	if (!lookback)
		return;
	stretches_free(&lookback->stretches);
	keeper_free(&lookback->keeper);
	encoder_close(lookback->encoder);
	free(lookback);
}
