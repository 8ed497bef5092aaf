/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/list.h"

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
