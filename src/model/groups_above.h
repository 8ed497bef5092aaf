/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the cgroups above a group were throttled: a quota above keeps a group's tasks from
 * running as its own does, and is where it mostly is (of a slice, with the tasks in its services).
 */
#ifndef STALLTOP_MODEL_GROUPS_ABOVE_H
#define STALLTOP_MODEL_GROUPS_ABOVE_H

#include "model/frame.h"

/* Zero-initialised: none has been read. */
struct groups_above {
	struct above_node *first;
	void *tree; /* the same by their paths: see tsearch(3) */
	uint64_t tick;
};

/* Reads the throttling of the group with that path. Leaves what cannot be read as it is. */
typedef void read_throttling_fn(void *arg, const char *path, struct group_figures *figures);

/*
 * Reads the groups above the one with that path, the root excepted, which has no quota. Returns the
 * next one above, and so on by its figures; NULL: there is none. They are good until the tick
 * after the next.
 */
const struct group_above *groups_above_read(struct groups_above *above, const char *path,
					    read_throttling_fn *read, void *arg);

/* Begins a new sample: all are read anew. Forgets groups that were not wanted for a while. */
void groups_above_tick(struct groups_above *above);

void groups_above_free(struct groups_above *above);

#endif
