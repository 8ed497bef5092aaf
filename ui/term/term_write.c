/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing to the screen: text into lines, lines to ncurses, ncurses' output to the terminal. */
#include <ncurses.h>
#include <string.h>

#include "ui/term/term.h"

void term_erase(struct term *term)
{
	lines_erase(&term->drawn);
	/* If curs_set() has no effect, at least the cursor must not move. */
	term_cursor(term, -1, 0);
}

bool term_keep(struct term *term, int line, uint64_t key)
{
	return line >= 0 && line < term->lines && lines_keep(&term->drawn, line, key);
}

/* True if a style is that of the selected row. */
static bool is_selected(enum style style)
{
	return style_selected(STYLE_NORMAL) == style || style_selected(STYLE_DIM) == style;
}

int term_put(struct term *term, int line, int column, int cells, const char *text, size_t len,
	     enum style style)
{
	struct text_run piece = { .column = column, .style = style };
	int end = column + cells;

	if (line < 0 || line >= term->lines || column < 0 || column >= term->columns || cells <= 0)
		return end;
	if (end > term->columns)
		cells = term->columns - column;
	term->scratch.len = 0;
	text_fit(&term->scratch, text, len, (unsigned)cells, false, term->charset);
	piece.text = term->scratch.data;
	piece.len = term->scratch.len;
	/* Screen readers and braille displays follow the cursor, even while it is hidden. */
	if (!term->cursor && is_selected(style)) {
		term->cursor_line = line;
		term->cursor_column = 0;
	}
	lines_put(&term->drawn, line, &piece);
	return end;
}

int term_puts(struct term *term, int line, int column, const char *text, enum style style)
{
	size_t len = strlen(text);

	return term_put(term, line, column, (int)text_width(text, len, term->charset), text, len,
			style);
}

void term_read_line(const struct term *term, int line, struct buf *out)
{
	struct text_run piece;
	int end = 0;

	for (size_t at = 0; lines_next_put(&term->drawn, line, &at, &piece);) {
		/* Separate parts are searched as if separated by a blank. */
		if (piece.column > end)
			buf_putc(out, ' ');
		buf_add(out, piece.text, piece.len);
		end = piece.column + (int)text_width(piece.text, piece.len, term->charset);
	}
}

void term_cursor(struct term *term, int line, int column)
{
	bool shown = line >= 0;

	term->cursor = shown;
	if (!shown)
		line = term->lines - 1, column = 0;
	term->cursor_line = line;
	term->cursor_column = column < term->columns ? column : term->columns - 1;
}

/* True if a text has only printable ASCII. */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/*
 * Gives blanks between texts the style of the text before if the difference is invisible: nothing
 * has to be sent between two dim figures.
 */
static void join_styles(const struct term *term, chtype *cells)
{
	int last = term->columns - 1;

	/* The rest of a line is cleared as a whole. */
	while (last > 0 && cells[last] == ' ')
		last--;
	for (int i = 1; i < last; i++) {
		chtype look = cells[i - 1] & A_ATTRIBUTES;

		if (cells[i] == ' ' && !(look & (A_REVERSE | A_UNDERLINE)) &&
		    !(term->styles.backgrounds >> PAIR_NUMBER(look) & 1))
			cells[i] |= look;
	}
}

/* Passes a line of printable ASCII to ncurses, as cells that it need not examine. */
static void draw_plain(struct term *term, int line)
{
	chtype *cells = term->cells;
	struct text_run piece;

	for (int i = 0; i < term->columns; i++)
		cells[i] = ' ';
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);)
		for (size_t i = 0; i < piece.len && piece.column + (int)i < term->columns; i++)
			cells[piece.column + (int)i] = (chtype)piece.text[i] |
						       (chtype)term->styles.attributes[piece.style];
	join_styles(term, cells);
	mvaddchnstr(line, 0, cells, term->columns);
}

/* Passes a line to ncurses. */
static void draw_line(struct term *term, int line)
{
	struct text_run piece;
	bool plain = true;

	/* Where a text covers half of a wide character, ncurses must clear the other half. */
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);)
		plain = plain && is_plain(piece.text, piece.len);
	if (plain) {
		draw_plain(term, line);
		return;
	}
	move(line, 0);
	clrtoeol();
	for (size_t at = 0; lines_next(&term->drawn, line, &at, &piece);) {
		attrset(term->styles.attributes[piece.style]);
		mvaddnstr(line, piece.column, piece.text, (int)piece.len);
	}
}

void term_bell(struct term *term)
{
	term->bell = true;
}

/* Passes the changed lines to ncurses, lets it draw into memory, and takes the result. */
static void collect(struct term *term)
{
	for (int line = 0; line < term->lines; line++)
		if (lines_take(&term->drawn, line))
			draw_line(term, line);
	move(term->cursor_line, term->cursor_column);
	wnoutrefresh(stdscr);
	doupdate();
	if (term->cursor != term->cursor_shown)
		curs_set(term->cursor);
	term->cursor_shown = term->cursor;
	tty_collect(&term->tty);
	if (term->bell)
		buf_putc(&term->tty.pending, '\a');
	term->bell = false;
}

int term_flush(struct term *term)
{
	collect(term);
	return tty_flush(&term->tty);
}

int term_send(struct term *term)
{
	return tty_flush(&term->tty);
}

int term_waits_for(const struct term *term)
{
	return term->tty.pending.len ? term->tty.fd : -1;
}
