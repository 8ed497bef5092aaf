/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of a frame by process: an index made at the first question, for all callers. */
#ifndef STALLTOP_VIEW_SITE_INDEX_H
#define STALLTOP_VIEW_SITE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/wait_state.h"

/* Empty when zero-initialised; its memory is kept from frame to frame. */
struct site_index {
	const struct trace_frame *trace; /* NULL: nothing was traced */
	bool made;
	size_t places; /* a power of two */
	/* By a place of the process's id, then by site: 1 + the place of a site; 0: none. */
	uint32_t *first, *next;
	size_t places_cap, next_cap;
};

/* Begins a frame; trace NULL: nothing was traced. It must stay as long as the index is asked. */
void site_index_begin(struct site_index *index, const struct trace_frame *trace);

/*
 * The sites of a process in the frame's order, the most time first: the one after `site`, which was
 * one of them, or the first for NULL. NULL: there are no more.
 */
const struct site *site_index_next(struct site_index *index, pid_t tgid, uint64_t start_ns,
				   const struct site *site);

void site_index_free(struct site_index *index);

#endif
