/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measured waits of threads and processes that have ended, for their exit records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct measure;
struct measured_end;
struct exit_record;
struct task_record;

struct measured_ends {
	struct measure *measure; /* the caller's */
	struct measured_end *ends; /* of the last two calls that found any, by id */
	size_t n, cap;
	size_t fresh; /* how many are of the last such call */
	uint32_t kinds; /* as measure_kinds() */
	bool all; /* a thread without an end has waited for nothing */
	bool lost, lost_before; /* at this reading, and at the one before, ends were missing */
};

/* Begins, with programs that must outlive it. */
void measured_ends_open(struct measured_ends *ends, struct measure *measure);

/*
 * Reads the ends since the last call, and forgets those from before the last call that found any.
 * Then puts the measured kinds into records: measured_ends_correct().
 */
size_t measured_ends_take(struct measured_ends *ends, struct exit_record *records, size_t n,
			  bool threads);

/* Adds ends that were read. */
void measured_ends_add(struct measured_ends *ends, const struct measured_end *more, size_t n);

/*
 * Puts the measured kinds into records that were not corrected yet, threads: of single threads,
 * else of whole processes. Returns how many of them lost an impossible delay before and have it no
 * more.
 */
size_t measured_ends_correct(const struct measured_ends *ends, struct exit_record *records,
			     size_t n, bool threads);

/* Puts the longest waits that were measured into the fields of a record. */
void measured_range(const struct exit_record *record, struct task_record *range);

void measured_ends_free(struct measured_ends *ends);
