/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/record.h"

struct cursor {
	struct replay replay; /* reads samples; its rows: the wanted kind */
	struct segment_list *segments; /* its files, or the records in memory */
	struct sampler_config config;
	struct playback playback;
	struct sampler *sampler, *former; /* former: the previously shown one; NULL: none */
	struct record_state *former_state; /* what its frames point into */
	bool current; /* the sampler's last frame is the shown one, */
	bool broken; /* but its reader failed after that: it cannot continue from there */
	/* While a frame is made: the next sample to read, and the last one. */
	struct position reading, target;
	struct position shown; /* the shown sample; its segment is pinned, NULL: none */
};

/* Returns the index of a segment; if it is not in the list, the length of the list. */
static size_t segment_index(const struct cursor *cursor, const struct segment *segment)
{
	size_t i = 0;

	while (i < cursor->segments->n && cursor->segments->list[i] != segment)
		i++;
	return i;
}

/* True if a segment has samples with the wanted rows: threads, or processes. */
static bool is_usable(const struct cursor *cursor, struct segment *segment)
{
	return (segment->listed || !segment_list(segment)) && segment->n &&
	       segment->threads == cursor->replay.threads;
}

/* Moves to the next sample, showable or not. False: there is none. */
static bool step_on(const struct cursor *cursor, struct position *position)
{
	size_t i = segment_index(cursor, position->segment);

	if (position->at + 1 < position->segment->n) {
		position->at++;
		return true;
	}
	while (++i < cursor->segments->n)
		if (is_usable(cursor, cursor->segments->list[i])) {
			*position = (struct position){ cursor->segments->list[i], 0 };
			return true;
		}
	return false;
}

/* Moves to the previous sample, showable or not. False: there is none. */
static bool step_back(const struct cursor *cursor, struct position *position)
{
	size_t i = segment_index(cursor, position->segment);

	if (position->at) {
		position->at--;
		return true;
	}
	/* Its predecessor has been removed. */
	if (position->segment->torn)
		return false;
	while (i-- > 0) {
		struct segment *segment = cursor->segments->list[i];

		if (is_usable(cursor, segment)) {
			*position = (struct position){ segment, segment->n - 1 };
			return true;
		}
	}
	return false;
}

/* True if two samples are far enough apart; the same rule as is_due() of replay.c. */
static bool is_far_enough(const struct cursor *cursor, const struct position *from,
			  const struct position *to)
{
	uint64_t a = position_entry(from)->real_ns, b = position_entry(to)->real_ns;

	return !position_entry(to)->interval_ns || b < a ||
	       b + position_entry(to)->interval_ns / 2 >= a + cursor->replay.config.interval_ns;
}

/* Finds the sample at which another's interval begins. False: there is none. */
static bool find_interval_begin(const struct cursor *cursor, const struct position *position,
				struct position *begin)
{
	*begin = *position;
	while (step_back(cursor, begin))
		if (is_far_enough(cursor, begin, position))
			return true;
	return begin->segment != position->segment || begin->at != position->at;
}

/* True if a sample is in the selected part of the recording. */
static bool is_position_in_part(const struct cursor *cursor, const struct position *position)
{
	const struct record_entry *entry = position_entry(position);

	return !position->segment->early && position->at >= position->segment->early_to &&
	       entry->real_ns >= cursor->replay.from_ns && entry->real_ns <= cursor->replay.to_ns;
}

/* True if a sample can be shown: it has an interval, and the previous sample exists. */
static bool can_be_shown(const struct cursor *cursor, const struct position *position)
{
	struct position before = *position;

	return position_entry(position)->interval_ns && is_position_in_part(cursor, position) &&
	       step_back(cursor, &before);
}

/* Finds the very first sample, which may have no interval. False: there is none. */
static bool find_very_first(const struct cursor *cursor, struct position *position)
{
	for (size_t i = 0; i < cursor->segments->n; i++) {
		*position = (struct position){ cursor->segments->list[i], 0 };
		if (is_usable(cursor, position->segment))
			return true;
	}
	return false;
}

/*
 * Finds the first sample that can be shown; if there is none, the very first, without interval.
 * False: there is no sample.
 */
bool cursor_first(struct cursor *cursor, struct position *position)
{
	if (!find_very_first(cursor, position))
		return false;
	return can_be_shown(cursor, position) || cursor_next(cursor, position) ||
	       is_position_in_part(cursor, position);
}

