/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table of elements of one size, each of which begins with its key: a uint64_t, not 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Starts as { .size = size of an element }: empty. */
struct map {
	size_t size;
	char *all; /* open addressing; key 0: free */
	size_t n, places; /* places: a power of two, or 0 */
};

/* The element with that key, valid until map_add(); NULL: there is none. */
void *map_find(const struct map *map, uint64_t key);

/* The element with that key; if there was none it is added, zero but for its key. */
void *map_add(struct map *map, uint64_t key);

/* The element after one (NULL: the first), in any order; NULL: there are no more. */
void *map_next(const struct map *map, const void *element);

/* Frees the memory, leaving an empty map. */
void map_free(struct map *map);
