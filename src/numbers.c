/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Gaps that can still be filled; the oldest ones beyond that are lost for good. */
#define GAPS_MAX 256

/* Numbers of another CPU's series that wait for their gap. */
#define STRAYS_MAX 64

/* Missing numbers: first, first + 1, ... n of them; the series wraps at 2^32. */
struct gap {
	uint32_t first, n;
};

struct series {
	bool started;
	uint32_t next;
	struct gap gaps[GAPS_MAX]; /* in the order in which they opened */
	size_t ngaps;
};

/* A record that was taken for another CPU's, on the strength of its number. */
struct guess {
	size_t listener, series;
	uint32_t number;
};

struct numbers {
	struct series *series;
	size_t n;
	uint64_t missing; /* in gaps and for good */
	uint32_t strays[STRAYS_MAX];
	size_t nstrays;
	struct guess guesses[STRAYS_MAX]; /* the latest, in a ring */
	size_t nguesses;
};

struct numbers *numbers_new(size_t listeners)
{
	struct numbers *numbers = xcalloc(1, sizeof(*numbers));

	numbers->series = xcalloc(listeners, sizeof(*numbers->series));
	numbers->n = listeners;
	return numbers;
}

/* Removes a gap from the list. */
static void remove_gap(struct series *series, size_t i)
{
	series->ngaps--;
	memmove(&series->gaps[i], &series->gaps[i + 1],
		(series->ngaps - i) * sizeof(*series->gaps));
}

/* Appends a gap. */
static void add_gap(struct series *series, uint32_t first, uint32_t n)
{
	if (series->ngaps == GAPS_MAX)
		remove_gap(series, 0);
	series->gaps[series->ngaps++] = (struct gap){ first, n };
}

/* The gap that the number fills, or GAPS_MAX. */
static size_t find_gap(const struct series *series, uint32_t number)
{
	for (size_t i = 0; i < series->ngaps; i++)
		if (number - series->gaps[i].first < series->gaps[i].n)
			return i;
	return GAPS_MAX;
}

/* Takes a number out of the gap that it lies in. */
static void fill_gap(struct numbers *numbers, struct series *series, size_t i, uint32_t number)
{
	struct gap *gap = &series->gaps[i];
	uint32_t before = number - gap->first, after = gap->n - before - 1;

	numbers->missing--;
	if (!before && !after) {
		remove_gap(series, i);
	} else if (!before) {
		*gap = (struct gap){ number + 1, after };
	} else {
		gap->n = before;
		if (after)
			add_gap(series, number + 1, after);
	}
}

/* Takes a number where it is the next or fills a gap. False where it does neither. */
static bool fits(struct numbers *numbers, struct series *series, uint32_t number)
{
	size_t gap;

	if (!series->started)
		return false;
	if (number == series->next) {
		series->next++;
		return true;
	}
	gap = find_gap(series, number);
	if (gap == GAPS_MAX)
		return false;
	fill_gap(numbers, series, gap, number);
	return true;
}

/* Takes a number that has its place in any series. False where it has none. */
static bool fits_any(struct numbers *numbers, size_t listener, uint32_t number)
{
	for (size_t i = 0; i < numbers->n; i++) {
		if (!fits(numbers, &numbers->series[i], number))
			continue;
		numbers->guesses[numbers->nguesses++ % STRAYS_MAX] =
			(struct guess){ listener, i, number };
		return true;
	}
	return false;
}

/* Keeps a number until its gap opens. */
static void keep_stray(struct numbers *numbers, size_t listener, uint32_t number)
{
	if (fits_any(numbers, listener, number))
		return;
	if (numbers->nstrays == STRAYS_MAX)
		memmove(numbers->strays, numbers->strays + 1,
			--numbers->nstrays * sizeof(*numbers->strays));
	numbers->strays[numbers->nstrays++] = number;
}

/* Puts strays into the gap that has just opened, and behind what is next. */
static void place_strays(struct numbers *numbers, struct series *series)
{
	size_t kept = 0;

	for (size_t i = 0; i < numbers->nstrays; i++)
		if (!fits(numbers, series, numbers->strays[i]))
			numbers->strays[kept++] = numbers->strays[i];
	numbers->nstrays = kept;
}

/* Goes on from a number that lies ahead: those in between are missing. */
static void jump(struct numbers *numbers, struct series *series, uint32_t number)
{
	add_gap(series, series->next, number - series->next);
	numbers->missing += number - series->next;
	series->next = number + 1;
	place_strays(numbers, series);
}

