/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/traced_links.h"

#include <stdlib.h>

#include "base/util.h"

/* Bits stored of a generation in struct thread_past of trace_maps.bpf.h. */
#define GENERATION_BITS 0xffffu

/* Share of an interval below which a link is dropped: there may be many of those. */
#define PART_LEAST 5000

/* A link that grew. */
struct traced_link {
	struct traced_site *from, *to; /* to: NULL: none, or no longer known */
	struct site_link link;
};

void traced_links_begin(struct traced_links *links)
{
	links->ngrown = links->n = 0;
}

/* A link at the previous reading; 0: it did not exist. children: its site may be another. */
static uint64_t ns_before(const struct trace_links *before, const struct trace_link *now,
			  bool children)
{
	for (unsigned i = 0; before && i < TRACE_LINKS; i++) {
		const struct trace_link *link = &before->all[i];

		if (link->tgid == now->tgid && link->state == now->state && link->ns <= now->ns &&
		    (children || (link->site == now->site && link->generation == now->generation)))
			return link->ns;
	}
	return 0;
}

void traced_links_update(struct traced_links *links, const struct traced_sites *sites,
			 uint32_t slot, const struct trace_links *record)
{
	uint64_t least_ns = (sites->processes->read_ns - sites->processes->before_ns) / PART_LEAST;
	struct traced_site *from = slot < sites->nslots ? sites->slots[slot] : NULL;
	bool first = sites->processes->epoch < 2, children;

	if (!from)
		return;
	children = from->now.key.state == STATE_CHILD;
	for (unsigned i = 0; i < TRACE_LINKS && record->all[i].tgid && !first; i++) {
		const struct trace_link *link = &record->all[i];
		uint64_t ns = link->ns - ns_before(from->links, link, children);

		if (!ns || ns < least_ns || link->state > WAIT_STATES)
			continue;
		GROW(links->grown, links->ngrown, links->grown_cap);
		links->grown[links->ngrown++] = (struct traced_link){
			.from = from,
			.to = traced_sites_at(sites, link->site, link->generation, GENERATION_BITS),
			.link = { .tgid = link->tgid, .state = link->state, .ns = ns },
		};
	}
	if (!from->links)
		from->links = xcalloc(1, sizeof(*from->links));
	*from->links = *record;
}

/* The id of a site of the interval; 0: not in it. */
static uint64_t id_in_interval(const struct traced_sites *sites, const struct traced_site *site)
{
	bool settled = site && (site->epoch == sites->processes->epoch || site->waiting);

	return settled && traced_sites_has_any(&site->site) ? site->site.id : 0;
}

/* Adds a link to the task that must act, in a state for so long. */
static void add_held(struct traced_links *links, const struct site_link *like,
		     const struct traced_sites *sites, const struct traced_site *to,
		     enum wait_state state, uint64_t ns)
{
	struct site_link link = *like;

	if (!ns)
		return;
	link.to = id_in_interval(sites, to);
	link.state = to && state != STATE_STOP ? to->site.state : state;
	link.ns = ns;
	GROW(links->all, links->n, links->cap);
	links->all[links->n++] = link;
}

/*
 * Links a site to everything that the only thread of a process did in an interval in which it was
 * waited for all the time: the time without a site is run time.
 */
static void add_interval(struct traced_links *links, const struct site_link *like,
			 const struct traced_sites *sites, const struct traced_process *process,
			 uint64_t interval_ns)
{
	uint64_t epoch = sites->processes->epoch, left_ns = interval_ns;

	for (const struct traced_site *at = process ? process->sites : NULL; at; at = at->next) {
		uint64_t ns = at->site.ns < left_ns ? at->site.ns : left_ns;

		if (at->site.overlaps || (at->epoch != epoch && !at->busy))
			continue;
		add_held(links, like, sites, at, at->site.state, ns);
		left_ns -= ns;
	}
	add_held(links, like, sites, NULL, STATE_RUN, left_ns);
}

