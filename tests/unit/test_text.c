// SPDX-License-Identifier: GPL-2.0-or-later
/* Untrusted names: what is escaped, that nothing is lost by it, and cells. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "base/util.h"

/* What is escaped of a literal, which may hold NUL. */
#define BYTES(literal) literal, sizeof(literal) - 1

/* Escapes into an emptied buffer. */
static const char *escape(struct buf *out, const char *bytes, size_t len, enum text_charset charset)
{
	out->len = 0;
	text_escape(out, bytes, len, charset);
	return buf_cstr(out);
}

/* Writes a code point, surrogates too, as UTF-8; the bytes written. */
static size_t encode(uint32_t code, char *bytes)
{
	static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (n == 1) {
		bytes[0] = (char)code;
		return 1;
	}
	for (size_t i = n - 1; i; i--) {
		bytes[i] = (char)(0x80 | (code & 0x3F));
		code >>= 6;
	}
	bytes[0] = (char)(leads[n] | code);
	return n;
}

/* Whether a single character comes out as it is. */
static bool is_raw(struct buf *out, uint32_t code)
{
	char bytes[4];
	size_t n = encode(code, bytes);

	escape(out, bytes, n, TEXT_UTF8);
	return out->len == n && memcmp(out->data, bytes, n) == 0;
}

/* Turns escaped text back into the bytes it came from, by the rules of text.h alone. */
static size_t unescape(const char *text, size_t len, char *bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		char *end;

		if (text[i] != '\\') {
			bytes[n++] = text[i++];
		} else if (text[i + 1] == '\\') {
			bytes[n++] = '\\';
			i += 2;
		} else if (text[i + 1] == 'x') {
			char digits[3] = { text[i + 2], text[i + 3], '\0' };

			bytes[n++] = (char)strtoul(digits, &end, 16);
			assert_ptr_equal(end, digits + 2);
			i += 4;
		} else {
			assert_memory_equal(text + i, "\\u{", 3);
			n += encode((uint32_t)strtoul(text + i + 3, &end, 16), bytes + n);
			assert_true(end - (text + i + 3) >= 4);
			assert_int_equal(*end, '}');
			i = (size_t)(end + 1 - text);
		}
	}
	return n;
}

