/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "detail_record.h"

#include <stdio.h>
#include <string.h>

/* Cells of a field's parts; the meaning takes the rest. */
#define FIELD_CELLS 26
#define GROWTH_CELLS 12
#define VALUE_CELLS 17
#define UNIT_CELLS 5

/* The width from which two fields stand in a line. */
#define FIELDS_TWICE 170

/* Cells of the growth: where there are few it is left out. */
static int growth_room(int cells)
{
	return cells >= FIELD_CELLS + GROWTH_CELLS + VALUE_CELLS ? GROWTH_CELLS : 0;
}

/* One field, in so many cells. */
static void put_field(const struct detail *detail, struct paper *paper, int column, int cells,
		      unsigned f)
{
	const struct record_row *row = &record_table[f];
	int room = cells - FIELD_CELLS, growth_cells = growth_room(cells);
	int value_cells = room - growth_cells < VALUE_CELLS ? room - growth_cells : VALUE_CELLS;
	bool grows = growth_cells && row->nature == RECORD_COUNTER;
	struct value growth = value_unset(), value = value_number((double)detail->record.field[f]);
	int end = column + cells;

	if (row->type == RECORD_S8)
		value.number = (double)(int64_t)detail->record.field[f];
	if (grows && detail->record_interval_ns && detail->growth.fields_valid & RECORD_BIT(f))
		growth = value_number((double)detail->growth.field[f]);
	column = paper_put(paper, column, FIELD_CELLS, row->id, strlen(row->id), STYLE_LABEL);
	if (value_cells < 2)
		return;
	if (grows)
		value_append(&paper->cell, &growth, FORMAT_COUNT, (unsigned)growth_cells - 1);
	column = paper_right(paper, column, growth_cells,
			     growth.type == VALUE_NUMBER && growth.number > 0 ? STYLE_NORMAL :
										STYLE_DIM);
	value_append(&paper->cell, &value, FORMAT_COUNT, (unsigned)value_cells - 1);
	column = paper_right(paper, column, value_cells,
			     value.number != 0 ? STYLE_NORMAL : STYLE_DIM);
	if (column >= end)
		return;
	column = paper_put(paper, column + 1, UNIT_CELLS, row->unit, strlen(row->unit), STYLE_DIM);
	if (column < end)
		paper_put(paper, column, end - column, row->help, strlen(row->help), STYLE_DIM);
}

/* The heads of the columns, in the line of the part's title. */
static void put_heads(struct paper *paper, int column, int cells)
{
	int end = column + cells;

	column += FIELD_CELLS;
	if (growth_room(cells)) {
		buf_puts(&paper->cell, "interval");
		column = paper_right(paper, column, GROWTH_CELLS, STYLE_DIM);
	}
	if (column + VALUE_CELLS >= end)
		return;
	buf_puts(&paper->cell, "now");
	column = paper_right(paper, column, VALUE_CELLS, STYLE_DIM);
	paper_puts(paper, column + 1, "unit", STYLE_DIM);
}

/* The fields of one group. False when the record has none of them. */
static bool write_group(const struct detail *detail, struct paper *paper, const char *group,
			int across)
{
	const struct task_record *record = &detail->record;
	int cells = paper->width / across, place = 0;
	char title[32];

	snprintf(title, sizeof(title), "Record: %s", group);
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		if (!(record->fields_valid & RECORD_BIT(f)) ||
		    strcmp(record_table[f].group, group) != 0)
			continue;
		if (!place) {
			paper_part(paper, title);
			paper->line--;
			for (int i = 0; i < across; i++)
				put_heads(paper, i * cells, cells);
		}
		if (place % across == 0)
			paper->line++;
		if (paper_shows(paper))
			put_field(detail, paper, place % across * cells, cells - 2, f);
		place++;
	}
	paper->line += place != 0;
	return place != 0;
}

void detail_record_write(const struct detail *detail, struct paper *paper)
{
	int across = paper->width >= FIELDS_TWICE ? 2 : 1;
	bool any = false;

	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		unsigned first = 0;

		while (strcmp(record_table[first].group, record_table[f].group) != 0)
			first++;
		if (first == f)
			any |= write_group(detail, paper, record_table[f].group, across);
	}
	if (any)
		return;
	paper_part(paper, "Record");
	paper_puts(paper, 0, "this source has no records: see the notes in help", STYLE_DIM);
	paper->line++;
}
