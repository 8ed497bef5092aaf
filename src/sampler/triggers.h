/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watched triggers: the kernel is told the stall time and the window, and makes a descriptor
 * readable (POLLPRI) when that much occurred, at most once per window
 * (Documentation/accounting/psi.rst).
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/trigger.h"
#include "frame/frame.h"

/* Maximum number of watched triggers. */
#define TRIGGERS_MAX 32

/* The step at which opening a trigger failed. */
enum trigger_step {
	TRIGGER_AT_MOUNT, /* finding where cgroup v2 is mounted */
	TRIGGER_AT_GROUP, /* opening the group's directory */
	TRIGGER_AT_FILE, /* opening the pressure file */
	TRIGGER_AT_WRITE /* passing the trigger to the kernel */
};

struct trigger_error {
	enum trigger_step step;
	int err; /* -errno */
	bool privileged; /* the program has CAP_SYS_RESOURCE */
};

/* The contents of a pressure file at a time. */
struct trigger_point {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t total_us;
};

/* Number of points kept: eight per window, an older one, and spare room. */
#define TRIGGER_POINTS 12

/* A watched trigger. */
struct trigger {
	const struct trigger_spec *spec;
	int fd; /* -1: it has expired, or the kernel does not report it */
	bool gone; /* it expired with its group */
	bool unproven; /* no report was true yet: see triggers_take() */
	uint64_t begin_us; /* the file's total when the trigger was set, or at a false report */
	bool fired; /* since triggers_forget() */
	uint64_t last_ns; /* when the kernel last reported pressure (CLOCK_MONOTONIC); 0: never */
	uint64_t lasts_ns; /* when trigger_measure() last found enough stall time; 0: never */
	struct trigger_point points[TRIGGER_POINTS]; /* the oldest first */
	unsigned npoints;
};

struct trigger_set {
	struct trigger all[TRIGGERS_MAX];
	size_t n;
};

/* Sets a trigger by a pressure file's descriptor. 0 or -errno; -EBUSY: it has one already. */
int trigger_arm(int fd, const struct trigger_spec *spec);

/*
 * Opens a trigger and adds it to the set, which must have room; events detected in samples are only
 * added (see struct incidents). The spec must outlive the set. 0, or -errno with the reason in
 * `why`.
 */
int triggers_add(struct trigger_set *set, const struct trigger_spec *spec, int procfd,
		 struct trigger_error *why);

/*
 * Fills in the descriptors for poll(): an element per trigger, set->n in all. poll() ignores the
 * elements of expired triggers.
 */
void triggers_fill(const struct trigger_set *set, struct pollfd *fds);

/*
 * Processes the results of poll(). Returns how many triggers fired, and closes those whose group
 * was removed. First reports are ignored until stall time has grown by the threshold since the
 * previous report, or since the trigger was set: the kernel counts all stall time since boot as
 * that of the first windows (seen on 6.18).
 */
size_t triggers_take(struct trigger_set *set, const struct pollfd *fds, uint64_t now_ns);

/* Clears which triggers fired, but not when they last did. */
void triggers_forget(struct trigger_set *set);

/* Number of expired triggers. */
size_t triggers_gone(const struct trigger_set *set);

/*
 * The latest time at which lasting pressure is reported again, but at least `linger_ns` after the
 * last report. 0: it was never reported.
 */
uint64_t trigger_until_ns(const struct trigger *trigger, uint64_t linger_ns);

/*
 * Reads the pressure file's current total, and determines whether the last window had as much stall
 * time as the trigger demands; if the points are further apart than a window, the average counts.
 */
void trigger_measure(struct trigger *trigger, uint64_t now_ns, uint64_t total_us);

/*
 * Reads all pressure files, for trigger_measure(): reports come late, at times only every other
 * window, and so do not show when pressure ends.
 */
void triggers_look(struct trigger_set *set, uint64_t now_ns);

/*
 * The time at which all pressure has been over for `linger_ns`: that long after it was last
 * measured or reported, where a report counts for its window at least. 0: there was none.
 */
uint64_t triggers_until_ns(const struct trigger_set *set, uint64_t linger_ns);

/* Closes all triggers. */
void triggers_close(struct trigger_set *set);

/* Events that fire triggers without a report by the kernel: hangs, and OOM kills. */

/* The incidents seen so far; zero-initialised: none. */
struct incidents {
	bool counted;
	uint64_t killed; /* processes killed by the OOM killer, since boot */
};

/*
 * Checks the kernel's count of kills and a frame, for those triggers of the set. A hang fires once:
 * when a wait exceeds the demanded age.
 */
void incidents_look(struct incidents *incidents, struct trigger_set *set, int procfd,
		    const struct frame *frame, uint64_t now_ns);

/* Parses the number of OOM kills from /proc/vmstat's text. False if it has none (before 4.13). */
bool incidents_parse_kills(const char *text, size_t len, uint64_t *killed);
