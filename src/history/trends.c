/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/trends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/archive.h"

/* Orders by pid, then by start. */
static int compare_waits(const void *a, const void *b)
{
	const struct trend_wait *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Reads which thread a number of a task stands for. False where there is none. */
static bool read_key(struct archive *archive, int64_t task, struct task_key *key)
{
	sqlite3_stmt *row = archive_ask(archive, QUERY_TASK, task);
	bool bad = archive_row(archive, row) != 1;

	if (!bad) {
		key->pid = (pid_t)archive_int(row, 1, 0, INT32_MAX, 0, &bad);
		key->start_ns = archive_uint(row, 8, 0, &bad);
	}
	sqlite3_reset(row);
	return !bad;
}

/* Adds a wait of a task; those of one task follow on one another. */
static void add_trend_wait(struct trend_moment *moment, const struct task_key *key,
			   uint64_t waited_ns)
{
	struct trend_wait *last = moment->n ? &moment->waits[moment->n - 1] : NULL;

	if (last && last->pid == key->pid && last->start_ns == key->start_ns) {
		last->waited_ns += waited_ns;
		return;
	}
	if (moment->n == moment->cap) {
		moment->cap = moment->cap ? moment->cap * 2 : 64;
		moment->waits = xreallocarray(moment->waits, moment->cap, sizeof(*moment->waits));
	}
	moment->waits[moment->n++] = (struct trend_wait){ key->start_ns, waited_ns, key->pid };
}

/* Reads a moment into a place that may have had another. */
static void read_trend(struct trend_moment *moment, const struct spot *spot)
{
	const struct point *point = spot_point(spot);
	struct archive *archive = &spot->stretch->archive;
	struct task_key key = { 0 };
	int64_t last = 0;
	sqlite3_stmt *rows;
	bool bad = false;

	moment->n = 0;
	moment->number = point->number;
	moment->real_ns = point->real_ns;
	moment->begin_ns = point->begin_ns;
	moment->interval_ns = stretch_open(spot->stretch) ? 0 : point->interval_ns;
	if (!moment->interval_ns)
		return;
	rows = archive_ask(archive, QUERY_WAIT, point->number);
	while (!bad && archive_row(archive, rows) == 1) {
		int64_t task = archive_int(rows, 0, 1, INT64_MAX, 0, &bad);

		if (archive_int(rows, 1, 0, INT64_MAX, INT64_MAX, &bad) == DELAY_THRASH)
			continue;
		if (task != last && !read_key(archive, task, &key))
			break;
		last = task;
		add_trend_wait(moment, &key, archive_uint(rows, 2, 0, &bad));
	}
	sqlite3_reset(rows);
	if (moment->n)
		qsort(moment->waits, moment->n, sizeof(*moment->waits), compare_waits);
}

/* Finds up to n moments before a time, the latest first. */
static size_t find_moments(struct past *past, uint64_t real_ns, struct spot *spots, size_t n)
{
	struct spot spot;
	size_t found = 0;

	if (!n || !past_shown(past, &spot)) {
		if (!n || !past_last(past, &spot))
			return 0;
	}
	/* The moment that is shown may be there, or come later. */
	while (spot_point(&spot)->real_ns >= real_ns)
		if (!past_before(past, &spot))
			return 0;
	do
		spots[found++] = spot;
	while (found < n && past_before(past, &spot));
	return found;
}

void trends_take(struct trends *trends, struct past *past, uint64_t real_ns)
{
	struct trend_moment had[TRENDS_BEFORE];
	struct spot spots[TRENDS_BEFORE];
	bool used[TRENDS_BEFORE] = { false };

	memcpy(had, trends->moments, sizeof(had));
	memset(trends->moments, 0, sizeof(trends->moments));
	trends->n = past ? find_moments(past, real_ns, spots, TRENDS_BEFORE) : 0;
	for (size_t i = 0; i < trends->n; i++) {
		const struct point *point = spot_point(&spots[i]);

		for (size_t h = 0; h < TRENDS_BEFORE; h++)
			if (!used[h] && had[h].number == point->number &&
			    had[h].real_ns == point->real_ns && !trends->moments[i].number) {
				trends->moments[i] = had[h];
				used[h] = true;
			}
		if (!trends->moments[i].number)
			read_trend(&trends->moments[i], &spots[i]);
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

/* Whether a number of a task stands for one of those whose deeds are read. */
static bool is_of(struct archive *archive, int64_t task, const struct deed_of *of)
{
	struct task_key key;

	return !of->key || (read_key(archive, task, &key) && key.pid == of->key->pid &&
			    key.start_ns == of->key->start_ns);
}

/* Adds what was waited in a moment. */
static void read_waits(struct archive *archive, int64_t number, const struct deed_of *of,
		       struct deed *deed)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_WAIT, number);
	int64_t last = 0;
	bool bad = false, ours = false;

	while (!bad && archive_row(archive, rows) == 1) {
		int64_t task = archive_int(rows, 0, 1, INT64_MAX, 0, &bad);
		int64_t kind = archive_int(rows, 1, 0, INT64_MAX, INT64_MAX, &bad);
		uint64_t waited = archive_uint(rows, 2, 0, &bad);

		if (task != last)
			ours = is_of(archive, task, of);
		last = task;
		if (!ours || kind > WAIT_DWAIT)
			continue;
		deed->waited_ns[kind] += waited;
		deed->booked_ns[kind] += (int64_t)waited + archive_int(rows, 4, INT64_MIN / 2,
								       INT64_MAX / 2, 0, &bad);
	}
	sqlite3_reset(rows);
}

/* Adds how long was run in a moment. */
static void read_runs(struct archive *archive, int64_t number, const struct deed_of *of,
		      struct deed *deed)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_ACTIVITY, number);
	bool bad = false;

	while (!bad && archive_row(archive, rows) == 1) {
		if (!is_of(archive, archive_int(rows, 0, 1, INT64_MAX, 0, &bad), of))
			continue;
		deed->run_ns += archive_uint(rows, 1, 0, &bad);
		deed->ticks_ns += archive_uint(rows, 2, 0, &bad) + archive_uint(rows, 3, 0, &bad);
	}
	sqlite3_reset(rows);
}

