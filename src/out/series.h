/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters behind metrics: by group the time waited since the first frame, including exited
 * tasks and waits in progress. They never fall.
 *
 * Memory and text are bounded. A limited number of groups are shown as series of their own; all
 * others add to one for the rest. A group keeps its series while it is active, and after that until
 * another one needs it. Then its counters are kept for its return.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "frame/frame.h"

/* The currently hung tasks, by name: the subject of an alert. */

/* At most this many hung tasks are exported, longest first; and the threshold. */
#define SERIES_HANGS 8
#define SERIES_HANG_NS (10 * NSEC_PER_SEC)

/* A task in uninterruptible sleep. Texts are labels, empty if unknown. */
struct series_hang {
	uint64_t ns;
	pid_t pid;
	enum wait_seen kind;
	char *labels, *comm, *syscall, *on; /* labels: those of its group */
};

/* Those of the last frame, longest first; zero-initialised: none. */
struct series_hangs {
	struct series_hang all[SERIES_HANGS];
	size_t n;
};

/* A group with a longer label (in bytes, escaped) is counted with the rest. */
#define SERIES_LABEL_MAX 512

/* The labels of the rest, and of tasks without a known group. */
#define SERIES_REST "other"
#define SERIES_UNKNOWN "-"

/* Appends a name as a label: see SERIES_UNKNOWN and SERIES_REST. */
void series_label(struct buf *out, const char *name);

#define SERIES_DEFAULT 500
#define SERIES_MAX 10000

/* After this time without activity a group may lose its series to one that needs it. */
#define SERIES_IDLE_NS (600 * NSEC_PER_SEC)

/* Ratio of known groups to shown ones. */
#define SERIES_KEPT 8

/* The states of tasks that are counted, by their letters in /proc. */
#define SERIES_STATES "RSDTZI"
#define SERIES_STATES_N (sizeof(SERIES_STATES) - 1)

/* A group, or the rest. */
struct series_group {
	char *name; /* raw bytes; NULL: not known */
	char *labels; /* group="NAME", and if known namespace, pod and container; escaped */
	uint32_t known; /* of the counters: DELAY_BIT()s, DELAY_COUNT_BIT()s, VALID_RUN, _DWAIT */
	bool throttling, holding; /* throttled_ns is known, held_ns is */
	uint64_t delay_ns[WAIT_KINDS], delay_count[DELAY_KINDS], run_ns;
	uint64_t throttled_ns, held_ns; /* by its own limit; and by those of all groups above it */
	/* In the last frame: living tasks by state, and how long the longest wait has lasted. */
	uint64_t tasks[SERIES_STATES_N], longest_ns[WAITS_SEEN];
	uint64_t active_ns; /* CLOCK_MONOTONIC of the last frame with activity */
	bool named; /* the labels include more than the group */
	bool shown; /* has series of its own */
	bool present; /* is in the last frame */
};

/* The figures of the machine, of the last frame; sums since the first one. */
struct series_machine {
	uint32_t kinds; /* delay kinds that are known now: DELAY_BIT()s */
	bool states_known;
	bool exits_known;
	uint64_t exits, lost;
	enum delayacct_state delayacct;
	uint64_t duration_ns, real_ns; /* of the last sample */
	bool pressure; /* psi is the machine's */
	struct psi psi[PSI_RESOURCES];
	const char *source;
	struct series_hangs hangs;
};

struct series;

/* Makes an empty store for so many groups (1 to SERIES_MAX). */
struct series *series_open(size_t max);

/* Adds a frame of groups. Ancestors of a tree count without those below them. */
void series_take(struct series *series, const struct frame *frame);

/* The groups that have series, then the rest: the number, and the i-th. */
size_t series_count(const struct series *series);
const struct series_group *series_at(const struct series *series, size_t i);

const struct series_machine *series_machine(const struct series *series);

void series_close(struct series *series);
