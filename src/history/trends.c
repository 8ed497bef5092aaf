/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/trends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/archive.h"
#include "history/moment.h"
#include "history/rows.h"

/* Orders by pid, then by start. */
static int compare_waits(const void *a, const void *b)
{
	const struct trend_wait *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Reads which thread a task's number stands for. False: there is no such task. */
static bool read_key(struct archive *archive, uint32_t task, struct task_key *key)
{
	struct moment_task row;

	if (archive_get(archive, TABLE_TASK, task, &row) != 1)
		return false;
	archive_done(archive, TABLE_TASK);
	*key = (struct task_key){ row.pid, row.start_ns };
	return true;
}

/* Adds a wait of a task; waits of the same task come one after the other. */
static void add_trend_wait(struct trend_moment *moment, const struct task_key *key,
			   uint64_t waited_ns)
{
	struct trend_wait *last = moment->n ? &moment->waits[moment->n - 1] : NULL;

	if (last && last->pid == key->pid && last->start_ns == key->start_ns) {
		last->waited_ns += waited_ns;
		return;
	}
	GROW(moment->waits, moment->n, moment->cap);
	moment->waits[moment->n++] = (struct trend_wait){ key->start_ns, waited_ns, key->pid };
}

/* What is known while the waits of a moment are read. */
struct trend_reading {
	struct archive *archive;
	struct trend_moment *moment;
	struct task_key key;
	uint32_t task; /* the task that `key` belongs to; 0: none yet */
};

/* Adds what a task waited. */
static void add_trend(void *arg, const void *from)
{
	struct trend_reading *reading = arg;
	const struct wait_row *row = from;

	if (!wait_in_total(row->kind))
		return;
	if (row->task != reading->task && !read_key(reading->archive, row->task, &reading->key))
		reading->archive->bad = true;
	reading->task = row->task;
	if (!reading->archive->bad)
		add_trend_wait(reading->moment, &reading->key, row->waited_ns);
}

/* Reads a moment into a struct that may have had another one. */
static void read_trend(struct trend_moment *moment, const struct position *position)
{
	const struct outline *outline = position_outline(position);
	struct trend_reading reading = { .archive = &position->stretch->archive, .moment = moment };

	moment->n = 0;
	moment->number = outline->number;
	moment->real_ns = outline->real_ns;
	moment->begin_ns = outline->begin_ns;
	moment->interval_ns = stretch_open(position->stretch) ? 0 : outline->interval_ns;
	if (!moment->interval_ns)
		return;
	archive_each(reading.archive, QUERY_WAITS, outline->number, add_trend, &reading);
	if (moment->n)
		qsort(moment->waits, moment->n, sizeof(*moment->waits), compare_waits);
}

/* Finds up to n moments before a time, the latest first. Returns how many. */
static size_t find_moments(struct past *past, uint64_t real_ns, struct position *positions,
			   size_t n)
{
	struct position position;
	size_t found = 0;

	if (!n || !past_shown(past, &position)) {
		if (!n || !past_last(past, &position))
			return 0;
	}
	/* The moment that is shown may be at that time, or after it. */
	while (position_outline(&position)->real_ns >= real_ns)
		if (!past_before(past, &position))
			return 0;
	do
		positions[found++] = position;
	while (found < n && past_before(past, &position));
	return found;
}

void trends_read(struct trends *trends, struct past *past, uint64_t real_ns)
{
	struct trend_moment had[TRENDS_BEFORE];
	struct position positions[TRENDS_BEFORE];
	bool used[TRENDS_BEFORE] = { false };

	memcpy(had, trends->moments, sizeof(had));
	memset(trends->moments, 0, sizeof(trends->moments));
	trends->n = past ? find_moments(past, real_ns, positions, TRENDS_BEFORE) : 0;
	for (size_t i = 0; i < trends->n; i++) {
		const struct outline *outline = position_outline(&positions[i]);

		for (size_t h = 0; h < TRENDS_BEFORE; h++)
			if (!used[h] && had[h].number == outline->number &&
			    had[h].real_ns == outline->real_ns && !trends->moments[i].number) {
				trends->moments[i] = had[h];
				used[h] = true;
			}
		if (!trends->moments[i].number)
			read_trend(&trends->moments[i], &positions[i]);
	}
	for (size_t h = 0; h < TRENDS_BEFORE; h++)
		if (!used[h])
			free(had[h].waits);
}

void trends_add(struct trends *trends, const struct frame *frame)
{
	const struct frame_info *info = frame->info;
	struct trend_moment *moment = &trends->moments[0];
	struct trend_moment oldest = trends->moments[TRENDS_BEFORE - 1];

	memmove(&trends->moments[1], moment, (TRENDS_BEFORE - 1) * sizeof(*moment));
	*moment = (struct trend_moment){ .real_ns = info->real_ns,
					 .begin_ns = info->cur->begin_ns,
					 .interval_ns = info->interval_ns,
					 .waits = oldest.waits,
					 .cap = oldest.cap };
	trends->n += trends->n < TRENDS_BEFORE;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->still && row->deltas->waited.total)
			add_trend_wait(moment, &row->task->key, row->deltas->waited.total);
	}
	if (moment->n)
		qsort(moment->waits, moment->n, sizeof(*moment->waits), compare_waits);
}

