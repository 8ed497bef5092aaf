/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of columns of delays, in each unit. */
#include <math.h>

#include "base/util.h"
#include "frame/group.h"
#include "history/trends.h"
#include "view/column_parts.h"

/* Values of columns on how time was spent: traced states, the trend. */

/* The minimum scale of a trend, in percent: smaller values are no trend. */
#define TREND_LEAST 10.0

/* Time of its threads by state in the interval. */
COLUMN_GETTER(column_get_states)
{
	const struct wait_states *states = row->traced ? &row->traced->states : NULL;
	char letters[WAIT_STATES];
	uint64_t busy = 0;

	if (!states)
		return value_unset();
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		letters[state] = wait_state_table[state].letter;
		busy += BUSY_STATES & 1u << state ? states->ns[state] : 0;
	}
	return value_bar(states->ns, letters, WAIT_STATES, (double)busy);
}

/* The same by delays, of at least one thread's time: with many threads sleep would be all. */
COLUMN_GETTER(column_get_bar)
{
	const uint64_t *ns = row->deltas->waited.ns;
	const uint64_t memory = ns[DELAY_RECLAIM] + ns[DELAY_COMPACT] + ns[DELAY_WPCOPY];
	uint64_t parts[] = {
		row->deltas->grown.run_ns, ns[DELAY_CPU], ns[DELAY_BLKIO], memory, ns[WAIT_DWAIT], 0
	};
	uint64_t busy = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		busy += parts[i];
	if (!busy)
		return row->interval_ns ? value_text(".") : value_unset();
	if (busy < row->interval_ns)
		parts[ARRAY_SIZE(parts) - 1] = row->interval_ns - busy;
	return value_bar(parts, "rcimb ", ARRAY_SIZE(parts), (double)busy);
}

