/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow, places in sorted ones, and elements by number. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/util.h"

#define MANY 1000

/* Elements stay while room is made for more of them, one by one or at once. */
TEST(test_grow)
{
	size_t cap = 0, before, moves = 0;
	unsigned *numbers = NULL;

	for (unsigned n = 0; n < MANY; n++) {
		before = cap;
		GROW(numbers, n, cap);
		moves += cap != before;
		assert_true(cap > n);
		numbers[n] = n;
	}
	assert_true(moves < 10);
	before = cap;
	RESERVE(numbers, before, cap);
	assert_int_equal(cap, before);
	RESERVE(numbers, 10 * MANY, cap);
	assert_true(cap >= (size_t)10 * MANY);
	for (unsigned n = 0; n < MANY; n++)
		assert_int_equal(numbers[n], n);
	free(numbers);
}

/* Nothing is allocated for nothing. */
TEST(test_reserve_nothing)
{
	unsigned *numbers = NULL;
	size_t cap = 0, none = 0;

	RESERVE(numbers, none, cap);
	assert_null(numbers);
}

/* The first place from which on a number is not below another; of equal ones the first. */
TEST(test_lower_bound)
{
	static const int numbers[] = { 1, 3, 3, 3, 7 };
	static const struct {
		size_t n;
		int wanted;
		size_t place;
	} cases[] = { { 5, 0, 0 }, { 5, 1, 0 }, { 5, 2, 1 }, { 5, 3, 1 }, { 5, 4, 4 }, { 5, 7, 4 },
		      { 5, 8, 5 }, { 0, 3, 0 }, { 1, 1, 0 }, { 1, 2, 1 }, { 4, 9, 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t at;

		LOWER_BOUND(at, cases[i].n, numbers[at] < cases[i].wanted);
		assert_int_equal(at, cases[i].place);
	}
}

/* Each key has one element, whatever the others; no key is found that was not added. */
TEST(test_map)
{
	struct numbered {
		uint64_t key;
		unsigned value;
	} *at = NULL;
	struct map map = { .size = sizeof(*at) };
	uint64_t sum = 0;

	assert_null(map_find(&map, 1));
	assert_null(map_next(&map, NULL));
	for (unsigned n = 1; n <= MANY; n++) {
		at = map_add(&map, n % 2 ? n : (uint64_t)n << 40);
		assert_int_equal(at->value, 0);
		at->value = n;
	}
	assert_int_equal(map.n, MANY);
	for (unsigned n = 1; n <= MANY; n++) {
		at = map_find(&map, n % 2 ? n : (uint64_t)n << 40);
		assert_non_null(at);
		assert_int_equal(at->value, n);
		assert_ptr_equal(map_add(&map, at->key), at);
		assert_null(map_find(&map, n % 2 ? (uint64_t)n << 40 : n));
	}
	for (at = NULL; (at = map_next(&map, at));)
		sum += at->value;
	assert_int_equal(sum, (uint64_t)MANY * (MANY + 1) / 2);
	map_free(&map);
	assert_null(map_find(&map, 1));
}
