/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/state/prompt.h"

#include <limits.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The answers of a kind, or NULL. */
static struct prompt_history_kind *find_kind(const struct prompt_history *recall,
					     prompt_done_fn *kind)
{
	for (size_t i = 0; i < recall->n; i++)
		if (recall->kinds[i].kind == kind)
			return &recall->kinds[i];
	return NULL;
}

/* Removes an answer. */
static void drop_answer(struct prompt_history_kind *of, size_t at)
{
	free(of->texts[at]);
	of->n--;
	memmove(of->texts + at, of->texts + at + 1, (of->n - at) * sizeof(*of->texts));
}

void prompt_history_add(struct prompt_history *recall, prompt_done_fn *kind, const char *text)
{
	struct prompt_history_kind *of = find_kind(recall, kind);

	if (!*text)
		return;
	if (!of) {
		recall->kinds = xreallocarray(recall->kinds, recall->n + 1, sizeof(*recall->kinds));
		of = &recall->kinds[recall->n++];
		*of = (struct prompt_history_kind){ .kind = kind };
	}
	for (size_t i = 0; i < of->n; i++) {
		if (!strcmp(of->texts[i], text)) {
			drop_answer(of, i);
			break;
		}
	}
	if (of->n == RECALL_MAX)
		drop_answer(of, 0);
	of->texts[of->n++] = xstrdup(text);
}

const char *prompt_history_at(const struct prompt_history *recall, prompt_done_fn *kind,
			      size_t back)
{
	const struct prompt_history_kind *of = find_kind(recall, kind);

	return of && back && back <= of->n ? of->texts[of->n - back] : NULL;
}

void prompt_history_free(struct prompt_history *recall)
{
	for (size_t i = 0; i < recall->n; i++)
		while (recall->kinds[i].n)
			drop_answer(&recall->kinds[i], recall->kinds[i].n - 1);
	free(recall->kinds);
	*recall = (struct prompt_history){ 0 };
}

/* Maximum bytes that can be typed. */
#define TEXT_MAX_BYTES 1024

/* Opens the prompt. */
static void open_prompt(struct prompt *prompt, const char *label, const char *text,
			prompt_done_fn *done)
{
	prompt->label.len = prompt->text.len = prompt->error.len = 0;
	buf_puts(&prompt->label, label);
	buf_puts(&prompt->text, text);
	prompt->cursor = prompt->text.len;
	prompt->done = done;
	prompt->fresh = prompt->text.len > 0;
	prompt->number = NULL;
	prompt->clears = false;
	prompt->back = 0;
	prompt->open = true;
}

void prompt_ask(struct prompt *prompt, const char *label, const char *text, prompt_done_fn *done)
{
	open_prompt(prompt, label, text, done);
	prompt->confirm = false;
}

void prompt_ask_number(struct prompt *prompt, const char *label, const char *text,
		       const struct prompt_number *number, prompt_done_fn *done)
{
	prompt_ask(prompt, label, text, done);
	prompt->number = number;
}

void prompt_confirm(struct prompt *prompt, const char *label, prompt_done_fn *done)
{
	open_prompt(prompt, label, "", done);
	prompt->confirm = true;
}

/* Passes on the answer. The prompt stays open on an error, or for a further question. */
static unsigned hand_over(struct prompt *prompt, struct ui *ui)
{
	prompt_done_fn *done = prompt->done;
	char *text = xstrdup(buf_cstr(&prompt->text));
	bool kept = !prompt->confirm;
	unsigned reactions;

	prompt->error.len = 0;
	prompt->fresh = false;
	prompt->open = false;
	reactions = done(ui, text, &prompt->error);
	if (prompt->error.len)
		prompt->open = true;
	else if (kept)
		prompt_history_add(&prompt->recall, done, text);
	free(text);
	return reactions | REACT_REDRAW;
}

/* True if the byte continues a character. */
static bool is_inner(const struct prompt *prompt, size_t at)
{
	return at < prompt->text.len && ((unsigned char)prompt->text.data[at] & 0xC0) == 0x80;
}

/* The position of the character before the cursor, and (next function) of the one after it. */
static size_t before(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	while (at && is_inner(prompt, --at))
		;
	return at;
}

static size_t behind(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	if (at < prompt->text.len)
		at++;
	while (is_inner(prompt, at))
		at++;
	return at;
}

