/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/site_draw.h"

#include "base/util.h"

void site_draw_begin(struct site_draw *draw, struct term *term, const struct trace_frame *trace,
		     bool several)
{
	draw->term = term;
	draw->trace = trace;
	site_layout_fit(&draw->layout, (unsigned)term->columns, several);
}

/* Puts the contents of `cell` at a column. Returns the column after it and a blank. */
static int put_site_cell(struct site_draw *draw, int line, int at, size_t i, enum style style)
{
	int cells = (int)draw->layout.cells[i];

	term_put(draw->term, line, at, cells, draw->cell.data, draw->cell.len, style);
	draw->cell.len = 0;
	return at + cells + 1;
}

void site_draw_heads(struct site_draw *draw, int line)
{
	const struct site_layout *layout = &draw->layout;
	int at = 0;

	term_put(draw->term, line, 0, draw->term->columns, "", 0, STYLE_HEAD);
	for (size_t i = 0; i < layout->n; i++) {
		site_column_label(layout->columns[i], layout->cells[i], layout->columns[i]->heading,
				  &draw->cell);
		at = put_site_cell(draw, line, at, i, STYLE_HEAD);
	}
}

void site_draw_units(struct site_draw *draw, int line)
{
	const struct site_layout *layout = &draw->layout;
	int at = 0;

	for (size_t i = 0; i < layout->n; i++) {
		site_column_label(layout->columns[i], layout->cells[i], layout->columns[i]->unit,
				  &draw->cell);
		at = put_site_cell(draw, line, at, i, STYLE_DIM);
	}
}

/* The style of a cell: lost time stands out by its share of the interval. */
static enum style site_style(const struct site_draw *draw, const struct site_column *column,
			     const struct site_line *site)
{
	struct value value = column->get(draw->trace, site);
	double share;

	if (value.type == VALUE_UNSET)
		return STYLE_DIM;
	if (!column->lost || !draw->trace->interval_ns)
		return STYLE_NORMAL;
	share = (double)site_line_ns(site) * 100.0 / (double)draw->trace->interval_ns;
	if (share < SHARE_SHOWN && share > -SHARE_SHOWN)
		return STYLE_DIM;
	return site_line_stalls(site) ? style_of_share(share) : STYLE_NORMAL;
}

void site_draw_line(struct site_draw *draw, int line, const struct site_line *site, bool selected)
{
	const struct site_layout *layout = &draw->layout;
	int at = 0;

	if (selected)
		term_put(draw->term, line, 0, draw->term->columns, "", 0, STYLE_SELECTED);
	for (size_t i = 0; i < layout->n; i++) {
		const struct site_column *column = layout->columns[i];
		enum style style = site_style(draw, column, site);

		if (selected)
			style = style_selected(style);
		site_column_append(column, layout->cells[i], draw->trace, site, draw->term->charset,
				   &draw->scratch, &draw->cell);
		at = put_site_cell(draw, line, at, i, style);
	}
}

void site_draw_sum(struct site_draw *draw, int line, const struct site_lines *sites)
{
	/* What overlaps and what no site explains is in no sum. */
	const struct site_line sum = { .sum = { .ns = sites->ns, .kind = -1 } };
	const struct site_layout *layout = &draw->layout;
	int at = 0;

	for (size_t i = 0; i < layout->n; i++) {
		const struct site_column *column = layout->columns[i];

		if (column->lost)
			site_column_append(column, layout->cells[i], draw->trace, &sum,
					   draw->term->charset, &draw->scratch, &draw->cell);
		else
			site_column_label(column, layout->cells[i], i ? "" : "=", &draw->cell);
		at = put_site_cell(draw, line, at, i, STYLE_SUM);
	}
	buf_printf(&draw->cell, "%zu %s", sites->n, plural(sites->n, "line", "lines"));
	if (layout->n) {
		int cells = (int)layout->cells[layout->n - 1];

		term_put(draw->term, line, at - cells - 1, cells, draw->cell.data, draw->cell.len,
			 STYLE_SUM);
	}
	draw->cell.len = 0;
}

void site_draw_free(struct site_draw *draw)
{
	buf_free(&draw->cell);
	buf_free(&draw->scratch);
}
