/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads all tasks at once with a BPF program (snapshot.bpf.c): loads it, runs it, and returns its
 * results. Uses an iterator that the program opens itself if the kernel has that (6.7 and later),
 * else one that calls the program for each thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/snapshot_record.h"

struct measure;
struct snapshot;
struct trace;

enum snapshot_way { SNAPSHOT_ANY, SNAPSHOT_WALK, SNAPSHOT_EACH };

/* The result of a snapshot; valid until the next is taken. */
struct snapshot_view {
	const struct snapshot_entry *entries; /* of all tasks, in a fixed order */
	size_t nentries;
	const struct snapshot_record *records;
	size_t nrecords;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/*
 * Loads the program. threads: one entry per thread, else per process. SNAPSHOT_ANY: tries each
 * method, the better one first. measure: measures waits, and must stay open; NULL: none are
 * measured. trace: as for snapshot_trace(). 0, or -errno as explained by refusal_summary().
 */
int snapshot_open(struct snapshot **out, bool threads, enum snapshot_way way,
		  const struct measure *measure, const struct trace *trace);

/*
 * How to take a snapshot: with records of all tasks; with records also of tasks that only moved to
 * another cgroup.
 */
#define SNAPSHOT_WHOLE 0x1u
#define SNAPSHOT_CGROUPS 0x2u

/*
 * Reads all tasks. Tasks unchanged since the previous snapshot have no record, unless
 * SNAPSHOT_WHOLE is given (required the first time). 0 or -errno.
 */
int snapshot_take(struct snapshot *snapshot, unsigned how, struct snapshot_view *view);

/*
 * Releases the records before that index, which are no longer used: many of them would all count as
 * our memory. The view's others stay as they are.
 */
void snapshot_pass(struct snapshot *snapshot, size_t record);

/*
 * From the next snapshot on, includes traced times by state; trace must stay open until this is
 * called again. NULL: no longer traced.
 */
void snapshot_trace(struct snapshot *snapshot, const struct trace *trace);

/* How it reads tasks: SNAPSHOT_WALK or SNAPSHOT_EACH; refusal_words() explains why no walk. */
enum snapshot_way snapshot_way(const struct snapshot *snapshot);

void snapshot_close(struct snapshot *snapshot);

/* Number of records, from `first` on, of the same entry. */
static inline size_t snapshot_parts(const struct snapshot_view *view, size_t first)
{
	size_t n = 1;

	while (first + n < view->nrecords && view->records[first + n].part != SNAPSHOT_FIRST)
		n++;
	return n;
}
