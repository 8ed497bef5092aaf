/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the table of rows: its columns, its lines, and the selected line. */
#pragma once

#include "ui/state/ui.h"
#include "ui/table/rows.h"
#include "ui/table/table_draw.h"
#include "view/layout.h"

struct table {
	struct rows rows;
	struct layout layout;
	struct table_wants wants;
	unsigned seen; /* NEED_ bits of the contents seen in groups' own files */
	uint64_t spoke_ns[WAIT_KINDS]; /* when a row last had a figure of a kind; 0: never */
	size_t skip; /* columns scrolled away, after the first */
	/*
	 * The selection stays on its task if set; until it is moved it is on the row of the first
	 * finding, or at the first line.
	 */
	bool pinned;
	struct ui_task selected;
	struct task_key found; /* the row of the first finding; 0: none */
	/* Lines of the screen, as last drawn; -1: no headings, no fold of idle tasks. */
	int head_line, first_line, idle_line;
	struct buf cell, scratch;
	const struct row **visible;
	size_t visible_cap;
};

struct table *table_new(void);
void table_free(struct table *table);

/* Finds the chosen or the default columns for the rows shown. */
void table_fields(const struct ui *ui, struct layout *layout);

/* True if rows have their command lines instead of names. */
bool table_has_command_lines(const struct ui *ui);

/* Chooses the columns again, for the screen's width and the frame. */
void table_layout(struct ui *ui);

/* Filters and sorts the rows of the frame again. The selection stays on its task. */
void table_sort(struct ui *ui);

/* The selected line; NULL if there is none. */
const struct item *table_item(struct ui *ui);

/* Binds the selection to its present task, after it was moved. */
void table_pin(struct ui *ui);

/*
 * Selects the row of the first finding (NULL: none) unless the selection was moved. If the busiest
 * rows come first it becomes the last line on the screen if it would be below that. True: the lines
 * were remade for that.
 */
bool table_show_found(struct ui *ui, const struct row *row);

/* Releases the selection, which returns to its automatic place. */
void table_unpin(struct ui *ui);

/* Selects the next line after the selected one that matches ui->find. False: none. */
bool table_find_next(struct ui *ui);

/* The sort column: the name column if the rows have no values in the chosen one. */
const struct column *table_sort_column(const struct ui *ui);

/*
 * The view's needs: for all rows those of the filters and the sort column, and needs that only a
 * sample can satisfy. `state` is the struct table.
 */
unsigned table_needs(struct ui *ui, void *state);

/* Reads the data that take a read per row, for these lines only. */
void table_fill(struct ui *ui, const struct item *items, size_t n, unsigned needs);

/* Finds the selected task of the table; false if there is no row. */
bool ui_selected(struct ui *ui, struct ui_task *task);

/* The frame of the table's rows: the last one, or that folded into groups. */
const struct frame *ui_rows_frame(const struct ui *ui);

/* The row of one of the table's groups, or NULL. */
const struct row *ui_group_row(struct ui *ui, uint64_t id);

/* The meaning of the letters in the bar of states, in a line above its table. */

/* Its number of lines. */
int legend_lines(struct ui *ui, int lines);

/* Draws it: each letter as in the bar, then its state, in words if there is room for them. */
void legend_draw(struct ui *ui, int line, int lines);
