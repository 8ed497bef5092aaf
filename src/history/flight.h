/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flight recorder: recent samples stay in memory, packed, and are written when a trigger fires.
 * Moments are added at one end and removed at the other: those that are too old, or exceed the
 * room. Each stretch of them begins with a whole moment.
 */
#ifndef STALLTOP_HISTORY_FLIGHT_H
#define STALLTOP_HISTORY_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/moment.h"

struct flight;

/* Opens a flight that keeps at least the moments of before_ns, in at most `bytes` of memory. */
struct flight *flight_open(uint64_t before_ns, size_t bytes);

/*
 * Whether the next moment, of a sample that begins at begin_ns, is to begin a stretch
 * (MOMENT_SEGMENT), as the first must. kept: only lack of room is a reason.
 */
bool flight_is_due(const struct flight *flight, uint64_t begin_ns, bool kept);

/*
 * Adds a moment, and removes whole stretches that need not be kept any more. kept: none is removed
 * for its age, because the moments are being written.
 */
void flight_add(struct flight *flight, const struct moment *moment, bool kept);

/*
 * Returns the oldest moment, valid until the next call, or NULL. Its `dropped` includes those
 * before it that were removed for lack of room since flight_remove_first().
 */
const struct moment *flight_first(struct flight *flight);

/* Removes the oldest moment. */
void flight_remove_first(struct flight *flight);

/* Returns when the oldest sample began (CLOCK_MONOTONIC); 0: there is none. */
uint64_t flight_since_ns(const struct flight *flight);

/* Return how many moments there are, and the bytes that they take. */
size_t flight_count(const struct flight *flight);
size_t flight_bytes(const struct flight *flight);

void flight_close(struct flight *flight);

#endif
