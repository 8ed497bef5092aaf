/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/record.h"

struct past {
	struct replay replay; /* reads moments; its rows: those that are wanted */
	struct segment_list *segments; /* its files, or what is kept in memory */
	struct sampler_config config;
	struct playback playback;
	struct sampler *sampler, *former; /* former: the one shown before; NULL: none */
	struct record_state *former_state; /* what its frames point into */
	bool current; /* the sampler's last frame is the one that is shown */
	/* While a frame is made: the next moment to read, and the last one. */
	struct position reading, target;
	struct position shown; /* what is shown; its segment is pinned, NULL: nothing */
};

/* Returns the index of a segment; if it is not in the list, the length of the list. */
static size_t segment_index(const struct past *past, const struct segment *segment)
{
	size_t i = 0;

	while (i < past->segments->n && past->segments->list[i] != segment)
		i++;
	return i;
}

/* Whether a segment has moments with the wanted rows: threads, or processes. */
static bool is_usable(const struct past *past, struct segment *segment)
{
	return (segment->listed || !segment_list(segment)) && segment->n &&
	       segment->threads == past->replay.threads;
}

/* Moves to the next moment, whether it can be shown or not. False: there is none. */
static bool step_on(const struct past *past, struct position *position)
{
	size_t i = segment_index(past, position->segment);

	if (position->at + 1 < position->segment->n) {
		position->at++;
		return true;
	}
	while (++i < past->segments->n)
		if (is_usable(past, past->segments->list[i])) {
			*position = (struct position){ past->segments->list[i], 0 };
			return true;
		}
	return false;
}

/* Moves to the moment before, whether it can be shown or not. False: there is none. */
static bool step_back(const struct past *past, struct position *position)
{
	size_t i = segment_index(past, position->segment);

	if (position->at) {
		position->at--;
		return true;
	}
	/* What came right before has been removed. */
	if (position->segment->torn)
		return false;
	while (i-- > 0) {
		struct segment *segment = past->segments->list[i];

		if (is_usable(past, segment)) {
			*position = (struct position){ segment, segment->n - 1 };
			return true;
		}
	}
	return false;
}

/* Whether enough time lies between two moments; the same rule as is_due() of replay.c. */
static bool is_far_enough(const struct past *past, const struct position *from,
			  const struct position *to)
{
	uint64_t a = position_entry(from)->real_ns, b = position_entry(to)->real_ns;

	return !position_entry(to)->interval_ns || b < a ||
	       b + position_entry(to)->interval_ns / 2 >= a + past->replay.config.interval_ns;
}

/* Finds the moment with which the interval of another begins. False: there is none. */
static bool find_begin(const struct past *past, const struct position *position,
		       struct position *begin)
{
	*begin = *position;
	while (step_back(past, begin))
		if (is_far_enough(past, begin, position))
			return true;
	return begin->segment != position->segment || begin->at != position->at;
}

/* Whether a moment is in the part of the recording that is to be shown. */
static bool is_in_part(const struct past *past, const struct position *position)
{
	const struct record_entry *entry = position_entry(position);

	return !position->segment->early && position->at >= position->segment->early_to &&
	       entry->real_ns >= past->replay.from_ns && entry->real_ns <= past->replay.to_ns;
}

/* Whether a moment can be shown: it has an interval, and the moment before it is there. */
static bool can_be_shown(const struct past *past, const struct position *position)
{
	struct position before = *position;

	return position_entry(position)->interval_ns && is_in_part(past, position) &&
	       step_back(past, &before);
}

/* Finds the very first moment, which may have no interval. False: there is none. */
static bool find_very_first(const struct past *past, struct position *position)
{
	for (size_t i = 0; i < past->segments->n; i++) {
		*position = (struct position){ past->segments->list[i], 0 };
		if (is_usable(past, position->segment))
			return true;
	}
	return false;
}

/*
 * Finds the first moment that can be shown; if there is none, the very first, without interval.
 * False: there is no moment.
 */
bool past_first(struct past *past, struct position *position)
{
	if (!find_very_first(past, position))
		return false;
	return can_be_shown(past, position) || past_next(past, position) ||
	       is_in_part(past, position);
}

bool past_last(struct past *past, struct position *position)
{
	for (size_t i = past->segments->n; i-- > 0;) {
		struct segment *segment = past->segments->list[i];

		if (!is_usable(past, segment))
			continue;
		*position = (struct position){ segment, segment->n - 1 };
		return can_be_shown(past, position) || past_before(past, position) ||
		       past_first(past, position);
	}
	return false;
}

bool past_next(struct past *past, struct position *position)
{
	struct position at = *position;

	while (step_on(past, &at))
		if (can_be_shown(past, &at) && is_far_enough(past, position, &at)) {
			*position = at;
			return true;
		}
	return false;
}

bool past_before(struct past *past, struct position *position)
{
	struct position at = *position;

	while (step_back(past, &at))
		if (can_be_shown(past, &at) && is_far_enough(past, &at, position)) {
			*position = at;
			return true;
		}
	/* Before the gap there may be more moments. */
	for (size_t i = segment_index(past, at.segment); i-- > 0;) {
		struct segment *segment = past->segments->list[i];

		if (!is_usable(past, segment))
			continue;
		at = (struct position){ segment, segment->n - 1 };
		if (!can_be_shown(past, &at))
			continue;
		*position = at;
		return true;
	}
	return false;
}

