/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks whose waits a view shows, and their sites in the last frame as lines. */
#pragma once

#include "ui/state/ui.h"
#include "ui/table/table_draw.h"
#include "view/site_lines.h"

enum sites_of { SITES_OF_TASK, SITES_OF_GROUP, SITES_OF_ALL };

struct site_list {
	enum sites_of of;
	struct ui_task task;
	struct ui_group group;
	bool ended; /* the task */
	size_t members; /* rows that it is about */
	enum sites_by by;
	bool no_idle; /* without waits of tasks that have nothing to do */
	struct site_owners owners;
	struct site_lines sites;
	struct order lines; /* the rows of these, in the order that is shown */
	const struct column *sort; /* which is by that; NULL: their own */
	bool descending;
	struct order order; /* the rows, unless all tasks are shown */
};

/* Has the list be about a group. */
void site_list_of_group(struct site_list *list, const struct ui_group *group);

/* Takes the owners and their sites from the ui's frame. */
void site_list_take(struct site_list *list, struct ui *ui);

/* Puts the lines into the order that was chosen, if that changed or `anew`. Whether it did. */
bool site_list_order(struct site_list *list, struct ui *ui, bool anew);

/* The line that is shown in that place. */
static inline const struct site_line *site_list_line(const struct site_list *list, size_t i)
{
	return site_line_of(list->lines.rows[i]);
}

/* Whether a row of the ui's frame is of the list's task. */
bool site_list_has(const struct site_list *list, const struct row *row);

/* Appends the name of the tasks that wait, escaped. */
void site_list_title(const struct site_list *list, const struct ui *ui, struct buf *out);

void site_list_free(struct site_list *list);

/* Draws lines of sites as the rows of a table. */

/* Empty when zero-initialised; kept from drawing to drawing. */
struct site_table {
	struct layout layout;
	size_t skip; /* columns scrolled away, after the first */
	struct table_wants wants;
	struct item *items; /* the lines to be drawn */
	size_t n, cap;
	struct buf cell, scratch;
};

/*
 * Finds the columns that were chosen, or of the default ones those that fit into the terminal's
 * width. several: sites are of several processes.
 */
void site_table_fields(const struct ui *ui, struct layout *layout, bool several);

/* Begins a drawing with those. */
struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several);

/* Adds a line to those to be drawn. */
void site_table_add(struct site_table *table, const struct ui *ui, const struct row *line);

/* Shares out the width among the columns, by what is to be drawn. */
void site_table_fit(struct site_table *table, struct table_draw *draw);

void site_table_free(struct site_table *table);
