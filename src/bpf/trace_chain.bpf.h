/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wait chains: each thread keeps its recent activity; on a wake-up it is added to the links of the
 * site the woken thread leaves. Part of trace.bpf.c.
 */
#pragma once

#include "bpf/trace_thread.bpf.h"

/* Maximum length of a segment, and maximum distance of moments that are compared. */
#define SEGMENT_NS (1ULL << (30 + MOMENT_SHIFT))
#define COMPARED_NS (1ULL << (31 + MOMENT_SHIFT))

static __always_inline __u32 moment_of(__u64 ns)
{
	return (__u32)(ns >> MOMENT_SHIFT);
}

/* True if a moment is later than another. */
static __always_inline bool is_later(__u32 moment, __u32 than)
{
	return (__s32)(moment - than) > 0;
}

/* The index of a part, by the number of parts after it: fewer than ACTIVITIES. */
static __always_inline __u32 past_at(const struct thread_storage *local, __u32 later)
{
	return local->past >= later ? local->past - later : local->past + ACTIVITIES - later;
}

/* Adds an activity, in a site (struct site_word) or none, to its part of the segment. */
__noinline int keep_part(struct thread_storage *local, __u64 word, __u32 state, __u64 from,
			 __u64 until)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct past_activity *past;
	__u32 at, end;

	if (!local || until <= from)
		return 0;
	ref.generation &= 0xffff;
	end = moment_of(until) + 1;
	for (__u32 i = 0; i < ACTIVITIES && !local->fresh; i++) {
		at = past_at(local, i);
		KEEP(at);
		if (at >= ACTIVITIES)
			return 0;
		past = &local->activities[at];
		if (past->state == state && past->site == ref.slot &&
		    past->generation == ref.generation) {
			past->ns += until - from;
			past->end = end;
			return 0;
		}
		if (past->first)
			break;
	}
	at = local->past + 1;
	if (at >= ACTIVITIES)
		at = 0;
	past = &local->activities[at];
	past->ns = until - from;
	past->generation = ref.generation;
	past->site = ref.slot;
	past->first = local->fresh;
	past->state = state;
	past->begin = moment_of(until - from < SEGMENT_NS ? from : until - SEGMENT_NS);
	past->end = end;
	local->past = (__u8)at;
	local->fresh = 0;
	return 0;
}

static __always_inline void begin_segment(struct thread_storage *local, __u64 now)
{
	local->segment_ns = now;
	local->fresh = 1;
	local->bound_ns = 0;
}

/*
 * Stores what a thread did until now, before it changes state; the wait that it leaves has been
 * added to its site.
 */
__noinline int keep_activity(struct thread_storage *local, __u64 now)
{
	struct site_word word = {};
	__u64 since, bound;

	if (!local || now <= local->thread.since_ns)
		return 0;
	since = local->thread.since_ns;
	word.ref.slot = local->thread.site;
	word.ref.generation = local->thread.generation;
	if (local->thread.state == STATE_CPU)
		word.ref = local->queue.ref;
	bound = local->bound_ns;
	if (!local->segment_ns || since - local->segment_ns >= SEGMENT_NS) {
		begin_segment(local, since);
	} else if (bound) {
		if (bound > since)
			keep_part(local, word.word, local->thread.state, since,
				  bound < now ? bound : now);
		since = bound > since ? bound : since;
		begin_segment(local, since);
	}
	keep_part(local, word.word, local->thread.state, since, now);
	return 0;
}

