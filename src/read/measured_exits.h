/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measured waits of exited threads and processes, for their exit records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/thread_ends.h"

struct measure;
struct exit_record;
struct task_record;

struct measured_exits {
	struct thread_ends of; /* struct measured_end */
	uint32_t kinds; /* as measure_kinds() */
	bool all; /* a thread without an end had no waits */
};

/* Starts, with programs that must outlive it. */
void measured_exits_open(struct measured_exits *ends, struct measure *measure);

/* Reads the ends since the last call, and stores the kinds in records: measured_exits_correct(). */
size_t measured_exits_take(struct measured_exits *ends, struct exit_record *records, size_t n,
			   bool threads);

/*
 * Stores the measured kinds in records not corrected yet, threads: of single threads, else of whole
 * processes. Returns how many of them had an impossible delay before and no longer have.
 */
size_t measured_exits_correct(const struct measured_exits *ends, struct exit_record *records,
			      size_t n, bool threads);

/* Stores the longest measured waits in the fields of a record. */
void measured_range(const struct exit_record *record, struct task_record *range);

void measured_exits_free(struct measured_exits *ends);
