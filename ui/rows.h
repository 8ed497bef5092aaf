/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the table: rows that pass, in their order, as a list or a tree. */
#ifndef STALLTOP_UI_ROWS_H
#define STALLTOP_UI_ROWS_H

#include "ui/ui.h"
#include "view/tree.h"

struct item {
	const struct row *row;
	/* What its cells are of: the row, or where what is below is folded away, its branch. */
	const struct row *shown;
	const struct frame *frame; /* that the row is of */
	unsigned depth;
	bool thread; /* unfolded below its process */
	bool more; /* there is something below that is folded */
};

/* What is unfolded below a row of the tree. */
enum fold { FOLD_SHUT, FOLD_CHILDREN, FOLD_THREADS };

struct folded {
	struct task_key key;
	enum fold fold;
};

struct place {
	struct task_key key;
	pid_t tgid;
};

struct rows {
	const struct frame *frame; /* of the rows: the ui's, or that folded into groups */
	struct grouping grouping;
	struct item *items;
	size_t n, cap;
	struct order order; /* of the processes; its sum is the sum row */
	struct threads threads;
	struct order thread_order;
	struct place *held; /* the order while it is held */
	size_t nheld, held_cap;
	struct folded *folds; /* those that are not as fold_all says */
	size_t nfolds;
	enum fold fold_all;
	struct tree tree;
};

/* What a row is known by from frame to frame: a task's key, or a group's id. */
static inline struct task_key row_key(const struct row *row)
{
	return row->group ? (struct task_key){ .start_ns = row->group->id } : row->task->key;
}

/* Makes the lines anew, of ui->frame by ui->query. */
void rows_build(struct rows *rows, struct ui *ui);

/* Forgets a held order, so that the next one is taken. */
void rows_release(struct rows *rows);

/* Folds or unfolds below a line by one step. False when there is nothing to be (un)folded. */
bool rows_fold(struct rows *rows, struct ui *ui, const struct item *item, bool unfold);

/* Unfolds all children, or folds all where all are unfolded. */
void rows_fold_all(struct rows *rows);

/* Takes the threads' next reading, when the processes' has been taken. 0 or -errno. */
int rows_tick(struct rows *rows, struct ui *ui, unsigned needs);

/* Forgets what depends on the frame and the sampler. */
void rows_reset(struct rows *rows);

void rows_free(struct rows *rows);

#endif
