/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The width of the screen that the texts of a table need. */
#pragma once

#include "ui/table/rows.h"
#include "view/layout.h"

struct table_draw;

/*
 * The widths that columns want, by the longest text shown lately: so they do not move to and fro,
 * and give back what they no longer need. Zero-initialised: unknown.
 */
struct table_wants {
	const struct column *columns[LAYOUT_MAX]; /* the columns measured */
	size_t n;
	int width; /* of the screen */
	uint64_t since_ns; /* CLOCK_REALTIME of the frame with which the present while began */
	unsigned cells[LAYOUT_MAX], before[LAYOUT_MAX]; /* in this period, and in the one before */
};

/* Measures the rows to be drawn, and shares out the screen's width among the layout's columns. */
void table_room(const struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n);
