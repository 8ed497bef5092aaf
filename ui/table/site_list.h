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
	size_t members; /* the rows of the view */
	enum sites_by by;
	bool no_idle; /* without waits of idle tasks */
	struct site_owners owners;
	struct site_lines sites;
	struct order lines; /* their rows, in display order */
	const struct column *sort; /* the key of that order; NULL: their own */
	bool descending;
	struct order order; /* the rows, unless all tasks are shown */
};

/* Sets a group as the subject of the list. */
void site_list_of_group(struct site_list *list, const struct ui_group *group);

/* Collects the owners and their sites from the ui's frame. */
void site_list_take(struct site_list *list, struct ui *ui);

/* Sorts the lines in the chosen order, if that changed or `anew`. Returns whether it did. */
bool site_list_order(struct site_list *list, struct ui *ui, bool anew);

/* The line shown in that place. */
static inline const struct site_line *site_list_line(const struct site_list *list, size_t i)
{
	return site_line_of(list->lines.rows[i]);
}

/* True if a row of the ui's frame is of the list's task. */
bool site_list_has(const struct site_list *list, const struct row *row);

/* Appends the name of the waiting tasks, escaped. */
void site_list_title(const struct site_list *list, const struct ui *ui, struct buf *out);

void site_list_free(struct site_list *list);

/* Draws lines of sites as the rows of a table. */

/* Empty when zero-initialised; reused from drawing to drawing. */
struct site_table {
	struct layout layout;
	size_t skip; /* columns scrolled away, after the first */
	struct table_wants wants;
	struct item *items; /* the lines to be drawn */
	size_t n, cap;
	struct buf cell, scratch;
};

/*
 * Finds the chosen columns, or those of the default that fit into the terminal's width. several:
 * sites are of several processes.
 */
void site_table_fields(const struct ui *ui, struct layout *layout, bool several);

/* Starts a drawing with those. */
struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several);

/* Adds a line to those to be drawn. */
void site_table_add(struct site_table *table, const struct ui *ui, const struct row *line);

/* Shares the width among the columns, by the contents to be drawn. */
void site_table_fit(struct site_table *table, struct table_draw *draw);

void site_table_free(struct site_table *table);