/* Texts and what they become. */
TEST(test_escape)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *utf8, *ascii;
	} cases[] = {
		{ BYTES(""), "", "" },
		{ BYTES("kworker/0:1-events"), "kworker/0:1-events", "kworker/0:1-events" },
		{ BYTES(" ~\"',;= "), " ~\"',;= ", " ~\"',;= " },
		{ BYTES("a\\b"), "a\\\\b", "a\\\\b" },
		{ BYTES("\\x1b"), "\\\\x1b", "\\\\x1b" },
		{ BYTES("\033[2J"), "\\x1b[2J", "\\x1b[2J" },
		{ BYTES("\0\t\n\r\177"), "\\x00\\x09\\x0a\\x0d\\x7f", "\\x00\\x09\\x0a\\x0d\\x7f" },
		{ BYTES("\xC3\xA9t\xC3\xA9"), "\xC3\xA9t\xC3\xA9", "\\u{00e9}t\\u{00e9}" },
		{ BYTES("\xE6\xBC\xA2"), "\xE6\xBC\xA2", "\\u{6f22}" },
		{ BYTES("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80", "\\u{1f600}" },
		/* C1 as UTF-8, C1 as a byte */
		{ BYTES("\xC2\x9B"), "\\u{009b}", "\\u{009b}" },
		{ BYTES("\x9B"), "\\x9b", "\\x9b" },
		/* cut, overlong, surrogate, too large, stray */
		{ BYTES("\xE2\x82"), "\\xe2\\x82", "\\xe2\\x82" },
		{ BYTES("\xE2\x82z"), "\\xe2\\x82z", "\\xe2\\x82z" },
		{ BYTES("\xC0\xAF"), "\\xc0\\xaf", "\\xc0\\xaf" },
		{ BYTES("\xC1\xBF"), "\\xc1\\xbf", "\\xc1\\xbf" },
		{ BYTES("\xE0\x9F\xBF"), "\\xe0\\x9f\\xbf", "\\xe0\\x9f\\xbf" },
		{ BYTES("\xF0\x8F\xBF\xBF"), "\\xf0\\x8f\\xbf\\xbf", "\\xf0\\x8f\\xbf\\xbf" },
		{ BYTES("\xED\xA0\x80"), "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
		{ BYTES("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80" },
		{ BYTES("\xF8\x88\x80\x80\x80"), "\\xf8\\x88\\x80\\x80\\x80",
		  "\\xf8\\x88\\x80\\x80\\x80" },
		{ BYTES("\xFF\xFE"), "\\xff\\xfe", "\\xff\\xfe" },
		/* right-to-left override, zero width joiner, a name of tags */
		{ BYTES("a\xE2\x80\xAE"
			"b"),
		  "a\\u{202e}b", "a\\u{202e}b" },
		{ BYTES("\xF3\xA0\x81\xA1"), "\\u{e0061}", "\\u{e0061}" },
		/* e with an accent in two code points: not as the one */
		{ BYTES("e\xCC\x81"), "e\\u{0301}", "e\\u{0301}" },
	};
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(escape(&out, cases[i].bytes, cases[i].len, TEXT_UTF8),
				    cases[i].utf8);
		assert_string_equal(escape(&out, cases[i].bytes, cases[i].len, TEXT_ASCII),
				    cases[i].ascii);
	}
	buf_free(&out);
}

/* It appends, and leaves what stands before. */
TEST(test_escape_appends)
{
	struct buf out = { 0 };

	buf_puts(&out, "name=");
	text_escape(&out, BYTES("a\tb"), TEXT_UTF8);
	assert_string_equal(buf_cstr(&out), "name=a\\x09b");
	buf_free(&out);
}

/* Every range that must never reach a terminal, both ends and their inside. */
TEST(test_never_raw)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1F },	      { 0x5C, 0x5C },	     { 0x7F, 0x9F },
		{ 0xA0, 0xA0 },	      { 0xAD, 0xAD },	     { 0x300, 0x36F },
		{ 0x483, 0x489 },     { 0x61C, 0x61C },	     { 0x6DD, 0x6DD },
		{ 0x70F, 0x70F },     { 0x1100, 0x11FF },    { 0x1680, 0x1680 },
		{ 0x17B4, 0x17B5 },   { 0x180B, 0x180F },    { 0x1AB0, 0x1AFF },
		{ 0x1DC0, 0x1DFF },   { 0x2000, 0x200F },    { 0x2028, 0x202F },
		{ 0x205F, 0x206F },   { 0x20D0, 0x20FF },    { 0x2800, 0x2800 },
		{ 0x3000, 0x3000 },   { 0x3099, 0x309A },    { 0x3164, 0x3164 },
		{ 0xA960, 0xA97F },   { 0xD7B0, 0xD7FF },    { 0xD800, 0xDFFF },
		{ 0xE000, 0xF8FF },   { 0xFDD0, 0xFDEF },    { 0xFE00, 0xFE0F },
		{ 0xFE20, 0xFE2F },   { 0xFEFF, 0xFEFF },    { 0xFFA0, 0xFFA0 },
		{ 0xFFF0, 0xFFFC },   { 0xFFFE, 0xFFFF },    { 0x1BCA0, 0x1BCA3 },
		{ 0x1D173, 0x1D17A }, { 0x1FFFE, 0x1FFFF },  { 0x1F3FB, 0x1F3FF },
		{ 0xE0000, 0xE0FFF }, { 0xEFFFE, 0x10FFFF },
	};
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(ranges); i++) {
		for (uint32_t code = ranges[i].first; code <= ranges[i].last; code++) {
			if (is_raw(&out, code))
				fail_msg("U+%04X comes out raw", code);
		}
	}
	buf_free(&out);
}

/* Letters of many scripts are shown: escaping everything would be safe as well. */
TEST(test_letters_raw)
{
	static const uint32_t letters[] = {
		'A',	'~',	0xA1,	0xE9,	0x17E,	0x3A9,	 0x416,	  0x5D0,   0x627,
		0x915,	0xE01,	0x10D0, 0x20AC, 0x2190, 0x2500,	 0x2588,  0x3042,  0x4E2D,
		0xAC00, 0xD7A3, 0xFB01, 0xFF21, 0xFFFD, 0x10400, 0x1F600, 0x20000,
	};
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(letters); i++) {
		if (!is_raw(&out, letters[i]))
			fail_msg("U+%04X is escaped", letters[i]);
	}
	buf_free(&out);
}

