/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the records of a snapshot say of a task: counters out, as taskstats.h has them. */
#ifndef STALLTOP_BPF_SNAPSHOT_COUNTERS_H
#define STALLTOP_BPF_SNAPSHOT_COUNTERS_H

#include <stddef.h>

#include "bpf/snapshot_record.h"
#include "data/record.h"
#include "data/sample.h"

/*
 * Gives an element, empty so far, its counters, state and wait: the sum of the n records of a
 * process, of which the first is its leader's, or the one of a thread. before_ns: when it was
 * read before (CLOCK_MONOTONIC), 0 for never. Identity is left alone.
 */
void snapshot_counters(const struct snapshot_record *parts, size_t n, uint64_t before_ns,
		       struct task_raw *raw);

/* Takes the longest and shortest waits of all n records. */
void snapshot_range(const struct snapshot_record *parts, size_t n, struct task_record *range);

#endif
