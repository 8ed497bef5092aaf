// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a name: the escaped text is well-formed for the C library, has
 * nothing in it that a terminal acts on, gives the bytes back, and fits any number
 * of cells exactly.
 */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether a character must never be in the output: a few that matter most. */
static bool is_forbidden(wchar_t c)
{
	return c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD || c == 0x61C ||
	       (c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) ||
	       (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
	       (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xFE00 && c <= 0xFE0F) || c >= 0xE0000;
}

/* Cells of a text by the C library's own decoder. */
static unsigned measure(const char *text, size_t len, enum text_charset charset)
{
	mbstate_t decoder = { 0 };
	unsigned cells = 0;
	bool first = true;

	for (size_t i = 0; i < len;) {
		wchar_t c;
		size_t n = mbrtowc(&c, text + i, len - i, &decoder);
		int width;

		if (n == 0 || n > 4 || is_forbidden(c) || (charset == TEXT_ASCII && c > 0x7E))
			abort();
		width = wcwidth(c);
		/* Nothing may join a cell in front of the text. */
		if (first && width == 0)
			abort();
		first = false;
		cells += width < 0 ? 1 : (unsigned)width;
		i += n;
	}
	return cells;
}

/* A byte of two hexadecimal digits. */
static uint8_t hex_byte(const char *digits)
{
	char text[3] = { digits[0], digits[1], '\0' };

	return (uint8_t)strtoul(text, NULL, 16);
}

/* Checks that the escaped text, read back, is the input. */
static void check_back(const struct buf *escaped, const uint8_t *data, size_t size)
{
	const char *text = escaped->data;
	size_t at = 0;

	for (size_t i = 0; i < escaped->len;) {
		char bytes[MB_LEN_MAX];
		size_t n = 1;

		if (text[i] != '\\') {
			bytes[0] = text[i++];
		} else if (text[i + 1] == 'x') {
			bytes[0] = (char)hex_byte(text + i + 2);
			i += 4;
		} else if (text[i + 1] == 'u') {
			mbstate_t encoder = { 0 };
			char *end;

			n = wcrtomb(bytes, (wchar_t)strtoul(text + i + 3, &end, 16), &encoder);
			if (n > 4 || *end != '}')
				abort();
			i = (size_t)(end + 1 - text);
		} else {
			bytes[0] = '\\';
			i += 2;
		}
		if (n > size - at || memcmp(bytes, data + at, n) != 0)
			abort();
		at += n;
	}
	if (at != size)
		abort();
}

/* Escapes, measures, fits; the first byte chooses how. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum text_charset charset = size && data[0] & 1 ? TEXT_UTF8 : TEXT_ASCII;
	struct buf escaped = { 0 }, fitted = { 0 };
	bool right_align = size && data[0] & 2;
	unsigned width;

	/* Here and not once at the start: a replay without libFuzzer calls only this. */
	if (!setlocale(LC_ALL, "C.UTF-8"))
		abort();
	if (size) {
		data++;
		size--;
	}
	text_escape(&escaped, (const char *)data, size, charset);
	buf_cstr(&escaped);
	width = measure(escaped.data, escaped.len, charset);
	if (text_width(escaped.data, escaped.len, charset) != width)
		abort();
	check_back(&escaped, data, size);
	/* A column's usual widths, and all about the text's own. */
	for (unsigned cells = 0; cells < width + 3; cells++) {
		if (cells > 20 && cells + 3 < width)
			cells = width - 3;
		fitted.len = 0;
		text_fit(&fitted, escaped.data, escaped.len, cells, right_align, charset);
		if (measure(fitted.data, fitted.len, charset) != cells)
			abort();
		if (cells && cells < width && fitted.data[fitted.len - 1] != '+')
			abort();
	}
	buf_free(&escaped);
	buf_free(&fitted);
	return 0;
}
