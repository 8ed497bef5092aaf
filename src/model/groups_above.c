/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/groups_above.h"

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

/* The group whose path is the first `len` bytes; made where there is none. */
static struct above_node *find_node(struct groups_above *above, const char *path, size_t len)
{
	struct above_node *node;

	for (node = above->first; node; node = node->next)
		if (node->len == len && !memcmp(node->path, path, len))
			return node;
	node = xcalloc(1, sizeof(*node));
	node->path = xcalloc(len + 1, 1);
	memcpy(node->path, path, len);
	node->len = len;
	node->tick = above->tick - 1;
	node->next = above->first;
	node->above.path = node->path;
	above->first = node;
	return node;
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
		free(node->path);
		free(node);
	}
}

void groups_above_free(struct groups_above *above)
{
	struct above_node *node;

	while ((node = above->first)) {
		above->first = node->next;
		free(node->path);
		free(node);
	}
}