/* True if a thread has recently waited in a site (struct site_word), or for the same futex. */
__noinline int was_at(const struct thread_storage *local, __u64 word)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot), *other;
	bool shared;

	if (!local || !slot)
		return 0;
	shared = slot->site.key.target == TRACE_FUTEX &&
		 slot->site.key.tgid != local->sleep.key.tgid;
	for (__u32 i = 0; i < ACTIVITIES; i++) {
		if (!sleeps(local->activities[i].state))
			continue;
		if (local->activities[i].site == ref.slot &&
		    local->activities[i].generation == (ref.generation & 0xffff))
			return 1;
		if (!shared || local->activities[i].state != slot->site.key.state)
			continue;
		other = site_at(local->activities[i].site);
		if (other && other->site.key.target == TRACE_FUTEX &&
		    other->site.key.ino == slot->site.key.ino)
			return 1;
	}
	return 0;
}

/*
 * How the running task relates to the wait of the one it wakes, in a site: of a futex, or of an
 * eventfd that is read.
 */
static __always_inline __u32 relation_of(const struct thread_storage *own,
					 const struct trace_thread *thread,
					 const struct trace_site_slot *site)
{
	struct site_word word = { .ref = { thread->site, thread->generation } };

	if (thread->state != STATE_PARK &&
	    (thread->state != STATE_POLL || !site || site->site.key.target != TRACE_FILE))
		return RELATIONS;
	if (!own)
		return RELATION_NONE;
	if (was_at(own, word.word))
		return WAKER_SAME_LOCK;
	return own->asked ? WAKER_REQUESTED : RELATION_NONE;
}

/* Records whether a task asked the woken thread to work. */
static __always_inline void keep_asked(struct thread_storage *local, bool by_task, __u32 state)
{
	bool work = state == STATE_IO || state == STATE_DWAIT || state == STATE_TIMER ||
		    state == STATE_CHILD;

	if (!work)
		local->asked = by_task;
}

/*
 * Ends the segments of wakee and waker; wake-ups by or of kernel threads, and by children, do not
 * end one. own: NULL: not tracked.
 */
static __always_inline void end_segments(struct thread_storage *local, struct thread_storage *own,
					 const struct task_struct *task, bool for_child, __u64 now)
{
	bool kernel = task->flags & PF_KTHREAD;
	bool own_kernel = bpf_get_current_task_btf()->flags & PF_KTHREAD;

	if (own && (!kernel || own_kernel))
		own->bound_ns = now;
	if (!for_child && (!own_kernel || kernel))
		local->bound_ns = now;
}

/* Set in the time of a link that grew recently. */
#define IN_USE (1ULL << 63)

/* True if links of a state are added up without their sites when there are many. */
static __always_inline bool needs_no_site(__u32 state)
{
	return state == STATE_CPU || state == STATE_IO || state == STATE_TIMER;
}

/* The link with least time among those that did not grow recently, if there are any. */
__noinline __u32 find_least(const struct trace_links *links, __u32 epoch)
{
	__u64 least_ns = -1, ns;
	__u32 least = 0;

	if (!links)
		return 0;
	for (__u32 i = 0; i < TRACE_LINKS; i++) {
		ns = links->all[i].ns;
		if ((__u16)(epoch - links->all[i].epoch) <= 1)
			ns |= IN_USE;
		if (ns < least_ns) {
			least_ns = ns;
			least = i;
		}
	}
	return least;
}

/*
 * Stores a link when there is no room for one more: links in use are added up without their site.
 * plain: one of the same task and state without a site; TRACE_LINKS: there is none.
 */
__noinline int replace_link(struct trace_links *links, const struct trace_link *more, __u32 plain)
{
	__u32 epoch = *(volatile __u32 *)&control.epoch, least;
	bool in_use;

	if (!links || !more)
		return 0;
	least = find_least(links, epoch);
	if (least >= TRACE_LINKS)
		return 0;
	in_use = (__u16)(epoch - links->all[least].epoch) <= 1;
	if (in_use)
		links->full = epoch;
	if (in_use && plain < TRACE_LINKS) {
		links->all[plain].ns += more->ns;
		links->all[plain].epoch = (__u16)epoch;
		return 0;
	}
	links->all[least] = *more;
	links->all[least].epoch = (__u16)epoch;
	if (in_use)
		links->all[least].site = links->all[least].generation = 0;
	return 0;
}

