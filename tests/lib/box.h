/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Changes of the machine that loads need; all are undone by the guard, which
 * must run. They return 0 or -errno; -EOPNOTSUPP where the machine has no such
 * thing at all.
 */

/* kernel.task_delayacct, put back at the end. */
int box_delayacct(bool on);

/* A memory cgroup (v1, or v2 where memory is there) of so many MiB; its path. */
int box_cgroup(unsigned int mib, char *path, size_t size);

/* Where the v1 hierarchy of a controller is mounted, or v2 ("v2"). */
int box_find_hierarchy(const char *hierarchy, char *path, size_t size);

/*
 * A group of that name at the top of the v1 hierarchy of a controller, or of v2's ("v2"); its path.
 */
int box_group(const char *hierarchy, const char *name, char *path, size_t size);

/* A group of that name whose tasks together run for so many us of each 100 ms at most; its path. */
int box_quota(const char *name, const char *us, char *path, size_t size);

/*
 * A new group of cgroup v2, whatever controllers that has; its path, and where in it begins what
 * it is called below the root.
 */
int box_unified_group(char *path, size_t size, const char **name);

/* No compaction of the kernel's own accord: it would make what the load breaks. */
int box_no_background_compaction(void);

/* Swap of so many MiB on a zram device of its own. */
int box_zram_swap(unsigned int mib);
