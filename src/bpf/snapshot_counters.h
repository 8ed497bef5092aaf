/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the records of a snapshot to a task's counters, in the form of taskstats.h. */
#pragma once

#include <stddef.h>

#include "bpf/snapshot_record.h"
#include "data/delay.h"
#include "data/sample.h"

/*
 * Fills in the counters, state and wait of an empty element: from the n records of a process, the
 * first of them its leader's, or from the one record of a thread. before_ns: its previous reading
 * (CLOCK_MONOTONIC), 0 for none. Does not touch its identity.
 */
void snapshot_counters(const struct snapshot_record *parts, size_t n, uint64_t before_ns,
		       struct task_raw *raw);

/* Reads the longest and shortest waits from all n records. */
void snapshot_range(const struct snapshot_record *parts, size_t n, struct task_record *range);
