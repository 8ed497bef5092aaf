/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data that BPF programs store of exited threads, for their exit records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct end_ring;
struct exit_record;
struct thread_end;

/* Ends from one ring, each of `size` bytes, by id. */
struct thread_ends {
	struct end_ring *ring; /* the caller's ring */
	char *ends; /* of the last two calls that found any */
	size_t size, n, cap;
	size_t fresh; /* how many are of the last such call */
	bool lost, lost_before; /* at this reading, and at the previous one, ends were missing */
};

/* Starts, with a ring that must outlive it. */
void thread_ends_open(struct thread_ends *ends, struct end_ring *ring);

/*
 * Reads the ends since the last call, and drops those from before the last that found any. Returns
 * the new ones, valid until the next call.
 */
const char *thread_ends_take(struct thread_ends *ends, size_t *n);

/* Adds ends that were read. */
void thread_ends_add(struct thread_ends *ends, const void *more, size_t n);

/* The end of the record's task, or of all of its process; NULL: none. */
const struct thread_end *thread_ends_find(const struct thread_ends *ends,
					  const struct exit_record *record, bool process);

/* Waits until the ends of tasks are written whose exit records came some us before. */
void thread_ends_await(const struct exit_record *records, size_t n);

/*
 * Stores time by state in records that lack it, from ends of a trace; threads: of single threads,
 * else of whole processes.
 */
void thread_ends_put_times(const struct thread_ends *ends, struct exit_record *records, size_t n,
			   bool threads);

void thread_ends_free(struct thread_ends *ends);
