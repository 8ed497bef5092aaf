// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/svg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* A cell in pixels, how far above its lower edge letters stand, and the margin. */
#define CELL_WIDTH 8
#define CELL_HEIGHT 17
#define BASELINE 4
#define MARGIN 8
/* Of which the letters of most fonts with a fixed width are 8 pixels wide. */
#define FONT_SIZE "13.29"
/* Shorter pieces need no help to be as wide as their cells. */
#define SHORT 4
#define MAX_LOOKS 62

const struct svg_theme svg_dark = {
	.ink = 0xd0d0d0,
	.paper = 0x16181d,
	.basic = { 0x16181d, 0xe05561, 0x8cc265, 0xd18f52, 0x4aa5f0, 0xc162de, 0x42b3c2, 0xd7dae0,
		   0x5c6370, 0xff616e, 0xa5e075, 0xf0a45d, 0x4dc4ff, 0xde73ff, 0x4cd1e0, 0xffffff },
};

const struct svg_theme svg_light = {
	.ink = 0x1c1c1c,
	.paper = 0xfcfcfc,
	.basic = { 0x000000, 0xb3212d, 0x2d7d1f, 0x8f5d00, 0x1f5fbf, 0x8f2fa8, 0x0f7580, 0x6c6c6c,
		   0x4c4c4c, 0xd0303c, 0x3a9a2a, 0xa87000, 0x2f75e0, 0xa845c0, 0x1590a0, 0xfcfcfc },
};

/* How a piece of a line is drawn. */
struct ink {
	int fill, paper;
	bool bold, italic, underline;
};

/* What is written, and the looks that were met, which are classes of its style. */
struct drawing {
	struct screen *screen;
	const struct svg_theme *theme;
	struct buf body;
	struct ink looks[MAX_LOOKS];
	size_t n_looks;
};

/* The colour of a number, or of these parts. Those from 16 on are a cube and a ramp of greys. */
static int colour(const struct svg_theme *theme, int number, int rgb, int own)
{
	static const int steps[] = { 0, 95, 135, 175, 215, 255 };
	int cube = number - 16;

	if (number < 0)
		return own;
	if (number < 16)
		return theme->basic[number];
	if (number > 255)
		return rgb;
	if (number >= 232)
		return (8 + 10 * (number - 232)) * 0x010101;
	return steps[cube / 36] << 16 | steps[cube / 6 % 6] << 8 | steps[cube % 6];
}

/* How a cell is drawn. What is blank has no colour of its own. */
static struct ink cell_ink(struct drawing *d, int row, int col)
{
	struct screen_look look = screen_look(d->screen, row, col);
	int fg = colour(d->theme, look.fg, look.fg_rgb, d->theme->ink);
	int bg = colour(d->theme, look.bg, look.bg_rgb, d->theme->paper);

	return (struct ink){ .fill = look.reverse ? bg : fg,
			     .paper = look.reverse ? fg : bg,
			     .bold = look.bold,
			     .italic = look.italic,
			     .underline = look.underline };
}

static bool is_blank(struct drawing *d, int row, int col)
{
	return (screen_char(d->screen, row, col) | ' ') == ' ';
}

/* The end of the cells from here on that have the same paper. */
static int paper_end(struct drawing *d, int row, int col)
{
	int paper = cell_ink(d, row, col).paper;

	while (col < screen_cols(d->screen) && cell_ink(d, row, col).paper == paper)
		col++;
	return col;
}

/* Whether two looks are the same but for their paper. */
static bool same_ink(const struct ink *a, const struct ink *b)
{
	return a->fill == b->fill && a->bold == b->bold && a->italic == b->italic &&
	       a->underline == b->underline;
}

/* The end of the cells from here on that are written alike; blank ones are as their neighbours. */
static int ink_end(struct drawing *d, int row, int col, int end, struct ink *ink)
{
	int to = col;

	while (to < end && is_blank(d, row, to) && !cell_ink(d, row, to).underline)
		to++;
	*ink = cell_ink(d, row, to < end ? to : col);
	for (; to < end; to++) {
		struct ink next = cell_ink(d, row, to);

		if (!same_ink(&next, ink) && (!is_blank(d, row, to) || next.underline))
			break;
	}
	return to;
}

