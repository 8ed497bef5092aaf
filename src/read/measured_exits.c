/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/measured_exits.h"

#include "base/util.h"
#include "bpf/measure.h"
#include "kernel/exits.h"

void measured_exits_open(struct measured_exits *ends, struct measure *measure)
{
	*ends = (struct measured_exits){ .kinds = measure_kinds(measure),
					 .all = measure_is_late(measure) };
	thread_ends_open(&ends->of, measure_ends(measure));
}

size_t measured_exits_take(struct measured_exits *ends, struct exit_record *records, size_t n,
			   bool threads)
{
	size_t found;

	thread_ends_await(records, n);
	thread_ends_take(&ends->of, &found);
	return measured_exits_correct(ends, records, n, threads);
}

/* Stores the measured kinds in a record; measured NULL: there were no waits. */
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

/* Corrects a record. Returns whether an impossible delay was removed from it that is known now. */
static bool correct_record(const struct measured_exits *ends, struct exit_record *record,
			   bool threads)
{
	bool process = !threads && record->last, was = record->impossible;
	const struct measured_end *end = (const void *)thread_ends_find(&ends->of, record, process);

	if (!end && (!ends->all || ends->of.lost || ends->of.lost_before))
		return false;
	record->measured = ends->kinds;
	record->left_out &= ~ends->kinds;
	/* Excess accounted for a thread does not affect its process's measured sum. */
	if (threads || record->last)
		put_kinds(record, end ? process ? end->process : end->own : NULL, ends->kinds);
	/* No kind but blkio was ever seen wrong for an exited task. */
	record->impossible = record->left_out != 0;
	return was && !record->impossible;
}

size_t measured_exits_correct(const struct measured_exits *ends, struct exit_record *records,
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

void measured_exits_free(struct measured_exits *ends)
{
	thread_ends_free(&ends->of);
	*ends = (struct measured_exits){ 0 };
}
