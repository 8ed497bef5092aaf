/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the texts of a table need of the screen's width. */
#ifndef STALLTOP_UI_TABLE_ROOM_H
#define STALLTOP_UI_TABLE_ROOM_H

#include "ui/rows.h"
#include "view/layout.h"

struct table_draw;

/*
 * What columns want, by the longest text that was shown: it is kept while the columns stay the
 * same, so that they do not move to and fro. Zero-initialised: nothing is known.
 */
struct table_wants {
	const struct column *columns[LAYOUT_MAX]; /* whose they are */
	size_t n;
	int width; /* of the screen */
	unsigned cells[LAYOUT_MAX];
};

/* Measures the rows to be drawn, and shares out the screen's width among the layout's columns. */
void table_room(const struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n);

#endif
