/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/rebuild.h"

struct past {
	struct replay replay; /* reads moments; its rows: those that are wanted */
	struct stretches *stretches; /* its files, or what is kept in memory */
	struct sampler_config config;
	struct playback playback;
	struct sampler *sampler, *former; /* former: the one shown before; NULL: none */
	struct rebuild *former_rebuild; /* what its frames point into */
	bool current; /* the sampler's last frame is the one that is shown */
	/* While a frame is made: the next moment to read, and the last one. */
	struct position reading, target;
	struct position shown; /* what is shown; its stretch is pinned, NULL: nothing */
};

/* Returns the index of a stretch; if it is not in the list, the length of the list. */
static size_t stretch_index(const struct past *past, const struct stretch *stretch)
{
	size_t i = 0;

	while (i < past->stretches->n && past->stretches->list[i] != stretch)
		i++;
	return i;
}

/* Whether a stretch has moments with the wanted rows: threads, or processes. */
static bool is_usable(const struct past *past, struct stretch *stretch)
{
	return !stretch_list(stretch) && stretch->n && stretch->threads == past->replay.threads;
}

/* Moves to the next moment, whether it can be shown or not. False: there is none. */
static bool step_on(const struct past *past, struct position *position)
{
	size_t i = stretch_index(past, position->stretch);

	if (position->at + 1 < position->stretch->n) {
		position->at++;
		return true;
	}
	while (++i < past->stretches->n)
		if (is_usable(past, past->stretches->list[i])) {
			*position = (struct position){ past->stretches->list[i], 0 };
			return true;
		}
	return false;
}

/* Moves to the moment before, whether it can be shown or not. False: there is none. */
static bool step_back(const struct past *past, struct position *position)
{
	size_t i = stretch_index(past, position->stretch);

	if (position->at) {
		position->at--;
		return true;
	}
	/* What came right before has been removed. */
	if (position->stretch->torn)
		return false;
	while (i-- > 0) {
		struct stretch *stretch = past->stretches->list[i];

		if (is_usable(past, stretch)) {
			*position = (struct position){ stretch, stretch->n - 1 };
			return true;
		}
	}
	return false;
}

/* Whether enough time lies between two moments; the same rule as is_due() of replay.c. */
static bool is_far_enough(const struct past *past, const struct position *from,
			  const struct position *to)
{
	uint64_t a = position_outline(from)->real_ns, b = position_outline(to)->real_ns;

	return !position_outline(to)->interval_ns || b < a ||
	       b + position_outline(to)->interval_ns / 2 >= a + past->replay.config.interval_ns;
}

/* Finds the moment with which the interval of another begins. False: there is none. */
static bool find_begin(const struct past *past, const struct position *position,
		       struct position *begin)
{
	*begin = *position;
	while (step_back(past, begin))
		if (is_far_enough(past, begin, position))
			return true;
	return begin->stretch != position->stretch || begin->at != position->at;
}

/* Whether a moment is in the part of the recording that is to be shown. */
static bool is_in_part(const struct past *past, const struct position *position)
{
	const struct outline *outline = position_outline(position);

	return !position->stretch->early && outline->number > position->stretch->early_to &&
	       outline->real_ns >= past->replay.from_ns && outline->real_ns <= past->replay.to_ns;
}

/* Whether a moment can be shown: it has an interval, and the moment before it is there. */
static bool can_be_shown(const struct past *past, const struct position *position)
{
	struct position before = *position;

	return position_outline(position)->interval_ns && is_in_part(past, position) &&
	       step_back(past, &before);
}

