/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/flight.h"

#include <stdlib.h>

#include "base/util.h"
#include "history/kept.h"

/* A stretch spans at most this part of the time to keep, so that little more is kept. */
#define STRETCHES 6

/* A stretch takes at most this part of the room. */
#define STRETCHES_MOST 4

struct flight {
	struct keeper keeper;
	uint64_t before_ns;
	size_t most; /* bytes */
	struct kept_list list;
	/* The last stretch: when it began, and its bytes. */
	uint64_t stretch_ns;
	size_t stretch_bytes;
	uint64_t lost; /* moments removed for lack of room since the last was written */
	const struct moment *unpacked; /* the first moment; NULL: not unpacked */
};

struct flight *flight_open(uint64_t before_ns, size_t bytes)
{
	struct flight *flight = xcalloc(1, sizeof(*flight));

	flight->before_ns = before_ns;
	flight->most = bytes;
	return flight;
}

bool flight_is_due(const struct flight *flight, uint64_t begin_ns, bool kept)
{
	bool old = begin_ns - flight->stretch_ns >= flight->before_ns / STRETCHES;

	return (old && !kept) || flight->stretch_bytes >= flight->most / STRETCHES_MOST;
}

/* Removes the first moment. */
static void remove_first(struct flight *flight)
{
	kept_remove_first(&flight->list);
	flight->unpacked = NULL;
}

/* Removes the first stretch, or what is left of it. */
static void remove_stretch(struct flight *flight)
{
	do {
		remove_first(flight);
	} while (flight->list.first && !flight->list.first->begins);
}

/* Finds the first moment of the second stretch; NULL: there is only one stretch. */
static const struct kept *find_second(const struct flight *flight)
{
	const struct kept *kept = flight->list.first;

	for (kept = kept ? kept->next : NULL; kept && !kept->begins;)
		kept = kept->next;
	return kept;
}

/* Removes stretches that are too old or exceed the room. kept: age does not count. */
static void remove_old(struct flight *flight, uint64_t now_ns, bool kept)
{
	const struct kept *second;

	if (kept && flight->list.bytes <= flight->most)
		return;
	while ((second = find_second(flight))) {
		bool old = !kept && now_ns - second->begin_ns >= flight->before_ns;
		size_t count = flight->list.n;

		if (!old && flight->list.bytes <= flight->most)
			return;
		remove_stretch(flight);
		if (kept)
			flight->lost += count - flight->list.n;
	}
}

void flight_add(struct flight *flight, const struct moment *moment, bool kept)
{
	size_t before;

	if (moment->flags & MOMENT_SEGMENT) {
		kept_end(&flight->list, &flight->keeper);
		flight->stretch_ns = moment->sample.begin_ns;
		flight->stretch_bytes = 0;
	}
	before = flight->list.bytes;
	kept_add(&flight->list, &flight->keeper, moment);
	flight->stretch_bytes += flight->list.bytes - before;
	remove_old(flight, moment->sample.begin_ns, kept);
}

const struct moment *flight_first(struct flight *flight)
{
	struct moment *moment;

	if (!flight->list.first)
		return NULL;
	if (flight->unpacked)
		return flight->unpacked;
	moment = kept_unpack(&flight->keeper, flight->list.first);
	moment->dropped += flight->lost;
	return flight->unpacked = moment;
}

void flight_remove_first(struct flight *flight)
{
	remove_first(flight);
	flight->lost = 0;
}

uint64_t flight_since_ns(const struct flight *flight)
{
	return flight->list.first ? flight->list.first->begin_ns : 0;
}

size_t flight_count(const struct flight *flight)
{
	return flight->list.n;
}

size_t flight_bytes(const struct flight *flight)
{
	return flight->list.bytes;
}

void flight_close(struct flight *flight)
{
	if (!flight)
		return;
	kept_free(&flight->list);
	keeper_free(&flight->keeper);
	free(flight);
}
