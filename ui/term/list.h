/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scrolling list with a selection, shared by all views. It knows numbers only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t n; /* number of lines */
	size_t height; /* lines that fit; set by the drawing function */
	size_t top; /* the first one shown */
	size_t selected; /* below n, or 0 */
	bool plain; /* has no selection: moving scrolls */
};

/* The moves that keys make. */
enum list_move { LIST_UP, LIST_DOWN, LIST_PAGE_UP, LIST_PAGE_DOWN, LIST_HOME, LIST_END };

/* Takes the number of lines and the height, and adjusts the rest. */
void list_size(struct list *list, size_t n, size_t height);

/* Moves the selection, or scrolls a plain list. */
void list_move(struct list *list, enum list_move move);

/* Scrolls by lines, down when positive; the selection stays unless it would leave the page. */
void list_scroll(struct list *list, long lines);

/* Selects a line and shows it. */
void list_select(struct list *list, size_t line);
