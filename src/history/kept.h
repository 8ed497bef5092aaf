/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments in memory, packed, in their order: added at one end, removed at the other. What is kept
 * to be written when something happens (flight.h) and to look back at (lookback.h) is such lists.
 * Several moments are packed at a time: that takes a fifth of the time.
 */
#ifndef STALLTOP_HISTORY_KEPT_H
#define STALLTOP_HISTORY_KEPT_H

#include "base/buf.h"
#include "history/moment.h"
#include "history/pack.h"

/* Moments that are packed together, without what is 0 in them. */
struct kept_block {
	uint64_t number; /* no other block of a keeper's lists has it */
	unsigned n; /* moments of it that are in the list */
	struct buf bytes;
	size_t unpacked; /* bytes that it had before it was packed; 0: it is not packed */
};

/* A moment that is kept. */
struct kept {
	struct kept *next;
	uint64_t begin_ns;
	bool begins; /* it has MOMENT_SEGMENT */
	size_t size; /* bytes of the moment */
	struct kept_block *block;
	size_t at, len; /* where it lies in the block's bytes */
};

/* Zero-initialised: none. */
struct kept_list {
	struct kept *first, *last;
	size_t n, bytes; /* bytes: that they take */
};

/* What packs and unpacks them, of any list. Zero-initialised. */
struct keeper {
	struct packer packer;
	uint64_t blocks; /* that there were */
	struct buf packed;
	struct buf unpacked; /* a block, */
	uint64_t number; /* of that number; 0: none */
	struct moment *moment;
	size_t room; /* of it */
};

/* Adds a moment at the end; its size is a multiple of 8, as the encoder makes it. */
void kept_add(struct kept_list *list, struct keeper *keeper, const struct moment *moment);

/* Packs what waits for others to be packed with: none are to come. */
void kept_end(struct kept_list *list, struct keeper *keeper);

/* A moment as it was added; valid, and the caller's to change, until the next call. */
struct moment *kept_unpack(struct keeper *keeper, const struct kept *kept);

/* Removes the first, which must be there. */
void kept_remove_first(struct kept_list *list);

void kept_free(struct kept_list *list);

/* Gives back the memory of what was unpacked, which is not valid then. */
void keeper_trim(struct keeper *keeper);

void keeper_free(struct keeper *keeper);

#endif
