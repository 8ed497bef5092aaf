// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept in memory until something happens: how much, in which order, and what goes. */
#include "config.h"

#include "tests/lib/test.h"
#include <stdlib.h>

#include "base/util.h"
#include "history/flight.h"
#include "history/kept.h"

#define SECOND NSEC_PER_SEC
#define ROOM ((size_t)1 << 30)

/* A moment with so many bytes that do not pack well behind it. */
static struct moment *make_moment(uint64_t begin_ns, bool begins, size_t bytes)
{
	struct moment *moment = xcalloc(1, sizeof(*moment) + bytes);
	unsigned char *at = (unsigned char *)(moment + 1);
	uint32_t seed = (uint32_t)(begin_ns / 1000) | 1;

	moment->size = sizeof(*moment) + bytes;
	moment->sample.begin_ns = begin_ns;
	moment->flags = begins ? MOMENT_SEGMENT : 0;
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		at[i] = (unsigned char)(seed >> 24);
	}
	return moment;
}

/* Adds one as the recorder does. */
static void add(struct flight *flight, uint64_t begin_ns, size_t bytes, bool kept)
{
	bool begins = !flight_count(flight) || flight_is_due(flight, begin_ns, kept);
	struct moment *moment = make_moment(begin_ns, begins, bytes);

	flight_add(flight, moment, kept);
	free(moment);
}

/* At least the time asked for is kept, and little more; what is first stands for itself. */
TEST(test_age)
{
	struct flight *flight = flight_open(60 * SECOND, ROOM);

	for (uint64_t s = 1; s < 10000; s++) {
		uint64_t since_ns;

		add(flight, s * SECOND, 104, false);
		since_ns = flight_since_ns(flight);
		assert_true(since_ns == SECOND || s * SECOND - since_ns >= 60 * SECOND);
		assert_true(s * SECOND - since_ns <= 95 * SECOND);
		assert_true(flight_first(flight)->flags & MOMENT_SEGMENT);
	}
	flight_close(flight);
}

/* They come back in order, and whole. */
TEST(test_order)
{
	struct flight *flight = flight_open(600 * SECOND, ROOM);

	for (uint64_t s = 1; s <= 50; s++)
		add(flight, s * SECOND, s * 1000, false);
	for (uint64_t s = 1; s <= 50; s++) {
		struct moment *expected = make_moment(s * SECOND, s == 1, s * 1000);
		const struct moment *moment = flight_first(flight);

		assert_int_equal(moment->size, expected->size);
		assert_memory_equal(moment, expected, expected->size);
		assert_ptr_equal(flight_first(flight), moment);
		free(expected);
		flight_remove_first(flight);
	}
	assert_null(flight_first(flight));
	assert_int_equal(flight_count(flight), 0);
	assert_int_equal(flight_bytes(flight), 0);
	flight_close(flight);
}

/* What is being taken is not too old; what has no room goes by stretches, and is told. */
TEST(test_room)
{
	const size_t room = 1 << 20;
	struct flight *flight = flight_open(10 * SECOND, room);
	uint64_t seen = 0, lost = 0, last = 0;

	for (uint64_t s = 1; s <= 100; s++)
		add(flight, s * SECOND, 1000, true);
	assert_int_equal(flight_count(flight), 100);
	for (uint64_t s = 101; s <= 1000; s++) {
		add(flight, s * SECOND, 10000, true);
		/* One stretch, and a moment, above the room at most. */
		assert_true(flight_bytes(flight) <= room + 20000);
	}
	while (flight_count(flight)) {
		const struct moment *moment = flight_first(flight);

		assert_true(!moment->dropped || moment->flags & MOMENT_SEGMENT);
		assert_int_equal(moment->sample.begin_ns / SECOND, last + moment->dropped + 1);
		last = moment->sample.begin_ns / SECOND;
		lost += moment->dropped;
		seen++;
		flight_remove_first(flight);
	}
	assert_true(lost > 0);
	assert_int_equal(seen + lost, 1000);
	flight_close(flight);
}

/* While nothing happens lack of room is no loss that is told, and the rest is what is youngest. */
TEST(test_quiet_room)
{
	const size_t room = 1 << 20;
	struct flight *flight = flight_open(86400 * SECOND, room);

	for (uint64_t s = 1; s <= 2000; s++) {
		add(flight, s * SECOND, 10000, false);
		assert_true(flight_bytes(flight) <= room + 20000);
	}
	assert_true(flight_first(flight)->flags & MOMENT_SEGMENT);
	assert_int_equal(flight_first(flight)->dropped, 0);
	assert_true(flight_since_ns(flight) > 1850 * SECOND);
	flight_close(flight);
}

/* The one of a list that began then, as it was. */
static void check_kept(struct keeper *keeper, const struct kept *kept, uint64_t second,
		       size_t bytes)
{
	struct moment *expected = make_moment(second * SECOND, second % 40 == 1, bytes);

	assert_int_equal(kept->begin_ns, expected->sample.begin_ns);
	assert_memory_equal(kept_unpack(keeper, kept), expected, expected->size);
	free(expected);
}

/* Moments of two lists with one keeper come back in any order, packed together or not yet. */
TEST(test_lists)
{
	struct kept_list lists[2] = { 0 };
	struct keeper keeper = { 0 };
	const struct kept *at[2][100];

	for (unsigned i = 0; i < 200; i++) {
		struct kept_list *list = &lists[i % 2];
		uint64_t second = i / 2 + 1;
		struct moment *moment =
			make_moment(second * SECOND, second % 40 == 1, second * 80 + i % 2 * 8);

		kept_add(list, &keeper, moment);
		at[i % 2][second - 1] = list->last;
		free(moment);
	}
	kept_end(&lists[1], &keeper);
	for (unsigned i = 0; i < 400; i++) {
		unsigned list = i / 3 % 2, n = i * 37 % 100;

		check_kept(&keeper, at[list][n], n + 1, (n + 1) * 80 + list * 8);
	}
	/* Some go; others are packed meanwhile. */
	for (unsigned i = 0; i < 90; i++)
		kept_remove_first(&lists[0]);
	keeper_trim(&keeper);
	check_kept(&keeper, lists[0].first, 91, 91 * 80);
	kept_free(&lists[0]);
	kept_free(&lists[1]);
	assert_int_equal(lists[0].bytes + lists[1].bytes, 0);
	keeper_free(&keeper);
}
