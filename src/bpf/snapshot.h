/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads all tasks in one go by a program in the kernel (snapshot.bpf.c): loads it, runs it, and
 * gives what it found. Uses an iterator that the program opens itself where the kernel has that
 * (6.7 and later), else one that calls the program for each thread.
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
	const struct snapshot_entry *entries; /* of all tasks, in an order that does not change */
	size_t nentries;
	const struct snapshot_record *records;
	size_t nrecords;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/*
 * Loads the program. threads: an entry a thread, else one a process. SNAPSHOT_ANY: each way in
 * turn, the better one first. measure: measures waits, and must stay open; NULL: none are measured.
 * trace: as for snapshot_trace(). 0, or -errno as refusal_summary() has it in words.
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
 * Reads all tasks. Tasks that did not change since the snapshot before have no record, unless
 * SNAPSHOT_WHOLE is given (required the first time). 0 or -errno.
 */
int snapshot_take(struct snapshot *snapshot, unsigned how, struct snapshot_view *view);

/*
 * Says that the records before that one, by its index, are not looked at any more: of many all at
 * once would be memory of ours. The view's others stay as they are.
 */
void snapshot_pass(struct snapshot *snapshot, size_t record);

/*
 * Has snapshots tell how threads spend their time, as it is traced, from the next on; trace must
 * stay open until this is called again. NULL: it is not traced any more.
 */
void snapshot_trace(struct snapshot *snapshot, const struct trace *trace);

/* How it reads the tasks: SNAPSHOT_WALK or SNAPSHOT_EACH; refusal_words() says why by no walk. */
enum snapshot_way snapshot_way(const struct snapshot *snapshot);

void snapshot_close(struct snapshot *snapshot);

/* The number of records, from `first` on, that belong to the same entry. */
static inline size_t snapshot_parts(const struct snapshot_view *view, size_t first)
{
	size_t n = 1;

	while (first + n < view->nrecords && view->records[first + n].part != SNAPSHOT_FIRST)
		n++;
	return n;
}
