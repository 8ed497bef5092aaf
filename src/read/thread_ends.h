/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs in the kernel tell of threads that have ended, for their exit records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct end_ring;
struct exit_record;
struct thread_end;

/* Ends from one ring, each of `size` bytes, by id. */
struct thread_ends {
	struct end_ring *ring; /* the caller's */
	char *ends; /* of the last two calls that found any */
	size_t size, n, cap;
	size_t fresh; /* how many are of the last such call */
	bool lost, lost_before; /* at this reading, and at the one before, ends were missing */
};

/* Begins, with a ring that must outlive it. */
void thread_ends_open(struct thread_ends *ends, struct end_ring *ring);

/*
 * Reads the ends since the last call, and forgets those from before the last that found any.
 * Returns those that were read, valid until the next call.
 */
const char *thread_ends_take(struct thread_ends *ends, size_t *n);

/* Adds ends that were read. */
void thread_ends_add(struct thread_ends *ends, const void *more, size_t n);

/* The end of the record's task, or of all of its process; NULL: there is none. */
const struct thread_end *thread_ends_find(const struct thread_ends *ends,
					  const struct exit_record *record, bool process);

/* Waits until the ends of tasks are written whose exit records came some us before. */
void thread_ends_await(const struct exit_record *records, size_t n);

/*
 * Puts how tasks spent their time into records that have not got it, from ends of a trace; threads:
 * of single threads, else of whole processes.
 */
void thread_ends_put_times(const struct thread_ends *ends, struct exit_record *records, size_t n,
			   bool threads);

void thread_ends_free(struct thread_ends *ends);
