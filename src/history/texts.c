/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/texts.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A text with its number; the bytes follow. */
struct numbered_text {
	uint32_t id;
	char text[];
};

/* Orders by text. The keys in the tree are the texts themselves. */
static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Returns the struct that a text belongs to. */
static struct numbered_text *numbered_of(const char *text)
{
	return (struct numbered_text *)(uintptr_t)(text - offsetof(struct numbered_text, text));
}

uint32_t texts_number(struct texts *texts, const char *text, bool *added, const char **kept)
{
	struct numbered_text *numbered;
	char **node;
	size_t len;

	*added = false;
	if (kept)
		*kept = NULL;
	if (!text)
		return 0;
	node = tfind(text, &texts->tree, compare_texts);
	if (node && kept)
		*kept = *node;
	if (node)
		return numbered_of(*node)->id;
	len = strlen(text) + 1;
	numbered = xcalloc(1, sizeof(*numbered) + len);
	numbered->id = ++texts->n;
	memcpy(numbered->text, text, len);
	if (!tsearch(numbered->text, &texts->tree, compare_texts))
		die("out of memory");
	*added = true;
	texts->bytes += len;
	if (kept)
		*kept = numbered->text;
	return numbered->id;
}

/* Frees a node's text. */
static void free_text(void *text)
{
	free(numbered_of(text));
}

void texts_drop(struct texts *texts)
{
	tdestroy(texts->tree, free_text);
	texts->tree = NULL;
	texts->bytes = 0;
}

void texts_free(struct texts *texts)
{
	tdestroy(texts->tree, free_text);
	*texts = (struct texts){ 0 };
}
