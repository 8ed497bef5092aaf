/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/table_state.h"
#include "view/layout.h"

/* Cells of a line's parts; help takes the rest. */
#define MARK_CELLS 6
#define ID_CELLS 26
#define HEADING_CELLS 10
#define UNIT_CELLS 8

/* The most fields that a list can name (see layout_check()). */
#define FIELDS_MOST (LAYOUT_MAX / 2)

struct chooser {
	const struct column **order; /* the fields shown come first, in their order */
	size_t shown, n;
	/* The list's names for rows of the other sort: kept, before and after the fields shown. */
	struct layout before, behind;
	struct buf spec; /* scratch */
};

/* Whether a field can be chosen: for groups the name is always shown. */
static bool is_offered(const struct column *column, enum group_by by)
{
	return layout_applies(column, by) && !(group_folds(by) && column->last);
}

/* Remembers the names in the list that rows of this sort have no values for. */
static void take_others(struct chooser *chooser, const char *spec, enum group_by by)
{
	struct layout named;
	bool behind = false;

	layout_named(&named, spec);
	chooser->before.n = chooser->behind.n = 0;
	for (size_t i = 0; i < named.n; i++) {
		const struct column *column = named.columns[i];
		struct layout *to = behind ? &chooser->behind : &chooser->before;

		behind |= column_rows(column) == ROWS_ALL;
		if (!layout_applies(column, by))
			to->columns[to->n++] = column;
	}
}

/* Takes the columns that the table shows now. */
static void take_layout(struct chooser *chooser, const struct ui *ui)
{
	enum group_by by = ui_rows_are(ui);
	struct layout layout;

	table_fields(ui, &layout);
	take_others(chooser, ui->settings->fields, by);
	chooser->n = 0;
	for (size_t i = 0; i < layout.n; i++)
		if (is_offered(layout.columns[i], by))
			chooser->order[chooser->n++] = layout.columns[i];
	chooser->shown = chooser->n;
	for (size_t i = 0; i < columns_n; i++)
		if (!layout_has(&layout, &columns[i]) && is_offered(&columns[i], by))
			chooser->order[chooser->n++] = &columns[i];
}

/* Appends fields to the list. */
static void append_chosen(struct buf *spec, const struct column *const *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(spec, "%s%s", spec->len ? "," : "", fields[i]->id);
}

/* Makes the table show the chosen fields. Returns reactions. */
static unsigned apply(struct chooser *chooser, struct ui *ui)
{
	struct buf *spec = &chooser->spec;

	spec->len = 0;
	append_chosen(spec, chooser->before.columns, chooser->before.n);
	append_chosen(spec, chooser->order, chooser->shown);
	append_chosen(spec, chooser->behind.columns, chooser->behind.n);
	/* Marks the list as a list for groups, even if no other field does. */
	if (ui_folds(ui))
		buf_printf(spec, ",%s", layout_name(ui_rows_are(ui))->id);
	view_set_fields(ui->settings, buf_cstr(spec));
	return REACT_RELAYOUT;
}

/* Moves a column from one place to another, and the columns between by one. */
static void move(struct chooser *chooser, size_t from, size_t to)
{
	const struct column **order = chooser->order, *column = order[from];

	if (from < to)
		memmove(order + from, order + from + 1, (to - from) * sizeof(*order));
	else
		memmove(order + to + 1, order + to, (from - to) * sizeof(*order));
	order[to] = column;
}

/* The place of a column that is not shown: in the order of the column table. */
static size_t hidden_place(const struct chooser *chooser, const struct column *column)
{
	size_t at = chooser->shown;

	/* A column being hidden still counts at its old place: see view_fields_toggle(). */
	while (at < chooser->n && chooser->order[at] < column)
		at++;
	return at;
}

unsigned view_fields_toggle(struct ui *ui, int arg)
{
	struct list *list = &ui_page(ui)->list;
	struct chooser *chooser = ui_page(ui)->state;
	size_t at = list->selected, to;
	const struct column *column = chooser->order[at];

	(void)arg;
	if (at < chooser->shown && chooser->shown == 1) {
		ui_error(ui, "at least one field must be shown");
		return REACT_REDRAW;
	}
	if (at >= chooser->shown && chooser->shown == FIELDS_MOST) {
		ui_error(ui, "at most %d fields can be shown", FIELDS_MOST);
		return REACT_REDRAW;
	}
	if (at < chooser->shown) {
		to = hidden_place(chooser, column) - 1;
		chooser->shown--;
	} else {
		/* Before the columns that always go last. */
		to = chooser->shown;
		while (to && !column->last && chooser->order[to - 1]->last)
			to--;
		chooser->shown++;
	}
	move(chooser, at, to);
	/* The selection stays where it is, so that the next field can be chosen at once. */
	if (to < at) {
		list_move(list, LIST_DOWN);
		ui_say(ui, "%s is shown, as field %zu", column->id, to + 1);
	}
	return apply(chooser, ui);
}

