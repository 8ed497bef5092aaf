/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/thread_ends.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "bpf/end_ring.h"
#include "bpf/trace_record.h"
#include "kernel/exits.h"
#include "read/exit_fold.h"

/* Maximum error of a task's start in its exit record. */
#define START_SLACK_NS (100 * NSEC_PER_MSEC)

/* An end is written some us after its record was sent: a reading this much later finds it. */
#define LAG_NS (100 * NSEC_PER_USEC)

void thread_ends_open(struct thread_ends *ends, struct end_ring *ring)
{
	*ends = (struct thread_ends){ .ring = ring, .size = ring->size };
}

/* Compares ends for qsort(): by the thread's id, then by the time of the end. */
static int compare_ends(const void *a, const void *b)
{
	const struct thread_end *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The end with an index. */
static const struct thread_end *end_at(const struct thread_ends *ends, size_t i)
{
	return thread_end_at(ends->ends, ends->size, i);
}

void thread_ends_add(struct thread_ends *ends, const void *more, size_t n)
{
	uint64_t first = n ? thread_end_at(more, ends->size, 0)->sequence : 0;
	size_t kept = 0;

	if (!n)
		return;
	/* Those of the previous reading stay: a record may come a little later than its end. */
	for (size_t i = 0; i < ends->n; i++) {
		if (end_at(ends, i)->sequence + ends->fresh < first)
			continue;
		memmove(ends->ends + kept * ends->size, end_at(ends, i), ends->size);
		kept++;
	}
	if (kept + n > ends->cap) {
		ends->cap = (kept + n) * 2;
		ends->ends = xreallocarray(ends->ends, ends->cap, ends->size);
	}
	memcpy(ends->ends + kept * ends->size, more, n * ends->size);
	ends->n = kept + n;
	ends->fresh = n;
	qsort(ends->ends, ends->n, ends->size, compare_ends);
}

const char *thread_ends_take(struct thread_ends *ends, size_t *n)
{
	const char *more;

	ends->lost_before = ends->lost;
	more = end_ring_take(ends->ring, n, &ends->lost);
	thread_ends_add(ends, more, *n);
	return more;
}

const struct thread_end *thread_ends_find(const struct thread_ends *ends,
					  const struct exit_record *record, bool process)
{
	const struct thread_end *best = NULL;
	uint64_t latest = exit_latest_start(record), best_apart = 0;
	size_t i;

	LOWER_BOUND(i, ends->n, end_at(ends, i)->pid < record->pid);
	for (; i < ends->n && end_at(ends, i)->pid == record->pid; i++) {
		const struct thread_end *end = end_at(ends, i);
		uint64_t start = process ? end->process_start_ns : end->start_ns;
		uint64_t apart = start > latest ? start - latest : latest - start;
		/* The record's exit time is known only as exactly as it was drained. */
		uint64_t most = record->hi_ns - record->lo_ns + START_SLACK_NS;

		if ((process && !end->last) || apart > most || (best && apart > best_apart))
			continue;
		best = end;
		best_apart = apart;
	}
	return best;
}

void thread_ends_await(const struct exit_record *records, size_t n)
{
	const struct timespec lag = { .tv_nsec = LAG_NS };

	for (size_t i = 0; i < n; i++)
		if (!records[i].times_tried && !records[i].measured) {
			nanosleep(&lag, NULL);
			return;
		}
}

/* Stores a task's time by state in its record. */
static void put_record_times(const struct thread_ends *ends, struct exit_record *record,
			     bool process)
{
	const struct trace_end *end = (const void *)thread_ends_find(ends, record, process);

	record->times_tried = true;
	if (!end || !(process ? end->process_known : end->own_known))
		return;
	record->times_known = true;
	memcpy(record->times.ns, process ? end->process : end->own, sizeof(record->times.ns));
}

void thread_ends_put_times(const struct thread_ends *ends, struct exit_record *records, size_t n,
			   bool threads)
{
	for (size_t i = 0; i < n; i++)
		if (!records[i].times_tried)
			put_record_times(ends, &records[i], !threads && records[i].last);
}

void thread_ends_free(struct thread_ends *ends)
{
	free(ends->ends);
	*ends = (struct thread_ends){ 0 };
}
