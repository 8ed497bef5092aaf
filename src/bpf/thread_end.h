/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a thread, stored by BPF programs until it is read: the common head of struct
 * measured_end and struct trace_end.
 */
#pragma once

#include <linux/types.h>

struct thread_end {
	__u64 sequence; /* one more than its number since start; written last */
	__u64 start_ns, process_start_ns; /* CLOCK_MONOTONIC */
	__s32 pid, tgid; /* in the initial namespace, as in exit records */
	__u32 last; /* the whole process has ended */
	__u32 unused;
};
