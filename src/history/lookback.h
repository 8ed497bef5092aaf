/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the past in memory: what a recording of the last minutes would have, packed, as stretches.
 * When there is no more room, the oldest stretch is removed. Nothing is written to a disk.
 */
#ifndef STALLTOP_HISTORY_LOOKBACK_H
#define STALLTOP_HISTORY_LOOKBACK_H

#include "history/stretch.h"
#include "model/frame.h"

struct lookback_limits {
	uint64_t span_ns; /* at least this is kept, if `bytes` allow it; 0: no such limit */
	uint64_t bytes; /* the most memory that it takes, without what is looked at: that is
			   unpacked */
};

/* The limits by default: 15 minutes. */
#define LOOKBACK_DEFAULT ((struct lookback_limits){ UINT64_C(900) * NSEC_PER_SEC, LOOKBACK_BYTES })

/* The room if only a time is given. */
#define LOOKBACK_BYTES (UINT64_C(20) << 20)

/* Parses limits: "15m" (s, m, h, d), "64M" (K, M, G, T), "0". False: the text is none of these. */
bool lookback_parse(const char *text, struct lookback_limits *limits);

struct lookback;

/* Opens an empty lookback. */
struct lookback *lookback_open(const struct lookback_limits *limits);

/*
 * Adds a frame, which must follow the one before, unless it has no interval. folded: the same frame
 * folded into groups, whose figures are kept, too; NULL: none. 0 or -errno; after an error no more
 * frames are added, and what is kept stays.
 */
int lookback_add(struct lookback *lookback, const struct frame *frame, const struct frame *folded);

/* Computes each resource's share of stalls in an interval, in percent; negative: not known. */
void lookback_stalls(const struct frame_info *info, float stalls[PSI_RESOURCES]);

/* Returns what is kept. Pinned stretches are not removed. */
struct stretches *lookback_stretches(struct lookback *lookback);

/* Returns the memory that it takes now. */
uint64_t lookback_bytes(const struct lookback *lookback);

/* Returns the number of moments that are kept. */
size_t lookback_moments(const struct lookback *lookback);

void lookback_close(struct lookback *lookback);

#endif
