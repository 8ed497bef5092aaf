/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen's lines as they are put, piece by piece, and as they were last time: most lines of
 * most refreshes have not changed, and need not be drawn.
 */
#ifndef STALLTOP_UI_LINES_H
#define STALLTOP_UI_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct line {
	struct buf now, drawn;
	bool known; /* the screen shows what `drawn` holds */
};

struct lines {
	struct line *line;
	int n;
};

/* A text in one style. */
struct piece {
	int column;
	unsigned style;
	const char *text;
	size_t len;
};

/* Sets the number of lines, and forgets what the screen shows. */
void lines_resize(struct lines *lines, int n);

/* Forgets what the screen shows: all lines count as changed. */
void lines_forget(struct lines *lines);

/* Empties all lines. */
void lines_erase(struct lines *lines);

/* Puts a text into an existing line. Text put earlier stays beneath it. */
void lines_put(struct lines *lines, int line, const struct piece *piece);

/* Whether a line is to be drawn. Afterwards it counts as drawn. */
bool lines_take(struct lines *lines, int line);

/* The next piece of a line that was taken, starting with *at = 0; false after the last one. */
bool lines_next(const struct lines *lines, int line, size_t *at, struct piece *piece);

void lines_free(struct lines *lines);

#endif
