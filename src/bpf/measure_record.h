/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data shared by the programs that measure waits (measure.bpf.c), the walk that reads them
 * (snapshot.bpf.c), and measure.c. Includes nothing but the kernel's types and the kinds.
 */
#pragma once

#include <linux/types.h>

#include "bpf/thread_end.h"
#include "data/delay_table.h"

/*
 * The measured kinds: delay kinds visible at a switch or a tracepoint, and time in state D without
 * I/O wait, which is no delay kind. Swap-ins from memory (zram), copies on write and interrupts do
 * not sleep, and have no tracepoint. X(NAME, kernel), as in DELAY_TABLE
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

/* Sections of the kernel that are measured as a whole, including all that a thread does there. */
enum measured_section { SECTION_RECLAIM, SECTION_COMPACT, SECTIONS };

/* Per-thread data in the kernel. */
struct measured_task {
	__u64 since_ns; /* CLOCK_MONOTONIC: when it left its CPU to wait; 0: it does not wait */
	__u8 iowait; /* its wait is one for I/O */
	__u8 memory; /* it is in a memory stall, outside of the sections */
	__u8 unused[6];
	__u64 woken_ns; /* CLOCK_MONOTONIC: end of an I/O wait that was added up to then; 0: none */
	__u64 section_ns[SECTIONS]; /* CLOCK_MONOTONIC: when it entered; 0: not in there */
	/* At leaving its CPU: its number of sleeps, time queued and run time. */
	__u64 switches, queued_ns, ran_ns;
	struct measured_sum own[MEASURED]; /* including delays accounted before its first sample */
	/* Of exited threads: a leader's include those of its process. */
	struct measured_sum ended[MEASURED];
};

/* A measured delay of an exited thread or process. */
struct measured_delay {
	__u64 ns;
	__u32 count;
	__u32 max_us;
};

/*
 * The final figures of a thread with waits or accounted delays; and of its process if it is the
 * last thread.
 */
struct measured_end {
	struct thread_end end;
	struct measured_delay own[MEASURED], process[MEASURED];
};

/* Ends stored until they are read: a power of two. */
#define MEASURED_ENDS 16384

struct measure_control {
	__u64 ends; /* number written since start */
};
