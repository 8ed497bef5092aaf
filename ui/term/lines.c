/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/term/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Precedes a piece's bytes. */
struct head {
	size_t len;
	int column;
	unsigned style;
};

void lines_resize(struct lines *lines, int n)
{
	lines_free(lines);
	lines->line = xcalloc((size_t)n, sizeof(*lines->line));
	lines->n = n;
}

void lines_forget(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++)
		lines->line[i].known = false;
}

void lines_erase(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++)
		lines->line[i].now.len = 0;
}

void lines_put(struct lines *lines, int line, const struct piece *piece)
{
	const struct head head = { .len = piece->len,
				   .column = piece->column,
				   .style = piece->style };
	struct buf *now = &lines->line[line].now;

	buf_add(now, &head, sizeof(head));
	buf_add(now, piece->text, piece->len);
}

bool lines_take(struct lines *lines, int line)
{
	struct line *l = &lines->line[line];
	struct buf drawn = l->drawn;

	if (l->known && l->now.len == drawn.len &&
	    (!drawn.len || !memcmp(l->now.data, drawn.data, drawn.len)))
		return false;
	l->drawn = l->now;
	l->now = drawn;
	l->now.len = 0;
	l->known = true;
	return true;
}

bool lines_next(const struct lines *lines, int line, size_t *at, struct piece *piece)
{
	const struct buf *drawn = &lines->line[line].drawn;
	struct head head;

	if (*at >= drawn->len)
		return false;
	memcpy(&head, drawn->data + *at, sizeof(head));
	*piece = (struct piece){ .column = head.column,
				 .style = head.style,
				 .text = drawn->data + *at + sizeof(head),
				 .len = head.len };
	*at += sizeof(head) + head.len;
	return true;
}

void lines_free(struct lines *lines)
{
	for (int i = 0; i < lines->n; i++) {
		buf_free(&lines->line[i].now);
		buf_free(&lines->line[i].drawn);
	}
	free(lines->line);
	*lines = (struct lines){ 0 };
}
