/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random access to the history (memory or recording); rebuilds each frame exactly. */
#pragma once

#include "history/replay.h"
#include "history/ring.h"
#include "sampler/sampler.h"

/* The position of a record: its segment, and its index there. */
struct position {
	struct segment *segment;
	size_t at;
};

static inline const struct record_entry *position_entry(const struct position *position)
{
	return &position->segment->entries[position->at];
}

struct cursor;

/*
 * Opens the history in memory; the ring must outlive the cursor. config: of the sampler that plays
 * it, copied.
 */
struct cursor *cursor_open(struct ring *ring, const struct sampler_config *config);

/* Opens a recording; the same as replay_open(). */
int cursor_open_recording(struct cursor **out, const struct replay_config *config, char **file);

/* Sets the configuration of the sampler that plays the samples; it is copied. */
void cursor_configure(struct cursor *cursor, const struct sampler_config *config);

/* Find the first and the last sample that can be shown, with the wanted rows. False: none. */
bool cursor_first(struct cursor *cursor, struct position *position);
bool cursor_last(struct cursor *cursor, struct position *position);

/* Move to the next sample, and to the one before. False: there is none. */
bool cursor_next(struct cursor *cursor, struct position *position);
bool cursor_before(struct cursor *cursor, struct position *position);

/*
 * Finds the sample with the latest time up to a time (CLOCK_REALTIME), of equal ones the one
 * recorded last; if all are later, the first sample. *again: the time occurred more than once, as
 * the clock was set back. False: there is no sample.
 */
bool cursor_find(struct cursor *cursor, uint64_t real_ns, struct position *position, bool *again);

/* The latest time (CLOCK_REALTIME) of all samples: not the last one's if the clock was set back. */
uint64_t cursor_latest(const struct cursor *cursor);

/*
 * Makes the frame of a position, valid until the next call. The previously shown frame, and its
 * sampler, stay valid until cursor_forget_shown(). 0, or -errno: the shown frame stays.
 */
int cursor_show(struct cursor *cursor, const struct position *position, const struct frame **frame);

/* Returns the position of the shown sample. False: none is shown. */
bool cursor_shown(const struct cursor *cursor, struct position *position);

/* Returns the sampler of the shown frame. */
struct sampler *cursor_sampler(const struct cursor *cursor);

/* Frees the sampler of the previously shown frame. */
void cursor_forget_shown(struct cursor *cursor);

/* Stops showing a sample: its segment is no longer pinned. */
void cursor_leave(struct cursor *cursor);

/* Counts the known samples; of a recording, those of the files opened so far. */
size_t cursor_records(const struct cursor *cursor);

/* Fills in up to n samples around one, in order; *at: its index among them. Returns how many. */
size_t cursor_around(struct cursor *cursor, const struct position *position,
		     struct position *positions, size_t n, size_t *at);

/*
 * Finds up to n samples before a time (CLOCK_REALTIME), latest first, starting at the shown one.
 * Returns how many.
 */
size_t cursor_earlier(struct cursor *cursor, uint64_t real_ns, struct position *positions,
		      size_t n);

/*
 * Builds the frames of n positions, given latest first, and passes them oldest first; unreadable
 * ones are skipped. The shown frame stays. n 0: does nothing, and cursor may be NULL.
 */
void cursor_walk(struct cursor *cursor, const struct position *positions, size_t n,
		 void (*take)(void *arg, size_t i, const struct frame *frame), void *arg);

/* True if the rows of a recording are threads. */
bool cursor_threads(const struct cursor *cursor);

/* See replay_group(). */
const char *cursor_group(const struct cursor *cursor);

/* Chooses the samples to show: those of threads, or those of processes. */
void cursor_want_threads(struct cursor *cursor, bool threads);

void cursor_close(struct cursor *cursor);
