/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to prompts, by kind of prompt, while the screen is open. */
#ifndef STALLTOP_UI_RECALL_H
#define STALLTOP_UI_RECALL_H

#include <stddef.h>

#include "base/buf.h"

struct ui;

/*
 * Takes the answer and returns reactions. Errors are appended to `error`: then the prompt stays
 * open and shows them. A prompt may be opened anew from here.
 */
typedef unsigned prompt_done_fn(struct ui *ui, const char *answer, struct buf *error);

/* The most answers of a kind that are kept. */
#define RECALL_MAX 50

/* The answers to one kind of prompt, which is told by what takes them. */
struct recall_kind {
	prompt_done_fn *kind;
	char *texts[RECALL_MAX]; /* the oldest first */
	size_t n;
};

/* Empty when zero-initialised. */
struct recall {
	struct recall_kind *kinds;
	size_t n;
};

/* Keeps an answer as the last of its kind, once; an empty one is not kept. */
void recall_add(struct recall *recall, prompt_done_fn *kind, const char *text);

/* An earlier answer: 1 is the last one. NULL: there were fewer. */
const char *recall_at(const struct recall *recall, prompt_done_fn *kind, size_t back);

void recall_free(struct recall *recall);

#endif
