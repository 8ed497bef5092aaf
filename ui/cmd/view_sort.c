/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/cmd/view_sort.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/table/field_list.h"
#include "ui/table/table_state.h"
#include "view/layout.h"

/* Lists the columns shown, then the others that such rows have values for. */
static void take_columns(struct field_list *fields, struct ui *ui)
{
	const struct sheet sheet = ui_sheet(ui);
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
	const struct sheet sheet = ui_sheet(ui);

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

/* Takes a letter of what is searched for. */
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
	return column == ui_sheet(ui).sorted ? REACT_REDRAW : ui_sort_by(ui, column);
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

	field_list_open(fields, ui_sheet(ui).columns);
	take_columns(fields, ui);
	ui_push(ui, &view_sort, fields);
	list = &ui_page(ui)->list;
	list_size(list, fields->n, 0);
	for (size_t i = 0; i < fields->n; i++)
		if (fields->order[i] == ui_sheet(ui).sorted)
			list_select(list, i);
	return REACT_REDRAW;
}
