/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/cmd/view_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/table/field_list.h"
#include "ui/table/site_list.h"
#include "ui/table/table_state.h"
#include "view/layout.h"

/* Maximum fields in a list (see layout_check()). */
#define FIELDS_MOST (LAYOUT_MAX / 2)

struct chooser {
	struct field_list fields;
	const struct column_table *table; /* whose columns are listed */
	const struct column *after; /* the next field goes after it; NULL: to the end */
	/* The list's names for rows of the other kind: kept, before and after the fields shown. */
	struct layout before, behind;
	struct buf spec; /* scratch buffer */
};

/* True if a field can be chosen: for groups the name is always shown. */
static bool is_offered(const struct column *column, enum group_by by)
{
	return layout_applies(column, by) && !(group_folds(by) && column->last);
}

/* Stores the names in the list for which rows of this kind have no values. */
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

/* True if the fields are of tasks or groups, and not of sites. */
static bool is_of_tasks(const struct chooser *chooser)
{
	return chooser->table == &task_columns;
}

/* Copies the columns that the table shows now. */
static void take_layout(struct chooser *chooser, const struct ui *ui)
{
	enum group_by by = is_of_tasks(chooser) ? ui_rows_are(ui) : GROUP_PROCESS;
	const struct column_table *table = chooser->table;
	struct layout layout;

	if (is_of_tasks(chooser)) {
		table_fields(ui, &layout);
		take_others(chooser, ui->settings->fields, by);
	} else {
		site_table_fields(ui, &layout, true);
	}
	chooser->fields.n = 0;
	for (size_t i = 0; i < layout.n; i++)
		if (is_offered(layout.columns[i], by))
			chooser->fields.order[chooser->fields.n++] = layout.columns[i];
	chooser->fields.shown = chooser->fields.n;
	for (size_t i = 0; i < table->n; i++)
		if (!layout_has(&layout, &table->columns[i]) && is_offered(&table->columns[i], by))
			chooser->fields.order[chooser->fields.n++] = &table->columns[i];
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
	append_chosen(spec, chooser->fields.order, chooser->fields.shown);
	append_chosen(spec, chooser->behind.columns, chooser->behind.n);
	if (!is_of_tasks(chooser)) {
		view_set_site_fields(ui->settings, buf_cstr(spec));
		return REACT_REDRAW;
	}
	/* Marks the list as a list for groups, even if no other field does. */
	if (ui_folds(ui))
		buf_printf(spec, ",%s", layout_name(ui_rows_are(ui))->id);
	view_set_fields(ui->settings, buf_cstr(spec));
	return REACT_RELAYOUT;
}

/* Moves a column to another place, shifting the columns between by one. */
static void move(struct chooser *chooser, size_t from, size_t to)
{
	const struct column **order = chooser->fields.order, *column = order[from];

	if (from < to)
		memmove(order + from, order + from + 1, (to - from) * sizeof(*order));
	else
		memmove(order + to + 1, order + to, (from - to) * sizeof(*order));
	order[to] = column;
}

/* The place of a hidden column: in the order of the column table. */
static size_t hidden_place(const struct chooser *chooser, const struct column *column)
{
	size_t at = chooser->fields.shown;

	/* A column being hidden still counts at its old place: see view_fields_toggle(). */
	while (at < chooser->fields.n && chooser->fields.order[at] < column)
		at++;
	return at;
}

/* Stores the field after which the next one goes: the last selected shown field. */
static void note_place(struct chooser *chooser, const struct list *list)
{
	if (list->selected < chooser->fields.shown)
		chooser->after = chooser->fields.order[list->selected];
}

/* The place at which a field is inserted; comm and command are always last. */
static size_t new_place(const struct chooser *chooser, const struct column *column)
{
	const struct field_list *fields = &chooser->fields;
	size_t to = fields->shown;

	for (size_t i = 0; !column->last && i < fields->shown; i++)
		if (fields->order[i] == chooser->after)
			to = i + 1;
	while (to && !column->last && fields->order[to - 1]->last)
		to--;
	return to;
}

