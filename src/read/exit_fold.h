/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Similar exit records of short-lived tasks are merged, so that their number is bounded. */
#pragma once

#include "data/sample.h"
#include "kernel/exits.h"

/* From this number on, short-lived tasks of one command and parent become one row. */
#define EXIT_FOLD_MANY 4

/* The name of tasks too many for rows of their own. */
#define EXIT_OTHERS "(others)"

/* Exit records of an interval. */
struct exit_batch {
	struct exit_record *records; /* the functions reorder them */
	size_t n;
	struct task_record *fields; /* by exit_record.field, merged, too; NULL: not stored */
	bool threads; /* the samples have a row for each thread */
	bool io; /* storage bytes are wanted: see struct task_proc */
	/* True if nothing is left of the task with that id, not even a zombie; NULL: unknown. */
	bool (*gone)(void *arg, pid_t pid);
	void *arg;
};

/* The latest time at which the task of a record can have started. */
uint64_t exit_latest_start(const struct exit_record *record);

/* True if the task started after since_ns, as far as known. */
bool exit_began_after(const struct exit_record *record, uint64_t since_ns);

/*
 * Merges the exits of threads into the record of their process, whose counters include them
 * already, or into one record if the process is still alive. Sorts the records by process. Returns
 * how many remain.
 */
size_t exit_fold_threads(const struct exit_batch *given);

/*
 * Merges records of one command, user and parent if there are many. Then merges those that did
 * little in the interval by command, user and reaper (which must be known of all), as in a storm of
 * short pipelines every few tasks have another parent. Returns how many remain, in front.
 */
size_t exit_fold_alike(const struct exit_batch *given, struct exit_record **records, size_t n,
		       uint64_t interval_ns);

/*
 * Merges records of tasks of one command, user and parent that are not in the previous sample,
 * started after it, and have gone for good. If more than `most` are left, as any user can create
 * new commands, those that did least are merged by user, under the name EXIT_OTHERS. So the numbers
 * of tasks and users, and `most`, bound the number of records. Returns how many remain.
 */
size_t exit_fold_kept(const struct exit_batch *batch, const struct sample *prev, size_t most);

/* Number of tasks whose names were replaced by EXIT_OTHERS. */
uint64_t exit_fold_others(const struct exit_batch *batch);
