/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/trends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Orders by pid, then by start. */
static int compare_waits(const void *a, const void *b)
{
	const struct trend_wait *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Fills a sample with the time waited by tasks in a frame's interval. */
static void fill_interval(struct trend_interval *interval, const struct frame *frame)
{
	interval->n = 0;
	interval->real_ns = frame->info->real_ns;
	interval->begin_ns = frame->info->cur->begin_ns;
	interval->interval_ns = frame->info->interval_ns;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (row->unchanged || !row->deltas->waited.total)
			continue;
		GROW(interval->waits, interval->n, interval->cap);
		interval->waits[interval->n++] =
			(struct trend_wait){ row->task->key.start_ns, row->deltas->waited.total,
					     row->task->key.pid };
	}
	if (interval->n)
		qsort(interval->waits, interval->n, sizeof(*interval->waits), compare_waits);
}

/* The samples being read, in the order of their positions. */
struct trend_reading {
	struct trend_interval *intervals[TRENDS_BEFORE];
};

/* Adds a frame. */
static void take_trend(void *arg, size_t i, const struct frame *frame)
{
	fill_interval(((struct trend_reading *)arg)->intervals[i], frame);
}

void trends_read(struct trends *trends, struct cursor *cursor, uint64_t real_ns)
{
	struct trend_interval had[TRENDS_BEFORE];
	struct position positions[TRENDS_BEFORE], wanted[TRENDS_BEFORE];
	struct trend_reading reading;
	bool used[TRENDS_BEFORE] = { false };
	size_t n = 0;

	memcpy(had, trends->intervals, sizeof(had));
	memset(trends->intervals, 0, sizeof(trends->intervals));
	trends->n = cursor ? cursor_earlier(cursor, real_ns, positions, TRENDS_BEFORE) : 0;
	for (size_t i = 0; i < trends->n; i++) {
		const struct record_entry *entry = position_entry(&positions[i]);
		struct trend_interval *interval = &trends->intervals[i];

		for (size_t h = 0; h < TRENDS_BEFORE && !interval->begin_ns; h++)
			if (!used[h] && had[h].begin_ns == entry->begin_ns &&
			    had[h].real_ns == entry->real_ns) {
				*interval = had[h];
				used[h] = true;
			}
		if (interval->begin_ns)
			continue;
		interval->real_ns = entry->real_ns;
		interval->begin_ns = entry->begin_ns;
		reading.intervals[n] = interval;
		wanted[n++] = positions[i];
	}
	if (n)
		cursor_walk(cursor, wanted, n, take_trend, &reading);
	for (size_t h = 0; h < TRENDS_BEFORE; h++)
		if (!used[h])
			free(had[h].waits);
}

void trends_add(struct trends *trends, const struct frame *frame)
{
	struct trend_interval *interval = &trends->intervals[0];
	struct trend_interval oldest = trends->intervals[TRENDS_BEFORE - 1];

	memmove(&trends->intervals[1], interval, (TRENDS_BEFORE - 1) * sizeof(*interval));
	*interval = (struct trend_interval){ .waits = oldest.waits, .cap = oldest.cap };
	trends->n += trends->n < TRENDS_BEFORE;
	fill_interval(interval, frame);
}

double trends_of(const struct trends *trends, size_t interval, const struct task_key *key)
{
	const struct trend_interval *at = &trends->intervals[interval];
	struct trend_wait wanted = { .pid = key->pid, .start_ns = key->start_ns };
	const struct trend_wait *found;

	if (interval >= trends->n || !at->interval_ns || key->start_ns > at->begin_ns)
		return (double)NAN;
	found = at->n ? bsearch(&wanted, at->waits, at->n, sizeof(wanted), compare_waits) : NULL;
	return found ? (double)found->waited_ns * 100.0 / (double)at->interval_ns : 0;
}

void trends_free(struct trends *trends)
{
	for (size_t i = 0; i < TRENDS_BEFORE; i++)
		free(trends->intervals[i].waits);
	*trends = (struct trends){ 0 };
}
