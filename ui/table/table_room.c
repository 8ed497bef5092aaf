/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/table_room.h"

#include <string.h>

#include "base/util.h"
#include "ui/table/table_draw.h"
#include "view/layout.h"

/* How long it is remembered what was wanted: so long, and twice that at most. */
#define WHILE_NS (10 * NSEC_PER_SEC)

/* Wants are rounded up to steps of so many cells: columns move less often. */
#define STEP 4

/* Forgets what other columns wanted, or these on another screen. */
static void begin_wants(struct table_wants *wants, const struct layout *layout, int width)
{
	size_t bytes = layout->n * sizeof(*layout->columns);

	if (wants->n == layout->n && wants->width == width &&
	    !memcmp(wants->columns, layout->columns, bytes))
		return;
	*wants = (struct table_wants){ .n = layout->n, .width = width };
	memcpy(wants->columns, layout->columns, bytes);
}

/* Begins the next while when it is time, also where the frame is one of the past. */
static void go_on_wanting(struct table_wants *wants, uint64_t real_ns)
{
	if (real_ns >= wants->since_ns && real_ns - wants->since_ns < WHILE_NS)
		return;
	wants->since_ns = real_ns;
	memcpy(wants->before, wants->cells, sizeof(wants->before));
	memset(wants->cells, 0, sizeof(wants->cells));
}

/* The cells that a value's text takes; what is longer than the screen need not be known. */
static unsigned cells_of(const struct table_draw *draw, const struct value *value)
{
	size_t most = (size_t)draw->term->columns, len;
	struct buf *text = draw->scratch;

	if (value->type != VALUE_TEXT)
		return 1;
	len = strnlen(value->text, most);
	if (len == most)
		return (unsigned)most;
	text->len = 0;
	text_escape(text, value->text, len, draw->term->charset);
	if (value->more)
		buf_printf(text, " (%s)", value->more);
	return text_width(text->data, text->len, draw->term->charset);
}

/* Measures one column. */
static unsigned measure_column(const struct table_draw *draw, const struct column *column,
			       const struct item *items, size_t n)
{
	struct view view = draw->view;
	unsigned most = 0;

	for (size_t i = 0; i < n; i++) {
		struct value value;
		unsigned cells;

		view.frame = items[i].frame;
		value = column_get(column, &view, items[i].shown);
		cells = cells_of(draw, &value);
		if (column->last)
			cells += 2 * items[i].depth + items[i].more;
		most = cells > most ? cells : most;
	}
	return (most + STEP - 1) / STEP * STEP;
}

void table_room(const struct table_draw *draw, struct layout *layout, struct table_wants *wants,
		const struct item *items, size_t n)
{
	unsigned wanted[LAYOUT_MAX] = { 0 };

	begin_wants(wants, layout, draw->term->columns);
	go_on_wanting(wants, draw->view.frame->info->real_ns);
	for (size_t i = 0; i < layout->n; i++) {
		const struct column *column = layout->columns[i];
		unsigned cells;

		/* The only text has the rest anyway. */
		if (!room_grows(column) || (column->last && layout->n < 2))
			continue;
		cells = measure_column(draw, column, items, n);
		if (cells > wants->cells[i])
			wants->cells[i] = cells;
		wanted[i] = wants->cells[i] > wants->before[i] ? wants->cells[i] : wants->before[i];
	}
	room_share(layout, wanted, (unsigned)draw->term->columns);
}