/* A mark of one script: raw behind its letter, escaped where it has none, four at most. */
TEST(test_marks)
{
#define THAI "\xE0\xB8\x81" /* U+0E01 */
#define MARK "\xE0\xB8\xB4" /* U+0E34, no cell of its own */
#define ESCAPED "\\u{0e34}"
	struct buf out = { 0 };

	assert_string_equal(escape(&out, BYTES(THAI MARK), TEXT_UTF8), THAI MARK);
	assert_string_equal(escape(&out, BYTES(MARK), TEXT_UTF8), ESCAPED);
	assert_string_equal(escape(&out, BYTES(MARK MARK), TEXT_UTF8), ESCAPED ESCAPED);
	assert_string_equal(escape(&out, BYTES("a" MARK), TEXT_UTF8), "a" ESCAPED);
	assert_string_equal(escape(&out, BYTES(THAI " " MARK), TEXT_UTF8), THAI " " ESCAPED);
	assert_string_equal(escape(&out, BYTES(THAI "\n" MARK), TEXT_UTF8), THAI "\\x0a" ESCAPED);
	assert_string_equal(escape(&out, BYTES(THAI "\xFF" MARK), TEXT_UTF8), THAI "\\xff" ESCAPED);
	assert_string_equal(escape(&out, BYTES(THAI MARK MARK MARK MARK MARK MARK), TEXT_UTF8),
			    THAI MARK MARK MARK MARK ESCAPED ESCAPED);
	assert_string_equal(escape(&out, BYTES(THAI MARK THAI MARK), TEXT_UTF8),
			    THAI MARK THAI MARK);
	assert_string_equal(escape(&out, BYTES(THAI MARK), TEXT_ASCII), "\\u{0e01}" ESCAPED);
	assert_int_equal(text_width(BYTES(THAI MARK MARK "x"), TEXT_UTF8), 2);
	buf_free(&out);
}

/* Each character there is: back the same, and alone never without a cell or a width. */
TEST(test_every_character)
{
	struct buf out = { 0 };
	char bytes[4], back[64];

	for (uint32_t code = 0; code <= 0x10FFFF; code++) {
		size_t n = encode(code, bytes);
		int width;

		for (enum text_charset set = TEXT_ASCII; set <= TEXT_UTF8; set++) {
			escape(&out, bytes, n, set);
			if (unescape(out.data, out.len, back) != n || memcmp(back, bytes, n) != 0)
				fail_msg("U+%04X does not come back", code);
			if (!text_width(out.data, out.len, set))
				fail_msg("U+%04X takes no cell", code);
			for (size_t i = 0; i < out.len && set == TEXT_ASCII; i++)
				assert_in_range(out.data[i], ' ', '~');
		}
		if (code < 0x80 || !is_raw(&out, code))
			continue;
		width = wcwidth((wchar_t)code);
		if (width < 1 || (unsigned)width != text_width(bytes, n, TEXT_UTF8))
			fail_msg("U+%04X is raw and has %d cells", code, width);
	}
	buf_free(&out);
}

/* All strings of two bytes, many of more: distinct ones stay distinct, as all come back. */
TEST(test_injective)
{
	static const char *const parts[] = {
		"\\",	"\\\\",	    "x", "x1b", "\033", "\\x1b", "u{202e}", "\xE2\x80\xAE", "\xE2",
		"\x80", "\xCC\x81", "e", THAI,	MARK,	"{",	 "}",	    "\xC2\x9B",	    "\x9B",
	};
	struct buf out = { 0 }, in = { 0 };
	char back[256];

	for (unsigned i = 0; i < 65536; i++) {
		char two[2] = { (char)(i >> 8), (char)i };

		escape(&out, two, 2, TEXT_UTF8);
		assert_int_equal(unescape(out.data, out.len, back), 2);
		assert_memory_equal(back, two, 2);
	}
	for (unsigned i = 0; i < 18 * 18 * 18 * 18; i++) {
		in.len = 0;
		for (unsigned rest = i, part = 0; part < 4; part++, rest /= 18)
			buf_puts(&in, parts[rest % 18]);
		escape(&out, in.data, in.len, i & 1 ? TEXT_UTF8 : TEXT_ASCII);
		assert_int_equal(unescape(out.data, out.len, back), in.len);
		assert_memory_equal(back, in.data, in.len);
	}
	buf_free(&out);
	buf_free(&in);
}

