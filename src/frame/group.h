/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Grouping: the rows of tasks folded into rows of groups, which filters, sorting, columns and
 * formats treat like those of tasks. Sums include each member once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "frame/frame.h"

struct proc;

/* Kinds of rows. The first two are the rows of samples: nothing is folded. */
enum group_by { GROUP_PROCESS, GROUP_THREAD, GROUP_USER, GROUP_COMMAND, GROUP_CGROUP, GROUP_BYS };

struct group_row {
	const char *id;
	const char *one, *many; /* what the sum row counts */
	const char *help; /* what a row represents then */
	unsigned needs; /* NEED_ bits: data needed to assign tasks to groups */
};

extern const struct group_row group_table[GROUP_BYS];

/* The grouping of that name, or -1. */
int group_by_name(const char *name);

/* True if rows are folded. */
static inline bool group_folds(enum group_by by)
{
	return by > GROUP_THREAD;
}

/* The name of the group that a task's row belongs to: raw bytes, NULL if unknown. */
const char *group_name_of(const struct row *row, enum group_by by);

/* True if a cgroup's path (NULL: unknown) is `below` or below it. */
bool group_is_below(const char *path, const char *below);

struct grouping_options {
	enum group_by by;
	bool tree; /* cgroups only: with all parent groups, whose figures include those below */
	bool readable; /* labels of cgroups are shortened, so two may look the same */
	bool life; /* counters since the start are wanted, too */
	/* True if a task belongs to any group. */
	bool (*passes)(const void *arg, const struct row *row);
	const void *arg;
};

/* The memory of a fold, kept from frame to frame; zero-initialised: empty. */
struct grouping {
	struct frame frame; /* a row for each group, for the folded frame's interval */
	struct group *groups; /* parallel to its rows */
	struct group_store *stores; /* referenced by rows and groups */
	struct group_store **ranked; /* the stores, in the rows' order */
	size_t cap;
	const struct row **members; /* of all groups, group by group */
	uint32_t *group_of; /* parallel to the folded frame's rows */
	size_t members_cap;
	struct buf names;
	uint32_t *table; /* by hash of the name */
	size_t table_size;
};

/*
 * Folds a frame of tasks. The returned frame is valid until the next fold, and no longer than the
 * folded one; names are copied. Its rows are sorted by name, in a tree each before those below it.
 */
const struct frame *group_fold(struct grouping *grouping, const struct frame *frame,
			       const struct grouping_options *options);

/*
 * Appends the name of the cgroup hierarchy after the one of that name; the first follows the last.
 * 0; -ENOENT if there is no other, or another -errno.
 */
int group_next_hierarchy(const struct proc *proc, const char *name, struct buf *out);

/* The parts of the groups' own files read for such a frame, as NEED_ bits. */
unsigned group_parts(const struct frame *folded);

/* The group of that id in the frame folded last, or NULL. */
const struct row *group_find(const struct grouping *grouping, uint64_t id);

void grouping_free(struct grouping *grouping);

/*
 * Appends the readable name of a cgroup, such as nginx.service or docker:web; the path if it has
 * none. pod, container: from their managers; NULL: unknown.
 */
void group_cgroup_name(const char *path, const char *pod, const char *container, struct buf *out);

/*
 * How long the cgroups above a group were throttled: a quota above throttles a group's tasks as its
 * own does, and is where it mostly is (of a slice, with the tasks in its services).
 */

/* Zero-initialised: none has been read. */
struct groups_above {
	struct above_node *first;
	void *tree; /* the same by path: see tsearch(3) */
	uint64_t tick;
};

/* Reads the throttling of the group with that path. Unreadable values are unchanged. */
typedef void read_throttling_fn(void *arg, const char *path, struct group_figures *figures);

/*
 * Reads the groups above the one with that path, except the root, which has no quota. Returns the
 * next one above, and so on by its figures; NULL: there is none. They are valid until the tick
 * after the next.
 */
const struct group_above *groups_above_read(struct groups_above *above, const char *path,
					    read_throttling_fn *read, void *arg);

/* Starts a new sample: all are read again. Drops groups without requests for a while. */
void groups_above_tick(struct groups_above *above);

void groups_above_free(struct groups_above *above);
