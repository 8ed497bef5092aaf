/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/table/site_table.h"

#include <stdlib.h>

#include "base/util.h"
#include "view/room.h"
#include "view/site_column.h"

/* Leaves columns out that say the same of all lines, where they were chosen for others. */
static void leave_process_out(struct layout *layout)
{
	size_t kept = 0;

	for (size_t i = 0; i < layout->n; i++)
		if (!layout->columns[i]->of_process)
			layout->columns[kept++] = layout->columns[i];
	layout->n = kept ? kept : layout->n;
}

void site_table_fields(const struct ui *ui, struct layout *layout, bool several)
{
	const struct site_choice *choice = &ui->settings->sites;
	const struct column *sort = site_choice_sort(choice);
	const struct layout_frame frame = { .table = &site_columns,
					    .width = (unsigned)ui->term.columns,
					    .of_process = !several,
					    .screen = true };

	layout_resolve(layout, choice->fields, &frame);
	if (!several)
		leave_process_out(layout);
	if (choice->fields)
		return;
	if (!layout_has(layout, sort))
		layout->columns[layout->n++] = sort;
	room_make(layout, GROUP_PROCESS, sort, ui->term.columns);
}

struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several)
{
	const struct site_choice *choice = &ui->settings->sites;
	struct layout *layout = &table->layout;

	table->n = 0;
	site_table_fields(ui, layout, several);
	if (table->skip >= layout->n)
		table->skip = layout->n - 1;
	return (struct table_draw){ .term = &ui->term,
				    .layout = layout,
				    .skip = table->skip,
				    .sort = site_choice_sort(choice),
				    .descending = !choice->sort || choice->descending,
				    .counts = true,
				    .view = ui_view(ui),
				    .cell = &table->cell,
				    .scratch = &table->scratch };
}

void site_table_add(struct site_table *table, const struct ui *ui, const struct row *line)
{
	if (table->n == table->cap) {
		table->cap = table->cap * 2 + 16;
		table->items = xreallocarray(table->items, table->cap, sizeof(*table->items));
	}
	table->items[table->n++] = (struct item){ .row = line, .shown = line, .frame = ui->frame };
}

void site_table_fit(struct site_table *table, const struct table_draw *draw)
{
	table_room(draw, &table->layout, &table->wants, table->items, table->n);
}

void site_table_free(struct site_table *table)
{
	free(table->items);
	buf_free(&table->cell);
	buf_free(&table->scratch);
}
