/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of waits: what wakers did while others waited for them. Each thread keeps the last of what
 * it did; at a wake-up the waker's is added to the links of the site that is left. Part of
 * trace.bpf.c.
 */
#ifndef STALLTOP_BPF_TRACE_CHAIN_H
#define STALLTOP_BPF_TRACE_CHAIN_H

#include "bpf/trace_thread.bpf.h"

/* The parts since the last sleep that are looked at for one to be added to. */
#define MERGED 4

/* The index of a part, by how many there are after it: fewer than PASTS. */
static __always_inline __u32 past_at(const struct local *local, __u32 later)
{
	return local->past >= later ? local->past - later : local->past + PASTS - later;
}

/*
 * Keeps what a thread did until now, before it moves to another state; the wait that it leaves has
 * been added to its site. A thread that is preempted again and again is in few parts: between two
 * sleeps those of one kind are one.
 */
__noinline int keep_past(struct local *local, const struct trace_thread *thread, __u64 now)
{
	struct site_ref ref;
	struct thread_past *past;
	__u32 at;
	__u64 ns;

	if (!local || !thread || now <= thread->since_ns)
		return 0;
	ns = now - thread->since_ns;
	ref.slot = thread->site;
	ref.generation = thread->generation & 0xffffff;
	if (thread->state == STATE_CPU) {
		ref.slot = local->queue.ref.slot;
		ref.generation = local->queue.ref.generation & 0xffffff;
	}
	for (__u32 i = 0; i < MERGED; i++) {
		at = past_at(local, i);
		KEEP(at);
		if (at >= PASTS)
			return 0;
		past = &local->pasts[at];
		if (sleeps(past->state))
			break;
		if (past->state == thread->state && past->site == ref.slot &&
		    past->generation == ref.generation) {
			past->ns += ns;
			return 0;
		}
	}
	at = local->past + 1;
	if (at >= PASTS)
		at = 0;
	past = &local->pasts[at];
	past->ns = ns;
	past->site = ref.slot;
	past->generation = ref.generation;
	past->state = thread->state;
	local->past = at;
	return 0;
}

/* Adds time to a link of a site that is locked; without room that replaces the one with least. */
__noinline int add_link(__u32 at, const struct trace_link *more)
{
	struct trace_links *links = bpf_map_lookup_elem(&links_of_sites, &at);
	__u32 least = 0;
	__u64 least_ns = -1;

	if (!links || !more)
		return 0;
	for (__u32 i = 0; i < TRACE_LINKS; i++) {
		struct trace_link *link = &links->all[i];

		if (!link->tgid) {
			*link = *more;
			return 0;
		}
		if (link->tgid == more->tgid && link->site == more->site &&
		    link->state == more->state && link->generation == more->generation) {
			link->ns += more->ns;
			return 0;
		}
		if (link->ns < least_ns) {
			least_ns = link->ns;
			least = i;
		}
	}
	KEEP(least);
	if (least < TRACE_LINKS)
		links->all[least] = *more;
	return 0;
}

/* A waker's time while it was waited for, as it is being added up. */
struct meanwhile {
	struct trace_link link;
	__u64 left; /* of the wait, before what was added */
	__u64 known[WAIT_STATES]; /* of the waker's time, in each state */
	__u32 at; /* the slot of the site that was waited in */
};

/* Adds a part of the waker's time. */
static __always_inline void add_part(struct meanwhile *meanwhile, __u64 ns)
{
	__u32 state = meanwhile->link.state;

	KEEP(state);
	if (state < WAIT_STATES)
		meanwhile->known[state] += ns;
	meanwhile->link.ns = ns < meanwhile->left ? ns : meanwhile->left;
	meanwhile->left -= meanwhile->link.ns;
	if (meanwhile->link.ns)
		add_link(meanwhile->at, &meanwhile->link);
}

/*
 * Adds what is too long ago to be kept: of a waker that began after the wait, as a child does, the
 * states are known all the same, from its totals.
 */
__noinline int add_rest(struct meanwhile *meanwhile, const struct trace_thread *waker, __u64 from)
{
	if (!meanwhile || !waker || !meanwhile->left)
		return 0;
	meanwhile->link.site = meanwhile->link.generation = 0;
	for (__u32 state = 0; state < WAIT_STATES && waker->born_ns >= from; state++) {
		__u64 known = meanwhile->known[state];

		if (waker->ns[state] <= known)
			continue;
		meanwhile->link.state = state;
		add_part(meanwhile, waker->ns[state] - known);
	}
	meanwhile->link.state = WAIT_STATES;
	add_part(meanwhile, meanwhile->left);
	return 0;
}

/*
 * Adds what a waker, which runs now, did since a wait in a site (struct site_word) began. What it
 * keeps may not go back as far.
 */
__noinline int add_links(__u64 word, const struct local *local, __u64 from, __u64 now)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot);
	struct trace_thread_slot *waker = local ? thread_at(local->slot) : NULL;
	struct meanwhile meanwhile = { .link.state = STATE_RUN, .at = ref.slot };
	const struct thread_past *past;

	if (!local || !slot || !waker || now <= from || !lock_site(slot, ref.slot))
		return 0;
	if ((__u32)slot->site.generation != ref.generation) {
		end_write(&slot->version);
		return 0;
	}
	meanwhile.left = now - from;
	meanwhile.link.tgid = waker->thread.tgid;
	if (now > waker->thread.since_ns)
		add_part(&meanwhile, now - waker->thread.since_ns);
	for (__u32 i = 0; i < PASTS && meanwhile.left; i++) {
		__u32 at = past_at(local, i);

		KEEP(at);
		if (at >= PASTS)
			break;
		past = &local->pasts[at];
		if (!past->ns)
			break;
		meanwhile.link.site = past->site;
		meanwhile.link.generation = past->generation;
		meanwhile.link.state = past->state;
		add_part(&meanwhile, past->ns);
	}
	add_rest(&meanwhile, &waker->thread, from);
	LIST(site, slot, ref.slot);
	end_write(&slot->version);
	return 0;
}

#endif
