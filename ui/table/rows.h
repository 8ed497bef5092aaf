/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the table: the rows that pass, in order, as a list or a tree. */
#pragma once

#include "ui/state/ui.h"
#include "view/query.h"
#include "view/tree.h"

struct item {
	const struct row *row;
	/* The row shown in the cells: the row itself, or its branch if that is folded. */
	const struct row *shown;
	const struct frame *frame; /* the row's frame */
	unsigned depth;
	bool thread; /* unfolded below its process */
	bool more; /* rows below are folded away */
};

/* The extent to which a row of the tree is unfolded. */
enum fold { FOLD_SHUT, FOLD_CHILDREN, FOLD_THREADS };

struct folded {
	struct task_key key;
	enum fold fold;
};

struct row_key {
	struct task_key key;
	pid_t tgid;
};

struct rows {
	const struct frame *frame; /* the frame of the rows: the ui's, or that folded into groups */
	struct grouping grouping;
	struct item *items;
	size_t n, cap;
	struct order order; /* of the processes; its sum is the sum row */
	struct threads threads;
	struct order thread_order;
	struct row_key *held; /* the order while it is held */
	size_t nheld, held_cap;
	struct folded *folds; /* rows that differ from fold_all */
	size_t nfolds;
	enum fold fold_all;
	size_t room; /* lines on the screen; 0: nothing is folded for lack of them */
	struct task_key keep; /* the row that is never folded; pid 0: none */
	struct idle_fold idle; /* rows without a line of their own */
	struct tree tree;
};

/* The identity of a row from frame to frame: a task's key, or a group's id. */
static inline struct task_key row_key(const struct row *row)
{
	return row->group ? (struct task_key){ .start_ns = row->group->id } : row->task->key;
}

/* True if rows are folded into a line at their end. */
static inline bool rows_fold_idle(const struct rows *rows)
{
	return rows->idle.tasks + rows->idle.threads;
}

/*
 * Rebuilds the lines from ui->frame and ui->query; room and keep must be set. Invalidates the
 * findings.
 */
void rows_build(struct rows *rows, struct ui *ui);

/* Drops a held order; the next order is then held. */
void rows_release(struct rows *rows);

/* Folds or unfolds one step below a line. Returns false if there is nothing to (un)fold. */
bool rows_fold(struct rows *rows, struct ui *ui, const struct item *item, bool unfold);

/* Unfolds all children, or folds all when all are unfolded. */
void rows_fold_all(struct rows *rows);

/* Takes the next reading of the threads, after that of the processes. Returns 0 or -errno. */
int rows_tick(struct rows *rows, struct ui *ui, unsigned needs);

/* Drops everything that depends on the frame and the sampler. */
void rows_reset(struct rows *rows);

void rows_free(struct rows *rows);
