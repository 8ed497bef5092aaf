/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/walk_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/proctask.h"

/* A new entry, for sorting. */
struct newcomer {
	pid_t tgid, pid;
	uint32_t entry;
};

/* Makes room for the places of n entries, in this walk and the next. */
static void reserve_slots(struct walk_index *places, size_t n)
{
	if (n <= places->walk_cap)
		return;
	places->walk_cap = n + n / 2;
	places->walk = xreallocarray(places->walk, places->walk_cap, sizeof(*places->walk));
	places->next = xreallocarray(places->next, places->walk_cap, sizeof(*places->next));
	places->elements =
		xreallocarray(places->elements, places->walk_cap, sizeof(*places->elements));
}

bool walk_index_want(const struct walk_index *places, pid_t tgid)
{
	const struct source_env *env = places->env;

	return !env->pids || pidlist_has(env->pids, env->npids, tgid);
}

/* True if the record belongs to the task, which may have been found by another source. */
static bool is_same_task(const struct task *task, const struct snapshot_record *record)
{
	return task->start_lo <= record->start_ns && record->start_ns <= task->start_hi;
}

/*
 * The previous sample's element of an entry. The walk keeps its order, so the search starts at
 * `at`, after the place found last.
 */
static uint32_t find_element(const struct walk_index *places, const struct sample *prev,
			     const struct snapshot_view *view, const struct snapshot_entry *entry,
			     size_t *at)
{
	const struct snapshot_record *record;
	size_t known;

	if (*at < places->nwalk && places->walk[*at].pid == entry->pid && !entry->record)
		return places->walk[(*at)++].element;
	if (entry->record) {
		record = &view->records[entry->record - 1];
		*at += *at < places->nwalk && places->walk[*at].pid == entry->pid;
		if (!walk_index_want(places, record->tgid))
			return LEFT_OUT;
		known = sample_place(prev, record->tgid, record->pid);
		return known != NO_PLACE && is_same_task(prev->raw[known]->task, record)
			       ? (uint32_t)known
			       : NO_ELEMENT;
	}
	for (size_t i = *at; i < places->nwalk; i++)
		if (places->walk[i].pid == entry->pid) {
			*at = i + 1;
			return places->walk[i].element;
		}
	return NO_ELEMENT;
}

/*
 * Finds for each entry its element in the previous sample. *steady: the elements are the same, in
 * the same order. False if an entry without a record is not found.
 */
static bool place_entries(struct walk_index *places, const struct sample *prev,
			  const struct snapshot_view *view, bool *steady)
{
	size_t at = 0;

	*steady = view->nentries == places->nwalk;
	for (size_t k = 0; k < view->nentries; k++) {
		const struct snapshot_entry *entry = &view->entries[k];
		uint32_t element = find_element(places, prev, view, entry, &at);

		if (element == NO_ELEMENT && !entry->record)
			return false;
		places->next[k] = (struct walk_slot){ entry->pid, element };
		*steady &= at == k + 1 && places->walk[k].element == element;
	}
	return true;
}

/* Marks an id as visited. False if it already was. */
static bool mark_visited(struct walk_index *places, pid_t pid)
{
	size_t word = (uint32_t)pid / 64, before = places->visited_words;
	uint64_t bit = UINT64_C(1) << (uint32_t)pid % 64;

	RESERVE(places->visited, word + 1, places->visited_words);
	memset(places->visited + before, 0,
	       (places->visited_words - before) * sizeof(*places->visited));
	if (places->visited[word] & bit)
		return false;
	places->visited[word] |= bit;
	return true;
}

/* Starts a copy of the entries with the first n, which all have different ids. */
static struct snapshot_entry *copy_entries(struct walk_index *places,
					   const struct snapshot_view *view, size_t n)
{
	RESERVE(places->united, view->nentries, places->united_cap);
	memcpy(places->united, view->entries, n * sizeof(*places->united));
	return places->united;
}

/*
 * Merges duplicate ids: exec during the walk gives a thread its leader's id (de_thread() in
 * fs/exec.c), or an id is reused. Later entry wins. True: there were any.
 */
static bool unite_entries(struct walk_index *places, struct snapshot_view *view)
{
	struct snapshot_entry *united = NULL;
	size_t n = 0, first;

	if (places->visited)
		memset(places->visited, 0, places->visited_words * sizeof(*places->visited));
	for (size_t k = 0; k < view->nentries; k++) {
		const struct snapshot_entry *entry = &view->entries[k];

		if (mark_visited(places, entry->pid)) {
			if (united)
				united[n] = *entry;
			n++;
			continue;
		}
		if (!united)
			united = copy_entries(places, view, n);
		for (first = 0; united[first].pid != entry->pid;)
			first++;
		united[first] = *entry;
	}
	if (!united)
		return false;
	debug_log("bpf: %zu of %zu entries had the id of another", view->nentries - n,
		  view->nentries);
	view->entries = united;
	view->nentries = n;
	return true;
}

