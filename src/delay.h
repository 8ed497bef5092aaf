/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delay kinds: one row a kind. The decoder, the columns, the keys, CSV, JSON,
 * help and manual are made from this table.
 *
 * Places are byte offsets in struct taskstats (include/uapi/linux/taskstats.h).
 * Versions 8 to 14 and 16 on share one layout, to which each version added at the
 * end. Version 15 alone put max and min behind each total and so moved all that
 * follows; version 16 moved them to the end (and has the size of 15: only the
 * version tells them apart). 0 stands for "not in this layout".
 */
#ifndef STALLTOP_DELAY_H
#define STALLTOP_DELAY_H

#include <stdint.h>

#include "util.h"

/*
 * A wait that is longer than a task's life by more than this cannot be: waits may end in a moment,
 * and readings lie some time apart.
 */
#define DELAY_SLACK_NS (20 * NSEC_PER_MSEC)

struct delay_place {
	uint16_t count, total, max, min, stamp;
};

#define DELAY_AT(...) { __VA_ARGS__ }

/*
 * X(NAME, id, heading, digit, since, place, place in v15, help)
 * since: the version that brought count and total (max and min: 15, stamp: 17).
 */
#define DELAY_TABLE(X) \
	X(CPU, "cpu", "CPU", '1', 1, DELAY_AT(16, 24, 432, 440, 560), \
	  DELAY_AT(16, 24, 32, 40, 0), "waiting for a CPU while runnable") \
	X(BLKIO, "blkio", "BLKIO", '2', 1, DELAY_AT(32, 40, 448, 456, 576), \
	  DELAY_AT(48, 56, 64, 72, 0), "waiting for block I/O to complete") \
	X(SWAPIN, "swapin", "SWAP", '3', 1, DELAY_AT(48, 56, 464, 472, 592), \
	  DELAY_AT(80, 88, 96, 104, 0), "waiting for pages to be swapped in") \
	X(RECLAIM, "reclaim", "RECL", '4', 7, DELAY_AT(312, 320, 480, 488, 608), \
	  DELAY_AT(360, 368, 376, 384, 0), "reclaiming memory before an allocation succeeds") \
	X(THRASH, "thrash", "THRA", '5', 9, DELAY_AT(328, 336, 496, 504, 624), \
	  DELAY_AT(392, 400, 408, 416, 0), \
	  "waiting for pages that were evicted a short time ago") \
	X(COMPACT, "compact", "COMP", '6', 11, DELAY_AT(352, 360, 512, 520, 640), \
	  DELAY_AT(432, 440, 448, 456, 0), "compacting memory for a large allocation") \
	X(WPCOPY, "wpcopy", "WPCP", '7', 13, DELAY_AT(400, 408, 528, 536, 656), \
	  DELAY_AT(496, 504, 512, 520, 0), "copying write-protected pages") \
	X(IRQ, "irq", "IRQ", '8', 14, DELAY_AT(416, 424, 544, 552, 672), \
	  DELAY_AT(528, 536, 544, 552, 0), "held up by interrupts")

#define DELAY_ENUM(NAME, ...) DELAY_##NAME,
enum delay_kind { DELAY_TABLE(DELAY_ENUM) DELAY_KINDS };
#undef DELAY_ENUM

struct delay_row {
	const char *id;
	const char *heading;
	char digit; /* the key that sorts by it, 0 for none */
	uint8_t since;
	struct delay_place place, place15;
	const char *help;
};

extern const struct delay_row delay_table[DELAY_KINDS];

/* Sets of kinds whose time, and sets of kinds whose number of waits, is known. */
#define DELAY_BIT(kind) (UINT32_C(1) << (kind))
#define DELAY_ALL (DELAY_BIT(DELAY_KINDS) - 1)
#define DELAY_COUNT_BIT(kind) (DELAY_BIT(kind) << DELAY_KINDS)
/* Both, of a set of DELAY_BIT()s. */
#define DELAY_BOTH(kinds) ((kinds) | (kinds) << DELAY_KINDS)

/* Count of waits, and their sum in ns. */
struct delay_sum {
	uint64_t count, ns;
};

/*
 * All waits but thrash, whose waits are booked as blkio or swapin already. Kinds
 * outside `valid` are left out.
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

#endif
