/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits that a task's control groups put on it: how much of the CPUs and of memory they get,
 * and what that did. The group of a limit may be any above the task's, which all lie within it. Of
 * several the one counts that leaves least.
 */
#ifndef STALLTOP_MODEL_LIMITS_H
#define STALLTOP_MODEL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* A quota: so much time, of all CPUs together, in each period. */
struct cpu_limit {
	uint64_t quota_us, period_us; /* period 0: there is none */
	bool throttled_valid;
	uint64_t throttled_ns; /* added up over CPUs, since the group was made */
	uint64_t read_ns; /* CLOCK_MONOTONIC, of that */
	struct buf group; /* whose it is: its path in its hierarchy, raw bytes */
};

/* Bytes that may be used, and are. */
struct memory_limit {
	uint64_t limit, usage; /* limit 0: there is none */
	struct buf group;
};

/* Zero-initialised there are none. */
struct limits {
	struct cpu_limit cpu;
	struct memory_limit memory;
};

struct limits_reader;

/*
 * Opens the hierarchies that have the limits: of version 1 those of cpu and memory, else that of
 * version 2. procfd, of /proc, stays the caller's and must outlive the reader.
 */
struct limits_reader *limits_open(int procfd);

/* Reads those of a process, or of its thread tid unless that is 0. What is not known is none. */
void limits_read(const struct limits_reader *reader, pid_t tgid, pid_t tid, struct limits *limits);

/*
 * The share of time between two readings of one group in which it was throttled, in percent, added
 * up over CPUs; negative where it is not known.
 */
double limits_throttled(const struct cpu_limit *before, const struct cpu_limit *now);

/* Frees what is in it. */
void limits_free(struct limits *limits);

/* Frees the reader. NULL is allowed. */
void limits_close(struct limits_reader *reader);

#endif
