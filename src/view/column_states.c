/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of columns that tell how time was spent: states that were traced, the trend. */
#include "config.h"

#include "view/column_parts.h"

#include <math.h>

#include "history/trends.h"
#include "model/group.h"

/* The least top of a trend's scale, in percent: what is less is no trend. */
#define TREND_LEAST 10.0

/* How its threads spent the interval. */
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

/* The share of an interval that a row waited, some moments ago; NAN: not known. */
static double waited_before(const struct trends *trends, size_t moment, const struct row *row)
{
	double sum = (double)NAN, value;

	if (row->task)
		return trends_of(trends, moment, &row->task->key);
	for (size_t i = 0; row->group && i < row->group->n; i++) {
		value = trends_of(trends, moment, &row->group->members[i]->task->key);
		if (!isnan(value))
			sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

/* The row's waits in the last intervals, this one included. */
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

/* The time in a state, of all threads, as a share of what was traced; arg: the state. */
COLUMN_GETTER(column_get_in_wait)
{
	const struct trace_frame *trace = view->frame->info->trace;

	if (!row->traced || !trace || !trace->interval_ns)
		return value_unset();
	return value_number((double)row->traced->states.ns[column->arg] * 100.0 /
			    (double)trace->interval_ns);
}

/* The part of the interval that the row lost: the counted waits where nothing was traced. */
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
