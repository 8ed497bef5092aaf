/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The detail view: everything known about a task, process or thread, or about the sum row. */
#pragma once

#include "ui/detail/detail_page.h"
#include "ui/state/ui.h"
#include "ui/table/site_list.h"

/* Opens the detail of a task; NULL: of the sum over the rows that pass. Returns reactions. */
unsigned view_task_open(struct ui *ui, const struct ui_task *task);

/* Does the same with additional parts, for which waits are traced; takes ownership of them. */
unsigned view_task_open_with(struct ui *ui, const struct ui_task *task,
			     const struct detail_extra *extra);

/* Does the same for one of the table's groups. */
unsigned view_task_open_group(struct ui *ui, const struct group *group);

/* Makes a list show the waits of the subject of the detail on top. */
void view_task_whose(struct ui *ui, struct site_list *list);

/* In the detail view: opens the chosen thread, or chooses the first. Returns reactions. */
unsigned view_task_thread(struct ui *ui, int arg);

/* In the detail view: scrolls to the next part of the page, -1: to the previous one. Reactions. */
unsigned view_task_part(struct ui *ui, int by);
