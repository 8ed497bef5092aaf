/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table, and how the screen's lines are shared out. */
#ifndef STALLTOP_UI_HEADER_H
#define STALLTOP_UI_HEADER_H

#include "ui/ui.h"

/* What gets lines on the screen, from the top on; the footer is apart. */
struct header_plan {
	bool title, tasks;
	int pressure; /* lines: 0, 1 for the short form, more for the block */
	int notes; /* lines */
	bool head, unit, sum; /* of the table */
	int rows;
};

/* Shares out the lines of a screen; the rows come first when they are few. */
struct header_plan header_plan(const struct ui *ui, int lines);

/* Draws the header from line 0 on. The line behind it. */
int header_draw(struct ui *ui, const struct header_plan *plan);

#endif
