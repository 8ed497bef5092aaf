/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/site_table.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/table_state.h"
#include "view/room.h"
#include "view/site_column.h"

struct table_draw site_table_begin(struct site_table *table, struct ui *ui, bool several)
{
	const struct layout_frame frame = { .table = &site_columns,
					    .width = (unsigned)ui->term.columns,
					    .of_process = !several,
					    .screen = true };

	table->n = 0;
	layout_resolve(&table->layout, NULL, &frame);
	room_make(&table->layout, GROUP_PROCESS, NULL, ui->term.columns);
	return (struct table_draw){ .term = &ui->term,
				    .layout = &table->layout,
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
