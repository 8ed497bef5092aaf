/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of a cgroup: its pressure, how long it was throttled, what its memory
 * limit did, and how many of its tasks are in which state. Files are kept open for groups that
 * are read again and again.
 */
#ifndef STALLTOP_CGROUP_CGROUP_H
#define STALLTOP_CGROUP_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/hierarchy.h"
#include "data/system.h"

/*
 * Takes out of the text of a cpu.stat, of either version, for how long and how often its group was
 * throttled. False where it has no such figures: without the controller cpu.
 */
bool cgroup_throttled(const char *text, size_t len, uint64_t *ns, uint64_t *times);

struct cgroup_reader;

/*
 * Reads groups of that hierarchy, which stays the caller's and must outlive the reader. procfd, of
 * /proc, is not used any more afterwards.
 *
 * Version 2 has pressure, memory events, and how long groups are throttled; version 1 has states,
 * and throttling where the controller is cpu. Where the hierarchy's group has no such figure, and
 * the v1 hierarchy of cpu has a group of the same path, that is taken, as it is the same one by
 * the rules of systemd and container managers.
 */
struct cgroup_reader *cgroup_reader_open(int procfd, const struct hierarchy *hierarchy);

/*
 * A new sample begins: what was read becomes what was before. Lets go of groups that nobody has
 * asked for in a while.
 */
void cgroup_reader_tick(struct cgroup_reader *reader);

/*
 * Reads of the group with that path (see hierarchy_path()) what is asked for and was not read
 * since the tick. *now: all that was. *before: of the tick before; NULL when it was not read then,
 * or was another group of the same path. Both are valid until the next tick.
 *
 * 0, also where parts have errors of their own; -ENOENT when there is no such group (any more),
 * -EINVAL for a path that is not below what is mounted, or another -errno; then *now and *before
 * are NULL.
 */
int cgroup_read(struct cgroup_reader *reader, const char *path, unsigned what,
		const struct cgroup_sample **now, const struct cgroup_sample **before);

/* System calls made so far. */
uint64_t cgroup_reader_syscalls(const struct cgroup_reader *reader);

/* Frees the reader. NULL is allowed. */
void cgroup_reader_close(struct cgroup_reader *reader);

#endif