/* The class of a look, a letter. */
static char class_of(struct drawing *d, const struct ink *ink)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t i = 0;

	while (i < d->n_looks && !same_ink(&d->looks[i], ink))
		i++;
	if (i == d->n_looks) {
		if (i == MAX_LOOKS)
			return letters[0];
		d->looks[d->n_looks++] = *ink;
	}
	return letters[i];
}

/* Appends a character of a text. */
static void put_character(struct buf *svg, uint32_t c)
{
	if (c == UINT32_MAX)
		return; /* behind a wide one */
	if (!c)
		c = ' ';
	if (c >= 0x7F || strchr("<>&", (int)c))
		buf_printf(svg, "&#x%X;", (unsigned)c);
	else
		buf_putc(svg, (char)c);
}

/* Writes a line: what is behind its letters, then the letters. */
static void put_line(struct drawing *d, int row)
{
	struct buf *svg = &d->body;
	int end = screen_cols(d->screen);
	struct ink ink;

	for (int col = 0, to; col < end; col = to) {
		int paper = cell_ink(d, row, col).paper;

		to = paper_end(d, row, col);
		if (paper != d->theme->paper)
			buf_printf(svg,
				   "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
				   "fill=\"#%06x\"/>\n",
				   MARGIN + col * CELL_WIDTH, MARGIN + row * CELL_HEIGHT,
				   (to - col) * CELL_WIDTH, CELL_HEIGHT, (unsigned)paper);
	}
	while (end > 0 && is_blank(d, row, end - 1))
		end--;
	if (!end)
		return;
	buf_printf(svg, "<text y=\"%d\">", MARGIN + (row + 1) * CELL_HEIGHT - BASELINE);
	for (int col = 0, to; col < end; col = to) {
		to = ink_end(d, row, col, end, &ink);
		buf_printf(svg, "<tspan class=\"%c\" x=\"%d\"", class_of(d, &ink),
			   MARGIN + col * CELL_WIDTH);
		if (to - col > SHORT)
			buf_printf(svg, " textLength=\"%d\"", (to - col) * CELL_WIDTH);
		buf_putc(svg, '>');
		for (int i = col; i < to; i++)
			put_character(svg, screen_char(d->screen, row, i));
		buf_puts(svg, "</tspan>");
	}
	buf_puts(svg, "</text>\n");
}

/* Writes what stands before the lines. */
static void put_head(struct drawing *d, const char *title, struct buf *svg)
{
	int width = 2 * MARGIN + screen_cols(d->screen) * CELL_WIDTH;
	int height = 2 * MARGIN + screen_rows(d->screen) * CELL_HEIGHT;

	buf_printf(svg,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" xml:space=\"preserve\" font-size=\"" FONT_SIZE "\" "
		   "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\">\n"
		   "<title>%s</title>\n<style>text{white-space:pre}",
		   width, height, width, height, title);
	for (size_t i = 0; i < d->n_looks; i++) {
		const struct ink *ink = &d->looks[i];

		buf_printf(svg, ".%c{fill:#%06x%s%s%s}", class_of(d, ink), (unsigned)ink->fill,
			   ink->bold ? ";font-weight:bold" : "",
			   ink->italic ? ";font-style:italic" : "",
			   ink->underline ? ";text-decoration:underline" : "");
	}
	buf_printf(svg,
		   "</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#%06x\"/>\n",
		   (unsigned)d->theme->paper);
}

int svg_write(struct screen *s, const struct svg_theme *theme, const char *title, const char *path)
{
	struct drawing d = { .screen = s, .theme = theme };
	struct buf head = { 0 };
	FILE *file = fopen(path, "we");
	int err = file ? 0 : -errno;

	for (int row = 0; row < screen_rows(s); row++)
		put_line(&d, row);
	buf_puts(&d.body, "</svg>\n");
	put_head(&d, title, &head);
	if (file && (fwrite(head.data, 1, head.len, file) != head.len ||
		     fwrite(d.body.data, 1, d.body.len, file) != d.body.len))
		err = -EIO;
	if (file && fclose(file) && !err)
		err = -errno;
	buf_free(&head);
	buf_free(&d.body);
	return err;
}
