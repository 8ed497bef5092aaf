/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A row with its sort value, fetched once. */
struct key {
	struct value value;
	const struct row *row;
};

bool query_is_active(const struct row *row)
{
	const struct deltas *deltas = row->deltas;

	if (row->exited || !row->valid)
		return true;
	return deltas != &no_deltas &&
	       (deltas->waited.total || deltas->total.ns || deltas->total.count ||
		deltas->grown.run_ns || deltas->grown.delay[DELAY_THRASH].ns);
}

/* True if the row's user is among the query's users. */
static bool has_user(const struct query *query, uid_t uid)
{
	for (size_t i = 0; i < query->nusers; i++)
		if (query->users[i] == uid)
			return true;
	return false;
}

bool query_matches(struct pattern *pattern, const struct task *task)
{
	const char *const texts[] = { task->comm, task->command, task->pod, task->container };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i] && pattern_matches(pattern, texts[i]))
			return true;
	return false;
}

/* True if the row's task belongs to the group. */
static bool is_within(const struct query *query, const struct row *row)
{
	const char *name = group_name_of(row, query->within_by);

	if (!name || !query->within_name)
		return !name && !query->within_name;
	return !strcmp(name, query->within_name);
}

bool query_takes(const void *arg, const struct row *row)
{
	const struct query *query = arg;

	if (query->no_exited && row->exited)
		return false;
	if (query->users && !has_user(query, row->task->uid))
		return false;
	if (query->below && !group_is_below(row->task->cgroup, query->below))
		return false;
	if (query->within && !is_within(query, row))
		return false;
	return !query->match || query_matches(query->match, row->task);
}

/*
 * True if a task hangs: any thread in uninterruptible sleep does, other waits from a certain age
 * on.
 */
static bool does_hang(const struct frame *frame, const struct row *row)
{
	uint64_t ns;

	if (row_wait(frame, row, &ns) && (waits_in_d(&row->raw->now.waits) || ns >= QUERY_HANG_NS))
		return true;
	return row_hang(frame, row, &ns) && ns >= QUERY_HANG_NS;
}

/* True if the row's task hangs, or any task of its group. */
static bool hangs_anywhere(const struct frame *frame, const struct row *row)
{
	if (!row->group)
		return does_hang(frame, row);
	for (size_t i = 0; i < row->group->n; i++)
		if (does_hang(frame, row->group->members[i]))
			return true;
	return false;
}

/* True if a row of a task or of a group passes the filters. */
static bool passes(const struct query *query, const struct frame *frame, const struct row *row)
{
	if (query->hangs && !hangs_anywhere(frame, row))
		return false;
	if (query->active && !query_is_active(row))
		return false;
	if (query->over_ms >= 0 && (!row->valid || (double)row->deltas->waited.total <=
							   query->over_ms * (double)NSEC_PER_MSEC))
		return false;
	/* A group's members were filtered before. */
	return !row->task || query_takes(query, row);
}

/* Compares in ascending order; equal rows stay in the frame's order. */
static int compare_ascending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = value_compare(&x->value, &y->value);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Does the same in descending order, unset values still last. */
static int compare_descending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = value_compare(&x->value, &y->value);

	if (x->value.type != VALUE_UNSET && y->value.type != VALUE_UNSET)
		order = -order;
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* The numbers of rows to be sorted: with a sort value other than 0, with 0, with none. */
struct parts {
	size_t keys, zeros, unset;
};

/*
 * Sorts the rows. In most samples most rows have 0 or no value: those are already in order, and
 * only the others are sorted.
 */
static void put_in_order(struct order *order, const struct parts *parts, bool descending)
{
	struct key *keys = order->keys;
	size_t n = 0, k = 0;

	qsort(keys, parts->keys, sizeof(*keys),
	      descending ? compare_descending : compare_ascending);
	/* Zeros go between the numbers above and below. */
	while (k < parts->keys && keys[k].value.type == VALUE_NUMBER &&
	       (keys[k].value.number > 0) == descending)
		order->rows[n++] = keys[k++].row;
	/* After zeros there may be texts, or negative values. */
	order->ranked = k == parts->keys ? n : n + parts->keys - k + parts->zeros;
	memcpy(order->rows + n, order->zeros, parts->zeros * sizeof(*order->rows));
	n += parts->zeros;
	while (k < parts->keys)
		order->rows[n++] = keys[k++].row;
	memcpy(order->rows + n, order->unset, parts->unset * sizeof(*order->rows));
}

