/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/cmd/view_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/notes.h"
#include "ui/cmd/command.h"
#include "ui/table/table_state.h"
#include "view/column_words.h"
#include "view/remedies.h"
#include "view/site_lines.h"

/* Cells of the names at the left. */
#define NAME_CELLS 16

struct entry {
	char *name; /* NULL: the text is a section heading */
	char *text;
};

struct help {
	struct entry *entries;
	size_t n;
};

/* Appends an entry. */
static void add_help(struct help *help, const char *name, const char *text)
{
	help->entries = xreallocarray(help->entries, help->n + 1, sizeof(*help->entries));
	help->entries[help->n++] =
		(struct entry){ .name = name ? xstrdup(name) : NULL, .text = xstrdup(text) };
}

/* Adds explanations of figures that no table has. */
static void add_words(struct help *help)
{
	add_help(help, NULL, "Figures");
	add_help(help, "(%)",
		 "share of the interval: threads add up, so a process may exceed 100. Waits count "
		 "while they last; with --booked when they end.");
	add_help(help, "-",
		 "unknown: not provided by the kernel or the source, or needs a second sample. "
		 "Never means 0.");
	add_help(help, "now", "in the pressure block: time stalled in the interval, in percent.");
	add_help(help, "=", "the sum of all filtered rows, those off screen too.");
	add_help(help, "USR SYS",
		 "CPU time is exact; its split into these two is estimated from clock ticks.");
}

/* Adds the commands of some views, by group. */
static void add_commands(struct help *help, const struct ui *ui, unsigned where, unsigned without)
{
	struct buf keys = { 0 };
	const char *group = NULL;

	for (size_t i = 0; i < command_table_n; i++) {
		const struct command *command = &command_table[i];

		if (!command->help || !(command->where & where) || command->where & without ||
		    !command_is_allowed(ui, command))
			continue;
		if (!group || strcmp(group, command->group) != 0) {
			group = command->group;
			add_help(help, NULL, group);
		}
		keys.len = 0;
		command_append_keys(command, &keys);
		add_help(help, buf_cstr(&keys), command->help);
	}
	buf_free(&keys);
}

/* Adds the fields of a table. */
static void describe_fields(struct help *help, const char *title, const struct column_table *table)
{
	char name[COLUMN_HEADING];

	add_help(help, NULL, title);
	for (size_t i = 0; i < table->n; i++) {
		column_heading(&table->columns[i], name);
		add_help(help, name, table->columns[i].help);
	}
}

/* Adds units and fields. */
static void add_columns(struct help *help)
{
	add_help(help, NULL, "Units of the delay columns");
	for (unsigned unit = 0; unit < UNITS; unit++)
		add_help(help, unit_table[unit].id, unit_table[unit].help);
	describe_fields(help, "Fields", &task_columns);
	describe_fields(help, "Fields of sites", &site_columns);
}

/* Adds a column's meaning and cost, and the remedies for its figures. */
static void explain_column(struct help *help, const struct ui *ui, const struct column *column)
{
	const struct column_words *words = column_words(column);
	const struct unit_row *unit = &unit_table[ui->settings->unit];
	char heading[COLUMN_HEADING];
	struct buf text = { 0 };

	column_heading(column, heading);
	buf_printf(&text, "%s: %s", heading, column_name(column));
	add_help(help, NULL, buf_cstr(&text));
	add_help(help, column->id, column->help);
	if (words && words->more)
		add_help(help, "", words->more);
	if (!column->unit)
		add_help(help, unit->label, unit->help);
	add_help(help, "costs", column_cost(column).words);
	if (words && words->subject)
		add_help(help, NULL, "What to try");
	for (const struct remedy *remedy = remedies_of(words ? words->subject : REMEDY_NONE);
	     remedy->means; remedy++) {
		text.len = 0;
		remedy_append(&text, remedy);
		add_help(help, remedy->means, buf_cstr(&text));
	}
	buf_free(&text);
}

/*
 * Adds why a column is unknown for the selected row, if it is: the machine's or the user's
 * restrictions, as in --doctor.
 */
static void explain_unknown(struct help *help, struct ui *ui, const struct column *column)
{
	const struct item *item = table_item(ui);
	const struct view view = ui_view(ui);
	const struct frame_info *info = ui->frame->info;
	struct buf text = { 0 };
	size_t n = 0;

	if (!item || column_get(column, &view, item->row).type != VALUE_UNSET)
		return;
	add_help(help, NULL, "Why it is - in the selected row");
	for (size_t i = 0; info->prev && i < info->head.nnotes; i++) {
		const struct note *note = &info->head.notes[i];

		if (note_table[note->id].rank != NOTE_LASTING &&
		    note_table[note->id].rank != NOTE_ON_REQUEST)
			continue;
		text.len = 0;
		remedy_append_note(&text, note);
		add_help(help, n++ ? "" : "-", buf_cstr(&text));
	}
	if (!info->prev)
		add_help(help, "-", "not yet: it needs a full interval");
	else if (!n)
		add_help(help, "-", "not provided by the kernel or the source for this row");
	buf_free(&text);
}

