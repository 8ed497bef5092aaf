/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The past in memory: what a recording would have of the last minutes, packed, as stretches of
 * which the oldest goes when there is no more room. Nothing is written to a disk.
 */
#ifndef STALLTOP_HISTORY_LOOKBACK_H
#define STALLTOP_HISTORY_LOOKBACK_H

#include "history/stretch.h"
#include "model/frame.h"

struct lookback_limits {
	uint64_t span_ns; /* what is kept, at least, as far as `bytes` allow; 0: no such limit */
	uint64_t bytes; /* what it takes, at most */
};

/* What is kept unless told otherwise. */
#define LOOKBACK_DEFAULT ((struct lookback_limits){ UINT64_C(900) * NSEC_PER_SEC, LOOKBACK_BYTES })

/* The room where only a time is given. */
#define LOOKBACK_BYTES (UINT64_C(20) << 20)

/* Takes limits as text: "15m" (s, m, h, d), "64M" (K, M, G, T), "0". False if it is none. */
bool lookback_parse(const char *text, struct lookback_limits *limits);

struct lookback;

/* Opens an empty one. */
struct lookback *lookback_open(const struct lookback_limits *limits);

/*
 * Takes a frame; it must follow on the one before, unless it has no interval. folded: the same
 * folded into groups, whose figures are taken; NULL: none. 0 or -errno: then no more is taken, and
 * what there is stays.
 */
int lookback_add(struct lookback *lookback, const struct frame *frame, const struct frame *folded);

/* Fills in the shares of stalls of an interval, in percent; negative: not known. */
void lookback_stalls(const struct frame_info *info, float stalls[PSI_RESOURCES]);

/* What is there; those that are pinned stay. */
struct stretches *lookback_stretches(struct lookback *lookback);

/* The memory that it takes by now. */
uint64_t lookback_bytes(const struct lookback *lookback);

/* Moments that are there. */
size_t lookback_moments(const struct lookback *lookback);

void lookback_close(struct lookback *lookback);

#endif
