/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/measured_ends.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "bpf/measure.h"
#include "kernel/exits.h"
#include "model/exit_fold.h"

/* How far the start of a task by its exit record may be from the true one. */
#define START_SLACK_NS (100 * NSEC_PER_MSEC)

/* An end is written some us after its record was sent: a reading that comes so late finds it. */
#define LAG_NS (100 * NSEC_PER_USEC)

/* Compares ends for qsort(): by the thread's id, then by the time of the end. */
static int compare_ends(const void *a, const void *b)
{
	const struct measured_end *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

void measured_ends_add(struct measured_ends *ends, const struct measured_end *more, size_t n)
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

void measured_ends_open(struct measured_ends *ends, struct measure *measure)
{
	*ends = (struct measured_ends){ .measure = measure,
					.kinds = measure_kinds(measure),
					.all = measure_is_late(measure) };
}

/* Whether a record is not corrected yet. */
static bool any_booked(const struct exit_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!records[i].measured)
			return true;
	return false;
}

size_t measured_ends_take(struct measured_ends *ends, struct exit_record *records, size_t n,
			  bool threads)
{
	const struct timespec lag = { .tv_nsec = LAG_NS };
	const struct measured_end *more;
	size_t found;

	if (any_booked(records, n))
		nanosleep(&lag, NULL);
	ends->lost_before = ends->lost;
	more = measure_take_ends(ends->measure, &found, &ends->lost);
	measured_ends_add(ends, more, found);
	return measured_ends_correct(ends, records, n, threads);
}

/* The first end of that id. */
static size_t find_first(const struct measured_ends *ends, pid_t pid)
{
	size_t at;

	LOWER_BOUND(at, ends->n, ends->ends[at].pid < pid);
	return at;
}

/* The end of the record's task, or of all of its process; NULL: it was not measured. */
static const struct measured_end *end_of_record(const struct measured_ends *ends,
						const struct exit_record *record, bool process)
{
	const struct measured_end *best = NULL;
	uint64_t latest = exit_latest_start(record), best_apart = 0;

	for (size_t i = find_first(ends, record->pid);
	     i < ends->n && ends->ends[i].pid == record->pid; i++) {
		const struct measured_end *end = &ends->ends[i];
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

/* Puts the measured kinds into a record; measured NULL: nothing was waited. */
static void put_kinds(struct exit_record *record, const struct measured_delay *measured,
		      uint32_t kinds)
{
#define PUT_MAX(NAME, ...) \
	record->max_us[DELAY_##NAME] = measured ? measured[MEASURED_##NAME].max_us : 0;
#define PUT_KIND(NAME, ...) \
	[DELAY_##NAME] = { .count = measured ? measured[MEASURED_##NAME].count : 0, \
			   .ns = measured ? measured[MEASURED_##NAME].ns : 0 },
	const struct counters found = {
		.valid = DELAY_BOTH(kinds & DELAY_ALL) | (kinds & VALID_DWAIT),
		.dwait_ns = measured ? measured[MEASURED_DWAIT].ns : 0,
		.delay = { MEASURED_DELAYS(PUT_KIND) },
	};
	MEASURED_DELAYS(PUT_MAX)
#undef PUT_KIND
#undef PUT_MAX
	counters_put(&record->counters, &found, kinds);
}

/* Corrects a record. Whether an impossible delay was left out of it that is known now. */
static bool correct_record(const struct measured_ends *ends, struct exit_record *record,
			   bool threads)
{
	bool process = !threads && record->last, was = record->impossible;
	const struct measured_end *end = end_of_record(ends, record, process);

	if (!end && (!ends->all || ends->lost || ends->lost_before))
		return false;
	record->measured = ends->kinds;
	record->left_out &= ~ends->kinds;
	/* What a thread had too much booked is no matter of its process's measured sum. */
	if (threads || record->last)
		put_kinds(record, end ? process ? end->process : end->own : NULL, ends->kinds);
	/* No kind but blkio was ever seen wrong of a task that ended. */
	record->impossible = record->left_out != 0;
	return was && !record->impossible;
}

size_t measured_ends_correct(const struct measured_ends *ends, struct exit_record *records,
			     size_t n, bool threads)
{
	size_t lifted = 0;

	for (size_t i = 0; i < n; i++)
		if (!records[i].measured)
			lifted += correct_record(ends, &records[i], threads);
	return lifted;
}

void measured_range(const struct exit_record *record, struct task_record *range)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (!(record->measured & DELAY_BIT(kind)))
			continue;
		range->max[kind] = record->max_us[kind] * NSEC_PER_USEC;
		range->min[kind] = 0;
		range->range_valid |= DELAY_BIT(kind);
		range->stamp_valid &= ~DELAY_BIT(kind);
	}
}

void measured_ends_free(struct measured_ends *ends)
{
	free(ends->ends);
	*ends = (struct measured_ends){ 0 };
}
