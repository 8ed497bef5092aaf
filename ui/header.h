/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table, and how the screen's lines are distributed. */
#ifndef STALLTOP_UI_HEADER_H
#define STALLTOP_UI_HEADER_H

#include "ui/ui.h"

/* The lines on the screen from the top on, without the footer. */
struct header_plan {
	bool title, tasks;
	int pressure; /* lines: 0, 1 for the short form, more for the block */
	int timeline; /* lines: TIMELINE_LINES, or none */
	int notes; /* lines */
	bool head, unit, sum; /* of the table */
	int rows;
};

/* Distributes the lines of a screen; when they are few, the rows come first. */
struct header_plan header_plan(const struct ui *ui, int lines);

/* Draws the header from line 0 on. Returns the line after it. */
int header_draw(struct ui *ui, const struct header_plan *plan);

#endif
