/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/pager.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Keeps the selection in the list and in sight, and the page full. */
static void settle_list(struct list *list)
{
	size_t last_top = list->n > list->height ? list->n - list->height : 0;

	if (list->selected >= list->n)
		list->selected = list->n ? list->n - 1 : 0;
	if (!list->plain && list->selected < list->top)
		list->top = list->selected;
	if (!list->plain && list->height && list->selected >= list->top + list->height)
		list->top = list->selected - list->height + 1;
	if (list->top > last_top)
		list->top = last_top;
}

void list_size(struct list *list, size_t n, size_t height)
{
	list->n = n;
	list->height = height;
	settle_list(list);
}

/* Adds to a line number within the list. */
static size_t moved(const struct list *list, size_t line, long by)
{
	size_t last = list->n ? list->n - 1 : 0;

	if (by < 0)
		return line > (size_t)-by ? line - (size_t)-by : 0;
	return line + (size_t)by < last ? line + (size_t)by : last;
}

void list_move(struct list *list, enum list_move move)
{
	long page = list->height > 1 ? (long)list->height - 1 : 1;
	const long by[] = { [LIST_UP] = -1,
			    [LIST_DOWN] = 1,
			    [LIST_PAGE_UP] = -page,
			    [LIST_PAGE_DOWN] = page,
			    [LIST_HOME] = -(long)list->n,
			    [LIST_END] = (long)list->n };

	if (list->plain) {
		list_scroll(list, by[move]);
		return;
	}
	list->selected = moved(list, list->selected, by[move]);
	settle_list(list);
}

void list_scroll(struct list *list, long lines)
{
	list->found = 0;
	list->top = list->n ? moved(list, list->top, lines) : 0;
	if (list->n > list->height && list->top > list->n - list->height)
		list->top = list->n - list->height;
	else if (list->n <= list->height)
		list->top = 0;
	if (list->selected < list->top)
		list->selected = list->top;
	if (list->height && list->selected >= list->top + list->height)
		list->selected = list->top + list->height - 1;
	settle_list(list);
}

void list_select(struct list *list, size_t line)
{
	list->selected = line;
	settle_list(list);
}

/* Minimum cells for a text of several lines. */
#define LEAST_CELLS 8

void pager_count(struct pager *pager, struct term *term)
{
	pager->term = term;
	pager->width = term->columns;
	pager->line = pager->first = pager->last = 0;
	pager->nparts = 0;
}

void pager_draw(struct pager *pager, const struct list *list, int top)
{
	pager->top = top;
	pager->line = 0;
	pager->nparts = 0;
	pager->first = list->top;
	pager->last = list->top + list->height;
}

bool pager_shows(const struct pager *pager)
{
	return pager->line >= pager->first && pager->line < pager->last;
}

int pager_screen_line(const struct pager *pager)
{
	return pager_shows(pager) ? pager->top + (int)(pager->line - pager->first) : -1;
}

int pager_put(struct pager *pager, int column, int cells, const char *text, size_t len,
	      enum style style)
{
	return term_put(pager->term, pager_screen_line(pager), column, cells, text, len, style);
}

int pager_puts(struct pager *pager, int column, const char *text, enum style style)
{
	size_t len = strlen(text);

	return pager_put(pager, column, (int)text_width(text, len, pager->term->charset), text, len,
			 style);
}

int pager_right(struct pager *pager, int column, int cells, enum style style)
{
	int len = (int)pager->cell.len, pad = cells > len ? cells - len : 0;

	pager_put(pager, column + pad, cells - pad, pager->cell.data, pager->cell.len, style);
	pager->cell.len = 0;
	return column + cells;
}

void pager_part(struct pager *pager, const char *title)
{
	if (pager->line)
		pager->line++;
	if (pager->nparts < PAGER_PARTS)
		pager->parts[pager->nparts++] = pager->line;
	pager_puts(pager, 0, title, STYLE_LABEL);
	pager->line++;
}

int pager_item(struct pager *pager, int column, const char *name, const char *value, size_t len)
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

int pager_item_plain(struct pager *pager, int column, const char *name, const char *value)
{
	return pager_item(pager, column, name, value, strlen(value));
}

int pager_item_number(struct pager *pager, int column, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return pager_item_plain(pager, column, name, text);
}

/* Bytes of escaped text that fit into so many cells; at least one character. */
static size_t fitting_bytes(const char *text, size_t len, unsigned cells, enum text_charset charset)
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

bool pager_some(struct pager *pager, const char *name, const char *raw, size_t raw_len, int lines)
{
	int left = (int)strlen(name) + 1, room = pager->width - left;
	enum text_charset charset = pager->term->charset;
	struct buf *text = &pager->cell;
	size_t at = 0;
	bool whole;

	if (!raw_len)
		return true;
	if (room < LEAST_CELLS)
		room = LEAST_CELLS;
	text->len = 0;
	text_escape(text, raw, raw_len, charset);
	pager_puts(pager, 0, name, STYLE_DIM);
	for (size_t n; at < text->len && lines > 0; at += n, lines--) {
		n = fitting_bytes(text->data + at, text->len - at, (unsigned)room, charset);
		pager_put(pager, left, room, text->data + at, n, STYLE_NORMAL);
		pager->line++;
	}
	whole = at == text->len;
	text->len = 0;
	return whole;
}

void pager_long(struct pager *pager, const char *name, const char *raw, size_t raw_len)
{
	pager_some(pager, name, raw, raw_len, INT_MAX);
}
