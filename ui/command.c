/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/command.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* Whether a key of the table equals that key. */
static bool is_key(int bound, const struct term_key *key)
{
	if (!bound || key->function != (bound >= KEY_MIN))
		return false;
	if (key->code == (wint_t)bound)
		return true;
	/* Return is one key, even if the terminal sends a newline for it. */
	return !key->function && bound == '\r' && key->code == '\n';
}

const struct command *command_by_key(const struct term_key *key, unsigned where)
{
	for (size_t i = 0; i < command_table_n; i++) {
		const struct command *command = &command_table[i];

		if (!(command->where & where))
			continue;
		for (unsigned k = 0; k < COMMAND_KEYS; k++)
			if (is_key(command->keys[k], key))
				return command;
	}
	return NULL;
}

bool command_is_allowed(const struct ui *ui, const struct command *command)
{
	return !ui->config->readonly || !command_acts(command);
}

/* Appends a key's name. */
static void append_key(int key, struct buf *out)
{
	static const struct {
		int key;
		const char *name;
	} names[] = { { '\r', "Enter" },     { '\033', "Esc" },		{ ' ', "Space" },
		      { '\t', "Tab" },	     { KEY_BTAB, "Shift-Tab" }, { KEY_UP, "Up" },
		      { KEY_DOWN, "Down" },  { KEY_LEFT, "Left" },	{ KEY_RIGHT, "Right" },
		      { KEY_PPAGE, "PgUp" }, { KEY_NPAGE, "PgDn" },	{ KEY_HOME, "Home" },
		      { KEY_END, "End" },    { KEY_ENTER, "Enter" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].key == key) {
			buf_puts(out, names[i].name);
			return;
		}
	}
	if (key >= KEY_F(1) && key <= KEY_F(12))
		buf_printf(out, "F%d", key - KEY_F0);
	else if (key < ' ')
		buf_printf(out, "Ctrl-%c", key + '@');
	else
		buf_putc(out, (char)key);
}

void command_append_keys(const struct command *command, struct buf *out)
{
	if (!command->keys[0] && command->hint_keys)
		buf_puts(out, command->hint_keys);
	for (unsigned k = 0; k < COMMAND_KEYS; k++) {
		/* The key pad's Enter has no name of its own. */
		if (!command->keys[k] || command->keys[k] == KEY_ENTER)
			continue;
		if (k)
			buf_puts(out, ", ");
		append_key(command->keys[k], out);
	}
}

/* The keys that a hint names; valid until ui->scratch is used again. */
static const char *hint_keys(struct ui *ui, const struct command *command)
{
	ui->scratch.len = 0;
	if (command->hint_keys)
		buf_puts(&ui->scratch, command->hint_keys);
	else
		append_key(command->keys[0], &ui->scratch);
	return buf_cstr(&ui->scratch);
}

/* Cells of a hint, with a space before and after it; 0 when the view lacks the command. */
static int hint_cells(struct ui *ui, const struct command *command, unsigned where)
{
	if (!(command->where & where) || !command->hint || !command_is_allowed(ui, command))
		return 0;
	return (int)(strlen(hint_keys(ui, command)) + strlen(command->hint)) + 3;
}

/* A hint in the footer. */
struct hint {
	const struct command *command; /* NULL: before the first */
	int at, cells; /* with a space before and after it */
	int kept; /* cells of the hints that are shown in any case, and come later */
};

/* Moves on to the next hint that fits into the line; false at the end. */
static bool next_hint(struct ui *ui, unsigned where, struct hint *hint)
{
	size_t i = hint->command ? (size_t)(hint->command - command_table) + 1 : 0;

	for (size_t later = i; !i && later < command_table_n; later++)
		if (command_table[later].hint_always)
			hint->kept += hint_cells(ui, &command_table[later], where);
	hint->at += hint->cells;
	for (; i < command_table_n; i++) {
		hint->command = &command_table[i];
		hint->cells = hint_cells(ui, hint->command, where);
		if (hint->command->hint_always)
			hint->kept -= hint->cells;
		if (hint->cells && hint->at + hint->cells + hint->kept <= ui->term.columns)
			return true;
	}
	return false;
}

void command_footer(struct ui *ui, unsigned where, int line)
{
	struct hint hint = { 0 };
	struct term *term = &ui->term;

	while (next_hint(ui, where, &hint)) {
		int at = term_puts(term, line, hint.at + 1, hint_keys(ui, hint.command), STYLE_KEY);

		term_puts(term, line, at + 1, hint.command->hint, STYLE_NORMAL);
	}
}

const struct command *command_by_hint(struct ui *ui, unsigned where, int column)
{
	struct hint hint = { 0 };

	while (next_hint(ui, where, &hint))
		if (column >= hint.at && column < hint.at + hint.cells)
			return hint.command;
	return NULL;
}

/* Appends text and escapes what roff would act on. */
static void append_roff(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			buf_puts(out, "\\e");
		else if (*text == '-')
			buf_puts(out, "\\-");
		else if (*text == '\'' || *text == '.')
			buf_printf(out, "\\&%c", *text);
		else if (*text == '^')
			buf_puts(out, "\\(ha");
		else if (*text == '~')
			buf_puts(out, "\\(ti");
		else
			buf_putc(out, *text);
	}
}

void command_doc(struct buf *out)
{
	const char *group = NULL;
	struct buf keys = { 0 };

	for (size_t i = 0; i < command_table_n; i++) {
		const struct command *command = &command_table[i];

		if (!command->help)
			continue;
		if (!group || strcmp(group, command->group) != 0) {
			group = command->group;
			buf_puts(out, ".SS ");
			append_roff(out, group);
			buf_putc(out, '\n');
		}
		keys.len = 0;
		command_append_keys(command, &keys);
		buf_puts(out, ".TP\n.B ");
		append_roff(out, buf_cstr(&keys));
		buf_putc(out, '\n');
		append_roff(out, command->help);
		buf_putc(out, '\n');
	}
	buf_free(&keys);
}
