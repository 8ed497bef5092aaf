/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for texts, so that a recording has each text once. */
#ifndef STALLTOP_HISTORY_TEXTS_H
#define STALLTOP_HISTORY_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: none. */
struct texts {
	void *tree; /* of tsearch() */
	uint32_t n;
};

/*
 * The number of a text, from 1 on; 0 for NULL. *added: it is new. *kept (unless NULL): a copy that
 * stays until texts_free().
 */
uint32_t texts_number(struct texts *texts, const char *text, bool *added, const char **kept);

/* Forgets all texts. */
void texts_free(struct texts *texts);

#endif