bool walk_index_find(struct walk_index *places, const struct sample *prev,
		     struct snapshot_view *view, bool *steady)
{
	reserve_slots(places, view->nentries);
	if (!place_entries(places, prev, view, steady))
		return false;
	/* Each id occurs once, in the order of the previous walk. */
	return *steady || !unite_entries(places, view) || place_entries(places, prev, view, steady);
}

/* Orders new entries as the sample is sorted. */
static int compare_newcomers(const void *a, const void *b)
{
	const struct newcomer *x = a, *y = b;
	uint64_t xorder = task_order(x->tgid, x->pid), yorder = task_order(y->tgid, y->pid);

	return (xorder > yorder) - (xorder < yorder);
}

/* Sorts the entries: those with an element in the previous sample by that, the new ones by id. */
static void sort_entries(struct walk_index *places, const struct sample *prev,
			 const struct snapshot_view *view)
{
	RESERVE(places->entry_of, prev->n, places->entry_of_cap);
	RESERVE(places->newcomers, view->nentries, places->newcomers_cap);
	places->nnewcomers = 0;
	for (size_t e = 0; e < prev->n; e++)
		places->entry_of[e] = NO_ELEMENT;
	for (size_t k = 0; k < view->nentries; k++) {
		uint32_t element = places->next[k].element;

		places->elements[k] = NO_ELEMENT;
		if (element == LEFT_OUT)
			continue;
		if (element == NO_ELEMENT) {
			const struct snapshot_record *record =
				&view->records[view->entries[k].record - 1];

			places->newcomers[places->nnewcomers++] =
				(struct newcomer){ record->tgid, record->pid, (uint32_t)k };
		} else {
			places->entry_of[element] = (uint32_t)k;
		}
	}
	qsort(places->newcomers, places->nnewcomers, sizeof(*places->newcomers), compare_newcomers);
}

/* True if the element comes before the new entry. */
static bool comes_before(const struct task_raw *raw, const struct newcomer *newcomer)
{
	return raw_order(raw) < task_order(newcomer->tgid, newcomer->pid);
}

/* How many of the first elements keep their places: none of them left, and none came in between. */
static size_t count_stable(const struct walk_index *places, const struct sample *prev)
{
	size_t n, end = prev->n;

	/* The sample is sorted, so a binary search reads few of its elements. */
	if (places->nnewcomers)
		LOWER_BOUND(end, prev->n, comes_before(prev->raw[end], &places->newcomers[0]));
	for (n = 0; n < end && places->entry_of[n] != NO_ELEMENT; n++)
		;
	return n;
}

size_t walk_index_sort(struct walk_index *places, const struct sample *prev,
		       const struct snapshot_view *view, bool steady)
{
	places->nnewcomers = 0;
	if (steady)
		return prev->n;
	sort_entries(places, prev, view);
	return count_stable(places, prev);
}

void walk_index_add(struct walk_index *places, const struct sample *prev, struct sample *cur,
		    size_t stable)
{
	size_t e = cur->n, m = 0;

	for (;;) {
		const struct newcomer *new = m < places->nnewcomers ? &places->newcomers[m] : NULL;

		while (e < prev->n && e >= stable && places->entry_of[e] == NO_ELEMENT)
			e++;
		if (e < prev->n && (e < stable || !new || comes_before(prev->raw[e], new))) {
			if (e >= stable)
				places->elements[places->entry_of[e]] = (uint32_t)cur->n;
			sample_add_shared(cur, prev->raw[e]);
			e++;
		} else if (new) {
			places->elements[new->entry] = (uint32_t)cur->n;
			sample_add(cur, new->tgid, new->pid);
			m++;
		} else {
			return;
		}
	}
}

void walk_index_keep(struct walk_index *places, size_t n)
{
	struct walk_slot *walk = places->walk;

	places->walk = places->next;
	places->next = walk;
	places->nwalk = n;
}

void walk_index_free(struct walk_index *places)
{
	free(places->walk);
	free(places->next);
	free(places->elements);
	free(places->entry_of);
	free(places->newcomers);
	free(places->visited);
	free(places->united);
}
