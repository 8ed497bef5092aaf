/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of segments, files of an hour or of a part of the room: their names, and which of them
 * are to go.
 */
#ifndef STALLTOP_HISTORY_SEGMENTS_H
#define STALLTOP_HISTORY_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* What is kept in a folder. */
struct segment_limits {
	uint64_t age_ns; /* since the end of a segment */
	uint64_t bytes; /* of all segments together */
};

/* The limits unless others are given: 7 days, 1 GB. */
#define SEGMENT_LIMITS_DEFAULT \
	(struct segment_limits) \
	{ \
		UINT64_C(7) * 86400 * 1000000000, UINT64_C(1) << 30 \
	}

/* Free space that is left to others: so much, or that part of a small file system. */
#define SEGMENT_FREE_BYTES (UINT64_C(64) << 20)
#define SEGMENT_FREE_PART 8

/* The part of that which recording leaves free in any case: where there is less, it ends. */
#define SEGMENT_LAST_PART 4

/* Takes an age as text, with s, m, h or d; above 0. */
bool segment_parse_age(const char *text, size_t len, uint64_t *ns);

/*
 * Takes limits as text: an age with s, m, h or d, a size with K, M, G or T, or both with a comma in
 * between. False where it is neither; what it does not say stays.
 */
bool segment_parse_limits(const char *text, struct segment_limits *limits);

/* Whether a file of that name is a segment, packed or not. */
bool segment_is_name(const char *name);

/* Whether segment_name() makes that name, packed or not. */
bool segment_is_our_name(const char *name);

/*
 * Whether the file of that name in an open folder is a segment that this program has made, and
 * nobody has put aside: it has a name that segment_name() makes, packed or not, and no other.
 */
bool segment_is_ours(int folder, const char *name);

/* Whether a segment of that name is packed (see pack.h). */
bool segment_is_packed(const char *name);

/* Whether the folder has a segment of that (unpacked) name, packed or not. */
bool segment_exists(const char *folder, const char *name);

/*
 * Appends the name of a segment that begins at that time (CLOCK_REALTIME). Of the same second there
 * may be several; a number from 1000 on counts as one of a later second.
 */
void segment_name(struct buf *out, uint64_t real_ns, unsigned number);

/*
 * Moves the time and the number of a new segment's name behind those of all that the folder has:
 * the order of names is that of the recording, also where the clock was set back.
 */
void segments_go_on(const char *folder, uint64_t *real_ns, unsigned *number);

/* Whether a segment of so many bytes, which began and is now at those times, is to end. */
bool segment_is_full(const struct segment_limits *limits, uint64_t bytes, uint64_t began_ns,
		     uint64_t now_ns);

/* Whether there is room to go on: others leave so much free space that some is left to them. */
bool segments_have_room(const char *folder);

/*
 * Removes the oldest segments of a folder that are beyond the limits, or as long as there is too
 * little free space: then half of the size stays, or an eighth of a small file system. None goes
 * for its age while the clock may be wrong; the first call of a recorder removes one even then, so
 * that many short recordings do not add up. Only what is ours goes (segment_is_ours()), and never
 * the file `but`, the name of the one that is written. Returns how many.
 */
unsigned segments_prune(const char *folder, const char *but, const struct segment_limits *limits,
			uint64_t now_ns, bool first);

#endif
