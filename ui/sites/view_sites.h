/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view of the sites of a task, a group or all rows. */
#pragma once

#include "ui/state/ui.h"
#include "ui/table/site_list.h"

/* Opens it for the selected row of the table, or for the subject of the detail on top. */
unsigned view_sites_open(struct ui *ui, int arg);

/* Opens it for a task. */
unsigned view_sites_open_task(struct ui *ui, const struct ui_task *task);

/* Opens it for all tasks. */
unsigned view_sites_open_all(struct ui *ui);

/* Sets the subject of a list to that of the page on top. False: it has none. */
bool view_sites_whose(struct ui *ui, struct site_list *list);

/* Appends why nothing was traced, yet or at all. */
void view_sites_reason(struct ui *ui, struct buf *text);

/* The selected line of the view on top, and its list; NULL: none. */
const struct site_line *view_sites_selected(struct ui *ui, struct site_list **list);

/* Adds up the lines by the next of their columns. */
unsigned view_sites_group(struct ui *ui, int arg);

/* Hides waits of idle tasks, or shows them again. */
unsigned view_sites_idle(struct ui *ui, int arg);

/* Opens the page of the selected line. */
unsigned view_sites_enter(struct ui *ui, int arg);
