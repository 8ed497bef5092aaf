/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page longer than the screen. It is written twice from first line to last: first to count its
 * lines, then to draw those that a list has scrolled to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ui/term/term.h"

/* A scrolling list with a selection, shared by all views. It knows numbers only. */

struct list {
	size_t n; /* number of lines */
	size_t height; /* lines that fit; set by the drawing function */
	size_t top; /* the first one shown */
	size_t selected; /* below n, or 0 */
	bool plain; /* has no selection: moving scrolls */
	size_t found; /* one more than the line found last by a search; 0: none */
};

/* The moves that keys make. */
enum list_move { LIST_UP, LIST_DOWN, LIST_PAGE_UP, LIST_PAGE_DOWN, LIST_HOME, LIST_END };

/* Sets the number of lines and the height, and adjusts the rest. */
void list_size(struct list *list, size_t n, size_t height);

/* Moves the selection, or scrolls a plain list. */
void list_move(struct list *list, enum list_move move);

/* Scrolls by lines, down when positive; the selection stays unless it would leave the page. */
void list_scroll(struct list *list, long lines);

/* Selects a line and shows it. */
void list_select(struct list *list, size_t line);

#define PAGER_PARTS 12

struct pager {
	struct term *term;
	int top; /* line of the screen where the page begins */
	size_t first, last; /* lines of the page that are drawn, without `last` */
	size_t line; /* the line being written */
	int width;
	size_t parts[PAGER_PARTS]; /* first lines of the parts */
	size_t nparts;
	struct buf cell; /* buffer for the writing functions */
};

/* Starts to count lines. */
void pager_count(struct pager *pager, struct term *term);

/* Starts to draw the lines that the list has scrolled to, below the screen's line `top`. */
void pager_draw(struct pager *pager, const struct list *list, int top);

/* Begins a part with a title in its own line, after an empty line except at the top. */
void pager_part(struct pager *pager, const char *title);

/* True if the line is drawn: text for other lines need not be made. */
bool pager_shows(const struct pager *pager);

/* The line's place on the screen; -1 if it is not drawn. */
int pager_screen_line(const struct pager *pager);

/* Puts escaped text in exactly `cells` cells of the line. Returns the column after it. */
int pager_put(struct pager *pager, int column, int cells, const char *text, size_t len,
	      enum style style);

/* Puts an escaped text in its own width. Returns the column after it. */
int pager_puts(struct pager *pager, int column, const char *text, enum style style);

/*
 * Appends "NAME VALUE" to the line, the value escaped already, or to the next if it does not fit.
 * Returns the next column.
 */
int pager_item(struct pager *pager, int column, const char *name, const char *value, size_t len);

/* Does the same with a text that needs no escaping. */
int pager_item_plain(struct pager *pager, int column, const char *name, const char *value);

/* Does the same with a number. */
int pager_item_number(struct pager *pager, int column, const char *name, uint64_t value);

/*
 * Puts a raw text after its name, on as many lines as needed, and moves to the next line. Nothing
 * if there are no bytes.
 */
void pager_long(struct pager *pager, const char *name, const char *raw, size_t raw_len);

/* The same for the first lines, at most so many. Returns whether that was all. */
bool pager_some(struct pager *pager, const char *name, const char *raw, size_t raw_len, int lines);

/* Puts `cell` at the right of `cells` cells, and clears it. Returns the column after them. */
int pager_right(struct pager *pager, int column, int cells, enum style style);
