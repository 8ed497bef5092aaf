/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manages a folder of segments, files of an hour or of a part of the room: their names, and which
 * of them are removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* Limits of a folder. */
struct segment_limits {
	uint64_t age_ns; /* counted from the end of a segment */
	uint64_t bytes; /* of all segments together */
};

/* The default limits: 7 days, 1 GB. */
#define SEGMENT_LIMITS_DEFAULT \
	(struct segment_limits) \
	{ \
		UINT64_C(7) * 86400 * 1000000000, UINT64_C(1) << 30 \
	}

/* Free space left to others: this, or a part of a small file system. */
#define SEGMENT_FREE_BYTES (UINT64_C(64) << 20)
#define SEGMENT_FREE_PART 8

/* Recording ends if less than this part of that space is free. */
#define SEGMENT_LAST_PART 4

/* Parses an age with s, m, h or d. False: not an age. */
bool segment_parse_age(const char *text, size_t len, uint64_t *ns);

/*
 * Parses limits: an age with s, m, h or d, a size with K, M, G or T, or both separated by a comma.
 * False: neither. A limit missing in the text is unchanged.
 */
bool segment_parse_limits(const char *text, struct segment_limits *limits);

/* True if a name is that of a segment. */
bool segment_is_name(const char *name);

/* True if segment_name() makes such a name. */
bool segment_is_our_name(const char *name);

/*
 * True if a file in an open folder is a segment made by this program and not put aside:
 * segment_name() makes its name, and it has no other name (link).
 */
bool segment_is_ours(int folder, const char *name);

/*
 * The time (CLOCK_REALTIME, in ns) in the name of a segment's file: its start, to the second, or
 * later if the clock had been set back. 0: not one of our names.
 */
uint64_t segment_time(const char *path);

/* True if a folder contains a segment of that name. */
bool segment_exists(const char *folder, const char *name);

/*
 * Appends the name of a segment that begins at a time (CLOCK_REALTIME). There may be several in one
 * second; a number from 1000 on counts as one of a later second.
 */
void segment_name(struct buf *out, uint64_t real_ns, unsigned number);

/*
 * Moves the time and the number of a new segment's name past those of all segments in the folder:
 * the order of names must be that of recording, even if the clock was set back.
 */
void segments_go_on(const char *folder, uint64_t *real_ns, unsigned *number);

/* True if a segment should end: by its bytes, or by its start and the present time. */
bool segment_is_full(const struct segment_limits *limits, uint64_t bytes, uint64_t began_ns,
		     uint64_t now_ns);

/* True if there is enough free space to continue recording, and to leave some to others. */
bool segments_have_room(const char *folder);

/*
 * Removes the oldest segments of a folder beyond the limits, or while there is too little free
 * space: then half of the size stays, or an eighth of a small file system. None is removed for its
 * age while the clock may be wrong. Only our own segments are removed (segment_is_ours()), and
 * never the file `but`, the name of the one being written. Returns how many.
 */
unsigned segments_prune(const char *folder, const char *but, const struct segment_limits *limits,
			uint64_t now_ns);

/*
 * Closes segments that a killed writer left open. Segments open elsewhere, and the file `but`, stay
 * unchanged.
 */
void segments_tidy(const char *folder, const char *but);
