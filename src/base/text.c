/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>
#include <wchar.h>

#include "base/util.h"

/*
 * Marks in one cell: a cell of ncurses holds a character and four marks
 * (CCHARW_MAX is 5) and drops more, which would make two names look the same.
 */
#define MARKS_PER_CELL 4

/* How a character above U+007E is treated. */
enum treatment { SHOWN, MARK, ESCAPED };

/*
 * Characters that are escaped although no Unicode property distinguishes them from letters and
 * marks of one script: invisible or blank ones, and the combining marks that go with any script
 * (with them one character can be written in two ways).
 */
static const struct range {
	int32_t first, last;
} escaped_ranges[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 },	  { 0x1AB0, 0x1AFF },	{ 0x1DC0, 0x1DFF },
	{ 0x20D0, 0x20FF }, { 0x2800, 0x2800 },	  { 0x3099, 0x309A },	{ 0xFE20, 0xFE2F },
	{ 0xFFFC, 0xFFFC }, { 0x16FE4, 0x16FE4 }, { 0x1D159, 0x1D159 },
};

/*
 * True for characters that join others into one: the jamo of a syllable, by which one character can
 * be written in two ways; regional indicators and emoji modifiers (extending symbols): some
 * terminals draw two of them as one of two cells, some do not.
 */
static bool joins(const utf8proc_property_t *property)
{
	switch (property->boundclass) {
	case UTF8PROC_BOUNDCLASS_L:
	case UTF8PROC_BOUNDCLASS_V:
	case UTF8PROC_BOUNDCLASS_T:
	case UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR:
		return true;
	case UTF8PROC_BOUNDCLASS_EXTEND:
		return property->category == UTF8PROC_CATEGORY_SK;
	default:
		return false;
	}
}

/*
 * True for characters too new for the C library: ncurses, which uses its widths, would draw the
 * rest of the line in other cells. A locale without even a width for U+00E9 proves nothing.
 */
static bool is_too_new(int32_t code)
{
	return wcwidth((wchar_t)code) < 0 && wcwidth(0xE9) > 0;
}

/* Chooses the treatment by the character's Unicode properties. */
static enum treatment treat(int32_t code)
{
	const utf8proc_property_t *property = utf8proc_get_property(code);

	/* Unassigned (its width is not agreed on), spaces, controls, private use ... */
	if (property->category == UTF8PROC_CATEGORY_CN || is_too_new(code) ||
	    property->category >= UTF8PROC_CATEGORY_ZS || property->ignorable || joins(property))
		return ESCAPED;
	for (size_t i = 0; i < ARRAY_SIZE(escaped_ranges); i++)
		if (code >= escaped_ranges[i].first && code <= escaped_ranges[i].last)
			return ESCAPED;
	return property->category == UTF8PROC_CATEGORY_MN ||
			       property->category == UTF8PROC_CATEGORY_ME
		       ? MARK
		       : SHOWN;
}

/* Length of the character at the start of len > 0 bytes; 0: no valid UTF-8 (strict). */
static size_t decode(const char *bytes, size_t len, int32_t *code)
{
	ptrdiff_t n = utf8proc_iterate((const uint8_t *)bytes, (ptrdiff_t)len, code);

	return n > 0 ? (size_t)n : 0;
}

/* Number of leading bytes that every receiver shows unchanged. */
static size_t plain_bytes(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] >= ' ' && bytes[n] <= '~' && bytes[n] != '\\')
		n++;
	return n;
}

/* Appends a number in hexadecimal, with at least so many digits. */
static void add_hex(struct buf *out, uint32_t value, unsigned digits)
{
	char text[8];
	size_t at = sizeof(text);

	while (value || sizeof(text) - at < digits) {
		text[--at] = "0123456789abcdef"[value & 0xF];
		value >>= 4;
	}
	buf_add(out, text + at, sizeof(text) - at);
}

/* Appends the escape of a byte below 0x80 or outside UTF-8. */
static void escape_byte(struct buf *out, char byte)
{
	if (byte == '\\') {
		buf_add(out, "\\\\", 2);
		return;
	}
	buf_add(out, "\\x", 2);
	add_hex(out, (unsigned char)byte, 2);
}

