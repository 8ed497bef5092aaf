/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws lines of sites in their columns. */
#ifndef STALLTOP_UI_SITE_DRAW_H
#define STALLTOP_UI_SITE_DRAW_H

#include "ui/term.h"
#include "view/site_column.h"

struct site_draw {
	struct term *term;
	const struct trace_frame *trace;
	struct site_layout layout;
	struct buf cell, scratch; /* kept from drawing to drawing */
};

/* Chooses the columns for the terminal's width. */
void site_draw_begin(struct site_draw *draw, struct term *term, const struct trace_frame *trace,
		     bool several);

/* Each of these draws a line of the screen; none below 0. */
void site_draw_heads(struct site_draw *draw, int line);
void site_draw_units(struct site_draw *draw, int line);
void site_draw_line(struct site_draw *draw, int line, const struct site_line *site, bool selected);

/* Draws the time of all lines together, and how many there are. */
void site_draw_sum(struct site_draw *draw, int line, const struct site_lines *sites);

void site_draw_free(struct site_draw *draw);

#endif
