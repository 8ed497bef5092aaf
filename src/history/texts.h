/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers texts, so that a recording has each text once. */
#ifndef STALLTOP_HISTORY_TEXTS_H
#define STALLTOP_HISTORY_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts with their numbers. Zero-initialised: empty. */
struct texts {
	void *tree; /* of tsearch() */
	uint32_t n;
	size_t bytes; /* of the texts in the tree */
};

/*
 * Finds or gives the number of a text, from 1 on; 0 for NULL. *added: the text is new. *kept
 * (unless NULL): a copy that stays valid until texts_drop() or texts_free().
 */
uint32_t texts_number(struct texts *texts, const char *text, bool *added, const char **kept);

/* Forgets the texts, but not which numbers were given: one that comes again gets another. */
void texts_drop(struct texts *texts);

/* Forgets all texts. */
void texts_free(struct texts *texts);

#endif
