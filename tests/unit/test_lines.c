/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lines of the screen are to be drawn, and what of. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "ui/term/term.h"

/* Puts a text. */
static void put(struct lines *lines, int line, int column, unsigned style, const char *text)
{
	const struct text_run piece = {
		.column = column, .style = style, .text = text, .len = strlen(text)
	};

	lines_put(lines, line, &piece);
}

/* Asserts the pieces of a line, each as "column/style:text ". */
static void assert_pieces(const struct lines *lines, int line, const char *expected)
{
	struct buf out = { 0 };
	struct text_run piece;

	for (size_t at = 0; lines_next(lines, line, &at, &piece);) {
		buf_printf(&out, "%d/%u:", piece.column, piece.style);
		buf_add(&out, piece.text, piece.len);
		buf_putc(&out, ' ');
	}
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
}

/* At first, and when it was forgotten, nothing is known of any line, not even of empty ones. */
TEST(test_unknown)
{
	struct lines lines = { 0 };

	lines_resize(&lines, 2);
	put(&lines, 0, 0, 1, "a");
	assert_true(lines_take(&lines, 0));
	assert_true(lines_take(&lines, 1));
	assert_pieces(&lines, 1, "");
	for (unsigned round = 0; round < 2; round++) {
		lines_erase(&lines);
		put(&lines, 0, 0, 1, "a");
		assert_false(lines_take(&lines, 0));
		assert_false(lines_take(&lines, 1));
	}
	lines_forget(&lines);
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "a");
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "0/1:a ");
	assert_true(lines_take(&lines, 1));
	lines_resize(&lines, 1);
	put(&lines, 0, 0, 1, "a");
	assert_true(lines_take(&lines, 0));
	lines_free(&lines);
	lines_free(&lines);
}

/* A key stands for what was put: with the same nothing need be put, until it is forgotten. */
TEST(test_key)
{
	struct lines lines = { 0 };

	lines_resize(&lines, 1);
	assert_false(lines_keep(&lines, 0, 7));
	put(&lines, 0, 0, 1, "a");
	assert_true(lines_take(&lines, 0));
	for (unsigned round = 0; round < 2; round++) {
		lines_erase(&lines);
		assert_true(lines_keep(&lines, 0, 7));
		assert_false(lines_take(&lines, 0));
		assert_pieces(&lines, 0, "0/1:a ");
	}
	/* The same text without a key: the next key has to be put again. */
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "a");
	assert_false(lines_take(&lines, 0));
	lines_erase(&lines);
	assert_false(lines_keep(&lines, 0, 7));
	put(&lines, 0, 0, 1, "b");
	assert_true(lines_take(&lines, 0));
	lines_erase(&lines);
	assert_false(lines_keep(&lines, 0, 9));
	put(&lines, 0, 0, 1, "b");
	assert_false(lines_take(&lines, 0));
	lines_forget(&lines);
	lines_erase(&lines);
	assert_false(lines_keep(&lines, 0, 9));
	put(&lines, 0, 0, 1, "b");
	assert_true(lines_take(&lines, 0));
	lines_free(&lines);
}

/* Any difference of a piece, and one more or less, makes a line that is to be drawn. */
TEST(test_changes)
{
	struct lines lines = { 0 };

	lines_resize(&lines, 1);
	put(&lines, 0, 0, 1, "one");
	put(&lines, 0, 4, 2, "two");
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "0/1:one 4/2:two ");
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "one");
	put(&lines, 0, 4, 3, "two");
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "0/1:one 4/3:two ");
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "one");
	put(&lines, 0, 5, 3, "two");
	assert_true(lines_take(&lines, 0));
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "one");
	put(&lines, 0, 5, 3, "too");
	assert_true(lines_take(&lines, 0));
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "one");
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "0/1:one ");
	lines_erase(&lines);
	put(&lines, 0, 0, 1, "one");
	put(&lines, 0, 0, 1, "");
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "0/1:one 0/1: ");
	lines_erase(&lines);
	assert_true(lines_take(&lines, 0));
	assert_pieces(&lines, 0, "");
	lines_free(&lines);
}

/* Long lines of many pieces come out as they were put. */
TEST(test_many)
{
	struct lines lines = { 0 };
	struct buf expected = { 0 };
	char text[16];

	lines_resize(&lines, 3);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%d", i * i);
		put(&lines, 2, i, (unsigned)i % 7, text);
		buf_printf(&expected, "%d/%d:%s ", i, i % 7, text);
	}
	assert_true(lines_take(&lines, 2));
	assert_pieces(&lines, 2, buf_cstr(&expected));
	buf_free(&expected);
	lines_free(&lines);
}
