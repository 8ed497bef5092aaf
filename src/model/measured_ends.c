/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/measured_ends.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "bpf/exact.h"
#include "kernel/exits.h"
#include "model/exit_fold.h"

/* How far the start of a task by its exit record may be from the true one. */
#define START_SLACK_NS (100 * NSEC_PER_MSEC)

/* Compares ends for qsort(): by the thread's id, then by the time of the end. */
static int compare_ends(const void *a, const void *b)
{
	const struct exact_ended *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

void measured_ends_add(struct measured_ends *ends, const struct exact_ended *more, size_t n)
{
	uint64_t first = n ? more[0].sequence : 0;
	size_t kept = 0;

	if (!n)
		return;
	/* Those of the taking before stay: a record may come a little later than its end. */
	for (size_t i = 0; i < ends->n; i++)
		if (ends->ends[i].sequence + ends->fresh >= first)
			ends->ends[kept++] = ends->ends[i];
	RESERVE(ends->ends, kept + n, ends->cap);
	memcpy(&ends->ends[kept], more, n * sizeof(*more));
	ends->n = kept + n;
	ends->fresh = n;
	qsort(ends->ends, ends->n, sizeof(*ends->ends), compare_ends);
}

void measured_ends_read(struct measured_ends *ends, struct exact *exact)
{
	size_t n;
	const struct exact_ended *more = exact_take_ended(exact, &n);

	measured_ends_add(ends, more, n);
}

/* The first end of that id. */
static size_t find_first(const struct measured_ends *ends, pid_t pid)
{
	size_t at;

	LOWER_BOUND(at, ends->n, ends->ends[at].pid < pid);
	return at;
}

/* The end of the record's task, or of all of its process; NULL: it was not measured. */
static const struct exact_ended *end_of_record(const struct measured_ends *ends,
					       const struct exit_record *record, bool process)
{
	const struct exact_ended *best = NULL;
	uint64_t latest = exit_latest_start(record), best_apart = 0;

	for (size_t i = find_first(ends, record->pid);
	     i < ends->n && ends->ends[i].pid == record->pid; i++) {
		const struct exact_ended *end = &ends->ends[i];
		uint64_t start = process ? end->process_start_ns : end->start_ns;
		uint64_t apart = start > latest ? start - latest : latest - start;
		/* The record's end is known only as exactly as it was drained. */
		uint64_t most = record->hi_ns - record->lo_ns + START_SLACK_NS;

		if ((process && !end->last) || apart > most || (best && apart > best_apart))
			continue;
		best = end;
		best_apart = apart;
	}
	return best;
}

/* Corrects a record. Whether an impossible delay was left out of it that is known now. */
static bool correct_record(const struct measured_ends *ends, struct exit_record *record,
			   bool threads)
{
	const uint32_t bit = DELAY_BIT(DELAY_BLKIO);
	bool process = !threads && record->last, was;
	const struct exact_ended *end = end_of_record(ends, record, process);

	if (!end)
		return false;
	record->measured = true;
	was = record->impossible;
	/* A thread's excess is none in the sum of its process. */
	if (!threads && !record->last) {
		record->left_out &= ~bit;
	} else {
		record->counters.delay[DELAY_BLKIO] = (struct delay_sum){
			.count = process ? end->process_io_count : end->io_count,
			.ns = process ? end->process_io_ns : end->io_ns,
		};
		record->counters.valid |= record->left_out & bit ? DELAY_BOTH(bit) : 0;
		record->left_out &= ~bit;
	}
	/* No kind but blkio was ever seen wrong of a task that ended. */
	record->impossible = record->left_out != 0;
	return was && !record->impossible;
}

size_t measured_ends_correct(const struct measured_ends *ends, struct exit_record *records,
			     size_t n, bool threads)
{
	size_t lifted = 0;

	for (size_t i = 0; ends->n && i < n; i++)
		if (!records[i].measured)
			lifted += correct_record(ends, &records[i], threads);
	return lifted;
}

void measured_ends_free(struct measured_ends *ends)
{
	free(ends->ends);
	*ends = (struct measured_ends){ 0 };
}
