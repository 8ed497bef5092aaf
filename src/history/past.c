/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/rebuild.h"

struct past {
	struct stretches own, *stretches; /* own: files of a recording */
	bool threads; /* rows are to be threads */
	uint64_t from_ns, to_ns, interval_ns;
	const pid_t *pids;
	size_t npids;
	struct sampler_config config;
	struct playback playback;
	struct sampler *sampler, *former; /* NULL: none */
	struct rebuild *rebuild, *former_rebuild; /* what their frames point into */
	bool current; /* the sampler's last frame is what is shown */
	struct stretch *turned; /* whose numbers the rebuild knows */
	/* While a frame is made: the next moment to be read, and the last. */
	struct spot reading, target;
	struct spot shown; /* its stretch is pinned; NULL: nothing is shown */
};

/* The index of a stretch; the number of stretches where it is none of them. */
static size_t stretch_index(const struct past *past, const struct stretch *stretch)
{
	size_t i = 0;

	while (i < past->stretches->n && past->stretches->list[i] != stretch)
		i++;
	return i;
}

/* Whether a stretch has moments of the rows that are wanted. */
static bool is_usable(const struct past *past, struct stretch *stretch)
{
	return !stretch_list(stretch) && stretch->n && stretch->threads == past->threads;
}

/* The next moment, whether it can be shown or not. */
static bool step_on(const struct past *past, struct spot *place)
{
	size_t i = stretch_index(past, place->stretch);

	if (place->at + 1 < place->stretch->n) {
		place->at++;
		return true;
	}
	while (++i < past->stretches->n)
		if (is_usable(past, past->stretches->list[i])) {
			*place = (struct spot){ past->stretches->list[i], 0 };
			return true;
		}
	return false;
}

/* The moment before. */
static bool step_back(const struct past *past, struct spot *place)
{
	size_t i = stretch_index(past, place->stretch);

	if (place->at) {
		place->at--;
		return true;
	}
	/* What came right before is not there. */
	if (place->stretch->torn)
		return false;
	while (i-- > 0) {
		struct stretch *stretch = past->stretches->list[i];

		if (is_usable(past, stretch)) {
			*place = (struct spot){ stretch, stretch->n - 1 };
			return true;
		}
	}
	return false;
}

/* Whether enough time has passed between two moments; as is_due() of a replay. */
static bool is_far_enough(const struct past *past, const struct spot *from, const struct spot *to)
{
	uint64_t a = spot_point(from)->real_ns, b = spot_point(to)->real_ns;

	return !spot_point(to)->interval_ns || b < a ||
	       b + spot_point(to)->interval_ns / 2 >= a + past->interval_ns;
}

/* The moment with which the interval of another begins. False: there is none. */
static bool begin_of(const struct past *past, const struct spot *place, struct spot *begin)
{
	*begin = *place;
	while (step_back(past, begin))
		if (is_far_enough(past, begin, place))
			return true;
	return begin->stretch != place->stretch || begin->at != place->at;
}

/* Whether a moment lies in the part of a recording that is shown. */
static bool is_in_part(const struct past *past, const struct spot *place)
{
	const struct point *point = spot_point(place);

	return point->real_ns >= past->from_ns && point->real_ns <= past->to_ns;
}

/* Whether a moment can be shown: it has an interval, of which the beginning is there, too. */
static bool can_be_shown(const struct past *past, const struct spot *place)
{
	struct spot before = *place;

	return spot_point(place)->interval_ns && is_in_part(past, place) &&
	       step_back(past, &before);
}

/* The first moment of all, which may have no interval. False: there is none. */
static bool very_first(const struct past *past, struct spot *place)
{
	for (size_t i = 0; i < past->stretches->n; i++) {
		*place = (struct spot){ past->stretches->list[i], 0 };
		if (is_usable(past, place->stretch))
			return true;
	}
	return false;
}

/* The first moment that can be shown; if none can, the first of all, without its interval. */
static bool first_shown(struct past *past, struct spot *place)
{
	if (!very_first(past, place))
		return false;
	return can_be_shown(past, place) || past_next(past, place) || is_in_part(past, place);
}

bool past_first(struct past *past, struct spot *place)
{
	return past->from_ns ? past_find(past, past->from_ns, place) : first_shown(past, place);
}

bool past_last(struct past *past, struct spot *place)
{
	for (size_t i = past->stretches->n; i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (!is_usable(past, stretch))
			continue;
		*place = (struct spot){ stretch, stretch->n - 1 };
		return can_be_shown(past, place) || past_before(past, place) ||
		       first_shown(past, place);
	}
	return false;
}

bool past_next(struct past *past, struct spot *place)
{
	struct spot at = *place;

	while (step_on(past, &at))
		if (can_be_shown(past, &at) && is_far_enough(past, place, &at)) {
			*place = at;
			return true;
		}
	return false;
}