COMMAND(view_fields_toggle)
{
	struct list *list = &ui_page(ui)->list;
	struct chooser *chooser = ui_page(ui)->state;
	size_t at = list->selected, to;
	const struct column *column = chooser->fields.order[at];

	if (at < chooser->fields.shown && chooser->fields.shown == 1) {
		ui_error(ui, "at least one field must be shown");
		return REACT_REDRAW;
	}
	if (at >= chooser->fields.shown && chooser->fields.shown == FIELDS_MOST) {
		ui_error(ui, "at most %d fields can be shown", FIELDS_MOST);
		return REACT_REDRAW;
	}
	if (at < chooser->fields.shown) {
		to = hidden_place(chooser, column) - 1;
		if (chooser->after == column)
			chooser->after = at ? chooser->fields.order[at - 1] : NULL;
		chooser->fields.shown--;
	} else {
		to = new_place(chooser, column);
		chooser->after = column;
		chooser->fields.shown++;
	}
	field_list_forget(&chooser->fields);
	move(chooser, at, to);
	/* The selection stays, so that the next field can be chosen at once. */
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

	if (at >= chooser->fields.shown) {
		ui_error(ui, "only shown fields have an order: Space shows this one");
		return REACT_REDRAW;
	}
	if (by < 0 ? !at : to >= chooser->fields.shown)
		return REACT_REDRAW;
	if (chooser->fields.order[at]->last != chooser->fields.order[to]->last) {
		ui_error(ui, "comm and command always go last");
		return REACT_REDRAW;
	}
	move(chooser, at, to);
	list_select(list, to);
	return apply(chooser, ui);
}

COMMAND(view_fields_default)
{
	struct chooser *chooser = ui_page(ui)->state;

	if (is_of_tasks(chooser))
		view_default_fields(ui->settings);
	else
		view_set_site_fields(ui->settings, NULL);
	take_layout(chooser, ui);
	chooser->after = NULL;
	field_list_forget(&chooser->fields);
	list_select(&ui_page(ui)->list, 0);
	ui_say(ui, ui->settings->own_fields && is_of_tasks(chooser)
			   ? "the fields of the preset, as many as fit"
			   : "the default fields, chosen by the width of the screen");
	return REACT_RELAYOUT;
}

/* The mark of a field: whether it is shown. */
static const char *field_mark(const struct field_list *fields, UNUSED struct ui *ui, size_t i)
{
	return i < fields->shown ? " [x]" : " [ ]";
}

/* Draws the whole view. */
static void fields_draw(struct ui *ui, void *state, struct list *list, int height)
{
	const struct chooser *chooser = state;
	const struct column *after = chooser->after;
	char title[96];

	snprintf(title, sizeof(title), "fields%s: %zu shown, in this order%s%s",
		 is_of_tasks(chooser) ? "" : " of sites", chooser->fields.shown,
		 after && !after->last ? "; the next goes after " : "",
		 after && !after->last ? after->id : "");
	field_list_draw(&chooser->fields, ui, list, height, title, field_mark);
}

/* Moves the selection. */
static void fields_move(UNUSED struct ui *ui, void *state, struct list *list, enum list_move by)
{
	struct chooser *chooser = state;

	field_list_forget(&chooser->fields);
	list_move(list, by);
	note_place(chooser, list);
}

/* Takes a letter of the search. */
static bool fields_type(UNUSED struct ui *ui, void *state, struct list *list,
			const struct term_key *key)
{
	struct chooser *chooser = state;

	return field_list_type(&chooser->fields, list, key);
}

/* The selected field. */
static const struct column *fields_column(UNUSED struct ui *ui, void *state,
					  const struct list *list)
{
	const struct chooser *chooser = state;

	return chooser->fields.order[list->selected];
}

COMMAND(view_fields_find_next)
{
	const struct chooser *chooser = ui_page(ui)->state;

	if (!field_list_next(&chooser->fields, &ui_page(ui)->list))
		ui_say(ui, "type a part of a field's name, of its head or of what it means");
	return REACT_REDRAW;
}

/* Selects the clicked line, and toggles it on a click at its mark. */
static unsigned fields_click(struct ui *ui, void *state, struct list *list, int line, int column)
{
	size_t at = field_list_at(list, line);

	if (at == SIZE_MAX)
		return REACT_NONE;
	list_select(list, at);
	if (column < FIELD_MARK_CELLS)
		return view_fields_toggle(ui, 0);
	note_place(state, list);
	return REACT_REDRAW;
}

/* Frees the state. */
static void fields_close(UNUSED struct ui *ui, void *state)
{
	struct chooser *chooser = state;

	field_list_close(&chooser->fields);
	buf_free(&chooser->spec);
	free(chooser);
}

