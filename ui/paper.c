/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "paper.h"

#include <string.h>

void paper_count(struct paper *paper, struct term *term)
{
	paper->term = term;
	paper->width = term->columns;
	paper->line = paper->first = paper->last = 0;
	paper->nparts = 0;
}

void paper_draw(struct paper *paper, const struct list *list, int top)
{
	paper->top = top;
	paper->line = 0;
	paper->nparts = 0;
	paper->first = list->top;
	paper->last = list->top + list->height;
}

bool paper_shows(const struct paper *paper)
{
	return paper->line >= paper->first && paper->line < paper->last;
}

/* The line of the screen; -1 when it is out of sight. */
static int screen_line(const struct paper *paper)
{
	return paper_shows(paper) ? paper->top + (int)(paper->line - paper->first) : -1;
}

int paper_put(struct paper *paper, int column, int cells, const char *text, size_t len,
	      enum style style)
{
	return term_put(paper->term, screen_line(paper), column, cells, text, len, style);
}

int paper_puts(struct paper *paper, int column, const char *text, enum style style)
{
	size_t len = strlen(text);

	return paper_put(paper, column, (int)text_width(text, len, paper->term->charset), text,
			 len, style);
}

int paper_right(struct paper *paper, int column, int cells, enum style style)
{
	int len = (int)paper->cell.len, pad = cells > len ? cells - len : 0;

	paper_put(paper, column + pad, cells - pad, paper->cell.data, paper->cell.len, style);
	paper->cell.len = 0;
	return column + cells;
}

void paper_part(struct paper *paper, const char *title)
{
	if (paper->line)
		paper->line++;
	if (paper->nparts < PAPER_PARTS)
		paper->parts[paper->nparts++] = paper->line;
	paper_puts(paper, 0, title, STYLE_LABEL);
	paper->line++;
}