bool cursor_last(struct cursor *cursor, struct position *position)
{
	for (size_t i = cursor->segments->n; i-- > 0;) {
		struct segment *segment = cursor->segments->list[i];

		if (!is_usable(cursor, segment))
			continue;
		*position = (struct position){ segment, segment->n - 1 };
		return can_be_shown(cursor, position) || cursor_before(cursor, position) ||
		       cursor_first(cursor, position);
	}
	return false;
}

bool cursor_next(struct cursor *cursor, struct position *position)
{
	struct position at = *position;

	while (step_on(cursor, &at))
		if (can_be_shown(cursor, &at) && is_far_enough(cursor, position, &at)) {
			*position = at;
			return true;
		}
	return false;
}

bool cursor_before(struct cursor *cursor, struct position *position)
{
	struct position at = *position;

	while (step_back(cursor, &at))
		if (can_be_shown(cursor, &at) && is_far_enough(cursor, &at, position)) {
			*position = at;
			return true;
		}
	/* Before the gap there may be more samples. */
	for (size_t i = segment_index(cursor, at.segment); i-- > 0;) {
		struct segment *segment = cursor->segments->list[i];

		if (!is_usable(cursor, segment))
			continue;
		at = (struct position){ segment, segment->n - 1 };
		if (!can_be_shown(cursor, &at))
			continue;
		*position = at;
		return true;
	}
	return false;
}

/*
 * Finds the sample of a segment with the latest time up to a time, if it is later than the one
 * found so far: times fall where the clock was set back. Returns how often the time occurs in the
 * segment.
 */
static unsigned find_time(const struct cursor *cursor, struct segment *segment, uint64_t real_ns,
			  struct position *found)
{
	unsigned times = 0;

	for (size_t at = 0; at < segment->n; at++) {
		struct position position = { segment, at };
		uint64_t time = segment->entries[at].real_ns;

		if (time > real_ns)
			continue;
		times += at + 1 < segment->n && segment->entries[at + 1].real_ns > real_ns;
		if (can_be_shown(cursor, &position) &&
		    (!found->segment || time > position_entry(found)->real_ns ||
		     (found->segment == segment && time == position_entry(found)->real_ns)))
			*found = position;
	}
	return times;
}

bool cursor_find(struct cursor *cursor, uint64_t real_ns, struct position *position, bool *again)
{
	struct position found = { 0 };
	unsigned times = 0;

	for (size_t i = cursor->segments->n; i-- > 0;) {
		struct segment *segment = cursor->segments->list[i];

		if (found.segment &&
		    segments_before(cursor->segments, i, position_entry(&found)->real_ns))
			continue;
		if (is_usable(cursor, segment))
			times += find_time(cursor, segment, real_ns, &found);
	}
	*again = times > 1;
	if (!found.segment)
		return cursor_first(cursor, position);
	*position = found;
	return true;
}

uint64_t cursor_latest(const struct cursor *cursor)
{
	uint64_t latest = cursor->replay.latest_ns;

	for (size_t i = 0; i < cursor->segments->n; i++) {
		const struct segment *segment = cursor->segments->list[i];

		for (size_t at = 0; !segment->path && at < segment->n; at++)
			if (segment->entries[at].real_ns > latest)
				latest = segment->entries[at].real_ns;
	}
	return latest;
}

/* True if two positions are equal. */
static bool is_same(const struct position *a, const struct position *b)
{
	return a->segment == b->segment && a->at == b->at;
}

/* Implements struct playback. */
static int next_of_cursor(void *state, struct sample *prev, struct sample *cur,
			  struct playback_record *result)
{
	struct cursor *cursor = state;
	int err;

	for (;;) {
		bool last = is_same(&cursor->reading, &cursor->target);

		err = segment_read(&cursor->replay.reader, cursor->reading.segment,
				   cursor->reading.at);
		if (err)
			return err;
		if (last)
			break;
		if (!step_on(cursor, &cursor->reading))
			return -ENODATA;
	}
	record_rebuild_sample(cursor->replay.reader.state, prev, cur, cursor->replay.config.pids,
			      cursor->replay.config.npids, result);
	return 0;
}

/* Implements struct playback. */
static void cursor_read_group(void *state, const char *path, const struct cgroup_sample **now,
			      const struct cgroup_sample **before)
{
	const struct cursor *cursor = state;

	record_group(cursor->replay.reader.state, path, now, before);
}

