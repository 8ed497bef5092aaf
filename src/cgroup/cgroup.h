/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's figures of a cgroup: pressure, throttled time, memory limit events, and its
 * tasks by state. Files of repeatedly read groups are kept open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/hierarchy.h"
#include "data/system.h"

/*
 * Parses the time and number of throttlings from a group's cpu.stat, of either version. False if
 * the text has no such figures, as without the controller cpu.
 */
bool cgroup_throttled(const char *text, size_t len, uint64_t *ns, uint64_t *times);

struct cgroup_reader;

/*
 * Opens a reader for groups of a hierarchy, which like procfd, of /proc, stays the caller's and
 * must outlive the reader.
 *
 * Version 2 has pressure and memory events; version 1 has states. The hierarchy with the controller
 * cpu has the time throttled. If that is not this hierarchy, the group's processes (the first 16)
 * are looked up there: the figure is their group's, or that of the most throttled group above it.
 * It is unknown if they are in several groups, if they are in the root, or if there are none.
 */
struct cgroup_reader *cgroup_reader_open(int procfd, const struct hierarchy *hierarchy);

/*
 * Starts a new sample: the current readings become the previous ones. Drops groups without requests
 * for a while.
 */
void cgroup_reader_tick(struct cgroup_reader *reader);

/*
 * Reads the requested parts of the group with that path (see hierarchy_path()), except those
 * already read since the tick. *now: all parts read since the tick. *before: those of the previous
 * tick; NULL if the group was not read then, or was another group of the same path. Both are valid
 * until the next tick.
 *
 * 0, also where parts have errors of their own; -ENOENT when there is no such group (any more),
 * -EINVAL for a path that is not below what is mounted, or another -errno; then *now and *before
 * are NULL.
 */
int cgroup_read(struct cgroup_reader *reader, const char *path, unsigned what,
		const struct cgroup_sample **now, const struct cgroup_sample **before);

/* Frees the reader. NULL is allowed. */
void cgroup_reader_close(struct cgroup_reader *reader);
