/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of a walk's entries in a sample: entries of the previous walk find their elements by
 * its order, new ones by their ids.
 */
#pragma once

#include "bpf/snapshot.h"
#include "read/source.h"

/* The element of an entry of a walk. */
struct walk_slot {
	pid_t pid;
	uint32_t element;
};

#define NO_ELEMENT UINT32_MAX /* the task is new */
#define LEFT_OUT (UINT32_MAX - 1) /* its process is not selected */

/* Zero-initialised but for env: no previous walk. */
struct walk_index {
	const struct source_env *env; /* the selected processes */
	struct walk_slot *walk, *next; /* of the previous walk, and of this one */
	size_t nwalk, walk_cap;
	uint32_t *elements; /* by entry of this walk: its element in the new sample */
	/* Scratch, kept for its memory. */
	uint32_t *entry_of; /* by element of the previous sample: its entry now */
	size_t entry_of_cap;
	struct newcomer *newcomers; /* new entries, sorted */
	size_t nnewcomers, newcomers_cap;
	uint64_t *visited; /* a bit for each visited id */
	size_t visited_words;
	struct snapshot_entry *united; /* entries of a walk that visited an id twice */
	size_t united_cap;
};

/* True if a process is selected. */
bool walk_index_want(const struct walk_index *places, pid_t tgid);

/*
 * Finds for each entry its element in the previous sample: `next`. Merges entries with the same id
 * in the view. *steady: the elements are the same, in the same order. False if an entry without a
 * record is not found.
 */
bool walk_index_find(struct walk_index *places, const struct sample *prev,
		     struct snapshot_view *view, bool *steady);

/*
 * Sorts the found entries, and the new ones. Returns how many of the first elements keep their
 * places: none of them left, none came between.
 */
size_t walk_index_sort(struct walk_index *places, const struct sample *prev,
		       const struct snapshot_view *view, bool steady);

/*
 * Adds elements after those already in the new sample: first those that keep their places, then the
 * other known ones, all shared with the previous sample, and the new ones, still empty, for whose
 * entries it sets `elements`.
 */
void walk_index_add(struct walk_index *places, const struct sample *prev, struct sample *cur,
		    size_t stable);

/* Stores the places of this walk's entries for the next one. */
void walk_index_keep(struct walk_index *places, size_t n);

void walk_index_free(struct walk_index *places);
