/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit records of short-lived tasks that are alike become one, so that their number is bounded. */
#ifndef STALLTOP_MODEL_EXIT_FOLD_H
#define STALLTOP_MODEL_EXIT_FOLD_H

#include "data/sample.h"
#include "kernel/exits.h"

/* As many short-lived tasks of one command and parent become one row. */
#define EXIT_FOLD_MANY 4

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

/* When the task of a record began, at the latest. */
uint64_t exit_latest_start(const struct exit_record *record);

/* Whether the task began after that, as far as can be told. */
bool exit_began_after(const struct exit_record *record, uint64_t since_ns);

/*
 * Folds the ends of threads into that of their process, whose counters have them already; of a
 * process that lives into one. They are sorted by process then. Returns how many remain.
 */
size_t exit_fold_threads(const struct exit_batch *given);

/*
 * Folds records of one command, user and parent where there are many. How many remain, in front.
 */
size_t exit_fold_alike(const struct exit_batch *given, struct exit_record **records, size_t n);

/*
 * Folds records of tasks of one command, user and parent that are not in the sample before,
 * began after it, and have gone for good, so that the number of records is bounded by that of
 * commands. Returns how many remain.
 */
size_t exit_fold_kept(const struct exit_batch *batch, const struct sample *prev);

#endif
