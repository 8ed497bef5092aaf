/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Untrusted names: escaped so that they cannot affect a terminal or a parser, and measured in
 * terminal cells so that columns stay straight.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

/* The characters that the receiver can show. Machine formats always take TEXT_UTF8. */
enum text_charset { TEXT_ASCII, TEXT_UTF8 };

/*
 * Appends bytes as printable text. Control bytes (C0, DEL) and bytes that are no
 * UTF-8 become \xNN; C1, bidirectional and other invisible characters, spaces
 * that are not U+0020, unassigned characters, and the combining marks that go
 * with any script (by them one character can be written in two ways) become
 * \u{NNNN} (lower-case hex, at least four digits); a backslash becomes \\. A
 * mark of one script stays as it is after a character of its kind, at most four
 * in a row; elsewhere, as in front, it is escaped. In TEXT_ASCII every character
 * above U+007E becomes \u{NNNN}. So two different byte strings never come out the
 * same. All this is free of locale.
 */
void text_escape(struct buf *out, const char *bytes, size_t len, enum text_charset charset);

/*
 * Adds bytes, or a text (NULL differs from any text), to a hash that begins with HASH_START: the
 * same on all machines, collisions are improbable.
 */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
uint64_t hash_text(uint64_t hash, const char *text);

/* Orders texts by bytes as strcmp() does; NULL, an unknown one, sorts first. */
int text_compare(const char *a, const char *b);

/*
 * Makes one word of a buffer of escaped text, for readers that split lines at blanks: a blank
 * becomes \x20, and an empty text becomes "".
 */
void text_word(struct buf *escaped);

/* Cells that escaped text takes (wide characters 2, marks 0). TEXT_UTF8 needs the locale set. */
unsigned text_width(const char *escaped, size_t len, enum text_charset charset);

/*
 * Appends escaped text in exactly `cells` cells: padded with spaces (at the left
 * when right_align), or cut at a character with a '+' in the last cell. A wide
 * character that would straddle the cut becomes padding.
 */
void text_fit(struct buf *out, const char *escaped, size_t len, unsigned cells, bool right_align,
	      enum text_charset charset);

/*
 * Does the same, but cuts at the front if it is too long, as the end of a path matters more: '+'
 * comes first.
 */
void text_fit_end(struct buf *out, const char *escaped, size_t len, unsigned cells,
		  enum text_charset charset);

/* Length of the text's next line of at most so many cells: whole words, if one fits. ASCII. */
size_t text_line(const char *text, unsigned cells);

/*
 * Appends plain ASCII as lines of at most `width` cells, the first after `used` cells already in
 * its line, the others after `left` spaces. Each ends with a newline.
 */
void text_wrap(struct buf *out, const char *text, unsigned used, unsigned left, unsigned width);

/* Width of lines printed for people: every terminal has that. */
#define TEXT_PRINTED 79

/* Suggests a known word for an unknown one: a letter or two away from it. */

/* the word searched for, and the nearest so far, which must live as long */
struct suggestion {
	const char *word;
	size_t len;
	const char *best; /* NULL: none is near */
	size_t best_len;
	unsigned distance;
};

/* Starts a search. */
static inline struct suggestion suggest_for(const char *word, size_t len)
{
	return (struct suggestion){ .word = word, .len = len };
}

/* Compares a known word. Of several at one distance the first is kept. */
void suggest_try(struct suggestion *near, const char *known, size_t len);

/* Compares each word of a text like "one, two, three"; none if it is anything else. */
void suggest_try_list(struct suggestion *near, const char *text, size_t len);

/* Appends a question for the nearest word, with two dashes before it if needed; nothing if none. */
void suggest_append(const struct suggestion *near, const char *dashes, struct buf *out);