/* The share of an interval that a row waited, some samples ago; NAN: unknown. */
static double waited_before(const struct trends *trends, size_t interval, const struct row *row)
{
	double sum = (double)NAN, value;

	if (row->task)
		return trends_of(trends, interval, &row->task->key);
	for (size_t i = 0; row->group && i < row->group->n; i++) {
		value = trends_of(trends, interval, &row->group->members[i]->task->key);
		if (!isnan(value))
			sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

/* The row's waits in the last intervals, including this one. */
COLUMN_GETTER(column_get_trend)
{
	struct value now = column_share(row, row->deltas->waited.total);
	double values[VALUE_BAR_CELLS];

	if (!view->trends || (!row->task && !row->group))
		return value_unset();
	for (size_t i = 0; i + 1 < VALUE_BAR_CELLS; i++)
		values[VALUE_BAR_CELLS - 2 - i] = waited_before(view->trends, i, row);
	values[VALUE_BAR_CELLS - 1] = now.type == VALUE_NUMBER ? now.number : (double)NAN;
	return value_graph(values, TREND_LEAST);
}

/* The time in a state, of all threads, as a share of the traced time; arg: the state. */
COLUMN_GETTER(column_get_in_wait)
{
	const struct trace_frame *trace = view->frame->info->trace;

	if (!row->traced || !trace || !trace->interval_ns)
		return value_unset();
	return value_number((double)row->traced->states.ns[column->arg] * 100.0 /
			    (double)trace->interval_ns);
}

/* The part of the interval that the row lost: counted waits if nothing was traced. */
COLUMN_GETTER(column_get_lost)
{
	const struct trace_frame *trace = view->frame->info->trace;
	uint64_t ns;

	if (!row_lost(row, &ns))
		return value_unset();
	if (row->traced && trace && trace->interval_ns)
		return value_number((double)ns * 100.0 / (double)trace->interval_ns);
	return column_share(row, ns);
}

/* The waker that ended most of the row's waiting time. */
COLUMN_GETTER(column_get_waker)
{
	return value_text(row->traced ? row->traced->waker : NULL);
}

/* Values of columns of groups. */

/* The number of tasks in the row. */
COLUMN_GETTER(column_get_members)
{
	return value_number(row->members);
}

/* The group of the row. */
COLUMN_GETTER(column_get_group)
{
	return value_text(row->group ? row->group->label : NULL);
}

/* The member of the group with most waits. */
COLUMN_GETTER(column_get_worst)
{
	if (!row->group || !row->group->worst)
		return value_unset();
	return value_text(row->group->worst->task->comm);
}

/* A reading with that part, in this frame or (before) in the previous one, or NULL. */
static const struct cgroup_sample *figures_part(const struct group_figures *figures, unsigned part,
						bool before)
{
	const struct cgroup_sample *sample = before ? figures->before : figures->now;

	return sample && sample->have & CGROUP_BIT(part) ? sample : NULL;
}

/* The figures of the row's group that have a part; NULL: unknown. */
static const struct cgroup_sample *group_part(const struct row *row, unsigned part, bool before)
{
	return row->group ? figures_part(row->group->figures, part, before) : NULL;
}

/* The group's own pressure; arg: the resource. */
COLUMN_GETTER(column_get_pressure)
{
	const struct cgroup_sample *now = group_part(row, (unsigned)column->arg, false);

	if (!now || !now->psi[column->arg].some.valid)
		return value_unset();
	return value_number(now->psi[column->arg].some.avg10 / 100.0);
}

/* The share of the interval for which a group was throttled, in percent; below 0: unknown. */
static double own_throttling(const struct group_figures *figures)
{
	const struct cgroup_sample *now = figures_part(figures, CGROUP_THROTTLE, false);
	const struct cgroup_sample *before = figures_part(figures, CGROUP_THROTTLE, true);
	uint64_t ns;

	if (!now || !before)
		return -1;
	ns = now->read_ns[CGROUP_THROTTLE] - before->read_ns[CGROUP_THROTTLE];
	if (!ns || now->throttled_ns < before->throttled_ns)
		return -1;
	return (double)(now->throttled_ns - before->throttled_ns) * 100.0 / (double)ns;
}

/*
 * The share for which the group was throttled, by its own quota or by that of a group above,
 * whichever is larger: their overlap is unknown.
 */
COLUMN_GETTER(column_get_throttled)
{
	const struct group_figures *figures = row->group ? row->group->figures : NULL;
	double share = -1;

	for (; figures; figures = figures->above ? &figures->above->figures : NULL)
		share = fmax(share, own_throttling(figures));
	return share < 0 ? value_unset() : value_number(share);
}

/* Events at the group's memory limits in the interval; arg: enum cgroup_event. */
COLUMN_GETTER(column_get_event)
{
	const struct cgroup_sample *now = group_part(row, CGROUP_EVENTS, false);
	const struct cgroup_sample *before = group_part(row, CGROUP_EVENTS, true);
	unsigned bit = 1u << column->arg;

	if (!now || !before || !(now->event_valid & before->event_valid & bit) ||
	    now->events[column->arg] < before->events[column->arg])
		return value_unset();
	return value_number((double)(now->events[column->arg] - before->events[column->arg]));
}

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

/* Accounted delay since the task's start. */
static struct value booked_of_life(const struct column *column, const struct row *row)
{
	struct counters life = row_totals(row);

	if (!(life.valid & column->kinds & DELAY_ALL))
		return value_unset();
	return value_ms(sum_of(column->arg, life.delay, life.valid).ns);
}

/* Accounted delay of the interval. Groups have added up their members' mem and total. */
static struct delay_sum booked_delay(int arg, const struct row *row)
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

/* Accounted delay of the interval, in one of the units derived from it. */
static struct value get_booked(const struct column *column, const struct view *view,
			       const struct row *row)
{
	uint32_t known = row->valid & column->kinds & DELAY_ALL;
	/* A sum is known only if all its counts are known. */
	bool counted = ((row->valid >> DELAY_KINDS) & known) == known;
	struct delay_sum delta;

	if (!known)
		return value_unset();
	delta = booked_delay(column->arg, row);
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
