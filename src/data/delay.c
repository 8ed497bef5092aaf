/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/delay.h"

#include <string.h>

#define DELAY_ROW(NAME, kernel, id, heading, digit, since, place, place15, help) \
	{ id, heading, digit, since, place, place15, help },
const struct delay_row delay_table[DELAY_KINDS] = { DELAY_TABLE(DELAY_ROW) };

const char *wait_kind_id(unsigned kind)
{
	return kind == WAIT_DWAIT ? "dwait" : delay_table[kind].id;
}
#undef DELAY_ROW

/* The error of delays counted in clock ticks, which are at most 10 ms. */
#define TICK_NS (10 * NSEC_PER_MSEC)

/* Up to this excess over what is possible, the accounted time still proves that the task waited. */
#define CUT_MOST 2

enum delay_verdict delay_judge(const struct delay_sum *booked, bool counted, uint64_t possible_ns)
{
	uint64_t most = delay_most(possible_ns) + (counted ? 0 : TICK_NS);

	if (booked->ns <= most)
		return DELAY_FITS;
	if (booked->ns > CUT_MOST * most || (counted && booked->count <= 1))
		return DELAY_WRONG;
	return DELAY_CUT;
}

/* Adds a valid kind to the sum. */
static void delay_add(struct delay_sum *sum, const struct delay_sum *delays, uint32_t valid,
		      enum delay_kind kind)
{
	if (!(valid & DELAY_BIT(kind)))
		return;
	sum->count += delays[kind].count;
	sum->ns += delays[kind].ns;
}

struct delay_sum delay_total(const struct delay_sum *delays, uint32_t valid)
{
	struct delay_sum sum = { 0, 0 };

	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		if (DELAY_TOTAL_KINDS & DELAY_BIT(kind))
			delay_add(&sum, delays, valid, kind);
	return sum;
}

struct delay_sum delay_mem(const struct delay_sum *delays, uint32_t valid)
{
	uint64_t swapin = valid & DELAY_BIT(DELAY_SWAPIN) ? delays[DELAY_SWAPIN].ns : 0;
	uint64_t thrash = valid & DELAY_BIT(DELAY_THRASH) ? delays[DELAY_THRASH].ns : 0;
	struct delay_sum sum = { 0, 0 };

	delay_add(&sum, delays, valid, DELAY_RECLAIM);
	delay_add(&sum, delays, valid, DELAY_COMPACT);
	delay_add(&sum, delays, valid, DELAY_WPCOPY);
	delay_add(&sum, delays, valid, thrash > swapin ? DELAY_THRASH : DELAY_SWAPIN);
	return sum;
}

#define RECORD_ROW(name, heading, type, offset, offset15, since, nature, fold, group, unit, help) \
	{ #name,	   heading,	RECORD_##type, offset, offset15, since, \
	  RECORD_##nature, FOLD_##fold, group,	       unit,   help },
const struct record_row record_table[RECORD_FIELDS] = { RECORD_TABLE(RECORD_ROW) };
#undef RECORD_ROW

_Static_assert(RECORD_FIELDS <= 64, "fields_valid holds a bit a field");

/* Merges the longest and shortest waits; min is 0 in a task that never waited. */
static void fold_range(struct task_record *into, const struct task_record *thread)
{
	into->range_valid |= thread->range_valid;
	into->stamp_valid |= thread->stamp_valid;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (thread->max[kind] > into->max[kind]) {
			into->max[kind] = thread->max[kind];
			into->stamp[kind] = thread->stamp[kind];
		}
		if (thread->min[kind] && (!into->min[kind] || thread->min[kind] < into->min[kind]))
			into->min[kind] = thread->min[kind];
	}
}

void record_fold(struct task_record *into, const struct task_record *thread)
{
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		if (!(into->fields_valid & thread->fields_valid & RECORD_BIT(f)))
			continue;
		if (record_table[f].fold == FOLD_SUM)
			into->field[f] += thread->field[f];
		else if (record_table[f].fold == FOLD_MAX && thread->field[f] > into->field[f])
			into->field[f] = thread->field[f];
	}
	fold_range(into, thread);
}

void record_range(const struct task_record *record, uint32_t kinds, uint64_t *max, uint64_t *min)
{
	*max = *min = 0;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (!(kinds & DELAY_BIT(kind)))
			continue;
		if (record->max[kind] > *max)
			*max = record->max[kind];
		if (record->min[kind] && (!*min || record->min[kind] < *min))
			*min = record->min[kind];
	}
}

/* Adds the waits of a kind. */
static void add_delay(struct delay_sum *sum, const struct delay_sum *more)
{
	sum->count += more->count;
	sum->ns += more->ns;
}

void counters_add(struct counters *sum, const struct counters *more)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		add_delay(&sum->delay[kind], &more->delay[kind]);
	sum->run_ns += more->run_ns;
	sum->user_ns += more->user_ns;
	sum->system_ns += more->system_ns;
	sum->life_ns = sum->life_ns && more->life_ns ? sum->life_ns + more->life_ns : 0;
	sum->dwait_ns += more->dwait_ns;
	sum->valid &= more->valid;
	sum->members += more->members;
}