void order_reserve(struct order *order, size_t n)
{
	/* Sorting and copying need a valid address even for no rows. */
	if (order->keys && n <= order->cap)
		return;
	order->cap = n * 2 + 1;
	order->rows = xreallocarray(order->rows, order->cap, sizeof(*order->rows));
	order->zeros = xreallocarray(order->zeros, order->cap, sizeof(*order->zeros));
	order->unset = xreallocarray(order->unset, order->cap, sizeof(*order->unset));
	order->keys = xreallocarray(order->keys, order->cap, sizeof(*order->keys));
}

/* Starts the sum row. */
static void start_sum(const struct frame_info *info, struct order *order)
{
	memset(&order->sum, 0, sizeof(order->sum));
	memset(&order->sum_deltas, 0, sizeof(order->sum_deltas));
	memset(&order->sum_raw, 0, sizeof(order->sum_raw));
	order->sum.deltas = &order->sum_deltas;
	order->sum.raw = &order->sum_raw;
	/* Since start the rows' intervals differ: the sum's interval is the time since boot. */
	order->sum.interval_ns = info->since_start ? info->cur->begin_ns : info->interval_ns;
}

bool query_takes_all(const struct query *query)
{
	return !query->active && !query->hangs && !query->no_exited && query->over_ms < 0 &&
	       !query->users && !query->match && !query->below && !query->within;
}

/* Adds a row to the sum: for a group its own members, as the groups below have rows, too. */
static void add_to_sum(struct order *order, const struct row *row)
{
	const struct row *own = row->group ? &row->group->sum : row;

	row_add(&order->sum, &order->sum_deltas, own);
	if (order->life)
		row_add_totals(&order->sum_raw.counters, own);
}

/* Puts a row into the part for its kind of value. */
static void sort_row(struct order *order, struct parts *parts, const struct row *row,
		     const struct value *value)
{
	if (value->type == VALUE_UNSET)
		order->unset[parts->unset++] = row;
	else if (value->type == VALUE_NUMBER && value->number == 0)
		order->zeros[parts->zeros++] = row;
	else
		order->keys[parts->keys++] = (struct key){ *value, row };
}

/*
 * True if a column's value of a row without deltas follows from its known kinds and its interval:
 * that of a delay column does, in units of the interval (column_get_delay()).
 */
static bool follows(const struct column *column, const struct view *view)
{
	return column && column->kinds && view->unit != UNIT_MAX && view->unit != UNIT_TOTAL;
}

void query_run(const struct query *query, const struct view *view, struct order *order)
{
	const struct frame *frame = view->frame;
	struct parts parts = { 0 };
	struct value value = value_number(0);
	bool all = query_takes_all(query), same = follows(query->sort, view);
	const struct row *last = NULL; /* source of `value`, without deltas */

	order_reserve(order, frame->n);
	start_sum(frame->info, order);
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		bool idle = same && row->deltas == &no_deltas && !row->group;
		bool again = idle && last && last->valid == row->valid &&
			     last->interval_ns == row->interval_ns;

		if (!all && !passes(query, frame, row))
			continue;
		/*
		 * Most rows are idle, with the same known kinds: they have one value, and add
		 * nothing.
		 */
		if (again && !row->traced && !order->life)
			order->sum.members += row->members;
		else
			add_to_sum(order, row);
		if (query->sort && !again) {
			value = column_get(query->sort, view, row);
			last = idle ? row : NULL;
		}
		sort_row(order, &parts, row, &value);
	}
	put_in_order(order, &parts, query->descending);
	order->passed = parts.keys + parts.zeros + parts.unset;
	order->n = query->rows && query->rows < order->passed ? query->rows : order->passed;
}

void query_order(const struct query *query, const struct view *view, struct order *order)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < order->n; i++) {
		struct value value = query->sort ? column_get(query->sort, view, order->rows[i])
						 : value_number(0);

		sort_row(order, &parts, order->rows[i], &value);
	}
	put_in_order(order, &parts, query->descending);
	order->passed = order->n;
}

void query_sort(struct order *order, const struct value *values, bool descending)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < order->n; i++)
		sort_row(order, &parts, order->rows[i], &values[i]);
	put_in_order(order, &parts, descending);
}

unsigned query_needs(const struct query *query, enum unit unit)
{
	return (query->sort ? column_needs(query->sort, unit) : 0) |
	       (query->hangs ? NEED_HANGS : 0) | (query->match ? NEED_COMMAND : 0) |
	       (query->below ? NEED_CGROUP : 0) |
	       (query->within ? group_table[query->within_by].needs : 0);
}

