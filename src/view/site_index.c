/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/site_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void site_index_begin(struct site_index *index, const struct trace_frame *trace)
{
	index->trace = trace;
	index->made = false;
}

/* Puts all sites in their places; from the last on, so that the first come first. */
static void make_index(struct site_index *index)
{
	const struct trace_frame *trace = index->trace;

	for (index->places = 64; index->places < trace->n;)
		index->places *= 2;
	if (index->places_cap < index->places) {
		index->places_cap = index->places;
		index->first =
			xreallocarray(index->first, index->places_cap, sizeof(*index->first));
	}
	if (index->next_cap < trace->n) {
		index->next_cap = trace->n * 2;
		index->next = xreallocarray(index->next, index->next_cap, sizeof(*index->next));
	}
	memset(index->first, 0, index->places * sizeof(*index->first));
	for (size_t i = trace->n; i-- > 0;) {
		uint32_t *first = &index->first[(size_t)trace->sites[i].tgid & (index->places - 1)];

		index->next[i] = *first;
		*first = (uint32_t)i + 1;
	}
	index->made = true;
}

const struct site *site_index_next(struct site_index *index, pid_t tgid, uint64_t start_ns,
				   const struct site *site)
{
	const struct trace_frame *trace = index->trace;
	uint32_t at;

	if (!trace)
		return NULL;
	if (!index->made)
		make_index(index);
	at = site ? index->next[site - trace->sites]
		  : index->first[(size_t)tgid & (index->places - 1)];
	for (; at; at = index->next[at - 1])
		if (trace->sites[at - 1].tgid == tgid && trace->sites[at - 1].start_ns == start_ns)
			return &trace->sites[at - 1];
	return NULL;
}

void site_index_free(struct site_index *index)
{
	free(index->first);
	free(index->next);
	*index = (struct site_index){ 0 };
}
