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
 * How many stretches the time, and the room, is cut into: the oldest goes whole, and each begins
 * with all tasks.
 */
#define SPAN_PARTS 4
#define ROOM_PARTS 6

struct lookback {
	struct lookback_limits limits;
	struct encoder *encoder;
	struct keeper keeper;
	struct stretches stretches;
	uint64_t whole_bytes; /* what the last stretch took when it had one moment */
	bool full; /* there is no room for one moment */
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

/* The stretch that grows; NULL: there is none. */
static struct stretch *last_stretch(const struct lookback *lookback)
{
	const struct stretches *all = &lookback->stretches;

	return all->n ? all->list[all->n - 1] : NULL;
}

/* What a stretch takes. */
static uint64_t bytes_of(const struct stretch *stretch)
{
	return stretch->kept.bytes + stretch->cap * sizeof(*stretch->points);
}

/* How much time a stretch covers, up to now. */
static uint64_t stretch_span(const struct stretch *stretch, uint64_t now_ns)
{
	uint64_t first = stretch->n ? stretch->points[0].real_ns : now_ns;

	return now_ns > first ? now_ns - first : 0;
}

/* Whether the frame begins a stretch. */
static bool is_to_turn(const struct lookback *lookback, const struct frame_info *info)
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
	/* All tasks at its begin should be a small part. */
	if (least < 3 * lookback->whole_bytes)
		least = 3 * lookback->whole_bytes;
	return bytes >= least || bytes >= lookback->limits.bytes / 2;
}

/* Begins a stretch. */
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

/* Whether the first stretch is older than what is to be kept. */
static bool is_outlived(const struct lookback *lookback, uint64_t now_ns)
{
	const struct stretches *all = &lookback->stretches;

	return all->n > 1 && lookback->limits.span_ns && all->list[1]->n &&
	       stretch_span(all->list[1], now_ns) >= lookback->limits.span_ns;
}

/* Removes the oldest stretches, down to what is to be kept. */
static void forget_oldest(struct lookback *lookback, uint64_t now_ns)
{
	struct stretches *all = &lookback->stretches;
	bool past = is_outlived(lookback, now_ns);

	for (size_t i = 0; i + 1 < all->n;) {
		if (!past && lookback_bytes(lookback) <= lookback->limits.bytes)
			return;
		/* One that is looked at stays, and others go in its place. */
		if (all->list[i]->pins) {
			i++;
			past = false;
			continue;
		}
		stretches_remove(all, i);
		all->list[i]->torn = true;
		past = !i && is_outlived(lookback, now_ns);
	}
}

/* Removes also the last, unless it is looked at. */
static void forget_last(struct lookback *lookback)
{
	struct stretches *all = &lookback->stretches;

	if (all->n && !all->list[all->n - 1]->pins)
		stretches_remove(all, all->n - 1);
}

void lookback_stalls(const struct frame_info *info, float stalls[PSI_RESOURCES])
{
	const struct psi_reading *before = frame_pressure_before(info);

	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		const struct psi_line *now = &frame_pressure(info)->psi[r].some, *was;

		stalls[r] = -1;
		if (!before || !info->interval_ns)
			continue;
		was = &before->psi[r].some;
		if (now->valid && was->valid && now->total_us >= was->total_us)
			stalls[r] = (float)((double)(now->total_us - was->total_us) * 1e5 /
					    (double)info->interval_ns);
	}
}

/* What was waited in the interval, of which figures since the start say nothing. */
static uint64_t waited_in(const struct moment *moment)
{
	const struct moment_change *changes = moment_part(moment, PART_CHANGES);
	uint64_t sum = 0;

	for (size_t i = 0; i < moment->bytes[PART_CHANGES] / sizeof(*changes); i++)
		if (changes[i].flags & CHANGE_ROW)
			sum += changes[i].waited.total;
	return sum;
}

/* The frame in short. */
static struct point point_of(const struct frame *frame, const struct moment *moment, int64_t number)
{
	struct point point = { .number = number,
			       .real_ns = frame->info->real_ns,
			       .begin_ns = frame->info->cur->begin_ns,
			       .interval_ns = frame->info->prev ? frame->info->interval_ns : 0,
			       .waited_ns = frame->info->prev ? waited_in(moment) : 0,
			       .pressure = -1 };

	lookback_stalls(frame->info, point.stalls);
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		if (point.stalls[r] > point.pressure)
			point.pressure = point.stalls[r];
	return point;
}

/* Adds a frame to the last stretch. */
static void add_frame(struct lookback *lookback, const struct frame *frame,
		      const struct frame *folded)
{
	struct stretch *stretch = last_stretch(lookback);
	const struct moment *moment = encoder_take(lookback->encoder, frame, folded);
	struct point point = point_of(frame, moment, (int64_t)stretch->n + 1);

	kept_add(&stretch->kept, &lookback->keeper, moment);
	encoder_keep(lookback->encoder);
	encoder_trim(lookback->encoder);
	stretch_add(stretch, &point);
	if (stretch->n == 1)
		lookback->whole_bytes = bytes_of(stretch);
}

/* Closes what was read of, but for what is looked at. */
static void shut_stretches(struct lookback *lookback)
{
	for (size_t i = 0; i < lookback->stretches.n; i++)
		if (!lookback->stretches.list[i]->pins)
			stretch_shut(lookback->stretches.list[i]);
}

int lookback_take(struct lookback *lookback, const struct frame *frame, const struct frame *folded)
{
	const struct frame_info *info = frame->info;

	if (lookback->full)
		return -ENOSPC;
	shut_stretches(lookback);
	if (is_to_turn(lookback, info))
		begin_stretch(lookback, info);
	add_frame(lookback, frame, folded);
	/* There is not even room for one moment. */
	lookback->full = lookback->whole_bytes > lookback->limits.bytes;
	forget_oldest(lookback, info->real_ns);
	if (lookback->full)
		forget_last(lookback);
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