void text_escape(struct buf *out, const char *bytes, size_t len, enum text_charset charset)
{
	/*
	 * Marks stay raw only after a raw character above U+007E: at the start of a name a mark
	 * would join the preceding cell, and after a blank or an escape it would change a character
	 * that is not its base.
	 */
	unsigned marks_left = 0;

	for (size_t i = 0; i < len;) {
		size_t plain = plain_bytes(bytes + i, len - i), n;
		enum treatment treatment;
		int32_t code;

		if (plain) {
			buf_add(out, bytes + i, plain);
			i += plain;
			marks_left = 0;
			continue;
		}
		n = decode(bytes + i, len - i, &code);
		if (n <= 1) {
			escape_byte(out, bytes[i++]);
			marks_left = 0;
			continue;
		}
		treatment = charset == TEXT_ASCII ? ESCAPED : treat(code);
		if (treatment == ESCAPED || (treatment == MARK && !marks_left)) {
			buf_add(out, "\\u{", 3);
			add_hex(out, (uint32_t)code, 4);
			buf_putc(out, '}');
			marks_left = 0;
		} else {
			buf_add(out, bytes + i, n);
			marks_left = treatment == MARK ? marks_left - 1 : MARKS_PER_CELL;
		}
		i += n;
	}
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const char *at = bytes;

	/* Eight at a time: the names of all active tasks are hashed per sample. */
	for (; n; hash ^= hash >> 29) {
		size_t part = n < sizeof(uint64_t) ? n : sizeof(uint64_t);
		uint64_t word = 0;

		if (part == sizeof(word))
			memcpy(&word, at, sizeof(word));
		else
			memcpy(&word, at, part);
		hash = (hash ^ le64toh(word) ^ (uint64_t)part << 56) * UINT64_C(0x9e3779b97f4a7c15);
		at += part;
		n -= part;
	}
	return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "\xff", 1);
}