/* Reads the records that a record is based on, from the last key record. 0 or -errno. */
static int read_up_to(struct cursor *cursor, const struct position *position)
{
	int err = 0;

	cursor->reading = *position;
	if (!position->at || position_entry(position)->key)
		return 0;
	err = segment_go(&cursor->replay.reader, position->segment, position->at - 1);
	if (!err)
		record_pass(cursor->replay.reader.state);
	return err;
}

/* Keeps the sampler as the former one if its frame is shown; else frees it. */
static void set_aside(struct cursor *cursor)
{
	if (cursor->current) {
		cursor_forget_shown(cursor);
		cursor->former = cursor->sampler;
		cursor->former_state = cursor->replay.reader.state;
	} else {
		sampler_close(cursor->sampler);
		record_close(cursor->replay.reader.state);
	}
	cursor->sampler = NULL;
	cursor->replay.reader.state = NULL;
	cursor->replay.reader.segment = 0;
	cursor->current = cursor->broken = false;
}

/* Keeps the shown sample, as no other could be shown. */
static void stay(struct cursor *cursor)
{
	if (!cursor->former) {
		cursor->broken = true;
		return;
	}
	sampler_close(cursor->sampler);
	record_close(cursor->replay.reader.state);
	cursor->sampler = cursor->former;
	cursor->replay.reader.state = cursor->former_state;
	cursor->replay.reader.segment = 0;
	cursor->former = NULL;
	cursor->former_state = NULL;
	cursor->current = cursor->broken = true;
}

/* Opens a new sampler. 0 or -errno. */
static int open_anew(struct cursor *cursor)
{
	set_aside(cursor);
	cursor->config.playback = &cursor->playback;
	cursor->config.threads = cursor->playback.threads = cursor->replay.threads;
	return sampler_open(&cursor->sampler, &cursor->config);
}

/* Makes the frame at which a sample's interval begins, unless that is shown. 0 or -errno. */
static int show_begin(struct cursor *cursor, const struct position *position)
{
	const struct frame *frame;
	struct position begin;
	bool there = find_interval_begin(cursor, position, &begin);
	int err;

	if (there && cursor->current && !cursor->broken && is_same(&begin, &cursor->shown)) {
		cursor->reading = begin;
		return step_on(cursor, &cursor->reading) ? 0 : -ENODATA;
	}
	err = open_anew(cursor);
	if (!err)
		err = read_up_to(cursor, there ? &begin : position);
	if (err || !there)
		return err;
	cursor->target = begin;
	err = sampler_tick(cursor->sampler, 0, &frame);
	if (!err && !step_on(cursor, &cursor->reading))
		err = -ENODATA;
	return err;
}

/* Pins the segment now shown, and releases the previous one. */
static void pin(struct cursor *cursor, const struct position *position)
{
	struct segment *before = cursor->shown.segment;

	position->segment->pins++;
	if (before)
		before->pins--;
	cursor->shown = *position;
	/* Closes all segments but these two. */
	for (size_t i = 0; i < cursor->segments->n; i++) {
		struct segment *segment = cursor->segments->list[i];

		if (segment != position->segment && segment != before)
			segment_shut(segment);
	}
}

int cursor_show(struct cursor *cursor, const struct position *position, const struct frame **frame)
{
	struct position wanted = *position;
	int err;

	wanted.segment->pins++;
	err = show_begin(cursor, &wanted);
	cursor->target = wanted;
	if (!err)
		err = sampler_tick(cursor->sampler, 0, frame);
	wanted.segment->pins--;
	if (err) {
		if (cursor->shown.segment)
			stay(cursor);
		else
			cursor_leave(cursor);
		return err;
	}
	cursor->current = true;
	pin(cursor, &wanted);
	return 0;
}

bool cursor_shown(const struct cursor *cursor, struct position *position)
{
	*position = cursor->shown;
	return cursor->shown.segment;
}

struct sampler *cursor_sampler(const struct cursor *cursor)
{
	return cursor->sampler;
}

void cursor_forget_shown(struct cursor *cursor)
{
	sampler_close(cursor->former);
	record_close(cursor->former_state);
	cursor->former = NULL;
	cursor->former_state = NULL;
}

void cursor_leave(struct cursor *cursor)
{
	set_aside(cursor);
	if (cursor->shown.segment)
		cursor->shown.segment->pins--;
	cursor->shown = (struct position){ 0 };
}

