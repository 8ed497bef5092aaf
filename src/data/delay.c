/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/delay.h"

#define DELAY_ROW(NAME, kernel, id, heading, digit, since, place, place15, help) \
	{ id, heading, digit, since, place, place15, help },
const struct delay_row delay_table[DELAY_KINDS] = { DELAY_TABLE(DELAY_ROW) };

const char *wait_kind_id(unsigned kind)
{
	return kind == WAIT_DWAIT ? "dwait" : delay_table[kind].id;
}
#undef DELAY_ROW

/* The error of delays that are counted in clock ticks: these are 10 ms at most. */
#define TICK_NS (10 * NSEC_PER_MSEC)

/* How much more than possible may be booked for the booking to tell that the task waited. */
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

/* Adds kind to sum where it is valid. */
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
