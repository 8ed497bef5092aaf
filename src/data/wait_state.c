/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/wait_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define ROW(NAME, ident, bar, head, text) \
	[STATE_##NAME] = { .id = ident, .letter = bar, .heading = head, .help = text },
const struct wait_state_row wait_state_table[WAIT_STATES] = { WAIT_STATE_TABLE(ROW) };
#undef ROW

void wait_states_add(struct wait_states *sum, const struct wait_states *more)
{
	for (unsigned state = 0; state < WAIT_STATES; state++)
		sum->ns[state] += more->ns[state];
}

uint64_t wait_states_alive(const struct wait_states *states)
{
	uint64_t ns = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		ns += states->ns[state];
	return ns;
}

void traced_add(struct traced *sum, const struct traced *more, bool first)
{
	wait_states_add(&sum->states, &more->states);
	sum->lost_ns += more->lost_ns;
	sum->lost_known = more->lost_known && (first || sum->lost_known);
}

/* Orders wakers by who they are. */
static int compare_who(const void *a, const void *b)
{
	const struct site_waker *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid > y->tgid ? 1 : -1;
	return text_compare(x->name, y->name);
}

/* Orders wakers by the time that they ended. */
static int compare_ended(const void *a, const void *b)
{
	const struct site_waker *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return compare_who(a, b);
}

int site_link_compare(const struct site_link *a, const struct site_link *b)
{
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->holds != b->holds)
		return a->holds ? 1 : -1;
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

size_t wakers_top(struct site_waker *wakers, size_t n)
{
	size_t kept = n != 0;

	if (n < 2)
		return n;
	qsort(wakers, n, sizeof(*wakers), compare_who);
	for (size_t i = 1; i < n; i++) {
		if (compare_who(&wakers[kept - 1], &wakers[i])) {
			wakers[kept++] = wakers[i];
			continue;
		}
		wakers[kept - 1].ns += wakers[i].ns;
		wakers[kept - 1].count += wakers[i].count;
	}
	qsort(wakers, kept, sizeof(*wakers), compare_ended);
	return kept;
}

void wakers_add(struct wakers *wakers, const struct site *site)
{
	if (wakers->n + SITE_WAKERS > wakers->cap) {
		wakers->cap = wakers->cap * 2 + SITE_WAKERS;
		wakers->all = xreallocarray(wakers->all, wakers->cap, sizeof(*wakers->all));
	}
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		if (site->wakers[i].tgid || site->wakers[i].name)
			wakers->all[wakers->n++] = site->wakers[i];
}

void wakers_free(struct wakers *wakers)
{
	free(wakers->all);
	*wakers = (struct wakers){ 0 };
}

int site_compare(const struct site *a, const struct site *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

void site_add(struct site *sum, const struct site *site)
{
	sum->class = sum->class == site->class ? sum->class : CLASS_UNKNOWN;
	sum->rest_ns += site->rest_ns;
	sum->count += site->count;
	sum->ns += site->ns;
	sum->kind_ns += site->kind_ns;
	if (site->max_ns > sum->max_ns)
		sum->max_ns = site->max_ns;
	if (site->waiting_ns > sum->waiting_ns)
		sum->waiting_ns = site->waiting_ns;
	sum->waiting += site->waiting;
	sum->at_least |= site->at_least;
	for (unsigned i = 0; i < SITE_BUCKETS; i++)
		sum->log2_us[i] += site->log2_us[i];
}

void site_wait_on(struct site *site, uint64_t interval_ns)
{
	site->count = 0;
	site->ns = site->waiting * interval_ns;
	site->kind_ns = site->kind < 0 ? 0 : site->ns;
	site->waiting_ns += site->waiting_ns ? interval_ns : 0;
	if (site->max_ns < site->waiting_ns)
		site->max_ns = site->waiting_ns;
	memset(site->log2_us, 0, sizeof(site->log2_us));
	memset(site->wakers, 0, sizeof(site->wakers));
}

/* The state of threads in waits of a kind; other: they may run, or sleep. */
static enum wait_state state_of_kind(unsigned kind)
{
	switch (kind) {
	case DELAY_CPU:
		return STATE_CPU;
	case DELAY_BLKIO:
		return STATE_IO;
	case WAIT_DWAIT:
		return STATE_DWAIT;
	default:
		return STATE_OTHER;
	}
}

struct site site_rest(pid_t tgid, uint64_t start_ns, const char *comm, unsigned kind,
		      int64_t rest_ns)
{
	return (struct site){
		/* Ids of sites are counted up from 1. */
		.id = UINT64_MAX - ((uint64_t)(uint32_t)tgid * WAIT_KINDS + kind),
		.tgid = tgid,
		.start_ns = start_ns,
		.comm = comm,
		.state = state_of_kind(kind),
		.kind = (int)kind,
		.unattributed = true,
		.overlaps = state_of_kind(kind) == STATE_OTHER,
		.on = state_of_kind(kind) == STATE_OTHER ? SITE_WITHIN : NULL,
		.rest_ns = rest_ns,
		.ns = rest_ns > 0 ? (uint64_t)rest_ns : 0,
	};
}