/*
 * Links a site to the thread that must act to end its waits, which is the only one of its process,
 * or the holder of a lock. Its wait in progress is known to the ns; its earlier activity is known
 * if it was waited for in the whole interval.
 */
static void link_to_holder(struct traced_links *links, const struct traced_sites *sites,
			   const struct traced_site *from, const struct trace_waiter *holder,
			   bool only)
{
	const struct traced_site *to =
		traced_sites_at(sites, holder->site, holder->generation, UINT32_MAX);
	uint64_t read_ns = sites->processes->read_ns;
	uint64_t interval_ns = read_ns - sites->processes->before_ns;
	uint64_t waiting_ns =
		from->site.waiting_ns < interval_ns ? from->site.waiting_ns : interval_ns;
	uint64_t now_ns = read_ns > holder->since_ns ? read_ns - holder->since_ns : 0;
	const struct site_link like = { .site = from->site.id,
					.tgid = holder->tgid,
					.holds = true };

	if (only && waiting_ns == interval_ns && now_ns < waiting_ns) {
		add_interval(
			links, &like, sites,
			traced_processes_find(sites->processes, holder->tgid, read_ns, UINT64_MAX),
			interval_ns);
		return;
	}
	if (now_ns > waiting_ns)
		now_ns = waiting_ns;
	add_held(links, &like, sites, to, (enum wait_state)holder->state, now_ns);
	add_held(links, &like, sites, NULL, WAIT_STATES, waiting_ns - now_ns);
}

/* Compares waiters: by process, then by thread. */
static int compare_waiters(const void *a, const void *b)
{
	const struct trace_waiter *x = *(const struct trace_waiter *const *)a;
	const struct trace_waiter *y = *(const struct trace_waiter *const *)b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The first waiter of a process; n: their number. */
static const struct trace_waiter *const *waiters_of(const struct trace_waiter *const *all, size_t n,
						    pid_t tgid, size_t *found)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle]->tgid < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	for (*found = 0; low + *found < n && all[low + *found]->tgid == tgid;)
		++*found;
	return all + low;
}

/* Links a site to the process that must act, or to the thread that holds a lock of threads. */
static void find_holder(struct traced_links *links, const struct traced_sites *sites,
			const struct traced_site *from, const struct trace_waiter *const *all,
			size_t n)
{
	bool thread = from->now.key.target == TRACE_FUTEX;
	const struct trace_waiter *const *own;
	struct trace_waiter unknown;
	size_t nown, stopped = 0;

	own = waiters_of(all, n, thread ? from->now.key.tgid : from->holder, &nown);
	for (size_t i = 0; thread && i < nown; i++)
		if (own[i]->pid == from->holder)
			link_to_holder(links, sites, from, own[i], nown == 1);
	if (thread || !nown)
		return;
	for (size_t i = 0; i < nown; i++)
		stopped += own[i]->state == STATE_STOP;
	if (nown == 1 || stopped == nown) {
		link_to_holder(links, sites, from, own[0], nown == 1);
		return;
	}
	/* Which of its threads must act is unknown. */
	unknown = *own[0];
	unknown.site = 0;
	unknown.since_ns = sites->processes->read_ns;
	link_to_holder(links, sites, from, &unknown, false);
}

/* Links the sites whose owner is known. */
static void add_holders(struct traced_links *links, const struct traced_sites *sites,
			const struct trace_waiter *waiters, size_t n)
{
	const struct trace_waiter **all = NULL;

	for (size_t i = 0; i < sites->nframed; i++) {
		const struct traced_site *from = sites->framed[i];

		if (!from->holder || !from->waiting || !from->site.waiting_ns ||
		    !traced_sites_has_any(&from->site))
			continue;
		if (!all) {
			all = xcalloc(n + 1, sizeof(*all));
			for (size_t k = 0; k < n; k++)
				all[k] = &waiters[k];
			qsort(all, n, sizeof(*all), compare_waiters);
		}
		find_holder(links, sites, from, all, n);
	}
	free(all);
}

/* Compares links. */
static int compare_traced_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

