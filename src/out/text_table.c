/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/text_table.h"

#include <string.h>

void text_end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

void text_table_heads(struct text_table *table)
{
	const struct layout *layout = table->layout;
	struct buf *buf = table->out;

	for (size_t i = 0; i < layout->n; i++) {
		char heading[COLUMN_HEADING];

		column_heading(layout->columns[i], heading);
		if (i)
			buf_putc(buf, ' ');
		column_append_label(layout->columns[i], heading, 0, buf);
	}
	text_end_line(buf);
	for (size_t i = 0; i < layout->n; i++) {
		if (i)
			buf_putc(buf, ' ');
		column_append_label(layout->columns[i],
				    column_unit(layout->columns[i], table->view->unit), 0, buf);
	}
	text_end_line(buf);
}

/* Whether two values of one sample make the same cell: equal texts are the same bytes then. */
static bool is_same_layout(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == VALUE_BAR)
		return !strcmp(a->bar, b->bar);
	if (a->type == VALUE_TEXT)
		return a->text == b->text && a->more == b->more;
	return a->type == VALUE_UNSET || (a->number == b->number && a->at_least == b->at_least);
}

/* Appends a copy of a part of the buffer. */
static void repeat(struct buf *buf, size_t from, size_t len)
{
	char *to = buf_reserve(buf, len);

	memcpy(to, buf->data + from, len);
	buf->len += len;
}

/* Most cells equal those of the row above: neighbours among them are copied at once. */
void text_table_row(struct text_table *table, const struct row *row)
{
	const struct layout *layout = table->layout;
	struct above *above = table->above;
	struct buf *buf = table->out;
	size_t from = 0, same = 0;

	for (size_t i = 0; i < layout->n; i++, above++) {
		const struct column *column = layout->columns[i];
		struct value value = column_get(column, table->view, row);
		bool last = i + 1 == layout->n;

		if (above->end && is_same_layout(&above->value, &value)) {
			size_t len = above->end - above->begin;

			from = same ? from : above->begin;
			above->begin = buf->len + same;
			same += len;
			above->end = buf->len + same;
			continue;
		}
		repeat(buf, from, same);
		same = 0;
		*above = (struct above){ .value = value, .begin = buf->len };
		if (i)
			buf_putc(buf, ' ');
		if (last)
			column_append(column, table->view, &value, table->whole ? COLUMN_WHOLE : 0,
				      table->scratch, buf);
		else
			column_append_word(column, table->view, &value, table->scratch, buf);
		above->end = buf->len;
	}
	repeat(buf, from, same);
	buf_putc(buf, '\n');
}
