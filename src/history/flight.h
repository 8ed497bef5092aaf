/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last moments, packed, in memory: what was sampled before something happened, to be written
 * when it does. Moments are added at one end and taken from the other; those that are too old, or
 * too many, go. Each stretch of them begins with one that stands for itself.
 */
#ifndef STALLTOP_HISTORY_FLIGHT_H
#define STALLTOP_HISTORY_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/moment.h"

struct flight;

/* Keeps at least before_ns of moments, in at most so many bytes. */
struct flight *flight_open(uint64_t before_ns, size_t bytes);

/*
 * Whether the next moment, of a sample that begins then, is to begin a stretch (MOMENT_SEGMENT), as
 * the first must. kept: only on account of the room.
 */
bool flight_is_due(const struct flight *flight, uint64_t begin_ns, bool kept);

/*
 * Adds a moment. What need not be kept any more goes, by whole stretches; kept: nothing does on
 * account of its age, since it is being taken.
 */
void flight_add(struct flight *flight, const struct moment *moment, bool kept);

/*
 * The oldest moment, valid until the next call, or NULL. It tells (moment.dropped) how many before
 * it were taken by lack of room since the last one was.
 */
const struct moment *flight_first(struct flight *flight);

/* Removes the oldest moment. */
void flight_remove_first(struct flight *flight);

/* When the oldest sample began (CLOCK_MONOTONIC); 0: there is none. */
uint64_t flight_since_ns(const struct flight *flight);

/* How many moments, and the bytes that they take. */
size_t flight_count(const struct flight *flight);
size_t flight_bytes(const struct flight *flight);

void flight_close(struct flight *flight);

#endif