/* Escaping is the same in a locale that knows no character above U+007E. */
TEST(test_escape_without_locale)
{
	static const char text[] = "\xC3\xA9\xE6\xBC\xA2\xE2\x80\xAE" THAI MARK "\xFF";
	struct buf with = { 0 }, without = { 0 };

	text_escape(&with, BYTES(text), TEXT_UTF8);
	assert_non_null(setlocale(LC_ALL, "C"));
	text_escape(&without, BYTES(text), TEXT_UTF8);
	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	assert_string_equal(buf_cstr(&without), buf_cstr(&with));
	assert_string_equal(buf_cstr(&with), "\xC3\xA9\xE6\xBC\xA2\\u{202e}" THAI MARK "\\xff");
	buf_free(&with);
	buf_free(&without);
}

/* Cells of text. */
TEST(test_width)
{
	assert_int_equal(text_width(BYTES(""), TEXT_UTF8), 0);
	assert_int_equal(text_width(BYTES("abc"), TEXT_UTF8), 3);
	assert_int_equal(text_width(BYTES("\xC3\xA9"), TEXT_UTF8), 1);
	assert_int_equal(text_width(BYTES("\xE6\xBC\xA2\xE5\xAD\x97"), TEXT_UTF8), 4);
	assert_int_equal(text_width(BYTES("\xF0\x9F\x98\x80!"), TEXT_UTF8), 3);
	assert_int_equal(text_width(BYTES("\\u{6f22}"), TEXT_ASCII), 8);
	/* A spacing mark has a cell of its own, as terminals have it. */
	assert_int_equal(text_width(BYTES("\xE0\xA4\x95\xE0\xA4\xBE"), TEXT_UTF8), 2);
	/* A width the C library does not know (here: of a code point never assigned) is 1. */
	assert_int_equal(text_width(BYTES("\xEF\xBF\xBF"), TEXT_UTF8), 1);
}

/* Padding and cuts, wide characters and marks at the edge. */
TEST(test_fit)
{
#define WIDE "\xE6\xBC\xA2"
	static const struct {
		const char *text;
		unsigned cells;
		bool right;
		const char *fitted;
	} cases[] = {
		{ "", 0, false, "" },
		{ "abc", 0, false, "" },
		{ "", 3, false, "   " },
		{ "", 3, true, "   " },
		{ "ab", 4, false, "ab  " },
		{ "ab", 4, true, "  ab" },
		{ "abc", 3, false, "abc" },
		{ "abcd", 3, false, "ab+" },
		{ "abcd", 3, true, "ab+" },
		{ "abcd", 1, false, "+" },
		{ "a", 1, false, "a" },
		{ WIDE, 1, false, "+" },
		{ WIDE, 2, false, WIDE },
		{ WIDE, 3, true, " " WIDE },
		{ WIDE WIDE, 3, false, WIDE "+" },
		{ WIDE WIDE, 2, false, " +" },
		{ WIDE WIDE, 2, true, " +" },
		{ "a" WIDE "b", 3, false, "a +" },
		{ "a" WIDE "b", 3, true, " a+" },
		{ "a" WIDE, 3, false, "a" WIDE },
		{ THAI MARK "b", 2, false, THAI MARK "b" },
		{ THAI MARK THAI MARK "b", 2, false, THAI MARK "+" },
		{ "a" THAI MARK, 2, false, "a" THAI MARK },
		{ "\xC3\xA9\xC3\xA9\xC3\xA9", 2, false, "\xC3\xA9+" },
		{ "ab" THAI MARK, 3, false, "ab" THAI MARK },
		{ "ab" THAI MARK "c", 3, false, "ab+" },
		{ "ab" WIDE, 3, false, "ab+" },
		{ "ab" WIDE, 2, true, "a+" },
		{ "abc" WIDE, 4, true, "abc+" },
	};
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		out.len = 0;
		buf_putc(&out, '|');
		text_fit(&out, cases[i].text, strlen(cases[i].text), cases[i].cells, cases[i].right,
			 TEXT_UTF8);
		assert_string_equal(buf_cstr(&out) + 1, cases[i].fitted);
		assert_int_equal(text_width(out.data + 1, out.len - 1, TEXT_UTF8), cases[i].cells);
	}
	out.len = 0;
	text_fit(&out, BYTES("\\u{6f22}"), 5, false, TEXT_ASCII);
	assert_string_equal(buf_cstr(&out), "\\u{6+");
	buf_free(&out);
}

