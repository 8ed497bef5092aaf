/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word that was meant by one that is not known: a letter or two away from it. */
#ifndef STALLTOP_BASE_NEAR_H
#define STALLTOP_BASE_NEAR_H

#include <stddef.h>

#include "base/buf.h"

/* The word looked for, and the nearest so far, which must live as long. */
struct near {
	const char *word;
	size_t len;
	const char *best; /* NULL: none is near */
	size_t best_len;
	unsigned distance;
};

/* Begins to look for a word. */
static inline struct near near_word(const char *word, size_t len)
{
	return (struct near){ .word = word, .len = len };
}

/* Looks at a word that is known. Of several as near the first stays. */
void near_try(struct near *near, const char *known, size_t len);

/* Looks at each word of a text like "one, two, three"; at none where it is anything else. */
void near_try_list(struct near *near, const char *text, size_t len);

/* Appends a question for the nearest, with two dashes before it if need be; nothing for none. */
void near_append(const struct near *near, const char *dashes, struct buf *out);

#endif
