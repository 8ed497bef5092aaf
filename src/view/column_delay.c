/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of columns of delays, in each unit. */
#include "config.h"

#include "view/column_parts.h"

#include "base/util.h"

const struct unit_row unit_table[UNITS] = {
	[UNIT_PERCENT] = { "percent", "(%)", FORMAT_SHARE,
			   "time waited as a share of the interval" },
	[UNIT_MS] = { "ms", "(ms)", FORMAT_SHARE, "milliseconds waited in the interval" },
	[UNIT_COUNT] = { "count", "(#)", FORMAT_SHARE, "waits that ended in the interval" },
	[UNIT_AVG] = { "avg", "(ms/#)", FORMAT_WAIT,
		       "milliseconds per wait, of those in the interval" },
	[UNIT_MAX] = { "max", "(max)", FORMAT_WAIT,
		       "longest wait since the task's start, in milliseconds" },
	[UNIT_TOTAL] = { "total", "(tot)", FORMAT_SHARE,
			 "milliseconds waited since the task's start" },
};

/* A time in ms. */
static struct value value_ms(uint64_t ns)
{
	return value_number((double)ns / (double)NSEC_PER_MSEC);
}

/* Longest wait of any of the kinds, in ms. */
static struct value longest(const struct view *view, const struct row *row, uint32_t kinds)
{
	const struct task_record *record = row_record(view->frame, row);
	uint64_t max, min;

	kinds &= row->raw->counters.valid & (record ? record->range_valid : 0);
	if (!kinds)
		return value_unset();
	record_range(record, kinds, &max, &min);
	return value_ms(max);
}

/* Sum of the column's kinds over an array of kinds. */
static struct delay_sum sum_of(int arg, const struct delay_sum *delays, uint32_t valid)
{
	if (arg == ARG_TOTAL)
		return delay_total(delays, valid);
	return arg == ARG_MEM ? delay_mem(delays, valid) : delays[arg];
}

/* Booked delay since the task's start. */
static struct value booked_of_life(const struct column *column, const struct row *row)
{
	struct counters life = row_life(row);

	if (!(life.valid & column->kinds & DELAY_ALL))
		return value_unset();
	return value_ms(sum_of(column->arg, life.delay, life.valid).ns);
}

/* Booked delay of the interval. Groups have added up their members' mem and total. */
static struct delay_sum booked_of(int arg, const struct row *row)
{
	if (arg == ARG_TOTAL)
		return row->deltas->total;
	return arg == ARG_MEM ? row->deltas->mem : row->deltas->grown.delay[arg];
}

/* Waited time of the interval. */
static uint64_t waited_of(int arg, const struct row *row)
{
	const struct waited *waited = &row->deltas->waited;

	if (arg == ARG_TOTAL)
		return waited->total;
	return arg == ARG_MEM ? waited->mem : waited->ns[arg];
}

/* Booked delay of the interval, in one of the units that are based on it. */
static struct value get_booked(const struct column *column, const struct view *view,
			       const struct row *row)
{
	uint32_t known = row->valid & column->kinds & DELAY_ALL;
	/* A sum is known only if every count in it is known. */
	bool counted = ((row->valid >> DELAY_KINDS) & known) == known;
	struct delay_sum delta;

	if (!known)
		return value_unset();
	delta = booked_of(column->arg, row);
	if (view->unit == UNIT_PERCENT)
		return column_share(row, delta.ns);
	if (view->unit == UNIT_MS)
		return value_ms(delta.ns);
	if (!counted || (view->unit == UNIT_AVG && !delta.count))
		return value_unset();
	if (view->unit == UNIT_COUNT)
		return value_number((double)delta.count);
	return value_number((double)delta.ns / (double)delta.count / (double)NSEC_PER_MSEC);
}

/* A delay in the view's unit. */
COLUMN_GETTER(column_get_delay)
{
	if (view->unit == UNIT_MAX)
		return longest(view, row, column->kinds);
	if (view->unit == UNIT_TOTAL)
		return booked_of_life(column, row);
	if (view->booked || (view->unit != UNIT_PERCENT && view->unit != UNIT_MS))
		return get_booked(column, view, row);
	if (!(row_waited(row) & column->kinds))
		return value_unset();
	if (view->unit == UNIT_PERCENT)
		return column_share(row, waited_of(column->arg, row));
	return value_ms(waited_of(column->arg, row));
}
