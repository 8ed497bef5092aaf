/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is printed about options and fields. */
#include "config.h"

#include <stdio.h>

#include "options.h"

void options_help(struct buf *out)
{
	buf_puts(out, "Usage: stalltop [options]\n"
		      "       stalltop [options] -- COMMAND [ARGUMENT...]\n"
		      "Shows what every task waits for, and how badly.\n\n");
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];
		char names[64];

		snprintf(names, sizeof(names), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
			 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
			 row->arg ? " " : "", row->arg ? row->arg : "");
		buf_printf(out, "  %-30s  %s", names, row->help);
		if (row->standard)
			buf_printf(out, " [%s]", row->standard);
		buf_putc(out, '\n');
	}
}

void options_fields(struct buf *out)
{
	for (size_t i = 0; i < columns_n; i++) {
		const struct column *column = &columns[i];

		buf_printf(out, "%-26s %-8s %s", column->id,
			   column->unit ? column->unit : "(-U)", column->help);
		if (column->since)
			buf_printf(out, " (record version %u)", column->since);
		buf_putc(out, '\n');
	}
}
