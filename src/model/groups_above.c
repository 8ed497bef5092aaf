/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/groups_above.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Samples after which a group that was not wanted is forgotten. */
#define FORGET_TICKS 16

struct above_node {
	struct group_above above;
	char *path;
	size_t len;
	uint64_t tick; /* when it was read last */
	struct above_node *next;
};

/* Orders groups by their paths. */
static int compare_above(const void *a, const void *b)
{
	const struct above_node *x = a, *y = b;
	int order = memcmp(x->path, y->path, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* The group whose path is the first `len` bytes; made where there is none. */
static struct above_node *find_node(struct groups_above *above, const char *path, size_t len)
{
	const struct above_node key = { .path = (char *)(uintptr_t)path, .len = len };
	struct above_node **found = tfind(&key, &above->tree, compare_above), *node;

	if (found)
		return *found;
	node = xcalloc(1, sizeof(*node));
	node->path = xcalloc(len + 1, 1);
	memcpy(node->path, path, len);
	node->len = len;
	node->tick = above->tick - 1;
	node->next = above->first;
	node->above.path = node->path;
	above->first = node;
	if (!tsearch(node, &above->tree, compare_above))
		die("out of memory");
	return node;
}

/* Frees a group that is in no list any more. */
static void free_node(struct groups_above *above, struct above_node *node)
{
	tdelete(node, &above->tree, compare_above);
	free(node->path);
	free(node);
}

/* The length of the path of the group above; 0: that is the root, or there is none. */
static size_t length_above(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

const struct group_above *groups_above_read(struct groups_above *above, const char *path,
					    read_throttling_fn *read, void *arg)
{
	const struct group_above *first = NULL, **link = &first;
	size_t len = strlen(path);

	while ((len = length_above(path, len))) {
		struct above_node *node = find_node(above, path, len);

		*link = &node->above;
		/* Those above it were read with it. */
		if (node->tick == above->tick)
			return first;
		node->tick = above->tick;
		node->above.figures = (struct group_figures){ NULL, NULL, NULL };
		read(arg, node->path, &node->above.figures);
		link = &node->above.figures.above;
	}
	return first;
}

void groups_above_tick(struct groups_above *above)
{
	struct above_node **link = &above->first, *node;

	above->tick++;
	while ((node = *link)) {
		if (node->tick + FORGET_TICKS > above->tick) {
			link = &node->next;
			continue;
		}
		*link = node->next;
		free_node(above, node);
	}
}

void groups_above_free(struct groups_above *above)
{
	struct above_node *node;

	while ((node = above->first)) {
		above->first = node->next;
		free_node(above, node);
	}
}