double deed_sum(const struct deed *deed, bool mem, bool booked)
{
	double ns[DELAY_KINDS + 1], sum = 0;

	for (unsigned kind = 0; kind <= WAIT_DWAIT; kind++)
		ns[kind] = booked ? (double)deed->booked_ns[kind] : (double)deed->waited_ns[kind];
	if (mem)
		return ns[DELAY_RECLAIM] + ns[DELAY_COMPACT] + ns[DELAY_WPCOPY] +
		       (ns[DELAY_SWAPIN] > ns[DELAY_THRASH] ? ns[DELAY_SWAPIN] : ns[DELAY_THRASH]);
	for (unsigned kind = 0; kind <= WAIT_DWAIT; kind++)
		sum += kind == DELAY_THRASH ? 0 : ns[kind];
	return sum;
}

size_t deeds_read(struct past *past, uint64_t real_ns, const struct deed_of *of, struct deed *deeds,
		  size_t n)
{
	struct spot *spots = xcalloc(n, sizeof(*spots));
	size_t found = past ? find_moments(past, real_ns, spots, n) : 0;

	for (size_t i = 0; i < found; i++) {
		const struct point *point = spot_point(&spots[i]);
		struct archive *archive = &spots[i].stretch->archive;

		deeds[i] = (struct deed){ 0 };
		if (stretch_open(spots[i].stretch))
			continue;
		deeds[i].interval_ns = point->interval_ns;
		deeds[i].there = !of->key || of->key->start_ns <= point->begin_ns;
		if (!deeds[i].there)
			continue;
		read_waits(archive, point->number, of, &deeds[i]);
		read_runs(archive, point->number, of, &deeds[i]);
	}
	free(spots);
	return found;
}