/*
 * Adds time to a link of a locked site. children: one link for all of one name, with the last one's
 * site or none.
 */
__noinline int add_link(__u32 at, const struct trace_link *more, bool children)
{
	struct trace_links *links = bpf_map_lookup_elem(&links_of_sites, &at);
	__u32 epoch = *(volatile __u32 *)&control.epoch, plain = TRACE_LINKS;

	if (!links || !more)
		return 0;
	for (__u32 i = 0; i < TRACE_LINKS; i++) {
		struct trace_link *link = &links->all[i];

		if (!link->tgid) {
			*link = *more;
			link->epoch = (__u16)epoch;
			return 0;
		}
		if (link->tgid != more->tgid || link->state != more->state)
			continue;
		if (link->site == more->site && link->generation == more->generation) {
			link->ns += more->ns;
			link->epoch = (__u16)epoch;
			return 0;
		}
		if (children) {
			link->ns += more->ns;
			link->epoch = (__u16)epoch;
			link->site = needs_no_site(more->state) ? 0 : more->site;
			link->generation = more->generation;
			return 0;
		}
		if (!link->site)
			plain = i;
	}
	KEEP(plain);
	if (links->full != epoch || plain >= TRACE_LINKS)
		return replace_link(links, more, plain);
	links->all[plain].ns += more->ns;
	links->all[plain].epoch = (__u16)epoch;
	return 0;
}

/* A waker's time during the wait, while it is added up. */
struct waker_activity {
	struct trace_link link;
	__u64 left; /* of the wait, before what was added */
	__u64 known[WAIT_STATES]; /* of the waker's time, per state */
	__u32 at; /* the slot of the site of the wait */
	bool children; /* children are waited for there */
	__u32 from; /* the moment at which the wait began */
	__u32 parts; /* of the waker, those in segments that ended after that */
	/* Of them, those that began before the wait and ended in it: their number, */
	__u32 straddling;
	__u32 last; /* the index of the last of them, */
	__u64 most; /* and the maximum share of the wait that all of them can have */
};

/* Adds a part of the waker's time. */
static __always_inline void add_part(struct waker_activity *meanwhile, __u64 ns)
{
	__u32 state = meanwhile->link.state;

	KEEP(state);
	if (state < WAIT_STATES)
		meanwhile->known[state] += ns;
	meanwhile->link.ns = ns < meanwhile->left ? ns : meanwhile->left;
	meanwhile->left -= meanwhile->link.ns;
	if (meanwhile->link.ns)
		add_link(meanwhile->at, &meanwhile->link, meanwhile->children);
}

/*
 * Adds time too long ago to be stored: of a waker that started after the wait, as a child does, the
 * states are known from its totals.
 */
__noinline int add_rest(struct waker_activity *meanwhile, const struct trace_thread *waker,
			__u64 from)
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

/* Adds a part of the waker's past. */
static __always_inline void add_past(struct waker_activity *meanwhile,
				     const struct past_activity *past, __u64 ns)
{
	meanwhile->link.site = past->site;
	meanwhile->link.generation = past->generation;
	meanwhile->link.state = past->state;
	add_part(meanwhile, ns);
}

/* The maximum share that a part can have of a wait that began before the part ended. */
static __always_inline __u64 most_of(const struct waker_activity *meanwhile,
				     const struct past_activity *past)
{
	__u64 after = (__u64)(past->end - meanwhile->from) << MOMENT_SHIFT, ns = past->ns;

	return ns < after ? ns : after;
}

