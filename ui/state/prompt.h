/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A question in the line at the bottom: a text with an editor, or yes or no. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"
#include "ui/state/view.h"
#include "ui/term/term.h"

/* Earlier answers, by kind of prompt, while the screen is open. */

struct ui;

/*
 * Processes the answer and returns reactions. Errors are appended to `error`: then the prompt stays
 * open and shows them. It may open another prompt.
 */
typedef unsigned prompt_done_fn(struct ui *ui, const char *answer, struct buf *error);

/* Maximum answers stored per kind. */
#define RECALL_MAX 50

/* The answers to one kind of prompt, identified by its function. */
struct prompt_history_kind {
	prompt_done_fn *kind;
	char *texts[RECALL_MAX]; /* the oldest first */
	size_t n;
};

/* Empty when zero-initialised. */
struct prompt_history {
	struct prompt_history_kind *kinds;
	size_t n;
};

/* Stores an answer as the last of its kind, once; an empty one is not stored. */
void prompt_history_add(struct prompt_history *recall, prompt_done_fn *kind, const char *text);

/* An earlier answer: 1 is the last one. NULL: there were fewer. */
const char *prompt_history_at(const struct prompt_history *recall, prompt_done_fn *kind,
			      size_t back);

void prompt_history_free(struct prompt_history *recall);

/* A number to be entered, and the keys that subtract one and add one. */
struct prompt_number {
	long least, most;
	int less, more; /* KEY_ of ncurses */
};

struct prompt {
	bool open;
	bool fresh; /* the text is still the initial one: typing replaces it */
	bool clears; /* Esc answers with an empty text */
	bool confirm; /* y or n by one key, answered with an empty text; else a text and Enter */
	const struct prompt_number *number; /* NULL: not a number */
	struct buf label;
	struct buf text;
	size_t cursor; /* byte in text */
	struct buf error; /* shown instead of the label until the next key */
	struct buf shown;
	prompt_done_fn *done;
	struct prompt_history recall; /* earlier ones */
	size_t back; /* the one shown; 0: none, but the typed text */
	struct buf draft; /* the typed text while earlier answers are shown */
};

/* Asks for a text; `text` is the initial one. The label is escaped text. */
void prompt_ask(struct prompt *prompt, const char *label, const char *text, prompt_done_fn *done);

/*
 * Asks for a number; an initial text that is no number is not counted from. `number` must outlive
 * the prompt.
 */
void prompt_ask_number(struct prompt *prompt, const char *label, const char *text,
		       const struct prompt_number *number, prompt_done_fn *done);

/* Asks for yes or no: done() is called for yes only. The label is escaped text. */
void prompt_confirm(struct prompt *prompt, const char *label, prompt_done_fn *done);

/* True if the key answers the open prompt, so that prompt_key() would call done(). */
bool prompt_answers(const struct prompt *prompt, const struct term_key *key);

/* Passes a key to the open prompt. Returns reactions. */
unsigned prompt_key(struct prompt *prompt, struct ui *ui, const struct term_key *key);

/* Draws the prompt in a line of the screen. */
void prompt_draw(struct prompt *prompt, struct term *term, int line);

void prompt_free(struct prompt *prompt);