void traced_links_settle(struct traced_links *links, const struct traced_sites *sites,
			 const struct trace_waiter *waiters, size_t n)
{
	links->n = 0;
	for (size_t i = 0; i < links->ngrown; i++) {
		const struct traced_link *grown = &links->grown[i];
		struct site_link link = grown->link;

		link.site = id_in_interval(sites, grown->from);
		link.to = id_in_interval(sites, grown->to);
		if (!link.site)
			continue;
		GROW(links->all, links->n, links->cap);
		links->all[links->n++] = link;
	}
	add_holders(links, sites, waiters, n);
	if (links->n)
		qsort(links->all, links->n, sizeof(*links->all), compare_traced_links);
}

void traced_links_free(struct traced_links *links)
{
	free(links->grown);
	free(links->all);
	*links = (struct traced_links){ 0 };
}

/* The time of a process's sites in a state, in the interval: by class, and which classes. */
struct sited_state {
	uint64_t ns, parked_ns;
	unsigned classes;
};

/* True if time in such a wait is lost: a child that makes no progress has its own row. */
static bool loses(enum wait_class class, enum wait_state state)
{
	return state != STATE_CHILD && wait_is_lost(class, state);
}

/* Adds up the sites in which threads of a process waited in the interval. */
static void sum_sites(const struct traced_process *process, uint64_t epoch,
		      struct sited_state *sums)
{
	for (const struct traced_site *at = process->sites; at; at = at->next) {
		struct sited_state *sum = &sums[at->site.state];
		bool lost;

		/* Other sites have figures of an earlier interval. */
		if ((at->epoch != epoch && !at->busy) || at->site.overlaps)
			continue;
		sum->ns += at->site.ns;
		lost = loses(at->site.class, at->site.state);
		sum->parked_ns += lost ? 0 : at->site.ns;
		sum->classes |= 1u << (lost ? at->site.class : CLASS_IDLE);
	}
}

/* The process of an identity. */
static const struct traced_process *process_of_traced(const struct traced *traced)
{
	return (const void *)((const char *)traced - offsetof(struct traced_process, traced));
}

void traced_lose(const struct traced_process *process, uint64_t epoch, bool alone,
		 struct traced *traced)
{
	struct sited_state sums[WAIT_STATES] = { 0 };

	if (process)
		sum_sites(process, epoch, sums);
	for (const struct traced *at = traced->more; at; at = at->more)
		sum_sites(process_of_traced(at), epoch, sums);
	traced->lost_ns = 0;
	traced->lost_known = true;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		uint64_t ns = traced->states.ns[state], sited_ns = sums[state].ns;
		unsigned parked = sums[state].classes & 1u << CLASS_IDLE;

		if (state == STATE_RUN || !ns)
			continue;
		if (!sums[state].classes)
			parked = !loses(wait_class_of_state(state), state);
		else if (!alone && parked && sums[state].classes != parked)
			traced->lost_known = false;
		if (!alone || !sums[state].classes) {
			traced->lost_ns += parked ? 0 : ns;
			continue;
		}
		sited_ns -= sums[state].parked_ns;
		if (loses(wait_class_of_state(state), state) && ns > sums[state].ns)
			sited_ns += ns - sums[state].ns;
		traced->lost_ns += sited_ns < ns ? sited_ns : ns;
	}
}

bool traced_is_of_disk(const struct traced_site *site)
{
	return site->now.key.state == STATE_POLL && site->site.state == STATE_IO;
}

void traced_move_polling(struct wait_states *states, uint64_t ns)
{
	ns = ns < states->ns[STATE_POLL] ? ns : states->ns[STATE_POLL];
	states->ns[STATE_POLL] -= ns;
	states->ns[STATE_IO] += ns;
}

bool traced_move_completions(const struct traced_process *process, uint64_t epoch,
			     struct wait_states *states)
{
	bool moved = false;

	for (const struct traced_site *at = process->sites; at; at = at->next)
		if (traced_is_of_disk(at) && (at->epoch == epoch || at->busy)) {
			traced_move_polling(states, at->site.ns);
			moved = true;
		}
	return moved;
}