int text_compare(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

void text_word(struct buf *escaped)
{
	size_t from = escaped->len, to = from, blanks = 0;

	if (!from)
		buf_puts(escaped, "\"\"");
	for (size_t i = 0; i < from; i++)
		blanks += escaped->data[i] == ' ';
	if (!blanks)
		return;
	buf_reserve(escaped, 3 * blanks);
	escaped->len = to += 3 * blanks;
	/* Works backwards, as the text becomes longer. */
	while (from < to) {
		char byte = escaped->data[--from];

		if (byte != ' ') {
			escaped->data[--to] = byte;
			continue;
		}
		to -= 4;
		memcpy(escaped->data + to, "\\x20", 4);
	}
}

/*
 * Cells of a character by the C library, as ncurses places characters by it and terminals agree
 * with it: utf8proc gives spacing marks (Mc) no cell where terminals give them one, and other
 * widths to a few symbols (U+3248, U+4DC0).
 */
static unsigned character_cells(int32_t code)
{
	int width = wcwidth((wchar_t)code);

	return width < 0 ? 1 : (unsigned)width;
}

/* Bytes of the next character of escaped text, and the cells it takes. */
static size_t next_character(const char *escaped, size_t len, enum text_charset charset,
			     unsigned *cells)
{
	int32_t code;
	size_t n;

	*cells = 1;
	if (charset == TEXT_ASCII || (unsigned char)escaped[0] < 0x80)
		return 1;
	n = decode(escaped, len, &code);
	if (!n)
		return 1;
	*cells = character_cells(code);
	return n;
}

/* Number of leading bytes, nearly always all, that are one character and one cell each. */
static size_t narrow_bytes(const char *escaped, size_t len, enum text_charset charset)
{
	size_t n = 0;

	if (charset == TEXT_ASCII)
		return len;
	while (n < len && (unsigned char)escaped[n] < 0x80)
		n++;
	return n;
}

unsigned text_width(const char *escaped, size_t len, enum text_charset charset)
{
	size_t narrow = narrow_bytes(escaped, len, charset);
	unsigned width = (unsigned)narrow;

	for (size_t i = narrow; i < len;) {
		unsigned cells;

		i += next_character(escaped + i, len - i, charset, &cells);
		width += cells;
	}
	return width;
}

void text_fit(struct buf *out, const char *escaped, size_t len, unsigned cells, bool right_align,
	      enum text_charset charset)
{
	/* Bytes and cells of all that fits, and of the part that leaves a cell for the '+'. */
	size_t bytes = narrow_bytes(escaped, len < cells ? len : cells, charset);
	unsigned used = (unsigned)bytes, cut_used = used < cells ? used : cells - 1;
	size_t cut_bytes = cut_used;
	bool cut = false;

	if (!cells)
		return;
	while (bytes < len) {
		unsigned width;
		size_t n = next_character(escaped + bytes, len - bytes, charset, &width);

		if (width > cells - used) {
			cut = true;
			break;
		}
		bytes += n;
		used += width;
		if (used < cells) {
			cut_bytes = bytes;
			cut_used = used;
		}
	}
	if (cut) {
		bytes = cut_bytes;
		used = cut_used + 1;
	}
	if (right_align)
		buf_fill(out, ' ', cells - used);
	buf_add(out, escaped, bytes);
	if (!right_align)
		buf_fill(out, ' ', cells - used);
	if (cut)
		buf_putc(out, '+');
}

void text_fit_end(struct buf *out, const char *escaped, size_t len, unsigned cells,
		  enum text_charset charset)
{
	unsigned left = text_width(escaped, len, charset), width;
	size_t at = 0;

	if (left <= cells || !cells) {
		text_fit(out, escaped, len, cells, false, charset);
		return;
	}
	while (at < len && left > cells - 1) {
		at += next_character(escaped + at, len - at, charset, &width);
		left -= width;
		/* Marks go with the character before. */
		while (at < len && next_character(escaped + at, len - at, charset, &width) &&
		       !width)
			at += next_character(escaped + at, len - at, charset, &width);
	}
	buf_putc(out, '+');
	text_fit(out, escaped + at, len - at, cells - 1, false, charset);
}

size_t text_line(const char *text, unsigned cells)
{
	size_t len = strlen(text), end;

	if (len <= cells)
		return len;
	end = cells;
	while (end && text[end] != ' ')
		end--;
	while (end && text[end - 1] == ' ')
		end--;
	return end ? end : cells;
}

void text_wrap(struct buf *out, const char *text, unsigned used, unsigned left, unsigned width)
{
	for (;;) {
		size_t len = text_line(text, width > used ? width - used : 1);

		buf_add(out, text, len);
		buf_putc(out, '\n');
		text += len;
		text += strspn(text, " ");
		if (!*text)
			return;
		buf_fill(out, ' ', left);
		used = left;
	}
}

/* Longer words are not compared. */
#define WORD_MAX 32

/* Maximum number of changes, and letters required for each. */
#define CHANGES_MAX 2
#define LETTERS 3

/* The smallest of three. */
static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Number of letters left out, added, changed or swapped with the next. */
static unsigned count_changes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][WORD_MAX + 1] = { { 0 } };

	for (unsigned j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		const unsigned *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
		unsigned *row = rows[i % 3];

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			bool same = a[i - 1] == b[j - 1];

			row[j] = least(up[j] + 1, row[j - 1] + 1, up[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

void suggest_try(struct suggestion *near, const char *known, size_t len)
{
	unsigned changes;

	if (!near->len || near->len > WORD_MAX || len > WORD_MAX)
		return;
	changes = count_changes(near->word, near->len, known, len);
	if (!changes) {
		/* The word is right, but not there: nothing to suggest. */
		near->best = NULL;
		near->len = 0;
		return;
	}
	if (changes > CHANGES_MAX || changes * LETTERS > near->len ||
	    (near->best && changes >= near->distance))
		return;
	near->best = known;
	near->best_len = len;
	near->distance = changes;
}

/* Length of a word of a list. */
static size_t word_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && ((text[n] >= 'a' && text[n] <= 'z') ||
			   (text[n] >= '0' && text[n] <= '9') || text[n] == '-'))
		n++;
	return n;
}

void suggest_try_list(struct suggestion *near, const char *text, size_t len)
{
	struct suggestion found = *near;

	for (size_t at = 0; at < len;) {
		size_t n = word_len(text + at, len - at);

		if (!n)
			return;
		suggest_try(&found, text + at, n);
		at += n;
		if (at == len)
			break;
		if (len - at < 3 || memcmp(text + at, ", ", 2) != 0)
			return;
		at += 2;
	}
	*near = found;
}

void suggest_append(const struct suggestion *near, const char *dashes, struct buf *out)
{
	if (near->best)
		buf_printf(out, "; did you mean %s%.*s?", dashes, (int)near->best_len, near->best);
}
