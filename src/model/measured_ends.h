/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measured waits of threads and processes that have ended, for their exit records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct exact;
struct exact_ended;
struct exit_record;

struct measured_ends {
	struct exact_ended *ends; /* of the last two calls that found any, by id */
	size_t n, cap;
	size_t fresh; /* how many are of the last such call */
};

/*
 * Reads the ends since the last call, and forgets those from before the last call that found any.
 */
void measured_ends_read(struct measured_ends *ends, struct exact *exact);

/* The same of ends that were read. */
void measured_ends_add(struct measured_ends *ends, const struct exact_ended *more, size_t n);

/*
 * Replaces blkio by the measured time in records that were not corrected yet; threads: in records
 * of single threads, else of whole processes. Returns how many of them lost an impossible delay
 * before and have it no more.
 */
size_t measured_ends_correct(const struct measured_ends *ends, struct exit_record *records,
			     size_t n, bool threads);

void measured_ends_free(struct measured_ends *ends);
