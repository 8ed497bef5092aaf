/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the selected row waits, in the room below few rows. */
#ifndef STALLTOP_UI_SELECTED_H
#define STALLTOP_UI_SELECTED_H

#include "ui/state/ui.h"

/* The lines that idle rows leave to it, of so many: its waits say more than those do. */
size_t selected_lines(const struct ui *ui, size_t room);

/*
 * Draws its sites while waits are traced, else the system call, what it waits on, and where, from
 * `line` on, in so many lines at most. Nothing is drawn of a group or of a task that has ended.
 */
void selected_draw(struct ui *ui, int line, int lines);

/* Frees what was kept from drawing to drawing. */
void selected_free(struct ui *ui);

#endif