/* Removes the bytes between two positions, and moves the cursor there. */
static void cut(struct prompt *prompt, size_t from, size_t to)
{
	struct buf *text = &prompt->text;

	if (from == to)
		return;
	memmove(text->data + from, text->data + to, text->len - to);
	text->len -= to - from;
	prompt->cursor = from;
}

/* The start of the word before the cursor. */
static size_t word_before(const struct prompt *prompt)
{
	const char *text = prompt->text.data;
	size_t at = prompt->cursor;

	while (at && text[at - 1] == ' ')
		at--;
	while (at && text[at - 1] != ' ')
		at--;
	return at;
}

/* Inserts a character at the cursor, unless it is a control character. */
static void insert(struct prompt *prompt, wint_t code)
{
	struct buf *text = &prompt->text;
	char bytes[MB_LEN_MAX];
	mbstate_t state = { 0 };
	size_t n;

	if (code < ' ' || code == 0x7f)
		return;
	if (prompt->fresh)
		cut(prompt, 0, text->len);
	n = wcrtomb(bytes, (wchar_t)code, &state);
	if (n == (size_t)-1 || text->len + n > TEXT_MAX_BYTES)
		return;
	buf_reserve(text, n);
	memmove(text->data + prompt->cursor + n, text->data + prompt->cursor,
		text->len - prompt->cursor);
	memcpy(text->data + prompt->cursor, bytes, n);
	text->len += n;
	prompt->cursor += n;
}

/* Replaces the text. */
static void set_prompt_text(struct prompt *prompt, const char *text)
{
	prompt->text.len = 0;
	buf_puts(&prompt->text, text);
	prompt->cursor = prompt->text.len;
}

/* Shows the previous answer, or (by -1) the next, finally the typed text. */
static void show_earlier(struct prompt *prompt, int by)
{
	const char *text = buf_cstr(&prompt->text);
	size_t back = prompt->back;
	const char *earlier;

	/* The initial text is often the last answer: showing it again would be no step. */
	do {
		if (by < 0 && !back)
			return;
		back = by > 0 ? back + 1 : back - 1;
		earlier = back ? prompt_history_at(&prompt->recall, prompt->done, back)
			       : buf_cstr(&prompt->draft);
		if (!earlier)
			return;
	} while (back && !strcmp(earlier, text));
	if (!prompt->back) {
		prompt->draft.len = 0;
		buf_puts(&prompt->draft, text);
	}
	prompt->back = back;
	set_prompt_text(prompt, earlier);
}

/* The change that a key makes to the number asked for; 0: no such key. */
static int step_of(const struct prompt *prompt, const struct term_key *key)
{
	if (!prompt->number || !key->function)
		return 0;
	if (key->code == (wint_t)prompt->number->less)
		return -1;
	return key->code == (wint_t)prompt->number->more;
}

/* Adds to the number in the text. */
static void add_to_number(struct prompt *prompt, int by)
{
	char *end, digits[24];
	long value = strtol(buf_cstr(&prompt->text), &end, 10);

	if (!prompt->text.len || *end)
		return;
	value += by;
	if (value < prompt->number->least || value > prompt->number->most)
		return;
	snprintf(digits, sizeof(digits), "%ld", value);
	set_prompt_text(prompt, digits);
	prompt->fresh = false;
	prompt->error.len = 0;
}

/* The code of a letter with the control key; not all headers have a macro for it. */
#define CONTROL(letter) ((letter)&0x1f)

/* The editor's code for a key: control letters as in the shell. */
static int edit_code(const struct term_key *key)
{
	if (key->function)
		return key->code == KEY_ENTER ? '\n' : (int)key->code;
	switch (key->code) {
	case '\r':
		return '\n';
	case CONTROL('A'):
		return KEY_HOME;
	case CONTROL('B'):
		return KEY_LEFT;
	case CONTROL('D'):
		return KEY_DC;
	case CONTROL('E'):
		return KEY_END;
	case CONTROL('F'):
		return KEY_RIGHT;
	case CONTROL('G'):
		return '\033';
	case CONTROL('H'):
	case 0x7f:
		return KEY_BACKSPACE;
	case CONTROL('N'):
		return KEY_DOWN;
	case CONTROL('P'):
		return KEY_UP;
	case CONTROL('U'):
	case CONTROL('W'):
	case '\n':
	case '\033':
		return (int)key->code;
	default:
		return 0;
	}
}

