/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goes to any moment of the past, back and forth: of what a screen keeps in memory, or of a
 * recording. The frame of a moment is made as it was when it was sampled.
 */
#pragma once

#include "history/replay.h"
#include "history/ring.h"
#include "model/sampler.h"

/* The place of a record: its segment, and its index there. */
struct position {
	struct segment *segment;
	size_t at;
};

static inline const struct record_entry *position_entry(const struct position *position)
{
	return &position->segment->entries[position->at];
}

struct past;

/*
 * Opens the past that is kept in memory; the ring must outlive it. config: that of the sampler
 * that plays it, copied.
 */
struct past *past_open(struct ring *ring, const struct sampler_config *config);

/* Opens a recording; the same as replay_open(). */
int past_open_recording(struct past **out, const struct replay_config *config, char **file);

/* Sets the configuration of the sampler that plays it, which is copied. */
void past_configure(struct past *past, const struct sampler_config *config);

/*
 * Find the first and the last moment that can be shown with the wanted rows. False: there is none.
 */
bool past_first(struct past *past, struct position *position);
bool past_last(struct past *past, struct position *position);

/* Move to the next moment, and to the one before. False: there is none. */
bool past_next(struct past *past, struct position *position);
bool past_before(struct past *past, struct position *position);

/*
 * Finds the moment with the latest time up to a time (CLOCK_REALTIME), of equal ones that which was
 * recorded last; if all are later, the first moment. *again: the time was there more than once, as
 * the clock was set back. False: there is no moment.
 */
bool past_find(struct past *past, uint64_t real_ns, struct position *position, bool *again);

/* The latest time (CLOCK_REALTIME) of all moments: not the last one's where the clock was set back.
 */
uint64_t past_latest(const struct past *past);

/*
 * Makes the frame of a moment, valid until the next call. The frame shown before, and its sampler,
 * stay valid until past_forget_shown(). 0 or -errno.
 */
int past_show(struct past *past, const struct position *position, const struct frame **frame);

/* Returns the position of what is shown. False: nothing is shown. */
bool past_shown(const struct past *past, struct position *position);

/* Returns the sampler of what is shown. */
struct sampler *past_sampler(const struct past *past);

/* Frees the sampler of what was shown before. */
void past_forget_shown(struct past *past);

/* Stops showing a moment: its segment is not pinned any more. */
void past_leave(struct past *past);

/* Counts the known moments; of a recording, those of the files opened so far. */
size_t past_moments(const struct past *past);

/*
 * Fills in up to n moments around one, in their order; *at: its index among them. Returns how many.
 */
size_t past_around(struct past *past, const struct position *position, struct position *positions,
		   size_t n, size_t *at);

/*
 * Finds up to n moments before a time (CLOCK_REALTIME), the latest first, from what is shown on.
 * Returns how many.
 */
size_t past_earlier(struct past *past, uint64_t real_ns, struct position *positions, size_t n);

/*
 * Makes the frames of n records' own intervals, of which the latest comes first, and has them
 * taken, the earliest first; those that cannot be read are left out. What is shown stays. Without
 * positions nothing is done, and past may be NULL.
 */
void past_walk(struct past *past, const struct position *positions, size_t n,
	       void (*take)(void *arg, size_t i, const struct frame *frame), void *arg);

/* Whether the rows of a recording are threads. */
bool past_threads(const struct past *past);

/* See replay_group(). */
const char *past_group(const struct past *past);

/*
 * Chooses the moments that can be shown: those of threads, or those of processes.
 */
void past_want_threads(struct past *past, bool threads);

void past_close(struct past *past);