size_t cursor_records(const struct cursor *cursor)
{
	size_t n = 0;

	for (size_t i = 0; i < cursor->segments->n; i++)
		n += cursor->segments->list[i]->n;
	return n;
}

size_t cursor_around(struct cursor *cursor, const struct position *position,
		     struct position *positions, size_t n, size_t *at)
{
	struct position earlier = *position, later = *position;
	size_t before = 0, after = 0;

	/* Takes equal numbers on both sides; if one has too few, the other gets the rest. */
	while (before < n / 2 && cursor_before(cursor, &earlier))
		before++;
	while (before + after + 1 < n && cursor_next(cursor, &later))
		after++;
	while (before + after + 1 < n && cursor_before(cursor, &earlier))
		before++;
	*at = before;
	positions[0] = earlier;
	for (size_t i = 1; i < before + after + 1; i++) {
		positions[i] = positions[i - 1];
		cursor_next(cursor, &positions[i]);
	}
	return before + after + 1;
}

size_t cursor_earlier(struct cursor *cursor, uint64_t real_ns, struct position *positions, size_t n)
{
	struct position position;
	size_t found = 0;

	if (!n || !cursor_shown(cursor, &position)) {
		if (!n || !cursor_last(cursor, &position))
			return 0;
	}
	/* The shown sample may be at that time, or after it. */
	while (position_entry(&position)->real_ns >= real_ns)
		if (!cursor_before(cursor, &position))
			return 0;
	do
		positions[found++] = position;
	while (found < n && cursor_before(cursor, &position));
	return found;
}

bool cursor_threads(const struct cursor *cursor)
{
	return cursor->replay.threads;
}

const char *cursor_group(const struct cursor *cursor)
{
	return replay_group(&cursor->replay);
}

void cursor_want_threads(struct cursor *cursor, bool threads)
{
	cursor->replay.threads = threads;
}

void cursor_configure(struct cursor *cursor, const struct sampler_config *config)
{
	cursor->config = *config;
}

/* Opens a cursor without samples. */
static struct cursor *open_empty(void)
{
	struct cursor *cursor = xcalloc(1, sizeof(*cursor));

	cursor->playback = (struct playback){ .state = cursor,
					      .next = next_of_cursor,
					      .group = cursor_read_group };
	return cursor;
}

struct cursor *cursor_open(struct ring *ring, const struct sampler_config *config)
{
	struct cursor *cursor = open_empty();

	cursor->replay.to_ns = UINT64_MAX;
	cursor->segments = ring_segments(ring);
	cursor_configure(cursor, config);
	return cursor;
}

int cursor_open_recording(struct cursor **out, const struct replay_config *config, char **file)
{
	struct cursor *cursor = open_empty();
	struct position last;
	int err = replay_begin(&cursor->replay, config);

	cursor->segments = &cursor->replay.files;
	if (!err)
		err = segment_list(cursor->segments->list[cursor->replay.file]);
	if (!err && !cursor_last(cursor, &last))
		err = -ENODATA;
	if (err) {
		*file = xstrdup(err == -ENODATA || err == -EINVAL ? config->path
								  : replay_file(&cursor->replay));
		cursor_close(cursor);
		return err;
	}
	*out = cursor;
	return 0;
}

void cursor_close(struct cursor *cursor)
{
	if (!cursor)
		return;
	cursor_leave(cursor);
	cursor_forget_shown(cursor);
	segment_reader_free(&cursor->replay.reader);
	segments_free(&cursor->replay.files);
	free(cursor->replay.group);
	free(cursor);
}

void cursor_walk(struct cursor *cursor, const struct position *positions, size_t n,
		 void (*take)(void *arg, size_t i, const struct frame *frame), void *arg)
{
	const struct frame *frame;
	struct cursor *other;

	if (!n)
		return;
	other = open_empty();
	other->segments = cursor->segments;
	other->replay.threads = cursor->replay.threads;
	other->replay.config.pids = cursor->replay.config.pids;
	other->replay.config.npids = cursor->replay.config.npids;
	other->config = cursor->config;
	other->config.since_start = false;
	/* The latest comes first, and is read last. */
	for (size_t i = n; i-- > 0;) {
		struct position before = positions[i];

		if (step_back(other, &before) && !cursor_show(other, &positions[i], &frame))
			take(arg, i, frame);
		cursor_forget_shown(other);
	}
	cursor_close(other);
}
