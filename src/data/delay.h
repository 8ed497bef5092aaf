/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay kinds by number, sets of them, and their sums. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "data/delay_table.h"

/*
 * The most that can be booked in a time: readings lie up to 2 ms apart, and a hundredth is for
 * rounding.
 */
static inline uint64_t delay_most(uint64_t passed_ns)
{
	return passed_ns + passed_ns / 100 + 2 * NSEC_PER_MSEC;
}

/* Byte offsets in struct taskstats; 0: the field does not exist. */
struct delay_place {
	uint16_t count, total, max, min, stamp;
};

struct delay_row {
	const char *id;
	const char *heading;
	char digit; /* the key that sorts by this kind, 0 for none */
	uint8_t since;
	struct delay_place place, place15;
	const char *help;
};

extern const struct delay_row delay_table[DELAY_KINDS];

/* Sets of kinds whose time is known, and of kinds whose number of waits is known. */
#define DELAY_BIT(kind) (UINT32_C(1) << (kind))
#define DELAY_ALL (DELAY_BIT(DELAY_KINDS) - 1)
#define DELAY_COUNT_BIT(kind) (DELAY_BIT(kind) << DELAY_KINDS)
/* Both bits of each kind in a set of DELAY_BIT()s. */
#define DELAY_BOTH(kinds) ((kinds) | (kinds) << DELAY_KINDS)

/*
 * The kinds of waits: the kernel's delay kinds, and uninterruptible sleep without I/O wait (kernel
 * locks, journals, frozen or remote file systems), which the kernel books nowhere.
 */
enum { WAIT_DWAIT = DELAY_KINDS, WAIT_KINDS };

/* The name of such a kind in options, columns and formats. */
const char *wait_kind_id(unsigned kind);

/* Count of waits, and their sum in ns. */
struct delay_sum {
	uint64_t count, ns;
};

/* The verdict on a booking: what it tells about the time waited. */
enum delay_verdict {
	DELAY_FITS,
	DELAY_CUT, /* a little too much: all that is possible was waited */
	DELAY_WRONG, /* nothing */
};

/*
 * Judges what was booked where no more than so much is possible. Kernels since 6.12 book a little
 * too much of many waits; a single wait that is too long began with a stale stamp, whenever it did.
 * counted: the number of waits is known; else the time may be in ticks.
 */
enum delay_verdict delay_judge(const struct delay_sum *booked, bool counted, uint64_t possible_ns);

/*
 * The sum of all waits but thrash, whose waits are booked as blkio or swapin already. Kinds outside
 * `valid` are left out.
 */
struct delay_sum delay_total(const struct delay_sum *delays, uint32_t valid);

/*
 * Waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash
 * (a working-set page swapped in is booked under both). Kinds outside `valid` are
 * left out.
 */
struct delay_sum delay_mem(const struct delay_sum *delays, uint32_t valid);

/* The kinds that delay_total() and delay_mem() add up. */
#define DELAY_TOTAL_KINDS (DELAY_ALL & ~DELAY_BIT(DELAY_THRASH))
#define DELAY_MEM_KINDS \
	(DELAY_BIT(DELAY_SWAPIN) | DELAY_BIT(DELAY_RECLAIM) | DELAY_BIT(DELAY_THRASH) | \
	 DELAY_BIT(DELAY_COMPACT) | DELAY_BIT(DELAY_WPCOPY))

/* Whether what was waited of a kind, or of WAIT_DWAIT, is in the sum of all that was waited. */
static inline bool wait_in_total(unsigned kind)
{
	return kind == WAIT_DWAIT || (kind < DELAY_KINDS && DELAY_TOTAL_KINDS & DELAY_BIT(kind));
}
