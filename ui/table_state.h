/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the table of rows is made of: its columns, its lines, and which of them is selected. */
#ifndef STALLTOP_UI_TABLE_STATE_H
#define STALLTOP_UI_TABLE_STATE_H

#include "ui/rows.h"
#include "ui/ui.h"
#include "view/layout.h"

struct table {
	struct rows rows;
	struct layout layout;
	unsigned seen; /* what groups' own files were seen to have: NEED_ bits */
	size_t skip; /* columns scrolled away, behind the first */
	/* The selection, which stays on its task; before it was moved it is the first line. */
	bool pinned;
	struct ui_task selected;
	int head_line, first_line; /* of the screen, as drawn last; -1: no heads */
	struct buf cell, scratch;
	const struct row **visible;
	size_t visible_cap;
};

struct table *table_new(void);
void table_free(struct table *table);

/* The columns that are chosen, or the default ones, for the rows that are shown. */
void table_fields(const struct ui *ui, struct layout *layout);

/*
 * Leaves out of default columns what `cells` have no room for, the column sorted by never. `by`:
 * what the rows are.
 */
void table_make_room(struct layout *layout, enum group_by by, const struct column *sort, int cells);

/* Chooses the columns anew, for the screen's width and the frame. */
void table_layout(struct ui *ui);

/* Filters and orders the rows of the frame anew. The selection stays on its task. */
void table_sort(struct ui *ui);

/* The selected line; NULL when there is none. */
const struct item *table_item(struct ui *ui);

/* Ties the selection to the task it is on now, after it was moved. */
void table_pin(struct ui *ui);

/* Lets the selection go back to the first line. */
void table_unpin(struct ui *ui);

/* Selects the next line behind the selected one that matches ui->find. False: there is none. */
bool table_find_next(struct ui *ui);

/* The sort column: the names, where the rows have nothing of the one that was chosen. */
const struct column *table_sort_column(const struct ui *ui);

/*
 * The view's needs: of the filters and the sort column for all rows, and what only a sample can
 * give. `state` is the struct table.
 */
unsigned table_needs(struct ui *ui, void *state);

/* Has read what costs a read a row, of these lines only. */
void table_fill(struct ui *ui, const struct item *items, size_t n, unsigned needs);

#endif
