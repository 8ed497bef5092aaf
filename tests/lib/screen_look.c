// SPDX-License-Identifier: GPL-2.0-or-later
/* What is on a screen, and how a terminal is left. */
#include "tests/lib/scratch.h"
#include "tests/lib/screen_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the output switched a mode on and not off again. */
static bool is_switched_on(const struct screen *s, const char *on, const char *off)
{
	size_t i = s->len, len = strlen(on);

	while (i-- > 0) {
		if (s->len - i >= len && !memcmp(s->log + i, on, len))
			return true;
		if (s->len - i >= len && !memcmp(s->log + i, off, len))
			return false;
	}
	return false;
}

bool screen_has_mouse(const struct screen *s)
{
	return is_switched_on(s, "1000h", "1000l");
}

int screen_rows(const struct screen *s)
{
	return s->rows;
}

int screen_cols(const struct screen *s)
{
	return s->cols;
}

bool screen_in_alt(const struct screen *s)
{
	return s->alt;
}

int screen_cursor_line(const struct screen *s)
{
	VTermPos at;

	vterm_state_get_cursorpos(vterm_obtain_state(s->vt), &at);
	return at.row;
}

bool screen_cursor_visible(const struct screen *s)
{
	return s->cursor;
}

const char *screen_output(const struct screen *s, size_t *len)
{
	*len = s->len;
	return s->log ? s->log : "";
}

/* The cell at a place; an empty one outside of the screen. */
static VTermScreenCell cell_at(struct screen *s, int row, int col)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	if (row >= 0 && row < s->rows && col >= 0 && col < s->cols)
		vterm_screen_get_cell(s->vts, (VTermPos){ row, col }, &cell);
	return cell;
}

uint32_t screen_char(struct screen *s, int row, int col)
{
	return cell_at(s, row, col).chars[0];
}

/* A colour's number, -1 for the terminal's own. */
static int colour_number(const VTermColor *colour)
{
	if (VTERM_COLOR_IS_DEFAULT_FG(colour) || VTERM_COLOR_IS_DEFAULT_BG(colour))
		return -1;
	return VTERM_COLOR_IS_INDEXED(colour) ? colour->indexed.idx : 256;
}

/* What the colour is made of, -1 for the terminal's own. */
static int colour_rgb(struct screen *s, VTermColor colour)
{
	if (colour_number(&colour) == -1)
		return -1;
	vterm_screen_convert_color_to_rgb(s->vts, &colour);
	return colour.rgb.red << 16 | colour.rgb.green << 8 | colour.rgb.blue;
}

struct screen_look screen_look(struct screen *s, int row, int col)
{
	VTermScreenCell cell = cell_at(s, row, col);

	return (struct screen_look){ .bold = cell.attrs.bold,
				     .reverse = cell.attrs.reverse,
				     .underline = cell.attrs.underline != 0,
				     .italic = cell.attrs.italic,
				     .fg = colour_number(&cell.fg),
				     .bg = colour_number(&cell.bg),
				     .fg_rgb = colour_rgb(s, cell.fg),
				     .bg_rgb = colour_rgb(s, cell.bg) };
}

/* Writes a character as UTF-8; the bytes written. */
static size_t put_utf8(char *to, uint32_t c)
{
	static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3F));
	to[0] = (char)(leads[n] | c);
	return n;
}

/* The text of a line into a buffer of the length of its cells with all their characters. */
static void read_line(struct screen *s, int row, char *text)
{
	size_t n = 0, end = 0;

	for (int col = 0; col < s->cols; col++) {
		VTermScreenCell cell = cell_at(s, row, col);

		if (cell.chars[0] == UINT32_MAX)
			continue;
		if (!cell.chars[0])
			cell.chars[0] = ' ';
		for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
			n += put_utf8(text + n, cell.chars[i]);
		if (cell.chars[0] != ' ')
			end = n;
	}
	text[end] = '\0';
}

const char *screen_line(struct screen *s, int row)
{
	char *text = malloc((size_t)s->cols * VTERM_MAX_CHARS_PER_CELL * 4 + 1);

	assert_non_null(text);
	read_line(s, row, text);
	return scratch_keep(text);
}

int screen_find(struct screen *s, const char *text, int from)
{
	char *line = malloc((size_t)s->cols * VTERM_MAX_CHARS_PER_CELL * 4 + 1);
	int row, found = -1;

	assert_non_null(line);
	text = scratch_ours(text);
	for (row = from; row < s->rows && found < 0; row++) {
		read_line(s, row, line);
		if (strstr(line, text))
			found = row;
	}
	free(line);
	return found;
}

bool screen_shows(struct screen *s, const char *text)
{
	return screen_find(s, text, 0) >= 0;
}

int screen_word_line(struct screen *s, const char *word)
{
	return screen_word_line_after(s, word, -1);
}

int screen_word_line_after(struct screen *s, const char *word, int after)
{
	size_t len = strlen(word);

	for (int row = after + 1; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		line += strspn(line, " ");
		if (!strncmp(line, word, len) && strchr(" ", line[len]))
			return row;
	}
	return -1;
}

bool screen_has(struct screen *s, const void *text)
{
	return screen_shows(s, text);
}

bool screen_lacks(struct screen *s, const void *text)
{
	return !screen_shows(s, text);
}

/* Whether the modes are those of before. */
static bool modes_restored(struct screen *s)
{
	struct termios now;

	return !tcgetattr(s->slave, &now) && now.c_iflag == s->before.c_iflag &&
	       now.c_oflag == s->before.c_oflag && now.c_cflag == s->before.c_cflag &&
	       now.c_lflag == s->before.c_lflag &&
	       !memcmp(now.c_cc, s->before.c_cc, sizeof(now.c_cc));
}

/* Whether text is written plainly. */
static bool pen_is_plain(struct screen *s)
{
	VTermState *state = vterm_obtain_state(s->vt);
	VTermValue bold, reverse, fg, bg;

	vterm_state_get_penattr(state, VTERM_ATTR_BOLD, &bold);
	vterm_state_get_penattr(state, VTERM_ATTR_REVERSE, &reverse);
	vterm_state_get_penattr(state, VTERM_ATTR_FOREGROUND, &fg);
	vterm_state_get_penattr(state, VTERM_ATTR_BACKGROUND, &bg);
	return !bold.boolean && !reverse.boolean && colour_number(&fg.color) == -1 &&
	       colour_number(&bg.color) == -1;
}

static bool is_restored(struct screen *s, const void *unused)
{
	(void)unused;
	return modes_restored(s) && !s->alt && s->cursor && !screen_has_mouse(s) && pen_is_plain(s);
}

void screen_check_restored(struct screen *s)
{
	/* The kernel hands over what was written last when a worker of its own has run. */
	screen_wait_until(s, 5, is_restored, NULL);
	screen_check(s, modes_restored(s));
	screen_check(s, !s->alt);
	screen_check(s, s->cursor);
	screen_check(s, !screen_has_mouse(s));
	screen_check(s, pen_is_plain(s));
}
