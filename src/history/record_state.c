/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "history/record_parts.h"

/* Sites and groups missing in so many records are dropped. */
#define FORGET_RECORDS 16

char *record_keep(struct record_state *state, const char *text)
{
	struct kept_text *kept;
	size_t at;

	if (!text)
		return NULL;
	kept = record_kept(state, text, &at);
	if (!kept) {
		GROW(state->texts, state->ntexts, state->texts_cap);
		memmove(&state->texts[at + 1], &state->texts[at],
			(state->ntexts++ - at) * sizeof(*state->texts));
		kept = state->texts[at] = xcalloc(1, sizeof(*kept));
		kept->text = shared_text(text);
	}
	kept->keys = state->keys;
	return kept->text;
}

struct kept_text *record_kept(const struct record_state *state, const char *text, size_t *at)
{
	LOWER_BOUND(*at, state->ntexts, strcmp(state->texts[*at]->text, text) < 0);
	return *at < state->ntexts && !strcmp(state->texts[*at]->text, text) ? state->texts[*at]
									     : NULL;
}

void record_forget_texts(struct record_state *state, uint64_t keys)
{
	size_t n = 0;

	for (size_t i = 0; i < state->ntexts; i++) {
		struct kept_text *kept = state->texts[i];

		if (kept->keys >= keys) {
			state->texts[n++] = kept;
			continue;
		}
		shared_unref(kept->text);
		free(kept->functions);
		free(kept);
	}
	state->ntexts = n;
}

struct recorded_element *record_numbered(const struct record_state *state, size_t number)
{
	return number <= state->n ? &state->known[number - 1] : &state->left[number - state->n - 1];
}

struct recorded_rare *record_rare(struct recorded_element *known)
{
	if (!known->more)
		known->more = xcalloc(1, sizeof(*known->more));
	return known->more;
}

void record_forget(struct recorded_element *known)
{
	struct recorded_rare *more = known->more;

	task_raw_unref(known->raw);
	if (more) {
		free(more->record);
		free(more->proc);
		if (more->played) {
			free(more->played->impossible);
			free(more->played->more);
		}
		free(more->played);
	}
	free(more);
	*known = (struct recorded_element){ 0 };
}

void record_change(struct recorded_element *was, struct recorded_element *now, struct task_raw *raw)
{
	now->raw = raw;
	/* The former raw element stays until the next record is complete: others may need it. */
	was->more = NULL;
}

/* Frees elements that are changed in the next record. */
static void forget_former(struct recorded_element *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!known[i].moved)
			record_forget(&known[i]);
}

/* Swaps two arrays. */
static void swap(struct recorded_element **a, size_t *a_cap, struct recorded_element **b,
		 size_t *b_cap)
{
	struct recorded_element *array = *a;
	size_t cap = *a_cap;

	*a = *b;
	*a_cap = *b_cap;
	*b = array;
	*b_cap = cap;
}

void record_turn(struct record_state *state, size_t n, size_t nleft)
{
	forget_former(state->known, state->n);
	forget_former(state->left, state->nleft);
	swap(&state->known, &state->cap, &state->next, &state->next_cap);
	swap(&state->left, &state->left_cap, &state->next_left, &state->next_left_cap);
	state->n = n;
	state->nleft = nleft;
}

void record_clear(struct record_state *state)
{
	for (size_t i = 0; i < state->n; i++)
		record_forget(&state->known[i]);
	for (size_t i = 0; i < state->nleft; i++)
		record_forget(&state->left[i]);
	state->n = state->nleft = 0;
	record_begin_key(state);
	state->begun = false;
}

void record_begin_key(struct record_state *state)
{
	for (size_t i = 0; i < state->ngroups; i++)
		free(state->groups[i].path);
	state->ngroups = state->nsites = 0;
	state->keys++;
	/*
	 * A reader's samples may have texts of key records long ago: record_rebuild_sample() drops
	 * them.
	 */
	if (!state->rebuilt.given)
		record_forget_texts(state, state->keys);
	state->clocks.n = 0;
	state->head = (struct record_head){ 0 };
	state->number = 0;
}

void record_state_free(struct record_state *state)
{
	record_clear(state);
	for (size_t i = 0; i < state->rebuilt.nfixes; i++)
		task_unref(state->rebuilt.fixes[i].task);
	for (size_t i = 0; i < state->rebuilt.ngone; i++)
		record_forget(&state->rebuilt.gone[i]);
	sample_free(&state->rebuilt.extras);
	free(state->rebuilt.fixes);
	free(state->rebuilt.gone);
	free(state->known);
	free(state->left);
	free(state->next);
	free(state->next_left);
	free(state->sites);
	free(state->groups);
	clocks_free(&state->clocks);
	record_forget_texts(state, UINT64_MAX);
	free(state->texts);
	*state = (struct record_state){ 0 };
}

struct task_raw record_predict(const struct task_raw *was, uint64_t before_ns, uint64_t passed_ns)
{
	struct task_raw raw = *was;
	uint64_t threads = was->now.threads ? was->now.threads : 1;

