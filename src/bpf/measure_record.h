/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data shared by the programs that measure waits (measure.bpf.c), the walk that reads them
 * (snapshot.bpf.c), and measure.c. Includes nothing but the kernel's types and the kinds.
 */
#pragma once

#include <linux/types.h>

#include "bpf/thread_end.h"
#include "data/delay_table.h"

/*
 * What is measured: the delay kinds that a switch or a tracepoint tells, and time in state D
 * without I/O wait, which is no delay kind. Swap-ins from memory (zram), copies on write and
 * interrupts do not sleep, and have no tracepoint. X(NAME, kernel), as in DELAY_TABLE
 */
#define MEASURED_DELAYS(X) \
	X(BLKIO, blkio) \
	X(THRASH, thrashing) \
	X(RECLAIM, freepages) \
	X(COMPACT, compact)

#define MEASURED_ID(NAME, ...) MEASURED_##NAME,
enum measured { MEASURED_DELAYS(MEASURED_ID) MEASURED_DWAIT, MEASURED };
#undef MEASURED_ID

/* Waits of a kind that have ended. */
struct measured_sum {
	__u64 ns;
	__u64 count;
	__u64 max_ns, min_ns; /* 0: there was none */
};

/* The sections of the kernel that are measured as a whole, with all that a thread does there. */
enum measured_section { SECTION_RECLAIM, SECTION_COMPACT, SECTIONS };

/* The data kept for each thread, in the kernel. */
struct measured_task {
	__u64 since_ns; /* CLOCK_MONOTONIC: when it left its CPU to wait; 0: it does not */
	__u8 iowait; /* its wait is one for I/O */
	__u8 memory; /* it is in a memory stall, outside of the sections */
	__u8 unused[6];
	__u64 woken_ns; /* CLOCK_MONOTONIC: when an I/O wait ended that was added up to then; 0: not
			 */
	__u64 section_ns[SECTIONS]; /* CLOCK_MONOTONIC: when it entered; 0: it is not in there */
	/* When it left its CPU: how often it had slept, for how long it was queued and had run. */
	__u64 switches, queued_ns, ran_ns;
	struct measured_sum own[MEASURED]; /* with what was booked before it was met */
	/* Of threads that have ended: a leader's have those of its process. */
	struct measured_sum ended[MEASURED];
};

/* A delay that was measured, of a thread or process that has ended. */
struct measured_delay {
	__u64 ns;
	__u32 count;
	__u32 max_us;
};

/*
 * The last figures of a thread that waited, or that was booked waits; and of its process where it
 * is the last of that.
 */
struct measured_end {
	struct thread_end end;
	struct measured_delay own[MEASURED], process[MEASURED];
};

/* How many ends are kept until they are read: a power of two. */
#define MEASURED_ENDS 16384

struct measure_control {
	__u64 ends; /* how many were written since the start */
};
