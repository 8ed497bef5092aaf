/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delay kinds: one row a kind. The decoder, the program in the kernel, the columns, the keys,
 * CSV, JSON, help and manual are made from this table. Includes nothing, as that program is
 * compiled for BPF, not for this machine.
 *
 * Places are byte offsets in struct taskstats (include/uapi/linux/taskstats.h). Versions 8 to 14
 * and 16 on share one layout, to which each version added at the end. Version 15 alone put max and
 * min after each total and so moved all that follows; version 16 moved them to the end (and has
 * the size of 15: only the version tells them apart). 0 stands for "not in this layout".
 */
#pragma once

/* clang-format off */
#define DELAY_AT(...) { __VA_ARGS__ }
/* clang-format on */

/*
 * X(NAME, kernel, id, heading, digit, since, place, place in v15, help)
 * kernel: what the names of its fields begin with, in the kernel's struct task_delay_info
 * (kernel_delay, kernel_count) and struct taskstats (kernel_delay_total, kernel_count).
 * since: the version that brought count and total (max and min: 15, stamp: 17).
 */
#define DELAY_TABLE(X) \
	X(CPU, cpu, "cpu", "CPU", '1', 1, DELAY_AT(16, 24, 432, 440, 560), \
	  DELAY_AT(16, 24, 32, 40, 0), "waiting for a CPU while runnable") \
	DELAY_STORED(X)

/* The kinds stored in struct task_delay_info; cpu is the scheduler's own. */
#define DELAY_STORED(X) \
	X(BLKIO, blkio, "blkio", "BLKIO", '2', 1, DELAY_AT(32, 40, 448, 456, 576), \
	  DELAY_AT(48, 56, 64, 72, 0), "waiting for block I/O to complete") \
	X(SWAPIN, swapin, "swapin", "SWAP", '3', 1, DELAY_AT(48, 56, 464, 472, 592), \
	  DELAY_AT(80, 88, 96, 104, 0), "waiting for pages to be swapped in") \
	X(RECLAIM, freepages, "reclaim", "RECL", '4', 7, DELAY_AT(312, 320, 480, 488, 608), \
	  DELAY_AT(360, 368, 376, 384, 0), "direct reclaim during an allocation") \
	X(THRASH, thrashing, "thrash", "THRA", '5', 9, DELAY_AT(328, 336, 496, 504, 624), \
	  DELAY_AT(392, 400, 408, 416, 0), "waiting for recently evicted pages (refaults)") \
	X(COMPACT, compact, "compact", "COMP", '6', 11, DELAY_AT(352, 360, 512, 520, 640), \
	  DELAY_AT(432, 440, 448, 456, 0), "compacting memory for a large allocation") \
	X(WPCOPY, wpcopy, "wpcopy", "WPCP", '7', 13, DELAY_AT(400, 408, 528, 536, 656), \
	  DELAY_AT(496, 504, 512, 520, 0), "copy-on-write faults") \
	X(IRQ, irq, "irq", "IRQ", '8', 14, DELAY_AT(416, 424, 544, 552, 672), \
	  DELAY_AT(528, 536, 544, 552, 0), "delayed by interrupts")

#define DELAY_ENUM(NAME, ...) DELAY_##NAME,
enum delay_kind { DELAY_TABLE(DELAY_ENUM) DELAY_KINDS };
#undef DELAY_ENUM