/* The numbers taken from there up to what is next, at most STRAYS_MAX + 1 are counted. */
static size_t collect_taken(const struct series *series, uint32_t from, uint32_t *taken)
{
	size_t n = 0;

	while (from != series->next) {
		size_t gap = find_gap(series, from);

		if (gap < GAPS_MAX) {
			from = series->gaps[gap].first + series->gaps[gap].n;
			continue;
		}
		if (n == STRAYS_MAX)
			return n + 1;
		taken[n++] = from++;
	}
	return n;
}

/* Forgets gaps from there on. */
static void close_gaps(struct numbers *numbers, struct series *series, uint32_t from)
{
	for (size_t i = series->ngaps; i-- > 0;) {
		if (series->gaps[i].first - from >= series->next - from)
			continue;
		numbers->missing -= series->gaps[i].n;
		remove_gap(series, i);
	}
}

/*
 * Whether the number is where the series would have gone on but for the jumps since: then it
 * was the jumps that were another CPU's (or overtook this one).
 */
static bool undo_jump(struct numbers *numbers, size_t listener, uint32_t number)
{
	struct series *series = &numbers->series[listener];
	uint32_t taken[STRAYS_MAX];
	size_t gap, n;

	if (number == series->next)
		return false;
	gap = find_gap(series, number);
	if (gap == GAPS_MAX || series->gaps[gap].first != number)
		return false;
	n = collect_taken(series, number, taken);
	if (n > STRAYS_MAX)
		return false;
	close_gaps(numbers, series, number);
	series->next = number + 1;
	for (size_t i = 0; i < n; i++)
		keep_stray(numbers, listener, taken[i]);
	return true;
}

/*
 * The number has been taken already, from another listener: so that one's was a number of its
 * own CPU's that happened to fit here.
 */
static bool take_back(struct numbers *numbers, size_t listener, uint32_t number)
{
	size_t n = numbers->nguesses < STRAYS_MAX ? numbers->nguesses : STRAYS_MAX;

	for (size_t i = 0; i < n; i++) {
		struct guess *guess = &numbers->guesses[i];
		struct series *series = &numbers->series[guess->listener];

		if (guess->number != number || guess->series != listener ||
		    guess->listener == listener)
			continue;
		guess->series = guess->listener;
		if (number - series->next < UINT32_C(1) << 31 && number != series->next)
			jump(numbers, series, number);
		else
			fits(numbers, series, number);
		return true;
	}
	return false;
}

/* Takes a number out of a series again. */
static void give_back(struct numbers *numbers, struct series *series, uint32_t number)
{
	if (series->next == number + 1) {
		series->next = number;
		return;
	}
	add_gap(series, number, 1);
	numbers->missing++;
}

/*
 * The record before was taken for another CPU's, and this one follows it: then they are this
 * CPU's, behind a loss.
 */
static bool follow(struct numbers *numbers, size_t listener, uint32_t number)
{
	struct series *series = &numbers->series[listener];
	size_t n = numbers->nguesses < STRAYS_MAX ? numbers->nguesses : STRAYS_MAX;

	for (size_t i = 0; i < n; i++) {
		struct guess *guess = &numbers->guesses[i];
		uint32_t ahead = guess->number - series->next;

		if (guess->number != number - 1 || guess->listener != listener ||
		    guess->series == listener || !ahead || ahead >= UINT32_C(1) << 31)
			continue;
		give_back(numbers, &numbers->series[guess->series], guess->number);
		guess->series = listener;
		jump(numbers, series, guess->number);
		return fits(numbers, series, number);
	}
	return false;
}

void numbers_take(struct numbers *numbers, size_t listener, uint32_t number)
{
	struct series *series = &numbers->series[listener];

	if (!series->started) {
		series->started = true;
		series->next = number + 1;
		place_strays(numbers, series);
		return;
	}
	if (undo_jump(numbers, listener, number) || fits(numbers, series, number) ||
	    take_back(numbers, listener, number) || follow(numbers, listener, number) ||
	    fits_any(numbers, listener, number))
		return;
	if (number - series->next < UINT32_C(1) << 31)
		jump(numbers, series, number);
	else
		keep_stray(numbers, listener, number);
}

uint64_t numbers_missing(const struct numbers *numbers)
{
	return numbers->missing;
}

uint64_t numbers_doubtful(const struct numbers *numbers, size_t listener)
{
	const struct series *series = &numbers->series[listener];
	const struct gap *gap = series->ngaps ? &series->gaps[series->ngaps - 1] : NULL;

	return gap && gap->first + gap->n + 1 == series->next ? gap->n : 0;
}

void numbers_free(struct numbers *numbers)
{
	if (!numbers)
		return;
	free(numbers->series);
	free(numbers);
}
