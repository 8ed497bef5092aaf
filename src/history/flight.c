/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "history/pack.h"

/* A stretch is that part of the time that is kept, so that little more is, */
#define STRETCHES 6

/* and at most this part of the room. */
#define STRETCHES_MOST 4

/* A moment that is kept. */
struct kept {
	struct kept *next;
	uint64_t begin_ns;
	size_t size, packed; /* of the moment, and packed */
	bool begins; /* begins a stretch */
	char bytes[];
};

struct flight {
	struct packer packer;
	uint64_t before_ns;
	size_t most; /* bytes */
	struct kept *first, *last;
	size_t count, bytes;
	/* Of the last stretch: when it began, and its bytes. */
	uint64_t stretch_ns;
	size_t stretch_bytes;
	uint64_t lost; /* since one was taken */
	struct buf packed;
	struct moment *moment; /* the first, unpacked */
	size_t room; /* of it */
	bool unpacked;
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
	struct kept *first = flight->first;

	flight->first = first->next;
	if (!flight->first)
		flight->last = NULL;
	flight->count--;
	flight->bytes -= sizeof(*first) + first->packed;
	flight->unpacked = false;
	free(first);
}

/* Removes the first stretch, or what is left of it. */
static void remove_stretch(struct flight *flight)
{
	do {
		remove_first(flight);
	} while (flight->first && !flight->first->begins);
}

/* The first moment of the second stretch that is here; NULL: there is one only. */
static const struct kept *find_second(const struct flight *flight)
{
	const struct kept *kept = flight->first;

	for (kept = kept ? kept->next : NULL; kept && !kept->begins;)
		kept = kept->next;
	return kept;
}

/* Lets go what is too old or too much. */
static void let_go(struct flight *flight, uint64_t now_ns, bool kept)
{
	const struct kept *second;

	if (kept && flight->bytes <= flight->most)
		return;
	while ((second = find_second(flight))) {
		bool old = !kept && now_ns - second->begin_ns >= flight->before_ns;
		size_t count = flight->count;

		if (!old && flight->bytes <= flight->most)
			return;
		remove_stretch(flight);
		if (kept)
			flight->lost += count - flight->count;
	}
}

void flight_add(struct flight *flight, const struct moment *moment, bool kept)
{
	struct kept *added;

	flight->packed.len = 0;
	packer_pack(&flight->packer, moment, moment->size, &flight->packed);
	added = xcalloc(1, sizeof(*added) + flight->packed.len);
	added->begin_ns = moment->sample.begin_ns;
	added->size = moment->size;
	added->packed = flight->packed.len;
	added->begins = moment->flags & MOMENT_SEGMENT;
	memcpy(added->bytes, flight->packed.data, flight->packed.len);
	if (flight->last)
		flight->last->next = added;
	else
		flight->first = added;
	flight->last = added;
	flight->count++;
	flight->bytes += sizeof(*added) + added->packed;
	if (added->begins) {
		flight->stretch_ns = moment->sample.begin_ns;
		flight->stretch_bytes = 0;
	}
	flight->stretch_bytes += sizeof(*added) + added->packed;
	let_go(flight, moment->sample.begin_ns, kept);
}

const struct moment *flight_first(struct flight *flight)
{
	const struct kept *first = flight->first;

	if (!first)
		return NULL;
	if (flight->unpacked)
		return flight->moment;
	if (flight->room < first->size) {
		free(flight->moment);
		flight->moment = xcalloc(1, first->size);
		flight->room = first->size;
	}
	if (!packer_unpack(&flight->packer, first->bytes, first->packed, flight->moment,
			   first->size))
		die("the memory of samples is damaged");
	flight->moment->dropped += flight->lost;
	flight->unpacked = true;
	return flight->moment;
}

void flight_take(struct flight *flight)
{
	remove_first(flight);
	flight->lost = 0;
}

uint64_t flight_since_ns(const struct flight *flight)
{
	return flight->first ? flight->first->begin_ns : 0;
}

size_t flight_count(const struct flight *flight)
{
	return flight->count;
}

size_t flight_bytes(const struct flight *flight)
{
	return flight->bytes;
}

void flight_close(struct flight *flight)
{
	if (!flight)
		return;
	while (flight->first)
		remove_first(flight);
	packer_free(&flight->packer);
	buf_free(&flight->packed);
	free(flight->moment);
	free(flight);
}
