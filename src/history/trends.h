/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trends: the time that each task waited in the samples before the shown one. */
#pragma once

#include "history/cursor.h"

/* Number of samples of a trend, without the shown one. */
#define TRENDS_BEFORE 9

/* Time waited by tasks in one sample; tasks that did not wait are left out. */
struct trend_interval {
	uint64_t real_ns, begin_ns, interval_ns;
	struct trend_wait {
		uint64_t start_ns, waited_ns;
		pid_t pid;
	} * waits; /* by pid, then by start */
	size_t n, cap;
};

/* The last samples of all tasks. Zero-initialised: none. */
struct trends {
	struct trend_interval intervals[TRENDS_BEFORE]; /* latest first */
	size_t n;
};

/* Reads the samples before a time (CLOCK_REALTIME); known ones are not read again. */
void trends_read(struct trends *trends, struct cursor *past, uint64_t real_ns);

/* Adds a frame as the latest sample, and removes the oldest. */
void trends_add(struct trends *trends, const struct frame *frame);

/*
 * Returns the share of a sample's interval that a task waited, in percent; NAN: the task had not
 * started, or it is unknown. sample: 0 is the latest.
 */
double trends_of(const struct trends *trends, size_t interval, const struct task_key *key);

void trends_free(struct trends *trends);
