/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detail view's data about its task, kept from frame to frame. Maxima, minima and the other
 * fields of the record are read for this process's threads only, in addition to the sample.
 */
#pragma once

#include "frame/frame.h"
#include "ui/state/ui.h"
#include "ui/term/spark.h"

/* The task's current wait; texts are raw bytes, empty if unknown. */
struct detail_wait {
	pid_t tid; /* the waiting thread; 0: none, or unknown */
	uint32_t cpu; /* the last CPU that the task ran on, plus 1; 0: unknown */
	enum wait_state state; /* WAIT_STATES: unknown */
	struct buf call, on, where; /* call: with its arguments */
	struct buf stack; /* functions, each on a line */
};

/* Writes a line with the function and the target of the wait, if known. */
void detail_wait_name(const struct detail_wait *wait, struct pager *pager);

/* Writes the part about the wait; nothing if nothing is known. */
void detail_wait_write(const struct detail_wait *wait, struct pager *pager, struct buf *scratch);

/* The figures of a detail: the kinds, then all waits, those for memory, and time on a CPU. */
enum figure {
	FIGURE_TOTAL = WAIT_KINDS,
	FIGURE_MEM,
	FIGURE_RUN, /* exact */
	FIGURE_REAL, /* counted in ticks */
	FIGURES
};

/* One figure in the units of delay columns, of the interval or of the whole life. */
struct figure_values {
	struct value count, ms, avg, share;
};

/* Facts about the task that are kept after its exit. */
struct detail_task {
	pid_t ppid;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t age_ns; /* age at the last sample */
	char state; /* 0: unknown */
	/* See row_wait(), row_wait_state(); WAIT_STATES: the task does not wait. */
	enum wait_state waits_for;
	uint64_t wait_ns;
	bool wait_exact; /* otherwise the wait is at least that long */
	struct buf user, command, cgroup, pod, container; /* raw bytes; empty: unknown */
};

/* The facts about a group besides its members' sum. */
struct detail_group {
	struct ui_group which;
	struct buf worst; /* the member with most waits in the interval, raw bytes; empty: none */
	pid_t worst_pid;
	uint64_t worst_ns;
	struct cgroup_states states; /* members with a known state */
	size_t stateless; /* members whose state was not read, or is no longer known */
	/* Figures from the group's own files: 0 in `have` without these. */
	struct cgroup_sample now, before;
};

struct detail {
	bool sum; /* for the rows that pass, not for a task */
	bool of_group; /* with sum: for the rows of one group */
	bool booked; /* the interval's figures are the accounted ones */
	struct detail_group group;
	struct ui_task who;
	struct detail_task task;
	struct detail_wait wait;
	struct task_evidence *limits; /* of its groups; NULL: unknown */
	struct wait_states states; /* of the interval; all 0: they were not traced */
	bool ended;
	char how[32]; /* exit status or signal; "": unknown, or nothing special */
	uint64_t seen_ns, gone_ns; /* CLOCK_REALTIME: last seen, and first found missing */
	size_t members; /* rows in the sum */
	uint64_t interval_ns; /* 0: no interval yet */
	struct figure_values interval[FIGURES], life[FIGURES];
	struct spark history[FIGURES]; /* shares of the interval in percent */
	unsigned jumps; /* the ui's, when the history was begun */
	bool absent; /* while looking back: it does not exist at that time */
	/* Data of the process's live threads, or of the single thread. */
	struct threads threads;
	int error; /* -errno: why there are no threads */
	uint64_t record_interval_ns; /* 0: no interval yet */
	struct task_record record, growth; /* growth: of counters, in that interval */
	struct order order; /* scratch buffer */
};

/* Starts with the ui's frame. Without a task and without a group: the sum. */
void detail_start(struct detail *detail, struct ui *ui, const struct ui_task *task,
		  const struct group *group);

/* Continues with the ui's next frame. */
void detail_next(struct detail *detail, struct ui *ui);

/* The column of a figure. Its unit is the view's even if it is no delay. */
const struct column *detail_column(enum figure figure);

void detail_free(struct detail *detail);