static const struct view_ops view_fields = {
	.name = "fields",
	.where = WHERE_FIELDS,
	.draw = fields_draw,
	.move = fields_move,
	.type = fields_type,
	.column = fields_column,
	.click = fields_click,
	.close = fields_close,
};

unsigned view_fields_open(struct ui *ui)
{
	struct chooser *chooser = xcalloc(1, sizeof(*chooser));

	chooser->table = ui_table_view(ui).columns;
	field_list_open(&chooser->fields, chooser->table);
	take_layout(chooser, ui);
	ui_push(ui, &view_fields, chooser);
	/* Letters may come before the first drawing. */
	list_size(&ui_page(ui)->list, chooser->fields.n, 0);
	return REACT_REDRAW;
}

/* Lists the columns shown, then the others that such rows have values for. */
static void take_columns(struct field_list *fields, struct ui *ui)
{
	const struct table_view sheet = ui_table_view(ui);
	const struct column_table *table = sheet.columns;
	enum group_by by = table == &task_columns ? ui_rows_are(ui) : GROUP_PROCESS;

	for (size_t i = 0; i < sheet.layout->n; i++)
		fields->order[fields->n++] = sheet.layout->columns[i];
	fields->shown = fields->n;
	for (size_t i = 0; i < table->n; i++)
		if (!layout_has(sheet.layout, &table->columns[i]) &&
		    layout_applies(&table->columns[i], by))
			fields->order[fields->n++] = &table->columns[i];
}

/* The mark of a column: the sort column's is the direction. */
static const char *sort_mark(const struct field_list *fields, struct ui *ui, size_t i)
{
	const struct table_view sheet = ui_table_view(ui);

	if (fields->order[i] != sheet.sorted)
		return "";
	return *sheet.descending ? "  v" : "  ^";
}

/* Draws the whole view. */
static void sort_draw(struct ui *ui, void *state, struct list *list, int height)
{
	field_list_draw(state, ui, list, height, "sort by", sort_mark);
}

/* Moves the selection. */
static void sort_move(UNUSED struct ui *ui, void *state, struct list *list, enum list_move by)
{
	field_list_forget(state);
	list_move(list, by);
}

/* Takes a letter of the search. */
static bool sort_type(UNUSED struct ui *ui, void *state, struct list *list,
		      const struct term_key *key)
{
	return field_list_type(state, list, key);
}

/* The selected column. */
static const struct column *sort_column(UNUSED struct ui *ui, void *state, const struct list *list)
{
	const struct field_list *fields = state;

	return fields->order[list->selected];
}

COMMAND(view_sort_take)
{
	const struct field_list *fields = ui_page(ui)->state;
	const struct column *column = fields->order[ui_page(ui)->list.selected];

	ui_pop(ui);
	return column == ui_table_view(ui).sorted ? REACT_REDRAW : ui_sort_by(ui, column);
}

COMMAND(view_sort_find_next)
{
	if (!field_list_next(ui_page(ui)->state, &ui_page(ui)->list))
		ui_say(ui, "type a part of a field's name, of its head or of what it means");
	return REACT_REDRAW;
}

/* Sorts by the clicked column. */
static unsigned sort_click(struct ui *ui, UNUSED void *state, struct list *list, int line,
			   UNUSED int column)
{
	size_t at = field_list_at(list, line);

	if (at == SIZE_MAX)
		return REACT_NONE;
	list_select(list, at);
	return view_sort_take(ui, 0);
}

/* Frees the state. */
static void sort_close(UNUSED struct ui *ui, void *state)
{
	field_list_close(state);
	free(state);
}

static const struct view_ops view_sort = {
	.name = "sort",
	.where = WHERE_SORT,
	.draw = sort_draw,
	.move = sort_move,
	.type = sort_type,
	.column = sort_column,
	.click = sort_click,
	.close = sort_close,
};

COMMAND(view_sort_open)
{
	struct field_list *fields = xcalloc(1, sizeof(*fields));
	struct list *list;

	field_list_open(fields, ui_table_view(ui).columns);
	take_columns(fields, ui);
	ui_push(ui, &view_sort, fields);
	list = &ui_page(ui)->list;
	list_size(list, fields->n, 0);
	for (size_t i = 0; i < fields->n; i++)
		if (fields->order[i] == ui_table_view(ui).sorted)
			list_select(list, i);
	return REACT_REDRAW;
}
