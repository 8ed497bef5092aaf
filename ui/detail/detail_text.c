/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/detail/detail_text.h"

#include <stdio.h>
#include <string.h>

/* Appends "NAME VALUE" to the line, or to the next if it does not fit. Returns the next column. */
int detail_put_item(struct pager *pager, int column, const char *name, const char *value,
		    size_t len)
{
	int cells = (int)strlen(name) + 1 + (int)text_width(value, len, pager->term->charset);

	if (column && column + cells > pager->width) {
		pager->line++;
		column = 0;
	}
	column = pager_puts(pager, column, name, STYLE_DIM) + 1;
	column = pager_put(pager, column, cells - (int)strlen(name) - 1, value, len, STYLE_NORMAL);
	return column + 3;
}

/* Does the same with a text that needs no escaping. */
int detail_put_plain(struct pager *pager, int column, const char *name, const char *value)
{
	return detail_put_item(pager, column, name, value, strlen(value));
}

/* Does the same with a number. */
int detail_put_number(struct pager *pager, int column, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return detail_put_plain(pager, column, name, text);
}

void detail_put_long(struct pager *pager, const char *name, const struct buf *raw)
{
	if (raw->len)
		pager_long(pager, name, raw->data, raw->len);
}