/*
 * Finds the moment of a segment with the latest time up to a time, if it is later than the one that
 * was found: times fall where the clock was set back. Returns how often the time is in the segment.
 */
static unsigned find_time(const struct past *past, struct segment *segment, uint64_t real_ns,
			  struct position *found)
{
	unsigned times = 0;

	for (size_t at = 0; at < segment->n; at++) {
		struct position position = { segment, at };
		uint64_t time = segment->entries[at].real_ns;

		if (time > real_ns)
			continue;
		times += at + 1 < segment->n && segment->entries[at + 1].real_ns > real_ns;
		if (can_be_shown(past, &position) &&
		    (!found->segment || time > position_entry(found)->real_ns ||
		     (found->segment == segment && time == position_entry(found)->real_ns)))
			*found = position;
	}
	return times;
}

bool past_find(struct past *past, uint64_t real_ns, struct position *position, bool *again)
{
	struct position found = { 0 };
	unsigned times = 0;

	for (size_t i = past->segments->n; i-- > 0;) {
		struct segment *segment = past->segments->list[i];

		if (found.segment &&
		    segments_before(past->segments, i, position_entry(&found)->real_ns))
			continue;
		if (is_usable(past, segment))
			times += find_time(past, segment, real_ns, &found);
	}
	*again = times > 1;
	if (!found.segment)
		return past_first(past, position);
	*position = found;
	return true;
}

uint64_t past_latest(const struct past *past)
{
	uint64_t latest = past->replay.latest_ns;

	for (size_t i = 0; i < past->segments->n; i++) {
		const struct segment *segment = past->segments->list[i];

		for (size_t at = 0; !segment->path && at < segment->n; at++)
			if (segment->entries[at].real_ns > latest)
				latest = segment->entries[at].real_ns;
	}
	return latest;
}

/* Whether two positions are the same. */
static bool is_same(const struct position *a, const struct position *b)
{
	return a->segment == b->segment && a->at == b->at;
}

/* Implements struct playback. */
static int next_of_past(void *state, struct sample *prev, struct sample *cur,
			struct playback_moment *moment)
{
	struct past *past = state;
	int err;

	for (;;) {
		bool last = is_same(&past->reading, &past->target);

		err = segment_read(&past->replay.reader, past->reading.segment, past->reading.at);
		if (err)
			return err;
		if (last)
			break;
		if (!step_on(past, &past->reading))
			return -ENODATA;
	}
	record_give(past->replay.reader.state, prev, cur, past->replay.config.pids,
		    past->replay.config.npids, moment);
	return 0;
}

/* Implements struct playback. */
static void give_past_group(void *state, const char *path, const struct cgroup_sample **now,
			    const struct cgroup_sample **before)
{
	const struct past *past = state;

	record_group(past->replay.reader.state, path, now, before);
}

/* Reads the records before one that it builds on, from the last key record on. 0 or -errno. */
static int read_up_to(struct past *past, const struct position *position)
{
	int err = 0;

	past->reading = *position;
	if (!position->at || position_entry(position)->key)
		return 0;
	err = segment_go(&past->replay.reader, position->segment, position->at - 1);
	if (!err)
		record_pass(past->replay.reader.state);
	return err;
}

/* Keeps the sampler as the former one if its frame is shown; else frees it. */
static void set_aside(struct past *past)
{
	if (past->current) {
		past_forget_shown(past);
		past->former = past->sampler;
		past->former_state = past->replay.reader.state;
	} else {
		sampler_close(past->sampler);
		record_close(past->replay.reader.state);
	}
	past->sampler = NULL;
	past->replay.reader.state = NULL;
	past->replay.reader.segment = 0;
	past->current = false;
}

/* Opens a new sampler. 0 or -errno. */
static int open_anew(struct past *past)
{
	set_aside(past);
	past->config.playback = &past->playback;
	past->config.threads = past->playback.threads = past->replay.threads;
	return sampler_open(&past->sampler, &past->config);
}

/* Makes the frame with which a moment's interval begins, unless that is shown. 0 or -errno. */
static int show_begin(struct past *past, const struct position *position)
{
	const struct frame *frame;
	struct position begin;
	bool there = find_begin(past, position, &begin);
	int err;

	if (there && past->current && is_same(&begin, &past->shown)) {
		past->reading = begin;
		return step_on(past, &past->reading) ? 0 : -ENODATA;
	}
	err = open_anew(past);
	if (!err)
		err = read_up_to(past, there ? &begin : position);
	if (err || !there)
		return err;
	past->target = begin;
	err = sampler_tick(past->sampler, 0, &frame);
	if (!err && !step_on(past, &past->reading))
		err = -ENODATA;
	return err;
}

