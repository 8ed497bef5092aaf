/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table, and how the screen's lines are distributed. */
#pragma once

#include "ui/state/ui.h"

/* The parts of the header, from top to bottom: one row each of the table in header.c. */
enum header_part {
	HEADER_TITLE,
	HEADER_TASKS,
	HEADER_PRESSURE,
	HEADER_FINDING,
	HEADER_TIMELINE,
	HEADER_NOTES,
	HEADER_LEGEND,
	HEADER_PARTS
};

/* The lines on the screen from top to bottom, without the footer. */
struct header_plan {
	int lines[HEADER_PARTS];
	bool head, sum; /* of the table */
	int rows;
};

/* Distributes the lines of a screen; if they are few, the rows come first. */
struct header_plan header_plan(struct ui *ui, int lines);

/* Draws the header from line 0 on. Returns the line after it. */
int header_draw(struct ui *ui, const struct header_plan *plan);
