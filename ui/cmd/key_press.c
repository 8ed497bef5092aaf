/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/cmd/key_press.h"

#include "base/privileges.h"
#include "ui/cmd/cmd.h"
#include "ui/cmd/command.h"
#include "ui/past/rewind.h"
#include "ui/table/table_state.h"

/* Lines that a turn of the wheel scrolls. */
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

/* Hands a key to the prompt. What is done with the answer is done as our caller may. */
static unsigned answer_prompt(struct ui *ui, const struct term_key *key)
{
	unsigned reactions;

	privileges_rest();
	reactions = prompt_key(&ui->prompt, ui, key);
	privileges_wake();
	return reactions;
}

/* Runs the command of a key. What acts does so as our caller may. */
static unsigned run_key(struct ui *ui, const struct command *command)
{
	bool acts = command_acts(command);
	unsigned reactions;

	if (acts)
		privileges_rest();
	reactions = command->run(ui, command->arg);
	if (acts)
		privileges_wake();
	return reactions;
}

/*
 * Runs a command if it applies now. Before the first frame, and while the source is opened anew,
 * only the command that quits works.
 */
static unsigned press(struct ui *ui, const struct command *command)
{
	unsigned reactions;

	if (!command || (!ui->frame && command->run != cmd_quit))
		return REACT_REDRAW;
	if (command->where & WHERE_PRESENT && ui->rewind.back) {
		ui_error(ui, ui->rewind.replay ? "this is a recording: nothing can be done to it"
					       : "this is the past: Esc goes to the present");
		return REACT_REDRAW;
	}
	if (!command_is_allowed(ui, command)) {
		ui_error(ui, "not allowed on this screen: %s (--readonly)", command->name);
		return REACT_REDRAW;
	}
	reactions = run_key(ui, command) | REACT_REDRAW;
	/* An earlier message is no answer to the new question. */
	if (ui->prompt.open)
		ui_say_no_more(ui, true);
	return reactions;
}

/* Whether the view takes the key by itself, as a letter of what is searched for. */
static bool is_typed(struct ui *ui, const struct term_key *key)
{
	struct page *page = ui_page(ui);

	return ui->frame && page->ops->type && page->ops->type(ui, page->state, &page->list, key);
}

unsigned key_press(struct ui *ui, const struct term_key *key)
{
	bool said = ui->message_until_ns, below = key->mouse && key->line == ui->term.lines - 1;
	unsigned where = ui_page(ui)->ops->where;

	if (ui->prompt.open)
		return key->mouse || (!ui->frame && prompt_answers(&ui->prompt, key))
			       ? REACT_NONE
			       : answer_prompt(ui, key);
	/* A click at the footer takes away what covers it. */
	ui_say_no_more(ui, below);
	if (below && key->mouse == MOUSE_CLICK)
		return said ? REACT_REDRAW : press(ui, command_by_hint(ui, where, key->column));
	if (key->mouse)
		return mouse(ui, key) | REACT_REDRAW;
	if (is_typed(ui, key))
		return REACT_REDRAW;
	return press(ui, command_by_key(key, where));
}
