/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of a cgroup: its pressure, how long it was throttled, what its memory
 * limit did, and how many of its tasks are in which state. Files are kept open for groups that
 * are read again and again.
 */
#ifndef STALLTOP_CGROUP_CGROUP_H
#define STALLTOP_CGROUP_CGROUP_H

#include <stdint.h>

#include "cgroup/hierarchy.h"
#include "data/psi.h"
#include "kernel/cgroupstats.h"

/* What is read, each from a file of its own. The pressures are the same as enum psi_resource. */
enum cgroup_part { CGROUP_THROTTLE = PSI_RESOURCES, CGROUP_EVENTS, CGROUP_STATES, CGROUP_PARTS };

/* Bits for what is to be read, and has been. CGROUP_BIT(PSI_CPU) is the pressure of cpu. */
#define CGROUP_BIT(part) (1u << (part))
#define CGROUP_PRESSURE (CGROUP_BIT(PSI_RESOURCES) - 1)
#define CGROUP_ALL (CGROUP_BIT(CGROUP_PARTS) - 1)

/* The lines of memory.events that are shown. */
enum cgroup_event {
	CGROUP_EVENT_HIGH, /* throttled and reclaimed above memory.high */
	CGROUP_EVENT_MAX, /* about to go above memory.max */
	CGROUP_EVENT_OOM, /* at the limit, an allocation was about to fail */
	CGROUP_EVENT_OOM_KILL, /* tasks killed */
	CGROUP_EVENT_KINDS
};

/* Their names in the file: high, max, oom, oom_kill. */
extern const char *const cgroup_event_names[CGROUP_EVENT_KINDS];

/* One reading of a group. What is not in `have` is not known. */
struct cgroup_sample {
	unsigned have; /* CGROUP_BIT()s */
	int error[CGROUP_PARTS]; /* of what was asked for and is not there: -errno */
	uint64_t read_ns[CGROUP_PARTS]; /* CLOCK_MONOTONIC; of those in `have` */
	struct psi psi[PSI_RESOURCES];
	uint64_t throttled_ns, throttled; /* how long and how often, since the group was made */
	unsigned event_valid; /* bits by enum cgroup_event */
	uint64_t events[CGROUP_EVENT_KINDS]; /* of the group and all below, since it was made */
	struct cgroup_states states; /* of the group alone */
};

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
