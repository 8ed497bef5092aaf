/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data shared by the programs that measure waits (exact.bpf.c), the walk that reads them
 * (snapshot.bpf.c), and exact.c. Includes nothing but the kernel's types.
 */
#pragma once

#include <linux/types.h>

/* Waits of a kind that have ended. */
struct exact_sum {
	__u64 ns;
	__u64 count;
	__u64 max_ns, min_ns; /* 0: there was none */
};

/* The data kept for each thread, in the kernel. */
struct exact_task {
	__u64 since_ns; /* CLOCK_MONOTONIC: when it left its CPU to wait; 0: it does not */
	__u32 iowait; /* what it waits in is io */
	__u32 unused;
	/* Then: how often it had slept, and for how long it had been queued and had run. */
	__u64 switches, queued_ns, ran_ns;
	struct exact_sum io, dwait; /* io: with what was booked before it was met */
	/* A leader's: the same sums of all other threads its process ever had. */
	struct exact_sum others_io, others_dwait;
};

/* The last figures of a thread that waited, or that was booked such waits; and of its process. */
struct exact_ended {
	__u64 sequence; /* one more than its number since the start; written last */
	__u64 start_ns, process_start_ns; /* CLOCK_MONOTONIC */
	__s32 pid, tgid; /* in the initial namespace, as in exit records */
	__u32 last; /* no thread of the process lives on: process_io and process_dwait are known */
	__u32 unused;
	__u64 io_ns, dwait_ns, io_count;
	__u64 process_io_ns, process_dwait_ns, process_io_count;
};

/* How many ends are kept until they are read: a power of two. */
#define EXACT_ENDED 16384

struct exact_control {
	__u64 ended; /* how many ends were written since the start */
};
