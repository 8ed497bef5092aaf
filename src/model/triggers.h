/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The triggers that are watched: the kernel is told how much stall time in what window counts, and
 * makes a descriptor readable (POLLPRI) when that came to be, once a window at most
 * (Documentation/accounting/psi.rst).
 */
#ifndef STALLTOP_MODEL_TRIGGERS_H
#define STALLTOP_MODEL_TRIGGERS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/trigger.h"

/* As many can be watched at a time. */
#define TRIGGERS_MAX 32

/* Where opening a trigger failed. */
enum trigger_step {
	TRIGGER_AT_MOUNT, /* where cgroup v2 is mounted */
	TRIGGER_AT_GROUP, /* the group's directory */
	TRIGGER_AT_FILE, /* opening the pressure file */
	TRIGGER_AT_WRITE /* telling the kernel */
};

struct trigger_error {
	enum trigger_step step;
	int err; /* -errno */
	bool privileged; /* CAP_SYS_RESOURCE is there */
};

/* What a pressure file said at a time. */
struct trigger_point {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t total_us;
};

/* So many are kept: eight a window, one that is older, and room to spare. */
#define TRIGGER_POINTS 12

/* A trigger that is watched. */
struct trigger {
	const struct trigger_spec *spec;
	int fd; /* -1: it has gone */
	bool gone; /* with its group */
	bool unproven; /* no report was true yet: see triggers_take() */
	uint64_t begin_us; /* the file's total when the kernel was told, or at a false report */
	bool fired; /* since triggers_forget() */
	uint64_t last_ns; /* when the kernel reported pressure last (CLOCK_MONOTONIC); 0: never */
	uint64_t lasts_ns; /* when trigger_measure() last found it so; 0: never */
	struct trigger_point points[TRIGGER_POINTS]; /* the oldest first */
	unsigned npoints;
};

struct trigger_set {
	struct trigger all[TRIGGERS_MAX];
	size_t n;
};

/* Tells the kernel by a pressure file's descriptor. 0 or -errno; -EBUSY: it has been told. */
int trigger_arm(int fd, const struct trigger_spec *spec);

/*
 * Opens a trigger and adds it to the set, in which there must be room. The spec must outlive
 * the set. 0, or -errno with the reason in `why`.
 */
int triggers_add(struct trigger_set *set, const struct trigger_spec *spec, int procfd,
		 struct trigger_error *why);

/* What to poll for: an element a trigger, set->n in all. Of one that has gone it is ignored. */
void triggers_fill(const struct trigger_set *set, struct pollfd *fds);

/*
 * Takes what poll() said of those. How many fired; those whose group has gone are closed. First
 * reports are passed over until as much as the threshold has come up since the one before, or
 * since the kernel was told: it takes all stall time since boot for that of the first windows
 * (seen on 6.18).
 */
size_t triggers_take(struct trigger_set *set, const struct pollfd *fds, uint64_t now_ns);

/* No trigger has fired from now on. When they fired last stays. */
void triggers_forget(struct trigger_set *set);

/* How many have gone. */
size_t triggers_gone(const struct trigger_set *set);

/*
 * Until when pressure that goes on may be reported again at the latest, and `linger_ns` after
 * the last report at least. 0: it was never reported.
 */
uint64_t trigger_until_ns(const struct trigger *trigger, uint64_t linger_ns);

/*
 * Takes what the pressure file says now: whether in the window before there was as much stall
 * time as is asked for, of times further apart than a window on the average.
 */
void trigger_measure(struct trigger *trigger, uint64_t now_ns, uint64_t total_us);

/*
 * Reads all pressure files, for trigger_measure(): reports come late and now and then every other
 * window only, which does not tell when pressure ends.
 */
void triggers_look(struct trigger_set *set, uint64_t now_ns);

/*
 * When no trigger's pressure has lasted for `linger_ns`: that long after it was last measured or
 * reported, a report being good for its window at least. 0: there was none.
 */
uint64_t triggers_until_ns(const struct trigger_set *set, uint64_t linger_ns);

/* Closes all. */
void triggers_close(struct trigger_set *set);

#endif
