/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/state/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The answers of a kind, or NULL. */
static struct recall_kind *find_kind(const struct recall *recall, prompt_done_fn *kind)
{
	for (size_t i = 0; i < recall->n; i++)
		if (recall->kinds[i].kind == kind)
			return &recall->kinds[i];
	return NULL;
}

/* Removes an answer. */
static void drop_answer(struct recall_kind *of, size_t at)
{
	free(of->texts[at]);
	of->n--;
	memmove(of->texts + at, of->texts + at + 1, (of->n - at) * sizeof(*of->texts));
}

void recall_add(struct recall *recall, prompt_done_fn *kind, const char *text)
{
	struct recall_kind *of = find_kind(recall, kind);

	if (!*text)
		return;
	if (!of) {
		recall->kinds = xreallocarray(recall->kinds, recall->n + 1, sizeof(*recall->kinds));
		of = &recall->kinds[recall->n++];
		*of = (struct recall_kind){ .kind = kind };
	}
	for (size_t i = 0; i < of->n; i++) {
		if (!strcmp(of->texts[i], text)) {
			drop_answer(of, i);
			break;
		}
	}
	if (of->n == RECALL_MAX)
		drop_answer(of, 0);
	of->texts[of->n++] = xstrdup(text);
}

const char *recall_at(const struct recall *recall, prompt_done_fn *kind, size_t back)
{
	const struct recall_kind *of = find_kind(recall, kind);

	return of && back && back <= of->n ? of->texts[of->n - back] : NULL;
}

void recall_free(struct recall *recall)
{
	for (size_t i = 0; i < recall->n; i++)
		while (recall->kinds[i].n)
			drop_answer(&recall->kinds[i], recall->kinds[i].n - 1);
	free(recall->kinds);
	*recall = (struct recall){ 0 };
}
