/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of rows: the view that all others lie on. */
#ifndef STALLTOP_UI_VIEW_TABLE_H
#define STALLTOP_UI_VIEW_TABLE_H

#include "layout.h"
#include "rows.h"
#include "ui.h"

struct table {
	struct rows rows;
	struct layout layout;
	size_t skip; /* columns scrolled away, behind the first */
	/* The selection, which stays on its task; before it was moved it is the first line. */
	bool pinned;
	struct ui_task selected;
	int head_line, first_line; /* of the screen, as drawn last; -1: no heads */
	struct buf cell, scratch;
	const struct row **visible;
	size_t visible_cap;
};

extern const struct view_ops view_table;

struct table *table_new(void);

/* The columns that are chosen, or the default ones, for the rows that are shown. */
void table_fields(const struct ui *ui, struct layout *layout);

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

/* Whether that column is the one sorted by. comm and command stand for each other. */
bool table_sorts_by(const struct ui *ui, const struct column *column);

#endif