/* Finds the very first moment, which may have no interval. False: there is none. */
static bool find_very_first(const struct past *past, struct position *position)
{
	for (size_t i = 0; i < past->stretches->n; i++) {
		*position = (struct position){ past->stretches->list[i], 0 };
		if (is_usable(past, position->stretch))
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
	for (size_t i = past->stretches->n; i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (!is_usable(past, stretch))
			continue;
		*position = (struct position){ stretch, stretch->n - 1 };
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
	for (size_t i = stretch_index(past, at.stretch); i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (!is_usable(past, stretch))
			continue;
		at = (struct position){ stretch, stretch->n - 1 };
		if (!can_be_shown(past, &at))
			continue;
		*position = at;
		return true;
	}
	return false;
}

/*
 * Finds the moment of a stretch with the latest time up to a time, if it is later than the one that
 * was found: times fall where the clock was set back. Returns how often the time is in the stretch.
 */
static unsigned find_time(const struct past *past, struct stretch *stretch, uint64_t real_ns,
			  struct position *found)
{
	unsigned times = 0;

	for (size_t at = 0; at < stretch->n; at++) {
		struct position position = { stretch, at };
		uint64_t time = stretch->outlines[at].real_ns;

		if (time > real_ns)
			continue;
		times += at + 1 < stretch->n && stretch->outlines[at + 1].real_ns > real_ns;
		if (can_be_shown(past, &position) &&
		    (!found->stretch || time > position_outline(found)->real_ns ||
		     (found->stretch == stretch && time == position_outline(found)->real_ns)))
			*found = position;
	}
	return times;
}

bool past_find(struct past *past, uint64_t real_ns, struct position *position, bool *again)
{
	struct position found = { 0 };
	unsigned times = 0;

	for (size_t i = past->stretches->n; i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (found.stretch &&
		    stretches_before(past->stretches, i, position_outline(&found)->real_ns))
			continue;
		if (is_usable(past, stretch))
			times += find_time(past, stretch, real_ns, &found);
	}
	*again = times > 1;
	if (!found.stretch)
		return past_first(past, position);
	*position = found;
	return true;
}

uint64_t past_latest(const struct past *past)
{
	uint64_t latest = past->replay.latest_ns;

	for (size_t i = 0; i < past->stretches->n; i++) {
		const struct stretch *stretch = past->stretches->list[i];

		for (size_t at = 0; !stretch->path && at < stretch->n; at++)
			if (stretch->outlines[at].real_ns > latest)
				latest = stretch->outlines[at].real_ns;
	}
	return latest;
}

/* Whether two positions are the same. */
static bool is_same(const struct position *a, const struct position *b)
{
	return a->stretch == b->stretch && a->at == b->at;
}

/* Implements struct playback. */
static int next_of_past(void *state, struct sample *prev, struct sample *cur,
			struct playback_moment *moment)
{
	struct past *past = state;
	int err;

	for (;;) {
		bool last = is_same(&past->reading, &past->target);

		err = replay_read(&past->replay, past->reading.stretch,
				  position_outline(&past->reading)->number);
		if (err)
			return err;
		if (last)
			break;
		if (!step_on(past, &past->reading))
			return -ENODATA;
	}
	rebuild_give(past->replay.rebuild, prev, cur, past->replay.config.pids,
		     past->replay.config.npids, moment);
	return 0;
}

/* Implements struct playback. */
static void give_past_group(void *state, const char *path, const struct cgroup_sample **now,
			    const struct cgroup_sample **before)
{
	const struct past *past = state;

	rebuild_group(past->replay.rebuild, path, now, before);
}

/* Reads the moments before one that it builds on, from the last whole one on. 0 or -errno. */
static int read_up_to(struct past *past, const struct position *position)
{
	struct stretch *stretch = position->stretch;
	int64_t number = position_outline(position)->number, whole;
	int err = stretch_open(stretch);

	if (err)
		return err;
	whole = archive_whole(&stretch->archive, number);
	number = replay_read_up_to(&past->replay, stretch,
				   whole ? whole : stretch->outlines[0].number, number);
	past->reading = *position;
	return number < 0 ? (int)number : 0;
}

/* Frees a rebuild, which a sampler's frames point into. */
static void free_rebuild(struct rebuild *rebuild)
{
	if (rebuild)
		rebuild_free(rebuild);
	free(rebuild);
}

/* Keeps the sampler as the former one if its frame is shown; else frees it. */
static void set_aside(struct past *past)
{
	if (past->current) {
		past_forget_shown(past);
		past->former = past->sampler;
		past->former_rebuild = past->replay.rebuild;
	} else {
		sampler_close(past->sampler);
		free_rebuild(past->replay.rebuild);
	}
	past->sampler = NULL;
	past->replay.rebuild = NULL;
	past->replay.read = NULL;
	past->current = false;
}

/* Opens a new sampler. 0 or -errno. */
static int open_anew(struct past *past)
{
	set_aside(past);
	past->replay.rebuild = xcalloc(1, sizeof(*past->replay.rebuild));
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

/* Pins the stretch that is shown now, and releases the one before. */
static void pin(struct past *past, const struct position *position)
{
	struct stretch *before = past->shown.stretch;

	position->stretch->pins++;
	if (before)
		before->pins--;
	past->shown = *position;
	/* Keeps only these two stretches open. */
	for (size_t i = 0; i < past->stretches->n; i++) {
		struct stretch *stretch = past->stretches->list[i];

		if (stretch != position->stretch && stretch != before)
			stretch_shut(stretch);
	}
}

int past_show(struct past *past, const struct position *position, const struct frame **frame)
{
	struct position wanted = *position;
	int err;

	wanted.stretch->pins++;
	err = show_begin(past, &wanted);
	past->target = wanted;
	if (!err)
		err = sampler_tick(past->sampler, 0, frame);
	wanted.stretch->pins--;
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
	return past->shown.stretch;
}

struct sampler *past_sampler(const struct past *past)
{
	return past->sampler;
}

void past_forget_shown(struct past *past)
{
	sampler_close(past->former);
	free_rebuild(past->former_rebuild);
	past->former = NULL;
	past->former_rebuild = NULL;
}

void past_leave(struct past *past)
{
	set_aside(past);
	if (past->shown.stretch)
		past->shown.stretch->pins--;
	past->shown = (struct position){ 0 };
}

size_t past_moments(const struct past *past)
{
	size_t n = 0;

	for (size_t i = 0; i < past->stretches->n; i++)
		n += past->stretches->list[i]->n;
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

struct past *past_open(struct lookback *lookback, const struct sampler_config *config)
{
	struct past *past = open_empty();

	past->replay.to_ns = UINT64_MAX;
	past->stretches = lookback_stretches(lookback);
	past_configure(past, config);
	return past;
}

int past_open_recording(struct past **out, const struct replay_config *config, char **file)
{
	struct past *past = open_empty();
	struct position last;
	int err = replay_begin(&past->replay, config);

	past->stretches = &past->replay.files;
	if (!err)
		err = stretch_list(past->stretches->list[past->replay.file]);
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
	stretches_free(&past->replay.files);
	free(past->replay.group);
	free(past);
}
