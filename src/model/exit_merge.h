/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks that have exited: their last counters find their place in the sample, exactly once. */
#ifndef STALLTOP_MODEL_EXIT_MERGE_H
#define STALLTOP_MODEL_EXIT_MERGE_H

#include "data/sample.h"
#include "kernel/exits.h"

/* As many short-lived tasks of one command and parent become one row. */
#define EXIT_MERGE_FOLD 4

/* Exit records of an interval. */
struct exit_batch {
	struct exit_record *records; /* are put into another order */
	size_t n;
	struct task_record *fields; /* by exit_record.field, are folded; NULL: not kept */
	bool threads; /* the samples have a row a thread */
	bool io; /* storage bytes are wanted: see struct task_proc */
	/* Whether nothing is left of who had that id, not even a zombie; NULL: nobody knows. */
	bool (*gone)(void *arg, pid_t pid);
	void *arg;
};

/*
 * Brings what exited into `cur`, whose tasks were read before the records were taken:
 * - one that `cur` still has (a zombie, or it exited right after its reading) gets its last
 *   counters there and is marked;
 * - one that only `prev` had, or none of them, is added behind the living (sample_leave());
 * - a thread's end is nothing in a row a process: the kernel's sum over threads has it;
 * - a thread that took the leader's id by exec (fs/exec.c:de_thread()) goes on with its own
 *   counters under that id.
 * prev may be NULL: then only tasks in `cur` are marked.
 */
void exit_merge(const struct exit_batch *batch, const struct sample *prev, struct sample *cur);

/*
 * Folds records of tasks of one command, user and parent that are not in the sample before,
 * began after it, and have gone for good, so that the number of records is bounded by that of
 * commands. Returns how many remain.
 */
size_t exit_merge_fold(const struct exit_batch *batch, const struct sample *prev);

#endif
