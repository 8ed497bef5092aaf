/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a thread, as programs in the kernel keep it until it is read: the head of what they
 * tell of it (struct measured_end, struct trace_end).
 */
#pragma once

#include <linux/types.h>

struct thread_end {
	__u64 sequence; /* one more than its number since the start; written last */
	__u64 start_ns, process_start_ns; /* CLOCK_MONOTONIC */
	__s32 pid, tgid; /* in the initial namespace, as in exit records */
	__u32 last; /* the whole process has ended */
	__u32 unused;
};