void order_free(struct order *order)
{
	free(order->rows);
	free(order->zeros);
	free(order->unset);
	free(order->keys);
	*order = (struct order){ 0 };
}

/* The pid of kthreadd, the parent of all kernel threads. */
#define KTHREADD 2

/* True if that is kthreadd: in a container its pid may be another task's. */
static bool is_kthreadd(const struct row *row)
{
	return row->task && row->task->key.pid == KTHREADD && !row->task->ppid &&
	       !strcmp(row->task->comm, "kthreadd");
}

bool kthreads_shown(const struct frame *frame)
{
	/* Only init's threads come before it. */
	for (size_t i = 0; i < frame->n && frame->rows[i].task->tgid <= KTHREADD; i++)
		if (is_kthreadd(&frame->rows[i]))
			return true;
	return false;
}

bool kthread_row(const struct row *row)
{
	return row->task && (row->task->tgid == KTHREADD || row->task->ppid == KTHREADD);
}

/* True if the task of a row is idle, as far as known. */
static bool idle_row(const struct row *row)
{
	/* An unchanged task is in no wait in progress. */
	if (row->unchanged && row->deltas == &no_deltas && row->valid && !row->exited)
		return true;
	return !query_is_active(row) && (row->unchanged || !waits_in_d(&row->raw->now.waits));
}

bool idle_folds(const struct query *query)
{
	struct query others = *query;

	/* Rows of exited tasks are not idle. */
	others.no_exited = false;
	return query->descending && !query->rows && query_takes_all(&others);
}

/* True if a row after the ranked ones could be folded. */
static bool can_fold(const struct idle_fold *fold, const struct row *row)
{
	if (!row->task || !idle_row(row) ||
	    (row->task->key.pid == fold->keep.pid &&
	     row->task->key.start_ns == fold->keep.start_ns))
		return false;
	return !fold->keeps || !fold->keeps(fold->arg, row);
}

/*
 * Rows above the n idle tasks. That many idle rows are folded first, so the others keep their lines
 * as busy ones appear.
 */
static size_t lines_before(const struct idle_fold *fold, size_t n)
{
	const struct order *order = fold->order;
	size_t before = 0;

	while (before < fold->others && order->ranked < n &&
	       order->zeros[before] < order->unset[order->ranked])
		before++;
	return order->ranked + before;
}

void idle_begin(struct idle_fold *fold, const struct frame *frame, size_t room, size_t more)
{
	struct order *order = fold->order;
	bool kernel = kthreads_shown(frame);
	size_t lines = more + order->ranked, idle = 0;

	fold->threads = fold->others = fold->at = fold->other = fold->idle = 0;
	fold->of_threads = frame->info->threads;
	for (size_t i = order->ranked; i < order->n; i++) {
		const struct row *row = order->rows[i];

		if (!can_fold(fold, row))
			order->zeros[fold->others++] = row;
		else if (kernel && kthread_row(row))
			fold->threads++;
		else
			order->unset[idle++] = row;
	}
	lines += fold->others;
	if (lines + idle + (fold->threads != 0) <= room)
		fold->left = idle;
	else
		fold->left = room > lines + 1 ? room - lines - 1 : 0;
	if (fold->left > idle)
		fold->left = idle;
	fold->tasks = idle - fold->left;
	fold->idle = lines_before(fold, idle);
	if (fold->idle > fold->tasks)
		fold->idle = fold->tasks;
	fold->left += fold->idle;
}

const struct row *idle_next(struct idle_fold *fold)
{
	const struct order *order = fold->order;

	if (fold->at < order->ranked)
		return order->rows[fold->at++];
	while (fold->other < fold->others || fold->idle < fold->left) {
		const struct row *row = order->rows[fold->at++];

		if (fold->other < fold->others && row == order->zeros[fold->other]) {
			fold->other++;
			return row;
		}
		if (fold->idle < fold->left && row == order->unset[fold->idle]) {
			fold->idle++;
			return row;
		}
	}
	return NULL;
}

void idle_append(const struct idle_fold *fold, struct buf *out)
{
	const char *one = fold->of_threads ? "thread" : "task";
	const char *many = fold->of_threads ? "threads" : "tasks";

	if (fold->tasks)
		buf_printf(out, "%zu idle %s", fold->tasks, plural(fold->tasks, one, many));
	if (fold->tasks && fold->threads)
		buf_puts(out, " and ");
	if (fold->threads)
		buf_printf(out, "%zu idle %s", fold->threads,
			   plural(fold->threads, "kernel thread", "kernel threads"));
}