/* Pins the segment that is shown now, and releases the one before. */
static void pin(struct past *past, const struct position *position)
{
	struct segment *before = past->shown.segment;

	position->segment->pins++;
	if (before)
		before->pins--;
	past->shown = *position;
	/* Keeps only these two segments open. */
	for (size_t i = 0; i < past->segments->n; i++) {
		struct segment *segment = past->segments->list[i];

		if (segment != position->segment && segment != before)
			segment_shut(segment);
	}
}

int past_show(struct past *past, const struct position *position, const struct frame **frame)
{
	struct position wanted = *position;
	int err;

	wanted.segment->pins++;
	err = show_begin(past, &wanted);
	past->target = wanted;
	if (!err)
		err = sampler_tick(past->sampler, 0, frame);
	wanted.segment->pins--;
	if (err) {
		past_leave(past);
		return err;
	}
	past->current = true;
	pin(past, &wanted);
	return 0;
}

bool past_shown(const struct past *past, struct position *position)
{
	*position = past->shown;
	return past->shown.segment;
}

struct sampler *past_sampler(const struct past *past)
{
	return past->sampler;
}

void past_forget_shown(struct past *past)
{
	sampler_close(past->former);
	record_close(past->former_state);
	past->former = NULL;
	past->former_state = NULL;
}

void past_leave(struct past *past)
{
	set_aside(past);
	if (past->shown.segment)
		past->shown.segment->pins--;
	past->shown = (struct position){ 0 };
}

size_t past_moments(const struct past *past)
{
	size_t n = 0;

	for (size_t i = 0; i < past->segments->n; i++)
		n += past->segments->list[i]->n;
	return n;
}

size_t past_around(struct past *past, const struct position *position, struct position *positions,
		   size_t n, size_t *at)
{
	struct position earlier = *position, later = *position;
	size_t before = 0, after = 0;

	/* Takes the same number on both sides; if one has too few, the other gets the rest. */
	while (before < n / 2 && past_before(past, &earlier))
		before++;
	while (before + after + 1 < n && past_next(past, &later))
		after++;
	while (before + after + 1 < n && past_before(past, &earlier))
		before++;
	*at = before;
	positions[0] = earlier;
	for (size_t i = 1; i < before + after + 1; i++) {
		positions[i] = positions[i - 1];
		past_next(past, &positions[i]);
	}
	return before + after + 1;
}

size_t past_earlier(struct past *past, uint64_t real_ns, struct position *positions, size_t n)
{
	struct position position;
	size_t found = 0;

	if (!n || !past_shown(past, &position)) {
		if (!n || !past_last(past, &position))
			return 0;
	}
	/* The moment that is shown may be at that time, or after it. */
	while (position_entry(&position)->real_ns >= real_ns)
		if (!past_before(past, &position))
			return 0;
	do
		positions[found++] = position;
	while (found < n && past_before(past, &position));
	return found;
}

bool past_threads(const struct past *past)
{
	return past->replay.threads;
}

const char *past_group(const struct past *past)
{
	return replay_group(&past->replay);
}

void past_want_threads(struct past *past, bool threads)
{
	past->replay.threads = threads;
}

void past_configure(struct past *past, const struct sampler_config *config)
{
	past->config = *config;
}

/* Opens a past without moments. */
static struct past *open_empty(void)
{
	struct past *past = xcalloc(1, sizeof(*past));

	past->playback =
		(struct playback){ .state = past, .next = next_of_past, .group = give_past_group };
	return past;
}

struct past *past_open(struct ring *ring, const struct sampler_config *config)
{
	struct past *past = open_empty();

	past->replay.to_ns = UINT64_MAX;
	past->segments = ring_segments(ring);
	past_configure(past, config);
	return past;
}

int past_open_recording(struct past **out, const struct replay_config *config, char **file)
{
	struct past *past = open_empty();
	struct position last;
	int err = replay_begin(&past->replay, config);

	past->segments = &past->replay.files;
	if (!err)
		err = segment_list(past->segments->list[past->replay.file]);
	if (!err && !past_last(past, &last))
		err = -ENODATA;
	if (err) {
		*file = xstrdup(err == -ENODATA || err == -EINVAL ? config->path
								  : replay_file(&past->replay));
		past_close(past);
		return err;
	}
	*out = past;
	return 0;
}

void past_close(struct past *past)
{
	if (!past)
		return;
	past_leave(past);
	past_forget_shown(past);
	segment_reader_free(&past->replay.reader);
	segments_free(&past->replay.files);
	free(past->replay.group);
	free(past);
}

void past_walk(struct past *past, const struct position *positions, size_t n,
	       void (*take)(void *arg, size_t i, const struct frame *frame), void *arg)
{
	const struct frame *frame;
	struct past *other;

	if (!n)
		return;
	other = open_empty();
	other->segments = past->segments;
	other->replay.threads = past->replay.threads;
	other->replay.config.pids = past->replay.config.pids;
	other->replay.config.npids = past->replay.config.npids;
	other->config = past->config;
	other->config.since_start = false;
	/* The latest comes first, and is read last. */
	for (size_t i = n; i-- > 0;) {
		struct position before = positions[i];

		if (step_back(other, &before) && !past_show(other, &positions[i], &frame))
			take(arg, i, frame);
		past_forget_shown(other);
	}
	past_close(other);
}
