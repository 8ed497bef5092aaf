/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/buf.h"
#include "history/store_parts.h"

/* Writes processes that are new, as the trace tells them. */
static void put_processes(struct store *store, const struct moment *moment)
{
	const struct moment_process *processes = moment_part(moment, PART_PROCESSES);

	for (size_t i = 0; i < moment->bytes[PART_PROCESSES] / sizeof(*processes); i++) {
		store_begin(store, PUT_PROCESS);
		store_int(store, processes[i].id);
		store_int(store, processes[i].tgid);
		store_int(store, (int64_t)processes[i].start_ns);
		store_end(store);
	}
}

/* Writes sites that are new. */
static void put_sites(struct store *store, const struct moment *moment)
{
	const struct moment_site *sites = moment_part(moment, PART_SITES);

	for (size_t i = 0; i < moment->bytes[PART_SITES] / sizeof(*sites); i++) {
		const struct moment_site *site = &sites[i];

		store_begin(store, PUT_SITE);
		store_int(store, site->id);
		store_int(store, site->process);
		store_id(store, site->comm);
		store_int(store, site->state);
		store_known(store, site->kind >= 0, (uint64_t)(int64_t)site->kind);
		store_int(store, site->overlaps);
		store_id(store, site->syscall);
		store_id(store, site->on);
		store_id(store, site->where);
		store_id(store, site->stack);
		store_int(store, (int64_t)site->order);
		store_int(store, site->class);
		store_end(store);
	}
}

/* Writes how tasks spent the interval. */
static void put_states(struct store *store, const struct moment *moment)
{
	const struct moment_states *states = moment_part(moment, PART_STATES);
	const struct moment_more *more = moment_part(moment, PART_MORE);

	for (size_t i = 0; i < moment->bytes[PART_STATES] / sizeof(*states); i++) {
		store_begin(store, PUT_STATES);
		store_int(store, store->sample);
		store_int(store, states[i].task);
		store_id(store, states[i].process);
		store_id(store, states[i].waker);
		for (unsigned state = 0; state < WAIT_STATES; state++)
			store_known(store, states[i].known, states[i].states.ns[state]);
		store_known(store, states[i].lost_known, states[i].lost_ns);
		store_end(store);
	}
	for (size_t i = 0; i < moment->bytes[PART_MORE] / sizeof(*more); i++) {
		store_begin(store, PUT_STOOD_FOR);
		store_int(store, store->sample);
		store_int(store, more[i].task);
		store_int(store, (int64_t)i);
		store_int(store, more[i].process);
		store_end(store);
	}
}

/* Appends how long waits were, without the buckets above the last that has any; NULL: none has. */
static void put_lengths(struct store *store, const uint64_t *lengths, struct buf *text)
{
	unsigned n = SITE_BUCKETS;

	while (n && !lengths[n - 1])
		n--;
	text->len = 0;
	for (unsigned i = 0; i < n; i++) {
		buf_putc(text, i ? ',' : '[');
		buf_uint(text, lengths[i]);
	}
	buf_putc(text, ']');
	if (n)
		store_chars(store, text->data, text->len, false);
	else
		store_null(store);
}

/* Writes who ended waits at a site. */
static void put_site_wakers(struct store *store, const struct moment_site_wait *wait)
{
	for (unsigned i = 0; i < SITE_WAKERS; i++) {
		const struct site_waker *waker = &wait->wait.wakers[i];

		if (!waker->tgid && !wait->wakers[i])
			return;
		store_begin(store, PUT_SITE_WAKER);
		store_int(store, store->sample);
		store_int(store, wait->site);
		store_int(store, i);
		store_known(store, waker->tgid, (uint64_t)waker->tgid);
		store_id(store, wait->wakers[i]);
		store_int(store, (int64_t)waker->ns);
		store_int(store, (int64_t)waker->count);
		store_end(store);
	}
}

/* Writes what was waited at sites. */
static void put_site_waits(struct store *store, const struct moment *moment)
{
	const struct moment_site_wait *waits = moment_part(moment, PART_SITE_WAITS);
	struct buf text = { 0 };

	for (size_t i = 0; i < moment->bytes[PART_SITE_WAITS] / sizeof(*waits); i++) {
		const struct site *site = &waits[i].wait;

		store_begin(store, PUT_SITE_WAIT);
		store_int(store, store->sample);
		store_int(store, waits[i].site);
		store_int(store, (int64_t)site->count);
		store_int(store, (int64_t)site->ns);
		store_known(store, site->kind >= 0, site->kind_ns);
		store_int(store, (int64_t)site->max_ns);
		store_int(store, site->waiting);
		store_int(store, (int64_t)site->waiting_ns);
		store_int(store, site->at_least);
		put_lengths(store, site->log2_us, &text);
		store_end(store);
		put_site_wakers(store, &waits[i]);
	}
	buf_free(&text);
}

/* Writes what no site explains. */
static void put_rests(struct store *store, const struct moment *moment)
{
	const struct moment_rest *rests = moment_part(moment, PART_RESTS);

	for (size_t i = 0; i < moment->bytes[PART_RESTS] / sizeof(*rests); i++) {
		store_begin(store, PUT_UNEXPLAINED);
		store_int(store, store->sample);
		store_int(store, rests[i].process);
		store_int(store, rests[i].kind);
		if (rests[i].unknown)
			store_null(store);
		else
			store_int(store, rests[i].ns);
		store_id(store, rests[i].comm);
		store_end(store);
	}
}

void store_put_trace(struct store *store, const struct moment *moment)
{
	put_processes(store, moment);
	put_sites(store, moment);
	if (!(moment->flags & MOMENT_TRACED))
		return;
	store_begin(store, PUT_TRACE);
	store_int(store, store->sample);
	store_int(store, (int64_t)moment->trace.interval_ns);
	store_int(store, (int64_t)moment->trace.lost);
	store_int(store, (int64_t)moment->trace.switches);
	store_real(store, moment->trace.cost >= 0, moment->trace.cost);
	store_end(store);
	put_states(store, moment);
	put_site_waits(store, moment);
	put_rests(store, moment);
}

void store_put_evidence(struct store *store, const struct moment *moment)
{
	const struct moment_evidence *all = moment_part(moment, PART_EVIDENCE);

	for (size_t i = 0; i < moment->bytes[PART_EVIDENCE] / sizeof(*all); i++) {
		const struct moment_evidence *evidence = &all[i];

		store_begin_task(store, PUT_EVIDENCE, evidence->task);
		store_known(store, evidence->tid, (uint64_t)evidence->tid);
		store_known(store, evidence->since_ns, evidence->since_ns);
		store_known(store, evidence->state >= 0, (uint64_t)(int64_t)evidence->state);
		store_known(store, evidence->state >= 0, evidence->class);
		store_id(store, evidence->syscall);
		store_id(store, evidence->on);
		store_id(store, evidence->where);
		store_int(store, evidence->known);
		store_real(store, evidence->known && evidence->throttled >= 0, evidence->throttled);
		store_real(store, evidence->known && evidence->quota > 0, evidence->quota);
		store_known(store, evidence->memory_limit, evidence->memory_limit);
		store_known(store, evidence->memory_limit, evidence->memory_used);
		store_known(store, evidence->rival, (uint64_t)evidence->rival);
		store_real(store, evidence->known && evidence->writes >= 0, evidence->writes);
		store_known(store, evidence->held, evidence->frozen);
		store_known(store, evidence->tracer, (uint64_t)evidence->tracer);
		store_id(store, evidence->tracer_name);
		store_known(store, evidence->known, evidence->io_limited);
		store_end(store);
	}
}
