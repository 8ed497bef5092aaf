/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the detail view knows of its task, carried on from frame to frame. Maxima, minima and
 * the other fields of the record are read of this process's threads only, beside the sample.
 */
#ifndef STALLTOP_UI_DETAIL_H
#define STALLTOP_UI_DETAIL_H

#include "model/limits.h"
#include "ui/spark.h"
#include "ui/ui.h"

/* The figures of a detail: the kinds, and what is summed or measured beside them. */
enum figure {
	FIGURE_BLOCK = WAIT_BLOCK, /* which is never booked */
	FIGURE_TOTAL,
	FIGURE_MEM,
	FIGURE_RUN, /* exact */
	FIGURE_REAL, /* counted in ticks */
	FIGURES
};

/* One of them, of the interval or of the whole life. */
struct figure_sum {
	bool known, booked, counted; /* what of it is: ns; sum.ns; sum.count and the average */
	uint64_t ns; /* waited in the interval; of the life, and with --booked, what was booked */
	struct delay_sum sum; /* booked */
};

/* What stays of the task when it has ended. */
struct detail_task {
	pid_t ppid;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t age_ns; /* how long it had lived by the last sample */
	char state; /* 0: not known */
	/* See row_wait(), row_wait_state(); NULL: it does not wait. */
	const char *waits_for;
	uint64_t wait_ns;
	bool wait_exact; /* else it has waited at least that long */
	struct buf user, command, cgroup, wchan; /* raw bytes; empty: not known */
};

/* What is known of a group besides its members' sum. */
struct detail_group {
	struct ui_group which;
	struct buf worst; /* its member that waited most in the interval, raw bytes; empty: none */
	pid_t worst_pid;
	uint64_t worst_ns;
	struct cgroup_states states; /* of members whose state was read */
	size_t stateless; /* members whose state was not, or is not known any more */
	/* Of its own files: 0 in `have` where there are none. */
	struct cgroup_sample now, before;
};

/* What the limits of the task's groups do to it. */
struct detail_limits {
	struct limits_reader *reader; /* NULL: nothing was read yet */
	struct limits now, before;
	double throttled; /* in percent of the interval, added up over CPUs; negative: not known */
};

struct detail {
	bool sum; /* of the rows that pass, and not of a task */
	bool of_group; /* then: of those of one group */
	bool booked; /* the interval's figures are what was booked in it */
	struct detail_group group;
	struct ui_task who;
	struct detail_task task;
	struct detail_limits limits;
	bool ended;
	char how[32]; /* exit status or signal; "": not known, or nothing to say */
	uint64_t seen_ns, gone_ns; /* CLOCK_REALTIME: there for the last time, and not any more */
	size_t members; /* of the sum */
	uint64_t interval_ns; /* 0: there is none yet */
	struct figure_sum interval[FIGURES], life[FIGURES];
	struct spark history[FIGURES]; /* shares of the interval in percent */
	/* Of the process's threads that live, or of the one thread. */
	struct threads threads;
	int error; /* -errno: why they are not there */
	uint64_t record_interval_ns; /* 0: there is none yet */
	struct task_record record, growth; /* growth: of counters, in that interval */
	struct order order; /* scratch */
};

/* Starts with the ui's frame. Without a task and a group: the sum. */
void detail_start(struct detail *detail, struct ui *ui, const struct ui_task *task,
		  const struct group *group);

/* Goes on with the ui's next frame. */
void detail_next(struct detail *detail, struct ui *ui);

/* Whether the figure stands for waits; then which kinds, as row.valid has them. */
uint32_t figure_kinds(enum figure figure);

/* Its name. */
const char *figure_name(enum figure figure);

void detail_free(struct detail *detail);

#endif
