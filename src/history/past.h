/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of the past that can be gone to, back and forth: what a screen keeps in memory, or a
 * recording. A frame of a moment is made as it was when it was sampled.
 */
#ifndef STALLTOP_HISTORY_PAST_H
#define STALLTOP_HISTORY_PAST_H

#include "history/lookback.h"
#include "history/replay.h"
#include "model/sampler.h"

/* A moment: the index of an outline in its stretch. */
struct position {
	struct stretch *stretch;
	size_t at;
};

static inline const struct outline *position_outline(const struct position *position)
{
	return &position->stretch->outlines[position->at];
}

struct past;

/*
 * Opens what is kept in memory, which must outlive it; config: of the sampler that takes it,
 * copied.
 */
struct past *past_open(struct lookback *lookback, const struct sampler_config *config);

/* Opens a recording; as replay_open(). */
int past_open_recording(struct past **out, const struct replay_config *config, char **file);

/* Gives the configuration of the sampler for what is shown, which is copied. */
void past_configure(struct past *past, const struct sampler_config *config);

/* The first moment and the last that can be shown, of rows as they are now. False: none. */
bool past_first(struct past *past, struct position *position);
bool past_last(struct past *past, struct position *position);

/* The next moment, and the one before. False: there is none. */
bool past_next(struct past *past, struct position *position);
bool past_before(struct past *past, struct position *position);

/* The last moment up to that time (CLOCK_REALTIME), or the first. False: there is none. */
bool past_find(struct past *past, uint64_t real_ns, struct position *position);

/*
 * Makes the frame of a moment, valid until the next call; the one before it, and its sampler, are
 * valid until past_forget_shown(). 0 or -errno.
 */
int past_show(struct past *past, const struct position *position, const struct frame **frame);

/* What is shown. False: nothing. */
bool past_shown(const struct past *past, struct position *position);

/* The sampler of what is shown. */
struct sampler *past_sampler(const struct past *past);

/* Frees the sampler of what was shown before. */
void past_forget_shown(struct past *past);

/* Shows nothing any more: what was pinned may go. */
void past_leave(struct past *past);

/* The number of moments that are known of: of a recording, those of the files that were opened. */
size_t past_moments(const struct past *past);

/*
 * Fills in up to n moments around one, in their order; *at: its index among them. Returns how many.
 */
size_t past_around(struct past *past, const struct position *position, struct position *positions,
		   size_t n, size_t *at);

/* Whether rows are threads; of a recording. */
bool past_threads(const struct past *past);

/* Chooses which moments can be shown: those whose rows are threads, or the others. */
void past_want_threads(struct past *past, bool threads);

void past_close(struct past *past);

#endif