/* Adds the waker's parts that began after the wait, and finds those that overlap its start. */
__noinline int add_whole(struct waker_activity *meanwhile, const struct thread_storage *local)
{
	__u64 sum = 0, wait;

	if (!meanwhile || !local)
		return 0;
	wait = meanwhile->left;
	for (__u32 i = 0; i < ACTIVITIES; i++) {
		const struct past_activity *past;
		__u32 at = past_at(local, i);
		bool whole;

		KEEP(at);
		if (at >= ACTIVITIES)
			return 0;
		past = &local->activities[at];
		if (!past->ns)
			break;
		meanwhile->parts = i + 1;
		sum += past->ns;
		whole = is_later(past->begin, meanwhile->from);
		if (whole) {
			add_past(meanwhile, past, past->ns);
		} else if (is_later(past->end, meanwhile->from)) {
			meanwhile->straddling++;
			meanwhile->last = at;
			meanwhile->most += most_of(meanwhile, past);
		}
		if (past->first && (!whole || sum >= wait))
			return 0;
	}
	/* Parts that found no room may overlap it, too: then it is not the only one. */
	meanwhile->straddling += 2;
	meanwhile->most += meanwhile->left;
	return 0;
}

/*
 * Adds the provable share of parts that overlap the start of a wait (lower bounds); the rest is
 * unexplained.
 */
__noinline int add_straddling(struct waker_activity *meanwhile, const struct thread_storage *local)
{
	__u64 left;

	if (!meanwhile || !local)
		return 0;
	left = meanwhile->left;
	for (__u32 i = 0; i < ACTIVITIES; i++) {
		const struct past_activity *past;
		__u32 at = past_at(local, i);
		__u64 before, others, least = 0;

		KEEP(at);
		if (at >= ACTIVITIES || i >= meanwhile->parts)
			return 0;
		past = &local->activities[at];
		if (is_later(past->begin, meanwhile->from) || !is_later(past->end, meanwhile->from))
			continue;
		before = (__u64)(meanwhile->from + 1 - past->begin) << MOMENT_SHIFT;
		if (past->ns > before)
			least = past->ns - before;
		others = meanwhile->most - most_of(meanwhile, past);
		if (left > others + least)
			least = left - others;
		if (least)
			add_past(meanwhile, past, least);
	}
	return 0;
}

/* The pid under which children with this name share a waker entry of a site; 0: there is none. */
static __always_inline __s32 child_of_name(const struct trace_site *site)
{
	const __u64 *words = (const __u64 *)bpf_get_current_task_btf()->group_leader->comm;

	for (int i = 0; i < TRACE_WAKERS; i++)
		if (has_name(&site->wakers[i], words) && site->wakers[i].tgid)
			return site->wakers[i].tgid;
	return 0;
}

/*
 * Adds what a waker, now running, did since a wait in a site (struct site_word) began. Its stored
 * past may be shorter.
 */
__noinline int add_links(__u64 word, const struct thread_storage *local, __u64 from, __u64 now)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot);
	struct waker_activity meanwhile = { .link.state = STATE_RUN, .at = ref.slot };
	__u32 last;

	if (!local || !slot || now <= from || !lock_site(slot, ref.slot))
		return 0;
	if ((__u32)slot->site.generation != ref.generation) {
		end_write(&slot->version);
		return 0;
	}
	meanwhile.left = now - from;
	meanwhile.children = slot->site.key.state == STATE_CHILD;
	meanwhile.link.tgid = meanwhile.children ? child_of_name(&slot->site) : local->thread.tgid;
	if (now > local->thread.since_ns)
		add_part(&meanwhile, now - local->thread.since_ns);
	if (meanwhile.left) {
		meanwhile.from = moment_of(now - from < COMPARED_NS ? from : now - COMPARED_NS + 1);
		add_whole(&meanwhile, local);
	}
	last = meanwhile.last;
	KEEP(last);
	if (meanwhile.straddling == 1 && last < ACTIVITIES)
		add_past(&meanwhile, &local->activities[last], meanwhile.most);
	else if (meanwhile.straddling)
		add_straddling(&meanwhile, local);
	add_rest(&meanwhile, &local->thread, from);
	list_site(slot, ref.slot);
	end_write(&slot->version);
	return 0;
}