unsigned view_fields_shift(struct ui *ui, int by)
{
	struct list *list = &ui_page(ui)->list;
	struct chooser *chooser = ui_page(ui)->state;
	size_t at = list->selected, to = by < 0 ? at - 1 : at + 1;

	if (at >= chooser->shown) {
		ui_error(ui, "only shown fields have an order: Space shows this one");
		return REACT_REDRAW;
	}
	if (by < 0 ? !at : to >= chooser->shown)
		return REACT_REDRAW;
	if (chooser->order[at]->last != chooser->order[to]->last) {
		ui_error(ui, "comm and command always go last");
		return REACT_REDRAW;
	}
	move(chooser, at, to);
	list_select(list, to);
	return apply(chooser, ui);
}

unsigned view_fields_default(struct ui *ui, int arg)
{
	struct chooser *chooser = ui_page(ui)->state;

	(void)arg;
	view_default_fields(ui->settings);
	take_layout(chooser, ui);
	list_select(&ui_page(ui)->list, 0);
	ui_say(ui, ui->settings->own_fields
			   ? "the fields of the preset, as many as fit"
			   : "the default fields, chosen by the width of the screen");
	return REACT_RELAYOUT;
}

/* Draws one column's line. */
static void draw_column(const struct chooser *chooser, struct ui *ui, int line, size_t i,
			bool selected)
{
	const struct column *column = chooser->order[i];
	enum style style = selected ? STYLE_SELECTED : STYLE_NORMAL;
	enum style dim = selected ? STYLE_SELECTED : i < chooser->shown ? STYLE_NORMAL : STYLE_DIM;
	const char *unit = column_unit(column, ui->settings->unit);
	struct term *term = &ui->term;
	char heading[COLUMN_HEADING];
	int at;

	column_heading(column, heading);
	at = term_puts(term, line, 0, i < chooser->shown ? " [x] " : " [ ] ", style);
	at = term_put(term, line, at, ID_CELLS, column->id, strlen(column->id), style);
	at = term_put(term, line, at, HEADING_CELLS, heading, strlen(heading), dim);
	at = term_put(term, line, at, UNIT_CELLS, unit, strlen(unit), dim);
	term_put(term, line, at, term->columns - at, column->help, strlen(column->help), dim);
}

/* Draws the whole view. */
static void fields_draw(struct ui *ui, void *state, struct list *list, int height)
{
	const struct chooser *chooser = state;
	struct term *term = &ui->term;
	char title[64];

	list_size(list, chooser->n, height > 1 ? (size_t)height - 1 : 0);
	snprintf(title, sizeof(title), "fields: %zu shown, in this order", chooser->shown);
	if (height > 0)
		term_put(term, 0, 0, term->columns, title, strlen(title), STYLE_HEAD);
	for (size_t i = 0; i < list->height && list->top + i < list->n; i++)
		draw_column(chooser, ui, (int)i + 1, list->top + i,
			    list->top + i == list->selected);
}

/* Selects the clicked line, and toggles it on a click at its mark. */
static unsigned fields_click(struct ui *ui, void *state, struct list *list, int line, int column)
{
	size_t index = list->top + (size_t)line - 1;

	(void)state;
	if (line < 1 || index >= list->n)
		return REACT_NONE;
	list_select(list, index);
	return column < MARK_CELLS ? view_fields_toggle(ui, 0) : REACT_REDRAW;
}

/* Frees the state. */
static void fields_close(struct ui *ui, void *state)
{
	struct chooser *chooser = state;

	(void)ui;
	free(chooser->order);
	buf_free(&chooser->spec);
	free(chooser);
}

static const struct view_ops view_fields = {
	.name = "fields",
	.where = WHERE_FIELDS,
	.draw = fields_draw,
	.click = fields_click,
	.close = fields_close,
};

unsigned view_fields_open(struct ui *ui)
{
	struct chooser *chooser = xcalloc(1, sizeof(*chooser));

	chooser->order = xcalloc(columns_n, sizeof(*chooser->order));
	take_layout(chooser, ui);
	ui_push(ui, &view_fields, chooser);
	return REACT_REDRAW;
}
