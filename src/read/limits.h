/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of cgroups on a task: CPU time, memory and I/O, and their effects. The limit may be
 * that of the task's group or of any above it. If several groups have a limit, the one that leaves
 * least counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct proc;

/* A quota: CPU time permitted per period, of all CPUs together. */
struct cpu_limit {
	uint64_t quota_us, period_us; /* period 0: none */
	bool throttled_valid;
	uint64_t throttled_ns; /* summed over CPUs, since the group was made */
	uint64_t read_ns; /* when it was read (CLOCK_MONOTONIC) */
	struct buf group; /* the group with this quota: its path in its hierarchy, raw bytes */
	unsigned version; /* of that hierarchy */
};

/* The budget of real-time tasks, per CPU and period. Version 1 only. */
struct realtime_limit {
	uint64_t runtime_us, period_us; /* period 0: none */
	struct buf group;
};

/* Maximum bytes, and bytes in use. */
struct memory_limit {
	uint64_t limit, usage; /* limit 0: none */
	struct buf group;
	unsigned version;
};

/* Limits of block I/O: those of the nearest group with any. */
struct io_limit {
	struct buf text; /* "8:0 rbps=1048576 wiops=10, 8:16 ...", by device; empty: none */
	struct buf group;
	unsigned version;
};

/* The limits of a task; zero-initialised: none. */
struct limits {
	struct cpu_limit cpu;
	struct realtime_limit realtime;
	struct memory_limit memory;
	struct io_limit io;
};

struct limits_reader;

/*
 * Opens the hierarchies with the limits: those of cpu, memory and blkio of version 1, else that of
 * version 2. The caller keeps proc, of /proc, while the reader is in use.
 */
struct limits_reader *limits_open(struct proc *proc);

/*
 * Reads the limits of a process, or of its thread tid unless that is 0. An unknown limit counts as
 * none.
 */
void limits_read(const struct limits_reader *reader, pid_t tgid, pid_t tid, struct limits *limits);

/*
 * Appends the group whose weight decides how a process shares CPUs with others: its own, or the
 * nearest above it that has one ("/": the root). Returns the version of its hierarchy; 0: unknown.
 */
unsigned limits_weighed(const struct limits_reader *reader, pid_t tgid, struct buf *group);

/* Frees the memory of the limits. */
void limits_free(struct limits *limits);

/* Frees the reader. NULL is allowed. */
void limits_close(struct limits_reader *reader);