	raw.read_ns = before_ns + passed_ns;
	if (raw.counters.life_ns && raw.read_ns > was->read_ns)
		raw.counters.life_ns += threads * (raw.read_ns - was->read_ns);
	raw.exited = false;
	raw.was = 0;
	raw.now.waits.dwait_ns = 0;
	return raw;
}

uint8_t record_predict_mark(const struct record_state *state, uint8_t was, bool same)
{
	if (!state->head.marked)
		return 0;
	return (uint8_t)(same ? was | MARK_UNCHANGED : was & ~MARK_UNCHANGED);
}

struct record_traced record_predict_traced(const struct steady_states *standing,
					   uint64_t interval_ns)
{
	struct record_traced traced = { 0 };

	if (!standing)
		return traced;
	traced.tgid = standing->tgid;
	traced.start_ns = standing->start_ns;
	traced.lost_known = standing->lost_known;
	traced.lost_ns = standing->lost * interval_ns;
	for (unsigned state = 0; state < WAIT_STATES; state++)
		traced.states.ns[state] = standing->in[state] * interval_ns;
	return traced;
}

/* The number of intervals in a time. False: not an integer. */
static bool divide(uint64_t ns, uint64_t interval_ns, uint32_t *n)
{
	if (!ns) {
		*n = 0;
		return true;
	}
	if (!interval_ns || ns % interval_ns || ns / interval_ns > UINT32_MAX)
		return false;
	*n = (uint32_t)(ns / interval_ns);
	return true;
}

void record_note_traced(struct recorded_element *known, const struct record_traced *traced,
			uint64_t interval_ns)
{
	struct steady_states standing = { 0 };
	bool stands = traced && !traced->waker && !traced->more;

	for (unsigned state = 0; stands && state < WAIT_STATES; state++)
		stands = divide(traced->states.ns[state], interval_ns, &standing.in[state]);
	if (!stands || !divide(traced->lost_ns, interval_ns, &standing.lost)) {
		if (known->more)
			known->more->stands = false;
		return;
	}
	standing.lost_known = traced->lost_known;
	standing.tgid = traced->tgid;
	standing.start_ns = traced->start_ns;
	record_rare(known)->standing = standing;
	known->more->stands = true;
}

void record_predict_sites(struct record_state *state, bool traced, uint64_t interval_ns)
{
	for (size_t i = 0; i < state->nsites; i++) {
		struct recorded_site *known = &state->sites[i];
		struct site *site = &known->row.site;

		if (traced && known->there && site->waiting)
			site_wait_on(site, interval_ns);
		else
			record_leave_site(known);
	}
}

void record_leave_site(struct recorded_site *known)
{
	known->there = false;
	known->row.site.waiting = 0;
	known->row.site.waiting_ns = 0;
	known->row.site.at_least = false;
	site_wait_on(&known->row.site, 0);
}

void record_predict_head(struct record_state *state)
{
	struct record_head *head = &state->head;
	uint64_t passed_ns = head->interval_ns;

	head->real_ns += passed_ns;
	head->begin_ns += passed_ns;
	head->system.pressure.read_ns += passed_ns;
	head->system.of_group.read_ns += passed_ns;
	head->dropped = 0;
}

size_t record_site_index(const struct record_state *state, uint64_t id)
{
	size_t at;

	LOWER_BOUND(at, state->nsites, state->sites[at].row.site.id < id);
	return at;
}

size_t record_group_index(const struct record_state *state, const char *path)
{
	size_t at;

	LOWER_BOUND(at, state->ngroups, strcmp(state->groups[at].path, path) < 0);
	return at;
}

struct recorded_site *record_add_site(struct record_state *state, size_t at)
{
	GROW(state->sites, state->nsites, state->sites_cap);
	memmove(&state->sites[at + 1], &state->sites[at],
		(state->nsites++ - at) * sizeof(*state->sites));
	state->sites[at] = (struct recorded_site){ .row.site.kind = -1 };
	return &state->sites[at];
}

struct recorded_group *record_add_group(struct record_state *state, size_t at, const char *path)
{
	GROW(state->groups, state->ngroups, state->groups_cap);
	memmove(&state->groups[at + 1], &state->groups[at],
		(state->ngroups++ - at) * sizeof(*state->groups));
	state->groups[at] = (struct recorded_group){ .path = xstrdup(path) };
	return &state->groups[at];
}

void record_begin(struct record_state *state)
{
	state->number++;
	for (size_t i = 0; i < state->ngroups; i++)
		state->groups[i].there = false;
}

void record_end_of(struct record_state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->nsites; i++)
		if (state->sites[i].there || state->sites[i].seen + FORGET_RECORDS >= state->number)
			state->sites[kept++] = state->sites[i];
	state->nsites = kept;
	kept = 0;
	for (size_t i = 0; i < state->ngroups; i++)
		if (state->groups[i].seen + FORGET_RECORDS >= state->number)
			state->groups[kept++] = state->groups[i];
		else
			free(state->groups[i].path);
	state->ngroups = kept;
	state->begun = true;
}
