/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Keys may be consecutive numbers, or hashes. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

/* The key of an element. */
static uint64_t element_key(const void *element)
{
	uint64_t key;

	memcpy(&key, element, sizeof(key));
	return key;
}

/* The place of a key, free or in use. */
static void *place_of_key(const struct map *map, uint64_t key)
{
	size_t at = (size_t)(key * SPREAD >> 32) & (map->places - 1);

	while (element_key(map->all + at * map->size) &&
	       element_key(map->all + at * map->size) != key)
		at = (at + 1) & (map->places - 1);
	return map->all + at * map->size;
}

void *map_find(const struct map *map, uint64_t key)
{
	void *place = map->places ? place_of_key(map, key) : NULL;

	return place && element_key(place) ? place : NULL;
}

void *map_add(struct map *map, uint64_t key)
{
	void *place = map_find(map, key);
	struct map old = *map;

	if (place)
		return place;
	if (2 * (map->n + 1) > map->places) {
		map->places = old.places ? old.places * 2 : 64;
		map->all = xcalloc(map->places, map->size);
		for (place = NULL; (place = map_next(&old, place));)
			memcpy(place_of_key(map, element_key(place)), place, map->size);
		free(old.all);
	}
	map->n++;
	return memcpy(place_of_key(map, key), &key, sizeof(key));
}

void *map_next(const struct map *map, const void *element)
{
	const char *at = element;
	size_t i = at ? (size_t)(at - map->all) / map->size + 1 : 0;

	while (i < map->places && !element_key(map->all + i * map->size))
		i++;
	return i < map->places ? map->all + i * map->size : NULL;
}

void map_free(struct map *map)
{
	free(map->all);
	*map = (struct map){ .size = map->size };
}
