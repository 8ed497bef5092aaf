/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/cmd/command.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/past/history_view.h"
#include "ui/table/table_state.h"

/* Maximum hints of a footer, and the turns in which they get their places. */
#define HINTS_MAX 40
#define HINT_TURNS 20

/* True if a key of the table equals that key. */
static bool is_key(int bound, const struct term_key *key)
{
	if (!bound || key->function != (bound >= KEY_MIN))
		return false;
	if (key->code == (wint_t)bound)
		return true;
	/* Return is one key, even if the terminal sends a newline for it. */
	return !key->function && bound == '\r' && key->code == '\n';
}

/* Finds the command of a key in a view with that WHERE_ bit, or NULL. */
static const struct command *command_by_key(const struct term_key *key, unsigned where)
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

/* The keys named in a hint; valid until ui->scratch is used again. */
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

/* The hints that fit into a footer, starting at the left. */
struct hints {
	const struct command *all[HINTS_MAX];
	size_t n;
};

/* Inserts a hint: hints are in the order of the table. */
static void add_hint(struct hints *hints, const struct command *command)
{
	size_t at = hints->n++;

	for (; at && hints->all[at - 1] > command; at--)
		hints->all[at] = hints->all[at - 1];
	hints->all[at] = command;
}

/* Chooses the hints of a view by their turns, as many as fit into the line. */
static struct hints choose_hints(struct ui *ui, unsigned where)
{
	struct hints hints = { .n = 0 };
	int room = ui->term.columns;

	for (unsigned turn = 1; turn <= HINT_TURNS; turn++)
		for (size_t i = 0; i < command_table_n && hints.n < HINTS_MAX; i++) {
			const struct command *command = &command_table[i];
			int cells = command->hint_rank == turn ? hint_cells(ui, command, where) : 0;

			if (!cells || cells > room)
				continue;
			add_hint(&hints, command);
			room -= cells;
		}
	return hints;
}

void command_footer(struct ui *ui, unsigned where, int line)
{
	struct hints hints = choose_hints(ui, where);
	int at = 0;

	for (size_t i = 0; i < hints.n; i++) {
		const struct command *command = hints.all[i];

		at = term_puts(&ui->term, line, at + 1, hint_keys(ui, command), STYLE_KEY);
		at = term_puts(&ui->term, line, at + 1, command->hint, STYLE_NORMAL) + 1;
	}
}

/* Finds the command whose hint is in that column of a view's footer, or NULL. */
static const struct command *command_by_hint(struct ui *ui, unsigned where, int column)
{
	struct hints hints = choose_hints(ui, where);
	int at = 0;

	for (size_t i = 0; i < hints.n; i++) {
		at += hint_cells(ui, hints.all[i], where);
		if (column < at)
			return hints.all[i];
	}
	return NULL;
}

/* Appends text with roff's special characters escaped. */
static void append_roff_text(struct buf *out, const char *text)
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
			buf_puts(out, ".PD\n.SS ");
			append_roff_text(out, group);
			buf_puts(out, "\n.PD 0\n");
		}
		keys.len = 0;
		command_append_keys(command, &keys);
		buf_puts(out, ".TP 12\n.B ");
		append_roff_text(out, buf_cstr(&keys));
		buf_putc(out, '\n');
		append_roff_text(out, command->help);
		buf_putc(out, '\n');
	}
	buf_puts(out, ".PD\n");
	buf_free(&keys);
}

/* Lines scrolled per turn of the wheel. */
#define WHEEL_LINES 3

/* Handles the mouse. */
static unsigned mouse(struct ui *ui, const struct term_key *key)
{
	struct page *page = ui_page(ui);

	if (!ui->frame)
		return REACT_NONE;
	if (key->mouse == MOUSE_CLICK)
		return page->ops->click ? page->ops->click(ui, page->state, &page->list, key->line,
							   key->column)
					: REACT_NONE;
	list_scroll(&page->list, key->mouse == MOUSE_UP ? -WHEEL_LINES : WHEEL_LINES);
	if (ui->depth == 1)
		table_pin(ui);
	return REACT_REDRAW;
}

/* Passes a key to the prompt. Actions of the answer have the caller's privileges. */
static unsigned answer_prompt(struct ui *ui, const struct term_key *key)
{
	unsigned reactions;

	privileges_suspend();
	reactions = prompt_key(&ui->prompt, ui, key);
	privileges_resume();
	return reactions;
}

/* Runs the command of a key. Actions have the caller's privileges. */
static unsigned run_key(struct ui *ui, const struct command *command)
{
	bool acts = command_acts(command);
	unsigned reactions;

	if (acts)
		privileges_suspend();
	reactions = command->run(ui, command->arg);
	if (acts)
		privileges_resume();
	return reactions;
}

/*
 * Runs a command if it applies now. Before the first frame, and while the source is reopened,
 * only the command that quits works.
 */
static unsigned press(struct ui *ui, const struct command *command)
{
	unsigned reactions;

	if (!command || (!ui->frame && !(command->where & WHERE_EARLY)))
		return REACT_REDRAW;
	if (command->where & WHERE_PRESENT && ui->history.back) {
		ui_error(ui, ui->history.replay
				     ? "not possible in a recording"
				     : "not in the past: B and Enter return to the present");
		return REACT_REDRAW;
	}
	if (!command_is_allowed(ui, command)) {
		ui_error(ui, "not allowed (--readonly): %s", command->name);
		return REACT_REDRAW;
	}
	reactions = run_key(ui, command) | REACT_REDRAW;
	/* An earlier message is no answer to the new question. */
	if (ui->prompt.open)
		ui_say_no_more(ui, true);
	return reactions;
}

/* True if the view takes the key itself, as a letter of a search. */
static bool is_typed(struct ui *ui, const struct term_key *key)
{
	struct page *page = ui_page(ui);

	return ui->frame && page->ops->type && page->ops->type(ui, page->state, &page->list, key);
}

/* Reports that a key has no function here; sequences sent by the terminal itself are no keys. */
static void say_unknown(struct ui *ui, const struct term_key *key)
{
	struct buf *text = &ui->scratch;

	if (!ui->frame || (key->function ? key->code < KEY_F(1) || key->code > KEY_F(12)
					 : key->code <= ' ' || key->code >= 0x7f))
		return;
	text->len = 0;
	append_key((int)key->code, text);
	ui_error(ui, "%s: no such key here (h: all keys)", buf_cstr(text));
}

unsigned key_press(struct ui *ui, const struct term_key *key)
{
	const struct command *command;
	bool said = ui->message_until_ns, below = key->mouse && key->line == ui->term.lines - 1;
	unsigned where = ui_page(ui)->ops->where;

	if (ui->prompt.open)
		return key->mouse || (!ui->frame && prompt_answers(&ui->prompt, key))
			       ? REACT_NONE
			       : answer_prompt(ui, key);
	/* A click at the footer removes whatever covers it. */
	ui_say_no_more(ui, below);
	if (below && key->mouse == MOUSE_CLICK)
		return said ? REACT_REDRAW : press(ui, command_by_hint(ui, where, key->column));
	if (key->mouse)
		return mouse(ui, key) | REACT_REDRAW;
	if (is_typed(ui, key))
		return REACT_REDRAW;
	command = command_by_key(key, where);
	if (!command)
		say_unknown(ui, key);
	return press(ui, command);
}