/* Edits the text by one key. */
static void edit(struct prompt *prompt, const struct term_key *key)
{
	switch (edit_code(key)) {
	case KEY_LEFT:
		prompt->cursor = before(prompt);
		break;
	case KEY_RIGHT:
		prompt->cursor = behind(prompt);
		break;
	case KEY_HOME:
		prompt->cursor = 0;
		break;
	case KEY_END:
		prompt->cursor = prompt->text.len;
		break;
	case KEY_UP:
		show_earlier(prompt, 1);
		break;
	case KEY_DOWN:
		show_earlier(prompt, -1);
		break;
	case KEY_BACKSPACE:
		cut(prompt, before(prompt), prompt->cursor);
		break;
	case KEY_DC:
		cut(prompt, prompt->cursor, behind(prompt));
		break;
	case CONTROL('U'):
		cut(prompt, 0, prompt->cursor);
		break;
	case CONTROL('W'):
		cut(prompt, word_before(prompt), prompt->cursor);
		break;
	default:
		if (!key->function)
			insert(prompt, key->code);
	}
	prompt->fresh = false;
	prompt->error.len = 0;
}

bool prompt_answers(const struct prompt *prompt, const struct term_key *key)
{
	if (prompt->confirm)
		return !key->function && (key->code == 'y' || key->code == 'Y');
	return edit_code(key) == '\n';
}

/* Handles a key that does not answer. */
static unsigned type_key(struct prompt *prompt, const struct term_key *key)
{
	if (prompt->confirm || edit_code(key) == '\033')
		prompt->open = false;
	else if (step_of(prompt, key))
		add_to_number(prompt, step_of(prompt, key));
	else
		edit(prompt, key);
	return REACT_REDRAW;
}

unsigned prompt_key(struct prompt *prompt, struct ui *ui, const struct term_key *key)
{
	if (prompt->clears && edit_code(key) == '\033')
		prompt->text.len = 0;
	else if (!prompt_answers(prompt, key))
		return type_key(prompt, key);
	return hand_over(prompt, ui);
}

/* Cells that a part of the text takes; its escaped form is left in `shown`. */
static int escape_part(struct prompt *prompt, const struct term *term, size_t from, size_t to)
{
	prompt->shown.len = 0;
	text_escape(&prompt->shown, prompt->text.data + from, to - from, term->charset);
	return (int)text_width(prompt->shown.data, prompt->shown.len, term->charset);
}

/* Draws the text into the rest of the line, scrolled so that the cursor is visible. */
static void draw_text(struct prompt *prompt, struct term *term, int line, int column)
{
	int room = term->columns - column - 1, cells, cursor;
	size_t from = 0;

	while (from < prompt->cursor &&
	       escape_part(prompt, term, from, prompt->cursor) > (room > 0 ? room : 0))
		do
			from++;
		while (is_inner(prompt, from));
	cursor = escape_part(prompt, term, from, prompt->cursor);
	cells = escape_part(prompt, term, from, prompt->text.len);
	term_put(term, line, column, cells, prompt->shown.data, prompt->shown.len,
		 prompt->fresh ? STYLE_SELECTED : STYLE_NORMAL);
	term_cursor(term, line, column + cursor);
}

void prompt_draw(struct prompt *prompt, struct term *term, int line)
{
	int column;

	if (prompt->error.len)
		column = term_puts(term, line, 0, buf_cstr(&prompt->error), STYLE_ERROR);
	else
		column = term_puts(term, line, 0, buf_cstr(&prompt->label), STYLE_MESSAGE);
	if (prompt->confirm) {
		column = term_puts(term, line, column, " [y/N] ", STYLE_KEY);
		term_cursor(term, line, column);
		return;
	}
	column = term_puts(term, line, column, ": ", STYLE_MESSAGE);
	draw_text(prompt, term, line, column);
}

void prompt_free(struct prompt *prompt)
{
	buf_free(&prompt->label);
	buf_free(&prompt->text);
	buf_free(&prompt->error);
	buf_free(&prompt->shown);
	buf_free(&prompt->draft);
	prompt_history_free(&prompt->recall);
}
