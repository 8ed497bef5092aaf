/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

/* A row with its sort value taken out once. */
struct key {
	struct value value;
	const struct row *row;
};

/* Whether anything happened to the row in the interval. What is unknown may have happened. */
static bool is_active(const struct row *row)
{
	return row->exited || !row->valid || row->total.ns || row->total.count || row->run_ns ||
	       row->delta[DELAY_THRASH].ns;
}

/* Whether one of the users is the row's. */
static bool has_user(const struct query *query, uid_t uid)
{
	for (size_t i = 0; i < query->nusers; i++)
		if (query->users[i] == uid)
			return true;
	return false;
}

/* Whether name or command line match. */
static bool matches(const regex_t *regex, const struct task *task)
{
	if (!regexec(regex, task->comm, 0, NULL, 0))
		return true;
	return task->command && !regexec(regex, task->command, 0, NULL, 0);
}

bool query_passes(const struct query *query, const struct row *row)
{
	if (query->active && !is_active(row))
		return false;
	if (query->no_exited && row->exited)
		return false;
	if (query->over_ms >= 0 &&
	    (!row->valid || (double)row->total.ns <= query->over_ms * (double)NSEC_PER_MSEC))
		return false;
	if (query->users && !(row->task && has_user(query, row->task->uid)))
		return false;
	return !query->match || !row->task || matches(query->match, row->task);
}

/* Compares in ascending order; the frame's order decides between equals. */
static int compare_ascending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = value_compare(&x->value, &y->value);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* The same in descending order, unset values still last. */
static int compare_descending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = value_compare(&x->value, &y->value);

	if (x->value.type != VALUE_UNSET && y->value.type != VALUE_UNSET)
		order = -order;
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Whether the value is a number above 0. */
static bool is_positive(const struct value *value)
{
	return value->type == VALUE_NUMBER && value->number > 0;
}

/*
 * Sorts keys that are in the frame's order. Most rows of most samples show 0 or nothing:
 * descending, those are in place behind the others once these are taken out.
 */
static void sort_keys(struct key *keys, struct key *spare, size_t n, bool descending)
{
	size_t front = 0, back = 0;

	if (!descending) {
		qsort(keys, n, sizeof(*keys), compare_ascending);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_positive(&keys[i].value))
			keys[front++] = keys[i];
		else
			spare[back++] = keys[i];
	}
	memcpy(keys + front, spare, back * sizeof(*keys));
	qsort(keys, front, sizeof(*keys), compare_descending);
	for (size_t i = front; i < n; i++) {
		if (keys[i].value.type != VALUE_NUMBER || keys[i].value.number < 0) {
			qsort(keys + front, n - front, sizeof(*keys), compare_descending);
			return;
		}
	}
}

/* Makes room for as many rows as the frame has. */
static void reserve(struct order *order, size_t n)
{
	/* Even of no rows sorts and copies want an address. */
	if (order->keys && n <= order->cap)
		return;
	order->cap = n * 2 + 1;
	order->rows = xreallocarray(order->rows, order->cap, sizeof(*order->rows));
	order->keys = xreallocarray(order->keys, order->cap, 2 * sizeof(struct key));
}

/* Starts the sum row. */
static void start_sum(const struct frame *frame, struct order *order)
{
	memset(&order->sum, 0, sizeof(order->sum));
	memset(&order->sum_raw, 0, sizeof(order->sum_raw));
	order->sum.raw = &order->sum_raw;
	/* Since their starts, the rows' intervals differ: the sum is of the time since boot. */
	order->sum.interval_ns = frame->since_start ? frame->cur->begin_ns : frame->interval_ns;
}

void query_run(const struct query *query, const struct view *view, struct order *order)
{
	const struct frame *frame = view->frame;
	struct key *keys;
	size_t n = 0;

	reserve(order, frame->n);
	start_sum(frame, order);
	keys = order->keys;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!query_passes(query, row))
			continue;
		row_add(&order->sum, &order->sum_raw, row);
		keys[n].row = row;
		if (query->sort)
			keys[n].value = column_get(query->sort, view, row);
		n++;
	}
	if (query->sort)
		sort_keys(keys, keys + n, n, query->descending);
	for (size_t i = 0; i < n; i++)
		order->rows[i] = keys[i].row;
	order->passed = n;
	order->n = query->rows && query->rows < n ? query->rows : n;
}

unsigned query_needs(const struct query *query, enum unit unit)
{
	return (query->sort ? column_needs(query->sort, unit) : 0) |
	       (query->match ? NEED_COMMAND : 0);
}

void order_free(struct order *order)
{
	free(order->rows);
	free(order->keys);
	*order = (struct order){ 0 };
}
