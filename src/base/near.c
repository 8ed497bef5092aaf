/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/near.h"

#include <stdbool.h>
#include <string.h>

/* Longer words are not looked at. */
#define WORD_MAX 32

/* The most changes, and how many letters there must be for each. */
#define CHANGES_MAX 2
#define LETTERS 3

/* The least of three. */
static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* How many letters were left out, added, changed or swapped with the next. */
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

void near_try(struct near *near, const char *known, size_t len)
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

/* The length of a word of a list. */
static size_t word_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && ((text[n] >= 'a' && text[n] <= 'z') ||
			   (text[n] >= '0' && text[n] <= '9') || text[n] == '-'))
		n++;
	return n;
}

void near_try_list(struct near *near, const char *text, size_t len)
{
	struct near found = *near;

	for (size_t at = 0; at < len;) {
		size_t n = word_len(text + at, len - at);

		if (!n)
			return;
		near_try(&found, text + at, n);
		at += n;
		if (at == len)
			break;
		if (len - at < 3 || memcmp(text + at, ", ", 2) != 0)
			return;
		at += 2;
	}
	*near = found;
}

void near_append(const struct near *near, const char *dashes, struct buf *out)
{
	if (near->best)
		buf_printf(out, "; did you mean %s%.*s?", dashes, (int)near->best_len, near->best);
}