void counters_add_known(struct counters *sum, const struct counters *more, uint32_t known)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (known & DELAY_BIT(kind))
			add_delay(&sum->delay[kind], &more->delay[kind]);
	if (known & VALID_RUN)
		sum->run_ns += more->run_ns;
	if (known & VALID_TICK) {
		sum->user_ns += more->user_ns;
		sum->system_ns += more->system_ns;
	}
	if (known & VALID_DWAIT)
		sum->dwait_ns += more->dwait_ns;
	sum->valid |= known;
	sum->members += more->members;
}

/* Raises one counter to at least its earlier value. */
static void lift(uint64_t *now, uint64_t before)
{
	if (*now < before)
		*now = before;
}

/* Raises the waits of a kind to earlier values. False if the total overflowed. */
static bool lift_delay(struct delay_sum *now, const struct delay_sum *before)
{
	uint32_t waits = (uint32_t)(now->count - before->count);
	bool forward = waits < UINT32_C(1) << 31, overflowed = !now->ns && forward && waits;

	now->count = before->count + (forward ? waits : 0);
	if (overflowed && before->ns)
		return false;
	lift(&now->ns, before->ns);
	return true;
}

uint32_t counters_lift(struct counters *now, const struct counters *before)
{
	uint32_t known = now->valid & before->valid;
	/* Most tasks of most samples have not waited. */
	bool same = !memcmp(now->delay, before->delay, sizeof(now->delay));

	for (unsigned kind = 0; kind < DELAY_KINDS && !same; kind++)
		if (known & DELAY_BIT(kind) && !lift_delay(&now->delay[kind], &before->delay[kind]))
			known &= ~DELAY_BOTH(DELAY_BIT(kind));
	if (known & VALID_RUN)
		lift(&now->run_ns, before->run_ns);
	if (known & VALID_TICK) {
		lift(&now->user_ns, before->user_ns);
		lift(&now->system_ns, before->system_ns);
	}
	if (known & VALID_DWAIT)
		lift(&now->dwait_ns, before->dwait_ns);
	return known;
}

void counters_diff(struct counters *grown, const struct counters *now,
		   const struct counters *before, uint32_t known)
{
	*grown = (struct counters){ .valid = known };
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		if (!(known & DELAY_BIT(kind)))
			continue;
		grown->delay[kind].count = now->delay[kind].count - before->delay[kind].count;
		grown->delay[kind].ns = now->delay[kind].ns - before->delay[kind].ns;
	}
	if (known & VALID_RUN)
		grown->run_ns = now->run_ns - before->run_ns;
	if (known & VALID_TICK) {
		grown->user_ns = now->user_ns - before->user_ns;
		grown->system_ns = now->system_ns - before->system_ns;
	}
	if (known & VALID_DWAIT)
		grown->dwait_ns = now->dwait_ns - before->dwait_ns;
}

void counters_take_off(struct counters *sum, const struct counters *part, uint32_t kinds)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		struct delay_sum *all = &sum->delay[kind];
		const struct delay_sum *some = &part->delay[kind];

		if (!(kinds & DELAY_BIT(kind)))
			continue;
		all->count -= some->count < all->count ? some->count : all->count;
		all->ns -= some->ns < all->ns ? some->ns : all->ns;
	}
}

void counters_put(struct counters *counters, const struct counters *from, uint32_t kinds)
{
	counters_mask(counters, kinds);
	counters->valid |= from->valid & (DELAY_BOTH(kinds & DELAY_ALL) | (kinds & VALID_DWAIT));
	if (kinds & VALID_DWAIT)
		counters->dwait_ns = from->dwait_ns;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind))
			counters->delay[kind] = from->delay[kind];
}

void counters_clear(struct counters *counters, uint32_t kinds)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind))
			counters->delay[kind] = (struct delay_sum){ 0, 0 };
}

void counters_add_excess(struct counters *excess, unsigned kind, enum delay_verdict verdict,
			 const struct delay_sum *booked, uint64_t possible_ns)
{
	if (verdict == DELAY_FITS)
		return;
	excess->valid |= DELAY_BIT(kind);
	excess->delay[kind] = *booked;
	if (verdict == DELAY_CUT)
		excess->delay[kind] = (struct delay_sum){ .ns = booked->ns - possible_ns };
}

uint32_t counters_excess(const struct counters *counters, uint64_t life_ns, struct counters *excess)
{
	uint32_t wrong = 0;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *booked = &counters->delay[kind];
		enum delay_verdict verdict =
			delay_judge(booked, counters->valid & DELAY_COUNT_BIT(kind), life_ns);

		if (!(counters->valid & DELAY_BIT(kind)))
			continue;
		counters_add_excess(excess, kind, verdict, booked, life_ns);
		wrong |= verdict == DELAY_WRONG ? DELAY_BIT(kind) : 0;
	}
	return wrong;
}

bool counters_below(const struct counters *counters, const struct counters *other)
{
	bool below = counters->run_ns < other->run_ns;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		below |= counters->delay[kind].count < other->delay[kind].count;
	return below;
}

/* True if any kind, from the given first on, has a wait. */
static bool any_delay(const struct counters *counters, unsigned first)
{
	uint64_t any = 0;

	for (unsigned kind = first; kind < DELAY_KINDS; kind++)
		any |= counters->delay[kind].count | counters->delay[kind].ns;
	return any != 0;
}

bool counters_booked(const struct counters *counters)
{
	return any_delay(counters, DELAY_CPU + 1);
}

bool counters_any(const struct counters *counters)
{
	return counters->run_ns || counters->user_ns || counters->system_ns || counters->dwait_ns ||
	       any_delay(counters, DELAY_CPU);
}