/* Prints the kinds of a column that are known for that reason. */
static void put_kinds_known(struct buf *text, const struct column *column, const struct row *row,
			    enum wait_reason reason)
{
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		if (!(column->kinds & (kind == WAIT_DWAIT ? VALID_DWAIT : DELAY_BIT(kind))) ||
		    row->deltas->waited.reason[kind] != reason)
			continue;
		buf_printf(text, "%s%s", text->len ? ", " : "", wait_kind_id(kind));
	}
}

/* Adds how the figure of a column is known for the selected row, if it is not simply accounted. */
static void explain_figure(struct help *help, struct ui *ui, const struct column *column)
{
	const struct item *item = table_item(ui);
	struct buf text = { 0 };
	bool any = false;

	for (unsigned r = REASON_BOOKED + 1; item && item->row->task && r < WAIT_REASONS; r++) {
		text.len = 0;
		put_kinds_known(&text, column, item->row, r);
		if (!text.len)
			continue;
		if (!any)
			add_help(help, NULL, "Where the selected row's figure comes from");
		any = true;
		buf_printf(&text, ": %s", wait_reason_table[r].words);
		add_help(help, wait_reason_table[r].id, buf_cstr(&text));
	}
	buf_free(&text);
}

/* Adds the meaning of each letter of the bar. */
static void explain_bar(struct help *help)
{
	add_help(help, NULL, "The bar of states: how much of the time a thread");
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		char name[] = { wait_state_table[state].letter, '\0' };

		add_help(help, name, wait_state_table[state].help);
	}
}

/* Adds the remedies for what is missing now. */
static void add_note_remedies(struct help *help, const struct ui *ui)
{
	const struct frame_info *info = ui->frame->info;
	struct buf text = { 0 };

	if (!info->head.nnotes)
		return;
	add_help(help, NULL, "Missing now, and how to fix it");
	for (size_t i = 0; i < info->head.nnotes; i++) {
		text.len = 0;
		remedy_append_note(&text, &info->head.notes[i]);
		add_help(help, note_table[info->head.notes[i].id].id, buf_cstr(&text));
	}
	buf_free(&text);
}

/* Draws an entry's lines from list line `at` on. Returns the list line after it. */
static size_t draw_entry(struct ui *ui, const struct list *list, const struct entry *entry,
			 size_t at)
{
	int left = entry->name ? NAME_CELLS : 0, room = ui->term.columns - left - 1;
	const char *text = entry->text;
	bool first = true;

	if (room < 8)
		room = 8;
	if (!entry->name)
		at++; /* an empty line before a section */
	do {
		size_t len = text_line(text, (unsigned)room);

		if (at >= list->top && at - list->top < list->height) {
			int line = (int)(at - list->top) + 1;

			if (first && entry->name)
				term_put(&ui->term, line, 1, left - 2, entry->name,
					 strlen(entry->name), STYLE_KEY);
			term_put(&ui->term, line, left, (int)len, text, len,
				 entry->name ? STYLE_NORMAL : STYLE_LABEL);
		}
		first = false;
		at++;
		text += len;
		text += strspn(text, " ");
	} while (*text);
	return at;
}

/* Draws the whole view. */
static void help_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct help *help = state;
	size_t n = 0;

	if (height < 1)
		return;
	term_put(&ui->term, 0, 0, ui->term.columns, "stalltop: help", 14, STYLE_HEAD);
	/* First only counts lines: with no height nothing is drawn. */
	list->height = 0;
	for (size_t i = 0; i < help->n; i++)
		n = draw_entry(ui, list, &help->entries[i], n);
	list->plain = true;
	list_size(list, n, (size_t)height - 1);
	n = 0;
	for (size_t i = 0; i < help->n; i++)
		n = draw_entry(ui, list, &help->entries[i], n);
}

/* Frees the state. */
static void help_close(UNUSED struct ui *ui, void *state)
{
	struct help *help = state;

	for (size_t i = 0; i < help->n; i++) {
		free(help->entries[i].name);
		free(help->entries[i].text);
	}
	free(help->entries);
	free(help);
}

static const struct view_ops view_help = {
	.name = "help",
	.where = WHERE_HELP,
	.draw = help_draw,
	.close = help_close,
};

unsigned view_help_open(struct ui *ui, bool of_column)
{
	const struct page *page = ui_page(ui);
	unsigned here = page->ops->where;
	const struct column *column = NULL;
	struct help *help;

	if (here == WHERE_HELP)
		return REACT_NONE;
	help = xcalloc(1, sizeof(*help));
	if (of_column && page->ops->column)
		column = page->ops->column(ui, page->state, &page->list);
	if (column)
		explain_column(help, ui, column);
	if (column && here == WHERE_TABLE) {
		explain_unknown(help, ui, column);
		explain_figure(help, ui, column);
	}
	if (of_column && ((column && column_is_bar(column)) || legend_lines(ui, 0)))
		explain_bar(help);
	add_commands(help, ui, here, 0);
	add_note_remedies(help, ui);
	add_words(help);
	add_commands(help, ui, WHERE_ALL & ~here & ~WHERE_HELP, here);
	add_columns(help);
	ui_push(ui, &view_help, help);
	return REACT_REDRAW;
}