bool past_before(struct past *past, struct spot *place)
{
	struct spot at = *place;

	while (step_back(past, &at))
		if (can_be_shown(past, &at) && is_far_enough(past, &at, place)) {
			*place = at;
			return true;
		}
	/* Beyond what is torn off there may be more. */
	for (size_t i = stretch_index(past, at.stretch); i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (!is_usable(past, stretch))
			continue;
		at = (struct spot){ stretch, stretch->n - 1 };
		if (!can_be_shown(past, &at))
			continue;
		*place = at;
		return true;
	}
	return false;
}

/* The index of the last point up to that time; 0 where all are later. */
static size_t find_time(const struct stretch *stretch, uint64_t real_ns)
{
	size_t at;

	/* Times go on but where the clock was set back. */
	LOWER_BOUND(at, stretch->n, stretch->points[at].real_ns <= real_ns);
	return at ? at - 1 : 0;
}

bool past_find(struct past *past, uint64_t real_ns, struct spot *place)
{
	for (size_t i = past->stretches->n; i-- > 0;) {
		struct stretch *stretch = past->stretches->list[i];

		if (!is_usable(past, stretch))
			continue;
		*place = (struct spot){ stretch, find_time(stretch, real_ns) };
		if (spot_point(place)->real_ns > real_ns)
			continue;
		if (can_be_shown(past, place))
			return true;
		break;
	}
	/* The time lies before all. */
	return first_shown(past, place);
}

/* Reads one moment. 0 or -errno. */
static int read_place(struct past *past, const struct spot *place)
{
	int err = stretch_open(place->stretch);

	if (err)
		return err;
	if (past->turned != place->stretch)
		rebuild_turn(past->rebuild);
	past->turned = place->stretch;
	return rebuild_take(past->rebuild, &place->stretch->archive, spot_point(place)->number);
}

/* Whether two places are the same. */
static bool is_same(const struct spot *a, const struct spot *b)
{
	return a->stretch == b->stretch && a->at == b->at;
}

/* See struct playback. */
static int next_of_past(void *state, struct sample *prev, struct sample *cur,
			struct playback_moment *moment)
{
	struct past *past = state;
	int err;

	for (;;) {
		bool last = is_same(&past->reading, &past->target);

		err = read_place(past, &past->reading);
		if (err)
			return err;
		if (last)
			break;
		if (!step_on(past, &past->reading))
			return -ENODATA;
	}
	rebuild_give(past->rebuild, prev, cur, past->pids, past->npids, moment);
	return 0;
}

/* See struct playback. */
static void give_past_group(void *state, const char *path, const struct cgroup_sample **now,
			    const struct cgroup_sample **before)
{
	const struct past *past = state;

	rebuild_group(past->rebuild, path, now, before);
}

/* The last moment, up to a place of its stretch, that stands for itself. */
static size_t find_whole(struct past *past, const struct spot *place)
{
	struct stretch *stretch = place->stretch;
	int64_t number = stretch_open(stretch)
				 ? 0
				 : archive_whole(&stretch->archive, spot_point(place)->number);
	size_t at = place->at;

	(void)past;
	while (at && stretch->points[at].number > number)
		at--;
	return at;
}

/* Reads what must be known before a moment. 0 or -errno. */
static int read_up_to(struct past *past, const struct spot *place)
{
	struct spot at = { place->stretch, find_whole(past, place) };
	int err = 0;

	for (; at.at < place->at && !err; at.at++) {
		err = read_place(past, &at);
		past->rebuild->passed = 0;
	}
	past->reading = at;
	return err;
}

/* Frees what a sampler's frames point into. */
static void free_rebuild(struct rebuild *rebuild)
{
	if (rebuild)
		rebuild_free(rebuild);
	free(rebuild);
}

/* Puts the sampler aside if its frame is shown, else frees it. */
static void set_aside(struct past *past)
{
	if (past->current) {
		past_forget_shown(past);
		past->former = past->sampler;
		past->former_rebuild = past->rebuild;
	} else {
		sampler_close(past->sampler);
		free_rebuild(past->rebuild);
	}
	past->sampler = NULL;
	past->rebuild = NULL;
	past->turned = NULL;
	past->current = false;
}

/* Opens a sampler that begins anew. 0 or -errno. */
static int open_anew(struct past *past)
{
	set_aside(past);
	past->rebuild = xcalloc(1, sizeof(*past->rebuild));
	past->config.playback = &past->playback;
	past->config.threads = past->playback.threads = past->threads;
	return sampler_open(&past->sampler, &past->config);
}

