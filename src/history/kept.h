/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of packed moments in memory, in their order: added at one end, removed at the other. The
 * flight recorder (flight.h) and the look-back (lookback.h) keep such lists. Several moments are
 * packed together, which takes a fifth of the time.
 */
#ifndef STALLTOP_HISTORY_KEPT_H
#define STALLTOP_HISTORY_KEPT_H

#include "base/buf.h"
#include "history/moment.h"
#include "history/pack.h"

/* Moments that are packed together, without their words that are 0. */
struct kept_block {
	uint64_t number; /* unique among all blocks of a keeper */
	unsigned n; /* how many of its moments are still in the list */
	struct buf bytes;
	size_t unpacked; /* its bytes before it was packed; 0: it is not packed */
};

/* A kept moment. */
struct kept {
	struct kept *next;
	uint64_t begin_ns;
	bool begins; /* it begins a stretch: it has MOMENT_SEGMENT */
	size_t size; /* bytes of the moment */
	struct kept_block *block;
	size_t at, len; /* where it is in the block's bytes, before these were packed */
};

/* A list of kept moments; zero-initialised: empty. */
struct kept_list {
	struct kept *first, *last;
	size_t n, bytes; /* moments, and the bytes that they take */
};

/* Packs and unpacks the moments of any number of lists. Zero-initialised. */
struct keeper {
	struct packer packer;
	uint64_t blocks; /* blocks made so far */
	struct buf packed;
	struct buf unpacked; /* the block unpacked last, */
	uint64_t number; /* and its number; 0: none */
	struct moment *moment;
	size_t room; /* bytes that `moment` has room for */
};

/* Adds a moment at the end; its size is a multiple of 8, as the encoder makes it. */
void kept_add(struct kept_list *list, struct keeper *keeper, const struct moment *moment);

/* Packs the last block now: no more moments are added to it. */
void kept_end(struct kept_list *list, struct keeper *keeper);

/* Returns a moment as it was added. It is valid, and may be changed, until the next call. */
struct moment *kept_unpack(struct keeper *keeper, const struct kept *kept);

/* Removes the first moment, which must exist. */
void kept_remove_first(struct kept_list *list);

void kept_free(struct kept_list *list);

/* Gives back the memory of what was unpacked, which is not valid any more. */
void keeper_trim(struct keeper *keeper);

void keeper_free(struct keeper *keeper);

#endif
