/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit records of short-lived tasks that are alike become one, so that their number is bounded. */
#pragma once

#include "data/sample.h"
#include "kernel/exits.h"

/* From so many on, short-lived tasks of one command and parent become one row. */
#define EXIT_FOLD_MANY 4

/* The name of tasks that were too many to be kept apart. */
#define EXIT_OTHERS "(others)"

/* Exit records of an interval. */
struct exit_batch {
	struct exit_record *records; /* the functions reorder them */
	size_t n;
	struct task_record *fields; /* by exit_record.field, folded, too; NULL: not kept */
	bool threads; /* the samples have a row for each thread */
	bool io; /* storage bytes are wanted: see struct task_proc */
	/* Whether nothing is left of the task with that id, not even a zombie; NULL: not known. */
	bool (*gone)(void *arg, pid_t pid);
	void *arg;
};

/* When the task of a record began, at the latest. */
uint64_t exit_latest_start(const struct exit_record *record);

/* Whether the task began after since_ns, as far as can be told. */
bool exit_began_after(const struct exit_record *record, uint64_t since_ns);

/*
 * Folds the ends of threads into the record of their process, whose counters include them already,
 * or into one record where the process is still alive. Sorts the records by process. Returns how
 * many remain.
 */
size_t exit_fold_threads(const struct exit_batch *given);

/*
 * Folds records of one command, user and parent where there are many. Then folds those that did
 * little in the interval by command, user and reaper (which must be known of all), as in a storm of
 * short pipelines every few tasks have another parent. Returns how many remain, in front.
 */
size_t exit_fold_alike(const struct exit_batch *given, struct exit_record **records, size_t n,
		       uint64_t interval_ns);

/*
 * Folds records of tasks of one command, user and parent that are not in the sample before, began
 * after it, and have gone for good. Where more than `most` are left, as any user can make new
 * commands, those that did least are folded by user, under the name EXIT_OTHERS. So the numbers of
 * tasks and users, and `most`, bound the number of records. Returns how many remain.
 */
size_t exit_fold_kept(const struct exit_batch *batch, const struct sample *prev, size_t most);

/* How many tasks have lost their names to EXIT_OTHERS. */
uint64_t exit_fold_others(const struct exit_batch *batch);
