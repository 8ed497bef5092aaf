/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/detail_text.h"

#include <stdio.h>
#include <string.h>

/* The least cells for a text of several lines. */
#define LEAST_CELLS 8

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

/* Bytes of escaped text that fit into so many cells; at least one character. */
static size_t fitting(const char *text, size_t len, unsigned cells, enum text_charset charset)
{
	size_t taken = 0, next;

	while (taken < len) {
		for (next = taken + 1; next < len && ((unsigned char)text[next] & 0xC0) == 0x80;)
			next++;
		if (taken && text_width(text, next, charset) > cells)
			break;
		taken = next;
	}
	return taken;
}

/* Puts a text that may take several lines, after its name. */
void detail_put_long(struct pager *pager, const char *name, const struct buf *raw,
		     struct buf *scratch)
{
	int left = (int)strlen(name) + 1, room = pager->width - left;

	if (!raw->len)
		return;
	if (room < LEAST_CELLS)
		room = LEAST_CELLS;
	scratch->len = 0;
	text_escape(scratch, raw->data, raw->len, pager->term->charset);
	pager_puts(pager, 0, name, STYLE_DIM);
	for (size_t at = 0, n; at < scratch->len; at += n) {
		n = fitting(scratch->data + at, scratch->len - at, (unsigned)room,
			    pager->term->charset);
		pager_put(pager, left, room, scratch->data + at, n, STYLE_NORMAL);
		pager->line++;
	}
}