/* Makes the frame with which an interval begins, unless that is shown. 0 or -errno. */
static int show_begin(struct past *past, const struct spot *place)
{
	const struct frame *frame;
	struct spot begin;
	bool there = begin_of(past, place, &begin);
	int err;

	if (there && past->current && is_same(&begin, &past->shown)) {
		past->reading = begin;
		return step_on(past, &past->reading) ? 0 : -ENODATA;
	}
	err = open_anew(past);
	if (!err)
		err = read_up_to(past, there ? &begin : place);
	if (err || !there)
		return err;
	past->target = begin;
	err = sampler_tick(past->sampler, 0, &frame);
	if (!err && !step_on(past, &past->reading))
		err = -ENODATA;
	return err;
}

/* Pins what is shown now, and no longer what was. */
static void pin(struct past *past, const struct spot *place)
{
	struct stretch *before = past->shown.stretch;

	place->stretch->pins++;
	if (before)
		before->pins--;
	past->shown = *place;
	/* One or two are open at a time. */
	for (size_t i = 0; i < past->stretches->n; i++) {
		struct stretch *stretch = past->stretches->list[i];

		if (stretch != place->stretch && stretch != before)
			stretch_shut(stretch);
	}
}

int past_show(struct past *past, const struct spot *place, const struct frame **frame)
{
	struct spot wanted = *place;
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

bool past_shown(const struct past *past, struct spot *place)
{
	*place = past->shown;
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
	past->shown = (struct spot){ 0 };
}

size_t past_moments(const struct past *past)
{
	size_t n = 0;

	for (size_t i = 0; i < past->stretches->n; i++)
		n += past->stretches->list[i]->n;
	return n;
}

size_t past_around(struct past *past, const struct spot *place, struct spot *places, size_t n,
		   size_t *at)
{
	struct spot earlier = *place, later = *place;
	size_t before = 0, after = 0;

	/* As much on both sides as there is; then the earlier side takes what room is left. */
	while (before < n / 2 && past_before(past, &earlier))
		before++;
	while (before + after + 1 < n && past_next(past, &later))
		after++;
	while (before + after + 1 < n && past_before(past, &earlier))
		before++;
	*at = before;
	places[0] = earlier;
	for (size_t i = 1; i < before + after + 1; i++) {
		places[i] = places[i - 1];
		past_next(past, &places[i]);
	}
	return before + after + 1;
}

bool past_threads(const struct past *past)
{
	return past->threads;
}

void past_want_threads(struct past *past, bool threads)
{
	past->threads = threads;
}

void past_configure(struct past *past, const struct sampler_config *config)
{
	past->config = *config;
}

/* Opens one without moments. */
static struct past *open_empty(void)
{
	struct past *past = xcalloc(1, sizeof(*past));

	past->stretches = &past->own;
	past->to_ns = UINT64_MAX;
	past->playback =
		(struct playback){ .state = past, .next = next_of_past, .group = give_past_group };
	return past;
}

struct past *past_open(struct lookback *lookback, const struct sampler_config *config)
{
	struct past *past = open_empty();

	past->stretches = lookback_stretches(lookback);
	past_configure(past, config);
	return past;
}

/* Takes the limits of what is shown of a recording. 0 or -errno. */
static int take_limits(struct past *past, const struct replay_config *config, struct spot *last)
{
	uint64_t end_ns;
	struct stretch *stretch = NULL;
	int err = 0;

	for (size_t i = past->own.n; i-- > 0 && !err && !(stretch && stretch->n);) {
		stretch = past->own.list[i];
		err = stretch_open(stretch);
	}
	if (err)
		*last = (struct spot){ stretch, 0 };
	if (err)
		return err;
	if (!stretch || !stretch->n)
		return -ENODATA;
	past->threads = stretch->threads;
	end_ns = stretch->points[stretch->n - 1].real_ns;
	if ((config->to && !replay_time(config->to, end_ns, &past->to_ns)) ||
	    (config->from && !replay_time(config->from, end_ns, &past->from_ns)))
		return -EINVAL;
	return past_last(past, last) ? 0 : -ENODATA;
}

int past_open_recording(struct past **out, const struct replay_config *config, char **file)
{
	struct past *past = open_empty();
	struct archive_files files = { 0 };
	struct spot last = { 0 };
	int err = archive_list(&files, config->path);

	past->interval_ns = config->interval_ns;
	past->pids = config->pids;
	past->npids = config->npids;
	for (size_t i = 0; i < files.n; i++)
		stretches_add(&past->own)->path = xstrdup(files.paths[i]);
	archive_files_free(&files);
	if (!err)
		err = take_limits(past, config, &last);
	if (err) {
		*file = xstrdup(last.stretch ? last.stretch->path : config->path);
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
	stretches_free(&past->own);
	free(past);
}