double trends_of(const struct trends *trends, size_t moment, const struct task_key *key)
{
	const struct trend_moment *at = &trends->moments[moment];
	struct trend_wait wanted = { .pid = key->pid, .start_ns = key->start_ns };
	const struct trend_wait *found;

	if (moment >= trends->n || !at->interval_ns || key->start_ns > at->begin_ns)
		return (double)NAN;
	found = at->n ? bsearch(&wanted, at->waits, at->n, sizeof(wanted), compare_waits) : NULL;
	return found ? (double)found->waited_ns * 100.0 / (double)at->interval_ns : 0;
}

void trends_free(struct trends *trends)
{
	for (size_t i = 0; i < TRENDS_BEFORE; i++)
		free(trends->moments[i].waits);
	*trends = (struct trends){ 0 };
}

/* What is known while deeds are read. */
struct deed_reading {
	struct archive *archive;
	const struct deed_of *of;
	struct deed *deed;
	uint32_t task; /* the task of the row before; 0: there was none */
	bool ours; /* its deeds are read */
};

/* Whether the deeds of a row's task are read. */
static bool is_ours(struct deed_reading *reading, uint32_t task)
{
	const struct task_key *wanted = reading->of->key;
	struct task_key key;

	if (task != reading->task)
		reading->ours =
			!wanted || (read_key(reading->archive, task, &key) &&
				    key.pid == wanted->pid && key.start_ns == wanted->start_ns);
	reading->task = task;
	return reading->ours;
}

/* Adds what was waited in a moment. */
static void add_deed_wait(void *arg, const void *from)
{
	struct deed_reading *reading = arg;
	const struct wait_row *row = from;

	if (!is_ours(reading, row->task) || row->kind >= WAIT_KINDS)
		return;
	reading->deed->waited_ns[row->kind] += row->waited_ns;
	reading->deed->booked_ns[row->kind] += (int64_t)row->waited_ns + row->ahead_ns;
}

/* Adds the time on a CPU in a moment. */
static void add_deed_run(void *arg, const void *from)
{
	struct deed_reading *reading = arg;
	const struct activity_row *row = from;

	if (!is_ours(reading, row->task))
		return;
	reading->deed->run_ns += row->run_ns;
	reading->deed->ticks_ns += row->user_ns + row->system_ns;
}

double deed_sum(const struct deed *deed, bool mem, bool booked)
{
	struct delay_sum sums[WAIT_KINDS] = { 0 };

	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		int64_t ns = booked ? deed->booked_ns[kind] : (int64_t)deed->waited_ns[kind];

		sums[kind].ns = ns > 0 ? (uint64_t)ns : 0;
	}
	if (mem)
		return (double)delay_mem(sums, DELAY_ALL).ns;
	return (double)(delay_total(sums, DELAY_ALL).ns + sums[WAIT_DWAIT].ns);
}

size_t deeds_read(struct past *past, uint64_t real_ns, const struct deed_of *of, struct deed *deeds,
		  size_t n)
{
	struct position *positions = xcalloc(n, sizeof(*positions));
	size_t found = past ? find_moments(past, real_ns, positions, n) : 0;

	for (size_t i = 0; i < found; i++) {
		const struct outline *outline = position_outline(&positions[i]);
		struct deed_reading reading = { &positions[i].stretch->archive, of, &deeds[i], 0,
						false };

		deeds[i] = (struct deed){ 0 };
		if (stretch_open(positions[i].stretch))
			continue;
		deeds[i].interval_ns = outline->interval_ns;
		deeds[i].there = !of->key || of->key->start_ns <= outline->begin_ns;
		if (!deeds[i].there)
			continue;
		archive_each(reading.archive, QUERY_WAITS, outline->number, add_deed_wait,
			     &reading);
		archive_each(reading.archive, TABLE_ACTIVITY, outline->number, add_deed_run,
			     &reading);
	}
	free(positions);
	return found;
}