/* The end is kept, in exactly as many cells; wide characters and marks stay whole. */
TEST(test_fit_end)
{
	static const struct {
		const char *text;
		unsigned cells;
		const char *fitted;
	} cases[] = {
		{ "/a/b", 0, "" },
		{ "", 3, "   " },
		{ "/a", 4, "/a  " },
		{ "/a/b", 4, "/a/b" },
		{ "/var/b", 4, "+r/b" },
		{ "/var/b", 1, "+" },
		{ WIDE WIDE "a", 4, "+" WIDE "a" },
		{ WIDE WIDE "a", 3, "+a " },
		{ "abc" THAI MARK "d", 3, "+" THAI MARK "d" },
		{ "abc" THAI MARK "d", 2, "+d" },
	};
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		out.len = 0;
		buf_putc(&out, '|');
		text_fit_end(&out, cases[i].text, strlen(cases[i].text), cases[i].cells, TEXT_UTF8);
		assert_string_equal(buf_cstr(&out) + 1, cases[i].fitted);
		assert_int_equal(text_width(out.data + 1, out.len - 1, TEXT_UTF8), cases[i].cells);
	}
	buf_free(&out);
}

/* A cell that is one word. */
TEST(test_word)
{
	static const char *const cases[][2] = {
		{ "", "\"\"" },
		{ " ", "\\x20" },
		{ "word", "word" },
		{ "two words", "two\\x20words" },
		{ "  a  ", "\\x20\\x20a\\x20\\x20" },
		{ "\xe6\xbc\xa2 x", "\xe6\xbc\xa2\\x20x" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf text = { 0 };

		buf_puts(&text, cases[i][0]);
		text_word(&text);
		assert_string_equal(buf_cstr(&text), cases[i][1]);
		buf_free(&text);
	}
}

/* Prose in lines: whole words, those behind the first indented, and what fits no line is cut. */
TEST(test_wrap)
{
	static const struct {
		unsigned used, left, width;
		const char *text, *lines;
	} cases[] = {
		{ 0, 0, 10, "", "\n" },
		{ 0, 0, 10, "0123456789", "0123456789\n" },
		{ 0, 0, 10, "one two three", "one two\nthree\n" },
		{ 0, 2, 10, "one two three four", "one two\n  three\n  four\n" },
		{ 0, 0, 7, "one two three", "one two\nthree\n" },
		{ 0, 0, 5, "0123456789 x", "01234\n56789\nx\n" },
		{ 4, 4, 10, "one two three", "one\n    two\n    three\n" },
		{ 4, 6, 12, "one two  three", "one two\n      three\n" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf out = { 0 };

		text_wrap(&out, cases[i].text, cases[i].used, cases[i].left, cases[i].width);
		assert_string_equal(buf_cstr(&out), cases[i].lines);
		buf_free(&out);
	}
	assert_int_equal(text_line("one two", 7), 7);
	assert_int_equal(text_line("one two", 6), 3);
	assert_int_equal(text_line("one two", 2), 2);
	assert_int_equal(text_line("one two", 0), 0);
}

/* What is not known is before all others. */
TEST(test_compare)
{
	assert_int_equal(text_compare(NULL, NULL), 0);
	assert_int_equal(text_compare("a", "a"), 0);
	assert_true(text_compare(NULL, "") < 0);
	assert_true(text_compare("", NULL) > 0);
	assert_true(text_compare("a", "b") < 0);
	assert_true(text_compare("b", "a") > 0);
}

/* Nothing but widths may depend on it. */
TESTS_WITHIN(test_in_utf8, NULL)
