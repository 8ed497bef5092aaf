/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/table/field_list.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/column_words.h"

/* Cells of a line's parts; help gets the rest. */
#define ID_CELLS 26
#define HEADING_CELLS 10
#define UNIT_CELLS 8
#define COST_CELLS 12

/* Width from which each line has the cost. */
#define COST_WIDTH 100

/* Height from which the selected field's words are shown, and their lines. */
#define WORDS_HEIGHT 12
#define WORDS_LINES 2

/* Maximum letters of a search. */
#define TYPED_MAX 24

void field_list_open(struct field_list *fields, const struct column_table *table)
{
	*fields = (struct field_list){ .order = xcalloc(table->n, sizeof(*fields->order)) };
}

void field_list_close(struct field_list *fields)
{
	free(fields->order);
	buf_free(&fields->typed);
}

/* How well a field matches the typed text: 0 best. FITS_NOT: not at all. */
enum { FITS_NOT = 7 };

static unsigned fit(const struct column *column, const char *typed)
{
	size_t len = strlen(typed);

	if (!strcasecmp(column->id, typed))
		return 0;
	if (!strcasecmp(column->heading, typed))
		return 1;
	if (!strncasecmp(column->id, typed, len))
		return 2;
	if (!strncasecmp(column->heading, typed, len))
		return 3;
	if (strcasestr(column->id, typed))
		return 4;
	if (strcasestr(column_name(column), typed))
		return 5;
	return strcasestr(column->help, typed) ? 6 : FITS_NOT;
}

/* Selects the best matching field, the first of equal ones. */
static void select_best(const struct field_list *fields, struct list *list, const char *typed)
{
	unsigned best = FITS_NOT;

	for (size_t i = 0; i < fields->n; i++) {
		unsigned rank = fit(fields->order[i], typed);

		if (rank < best) {
			best = rank;
			list_select(list, i);
		}
	}
}

bool field_list_next(const struct field_list *fields, struct list *list)
{
	struct buf typed = { 0 };
	bool found = false;

	buf_add(&typed, fields->typed.data, fields->typed.len);
	for (size_t i = 1; typed.len && !found && i <= fields->n; i++) {
		size_t at = (list->selected + i) % fields->n;

		found = fit(fields->order[at], buf_cstr(&typed)) < FITS_NOT;
		if (found)
			list_select(list, at);
	}
	buf_free(&typed);
	return found;
}

void field_list_forget(struct field_list *fields)
{
	fields->typed.len = 0;
}

/* True if a character can be searched for; `first`: as the first one. */
static bool is_searched(wint_t code, bool first)
{
	if (code <= ' ' || code > '~' || strchr("+=/?", (int)code))
		return false;
	return !first || !strchr("qh-", (int)code);
}

bool field_list_type(struct field_list *fields, struct list *list, const struct term_key *key)
{
	struct buf *typed = &fields->typed;
	bool back = key->function ? key->code == KEY_BACKSPACE
				  : key->code == 0x7f || key->code == CTRL('H');

	if (typed->len && back) {
		typed->len--;
	} else if (typed->len && !key->function &&
		   (key->code == '\033' || key->code == CTRL('U'))) {
		typed->len = 0;
	} else if (!key->function && is_searched(key->code, !typed->len)) {
		if (typed->len < TYPED_MAX)
			buf_putc(typed, (char)key->code);
	} else {
		return false;
	}
	if (typed->len)
		select_best(fields, list, buf_cstr(typed));
	return true;
}

/* Draws one field's line. */
static void draw_field(const struct field_list *fields, struct ui *ui, int line, size_t i,
		       bool selected, const char *mark)
{
	const struct column *column = fields->order[i];
	enum style style = selected ? STYLE_SELECTED : STYLE_NORMAL;
	enum style dim = selected ? STYLE_SELECTED : i < fields->shown ? STYLE_NORMAL : STYLE_DIM;
	const char *unit = column_unit(column, ui->settings->unit);
	const char *cost = column_cost(column).brief;
	struct term *term = &ui->term;
	char heading[COLUMN_HEADING];
	int at;

	column_heading(column, heading);
	at = term_put(term, line, 0, FIELD_MARK_CELLS - 1, mark, strlen(mark), style);
	at = term_put(term, line, at, ID_CELLS, column->id, strlen(column->id), style);
	at = term_put(term, line, at, HEADING_CELLS, heading, strlen(heading), dim);
	at = term_put(term, line, at, UNIT_CELLS, unit, strlen(unit), dim);
	if (term->columns >= COST_WIDTH)
		at = term_put(term, line, at, COST_CELLS, cost, strlen(cost), dim);
	term_put(term, line, at, term->columns - at, column->help, strlen(column->help), dim);
}

/* Draws the selected field's meaning and cost. */
static void draw_field_words(struct ui *ui, const struct column *column, int line)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	column_append_words(column, text);
	term_put(&ui->term, line, 0, ui->term.columns, text->data, text->len, STYLE_LABEL);
	text->len = 0;
	buf_printf(text, "cost: %s", column_cost(column).words);
	term_put(&ui->term, line + 1, 0, ui->term.columns, text->data, text->len, STYLE_LABEL);
}

/* Draws the title, followed by the search text. */
static void draw_list_title(const struct field_list *fields, struct ui *ui, const char *title)
{
	struct buf *text = &ui->scratch;

	text->len = 0;
	buf_puts(text, title);
	if (fields->typed.len) {
		buf_puts(text, "   find: ");
		text_escape(text, fields->typed.data, fields->typed.len, ui->term.charset);
	}
	term_put(&ui->term, 0, 0, ui->term.columns, text->data, text->len, STYLE_HEAD);
}

void field_list_draw(const struct field_list *fields, struct ui *ui, struct list *list, int height,
		     const char *title,
		     const char *(*mark)(const struct field_list *fields, struct ui *ui, size_t i))
{
	int words = height >= WORDS_HEIGHT ? WORDS_LINES : 0;

	list_size(list, fields->n, height > 1 + words ? (size_t)(height - 1 - words) : 0);
	if (height > 0)
		draw_list_title(fields, ui, title);
	for (size_t i = list->top; i < list->top + list->height && i < list->n; i++)
		draw_field(fields, ui, (int)(i - list->top) + 1, i, i == list->selected,
			   mark(fields, ui, i));
	if (words)
		draw_field_words(ui, fields->order[list->selected], height - words);
}

size_t field_list_at(const struct list *list, int line)
{
	size_t at = list->top + (size_t)line - 1;

	return line < 1 || (size_t)line > list->height || at >= list->n ? SIZE_MAX : at;
}
