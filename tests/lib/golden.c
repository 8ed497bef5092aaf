// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/scratch.h"

/* Appends a colour. */
static void add_colour(struct buf *out, int colour)
{
	if (colour < 0)
		buf_puts(out, "-");
	else
		buf_printf(out, "%d", colour);
}

/* Appends a look; nothing for a plain one. */
static void add_look(struct buf *out, const struct screen_look *look)
{
	static const struct screen_look plain = { .fg = -1, .bg = -1 };

	if (look->fg == plain.fg && look->bg == plain.bg && !look->bold && !look->reverse &&
	    !look->underline && !look->italic)
		return;
	add_colour(out, look->fg);
	buf_puts(out, "/");
	add_colour(out, look->bg);
	buf_printf(out, "%s%s%s%s", look->bold ? "b" : "", look->reverse ? "r" : "",
		   look->underline ? "u" : "", look->italic ? "i" : "");
}

/* Whether nothing is seen of a cell but its background: ncurses may erase it in any look. */
static bool is_blank(struct screen *s, int row, int col)
{
	struct screen_look look = screen_look(s, row, col);
	uint32_t c = screen_char(s, row, col);

	return (!c || c == ' ') && !look.reverse && !look.underline;
}

/*
 * The look of a cell as text. A blank has that of what it is between, where both are alike and have
 * its background, and else the background alone.
 */
static void look_at(struct buf *out, struct screen *s, int row, int col)
{
	struct screen_look look = screen_look(s, row, col), before, after;
	int from = col, to = col;

	while (from >= 0 && is_blank(s, row, from))
		from--;
	while (to < screen_cols(s) && is_blank(s, row, to))
		to++;
	before = screen_look(s, row, from);
	after = screen_look(s, row, to);
	if (from < 0 || to >= screen_cols(s) || memcmp(&before, &after, sizeof(before)) != 0 ||
	    before.bg != look.bg || before.reverse || before.underline)
		before = (struct screen_look){ .fg = -1, .bg = look.bg };
	out->len = 0;
	add_look(out, is_blank(s, row, col) ? &before : &look);
	buf_cstr(out);
}

/* Appends the looks of a line. */
static void add_looks(struct buf *out, struct screen *s, int row)
{
	struct buf now = { 0 }, next = { 0 };
	bool any = false;

	for (int col = 0, from = 0; col < screen_cols(s); col++) {
		look_at(&now, s, row, col);
		look_at(&next, s, row, col + 1);
		if (col + 1 < screen_cols(s) && !strcmp(now.data, next.data))
			continue;
		if (now.len) {
			if (!any)
				buf_printf(out, "%d:", row);
			buf_printf(out, " %d-%d %s", from, col, now.data);
			any = true;
		}
		from = col + 1;
	}
	if (any)
		buf_puts(out, "\n");
	buf_free(&now);
	buf_free(&next);
}

/* The screen as a golden has it; good until the test's end. */
static const char *text_of(struct screen *s)
{
	struct buf out = { 0 };

	for (int row = 0; row < screen_rows(s); row++)
		buf_printf(&out, "%s\n", screen_line(s, row));
	buf_puts(&out, "---\n");
	for (int row = 0; row < screen_rows(s); row++)
		add_looks(&out, s, row);
	buf_cstr(&out);
	return scratch_keep(out.data);
}

/* The screen is what a text says. */
static bool is_golden(struct screen *s, const void *text)
{
	return !strcmp(text_of(s), text);
}

/* Takes the next line off a text; NULL at its end. */
static const char *take_line(const char **text)
{
	size_t len = strcspn(*text, "\n");
	const char *line = scratch_format("%.*s", (int)len, *text);

	if (!**text)
		return NULL;
	*text += len + ((*text)[len] == '\n');
	return line;
}

/* Prints the lines in which the screen differs from the golden. */
static void tell_difference(const char *golden, const char *seen)
{
	for (int n = 1;; n++) {
		const char *want = take_line(&golden), *got = take_line(&seen);

		if (!want && !got)
			return;
		if (want && got && !strcmp(want, got))
			continue;
		if (want)
			printf("# %3d -%s\n", n, want);
		if (got)
			printf("# %3d +%s\n", n, got);
	}
}

void golden_check_at(struct screen *s, const char *name, const char *file, int line)
{
	const char *tests = getenv("TESTS_SRCDIR");
	const char *path = scratch_format("%s/ui/golden/%s.txt", tests ? tests : "../tests", name);
	const char *golden;

	if (getenv("GENERATE")) {
		screen_pump(s, 0.3);
		screen_settle(s);
		scratch_file(path, text_of(s));
		return;
	}
	golden = scratch_read(path);
	if (golden && screen_wait_until(s, SCREEN_PATIENCE * screen_slowness(), is_golden, golden))
		return;
	printf("# %s:%d: the screen is not %s; - is that, + is the screen:\n", file, line, path);
	tell_difference(golden ? golden : "", text_of(s));
	printf("# (GENERATE=1 has the test write what it sees: look at the difference)\n");
	fflush(stdout);
	_fail(file, line);
}
