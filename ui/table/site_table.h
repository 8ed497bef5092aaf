/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws lines of sites as the rows of a table. */
#ifndef STALLTOP_UI_SITE_TABLE_H
#define STALLTOP_UI_SITE_TABLE_H

#include "ui/table/table_draw.h"
#include "ui/table/table_room.h"

/* Empty when zero-initialised; kept from drawing to drawing. */
struct site_table {
	struct layout layout;
	size_t skip; /* columns scrolled away, after the first */
	struct table_wants wants;
	struct item *items; /* the lines to be drawn */
	size_t n, cap;
	struct buf cell, scratch;
};

/*
 * Finds the columns that were chosen, or of the default ones those that fit into the terminal's
 * width. several: sites are of several processes.
 */
void site_table_fields(const struct ui *ui, struct layout *layout, bool several);

/* Begins a drawing with those. */
struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several);

/* Adds a line to those to be drawn. */
void site_table_add(struct site_table *table, const struct ui *ui, const struct row *line);

/* Shares out the width among the columns, by what is to be drawn. */
void site_table_fit(struct site_table *table, const struct table_draw *draw);

void site_table_free(struct site_table *table);

#endif
