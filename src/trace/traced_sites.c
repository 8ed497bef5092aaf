/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/traced_sites.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/syscalls.h"

enum wait_purpose site_purpose(const struct trace_site *record)
{
	if (record->key.target == TRACE_THROTTLED)
		return WAIT_FOR_QUOTA;
	if (record->key.target == TRACE_SOCKET)
		return record->protocol == IPPROTO_TCP && !record->peer_port ? WAIT_FOR_REQUESTS
									     : WAIT_FOR_UNKNOWN;
	if (record->key.syscall < 0)
		return WAIT_FOR_EVENTS;
	switch (syscall_classify(record->key.syscall).target) {
	case SYSCALL_PATH:
	case SYSCALL_PATH_AT:
		return WAIT_FOR_FILE;
	case SYSCALL_SIGNAL:
		return WAIT_FOR_EVENTS;
	default:
		return WAIT_FOR_UNKNOWN;
	}
}

void site_classify(struct traced_site *site)
{
	const struct wait_facts facts = { .state = site->site.state,
					  .about = site->about,
					  .where = site->site.where,
					  .on_path = site->site.on && *site->site.on == '/' };

	site->site.class = wait_class_of(&facts);
}

/* The subject of waits for completions, by the waker of most of them. */
static enum wait_purpose ring_purpose_by_waker(const struct site_waker *waker, pid_t tgid)
{
	static const char *const no_disk[] = { "timer", "hrtimer", "net_tx", "net_rx" };

	/* Its own threads are workers, which execute blocking requests for it. */
	if (waker->tgid)
		return waker->tgid == tgid ? WAIT_FOR_DISK_RING : WAIT_FOR_PEERS;
	for (size_t i = 0; i < ARRAY_SIZE(no_disk); i++)
		if (!strcmp(waker->name, no_disk[i]))
			return WAIT_FOR_IDLE_RING;
	return WAIT_FOR_DISK_RING;
}

/* The subject of waits in a call for completions or signals, by the waker of most of them. */
static enum wait_purpose about_waker(const struct site *site, int call)
{
	const struct site_waker *waker = &site->wakers[0];

	if (!waker->name || call < 0)
		return WAIT_FOR_UNKNOWN;
	if (syscall_completes(call))
		return ring_purpose_by_waker(waker, site->tgid);
	return waker->tgid && syscall_classify(call).target == SYSCALL_SIGNAL ? WAIT_FOR_PEERS
									      : WAIT_FOR_UNKNOWN;
}

/* True if a site is a futex, or a file of events that is read, such as an eventfd. */
static bool is_of_word(const struct trace_key *key)
{
	return key->state == STATE_PARK ||
	       (key->state == STATE_POLL && key->target == TRACE_FILE && key->syscall >= 0 &&
		syscall_classify(key->syscall).state != STATE_POLL);
}

/*
 * The subject of waits for a futex or an event, by the wakers of most of them. A task that never
 * waited there may have work for it, or may have held a lock.
 */
static enum wait_purpose about_word(const struct trace_site *record)
{
	const __u32 *by = record->relations;

	if (!record->count)
		return WAIT_FOR_UNKNOWN;
	return by[WAKER_SAME_LOCK] > by[RELATION_NONE] && by[WAKER_SAME_LOCK] >= by[WAKER_REQUESTED]
		       ? WAIT_FOR_TURN
		       : WAIT_FOR_PEERS;
}

void site_judge_wakers(struct traced_site *site)
{
	enum wait_purpose about = is_of_word(&site->now.key)
					  ? about_word(&site->now)
					  : about_waker(&site->site, site->now.key.syscall);

	if (about == WAIT_FOR_UNKNOWN && !is_of_word(&site->now.key))
		return;
	site->about = about;
	site_classify(site);
}

_Static_assert(SITE_WAKERS == TRACE_WAKERS, "wakers of a site");
_Static_assert(SITE_BUCKETS == TRACE_BUCKETS, "buckets of a site");

/* Number of sites whose earlier figures stay in memory for the next reading. */
#define BEFORES_KEPT 1024

/* The kind under which the kernel accounts a site's waits; -1: none. */
static int kind_of_key(const struct trace_key *key)
{
	if (key->within)
		return key->within - 1;
	switch (key->state) {
	case STATE_CPU:
		return DELAY_CPU;
	case STATE_IO:
		return DELAY_BLKIO;
	case STATE_DWAIT:
		return WAIT_DWAIT;
	default:
		return -1;
	}
}

/* The part of a site's ended waits that counts for its kind: for a CPU the accounted time. */
static uint64_t ended_of_kind(const struct trace_site *record)
{
	return record->key.state == STATE_CPU && !record->key.within ? record->booked_ns
								     : record->ns;
}

/* Appends to an array of sites. */
static void push(struct traced_site ***array, size_t *n, size_t *cap, struct traced_site *site)
{
	GROW(*array, *n, *cap);
	(*array)[(*n)++] = site;
}

/* Removes a site from the idle ones. */
static void leave_idle(struct traced_sites *sites, struct traced_site *site)
{
	if (!site->idle)
		return;
	*(site->newer ? &site->newer->older : &sites->newest) = site->older;
	*(site->older ? &site->older->newer : &sites->oldest) = site->newer;
	site->idle = false;
}

/* Makes a site without waiters the newest of the idle ones. */
static void enter_idle(struct traced_sites *sites, struct traced_site *site)
{
	leave_idle(sites, site);
	if (site->waiting)
		return;
	site->idle = true;
	site->newer = NULL;
	site->older = sites->newest;
	*(sites->newest ? &sites->newest->newer : &sites->oldest) = site;
	sites->newest = site;
}

/* Records that a site changes in this interval. */
static void change_site(struct traced_sites *sites, struct traced_site *site)
{
	if (site->epoch == sites->processes->epoch)
		return;
	site->epoch = sites->processes->epoch;
	push(&sites->changed, &sites->nchanged, &sites->changed_cap, site);
}

/* Removes a site without waiters from those with waiters. */
static void leave_busy(struct traced_sites *sites, struct traced_site *site)
{
	if (!site->busy)
		return;
	sites->nbusy--;
	sites->busy[site->busy - 1] = sites->busy[sites->nbusy];
	sites->busy[site->busy - 1]->busy = site->busy;
	site->busy = 0;
}

/* Frees a site and what it owns. */
static void release_site(struct traced_site *site)
{
	free(site->on);
	free(site->links);
	free(site->stacks);
	free(site->shown_stacks);
	free(site);
}

/* Frees a site that is gone in the kernel. */
static void free_site(struct traced_sites *sites, struct traced_site *site)
{
	leave_busy(sites, site);
	leave_idle(sites, site);
	*(site->previous ? &site->previous->next : &site->process->sites) = site->next;
	if (site->next)
		site->next->previous = site->previous;
	if (site->epoch == sites->processes->epoch)
		for (size_t i = 0; i < sites->nchanged; i++)
			if (sites->changed[i] == site)
				sites->changed[i--] = sites->changed[--sites->nchanged];
	sites->slots[site->slot] = NULL;
	sites->n--;
	release_site(site);
}

void traced_sites_begin(struct traced_sites *sites)
{
	/* The first reading has all sites. */
	if (sites->nbefores > BEFORES_KEPT) {
		free(sites->befores);
		sites->befores = NULL;
		sites->befores_cap = 0;
	}
	sites->nchanged = sites->nbefores = 0;
	for (size_t i = 0; i < sites->nbusy; i++) {
		sites->busy[i]->waiting = 0;
		sites->busy[i]->since_ns = 0;
		for (size_t k = 0; k < sites->busy[i]->nstacks; k++)
			sites->busy[i]->stacks[k].progress_ns = 0;
		sites->busy[i]->first = (struct trace_waiter){ 0 };
	}
}

/* Copies a name that may lack its NUL. */
static void keep_name(char *to, const char *from)
{
	memcpy(to, from, TRACE_COMM);
	to[TRACE_COMM] = '\0';
}

/* Creates a new site. */
static struct traced_site *new_site(struct traced_sites *sites, uint32_t slot,
				    const struct trace_site *record)
{
	struct traced_site *site = xcalloc(1, sizeof(*site));
	const struct trace_key *key = &record->key;
	struct traced_process *process =
		traced_processes_make(sites->processes, key->tgid, key->start_ns);

	site->slot = slot;
	site->process = process;
	site->next = process->sites;
	if (site->next)
		site->next->previous = site;
	process->sites = site;
	keep_name(site->comm, record->comm);
	site->site = (struct site){ .id = ++sites->last_id,
				    .tgid = key->tgid,
				    .start_ns = key->start_ns,
				    .comm = *site->comm ? site->comm : NULL,
				    .state = key->state < WAIT_STATES ? key->state : STATE_OTHER,
				    .kind = kind_of_key(key),
				    .overlaps = key->within };
	if (slot >= sites->nslots) {
		size_t old = sites->nslots;

		sites->nslots = slot + slot / 2 + 64;
		sites->slots = xreallocarray(sites->slots, sites->nslots, sizeof(*sites->slots));
		memset(sites->slots + old, 0, (sites->nslots - old) * sizeof(*sites->slots));
	}
	sites->slots[slot] = site;
	sites->n++;
	return site;
}

/* Saves a site's counters before they are read again. */
static void keep_before(struct traced_sites *sites, struct traced_site *site)
{
	struct site_before *before;

	if (site->read_epoch == sites->processes->epoch)
		return;
	GROW(sites->befores, sites->nbefores, sites->befores_cap);
	site->read_epoch = sites->processes->epoch;
	site->before = sites->nbefores++;
	before = &sites->befores[site->before];
	before->count = site->now.count;
	memcpy(before->buckets, site->now.buckets, sizeof(before->buckets));
	memcpy(before->wakers, site->now.wakers, sizeof(before->wakers));
}

void traced_sites_update(struct traced_sites *sites, uint32_t slot, const struct trace_site *record)
{
	struct traced_site *site = slot < sites->nslots ? sites->slots[slot] : NULL;

	if (site && site->now.generation != record->generation) {
		free_site(sites, site);
		site = NULL;
	}
	if (!site)
		site = new_site(sites, slot, record);
	keep_before(sites, site);
	site->now = *record;
	change_site(sites, site);
	enter_idle(sites, site);
}

struct traced_site *traced_sites_at(const struct traced_sites *sites, uint32_t slot,
				    uint32_t generation, uint32_t bits)
{
	struct traced_site *site = slot && slot < sites->nslots ? sites->slots[slot] : NULL;

	return site && ((site->now.generation ^ generation) & bits) == 0 ? site : NULL;
}

/* The waits of a site with a user stack. shown_ns: of a new one, time of no interval. */
static struct traced_stack *stack_of(struct traced_site *site, uint64_t id, uint64_t shown_ns)
{
	for (size_t i = 0; i < site->nstacks; i++)
		if (site->stacks[i].id == id)
			return &site->stacks[i];
	GROW(site->stacks, site->nstacks, site->stacks_cap);
	site->stacks[site->nstacks] = (struct traced_stack){ .id = id, .shown_ns = shown_ns };
	return &site->stacks[site->nstacks++];
}

void traced_sites_stack(struct traced_sites *sites, const struct trace_stack_key *key,
			const struct trace_stack_sum *sum)
{
	struct traced_site *site = traced_sites_at(sites, key->site, key->generation, UINT32_MAX);
	struct traced_stack *stack;

	if (!site)
		return;
	stack = stack_of(site, key->stack, 0);
	stack->ns = sum->ns;
	stack->count = sum->count;
}

void traced_sites_wait(struct traced_sites *sites, const struct trace_waiter *waiter)
{
	struct traced_site *site =
		traced_sites_at(sites, waiter->site, waiter->generation, UINT32_MAX);
	uint64_t ns, before_ns;

	/* Those not read yet are unknown. */
	if (!site)
		return;
	if (!site->waiting || waiter->since_ns < site->first.since_ns)
		site->first = *waiter;
	site->waiting++;
	site->since_ns += waiter->since_ns;
	site->site.at_least |= waiter->attached;
	ns = sites->processes->read_ns - waiter->since_ns;
	/* Its stack may only be known now: its earlier time is in earlier intervals. */
	before_ns = sites->processes->before_ns;
	before_ns = before_ns > waiter->since_ns ? before_ns - waiter->since_ns : 0;
	if (waiter->user_stack && (int64_t)ns > 0 && ns >= sites->stacks_over_ns)
		stack_of(site, waiter->user_stack, before_ns)->progress_ns += ns;
	leave_idle(sites, site);
	if (site->busy)
		return;
	push(&sites->busy, &sites->nbusy, &sites->busy_cap, site);
	site->busy = sites->nbusy;
}

/* Finds the sites that have lost their last waiter: these changed. */
static void release_left_sites(struct traced_sites *sites)
{
	for (size_t i = 0; i < sites->nbusy;) {
		struct traced_site *site = sites->busy[i];

		if (site->waiting) {
			i++;
			continue;
		}
		leave_busy(sites, site);
		enter_idle(sites, site);
		change_site(sites, site);
	}
}

/* The growth of a total that includes waits in progress: never negative. */
static uint64_t growth(uint64_t total, uint64_t *shown)
{
	uint64_t grown = total > *shown ? total - *shown : 0;

	*shown += grown;
	return grown;
}

/* The waker's record of the previous reading; NULL: it had none. */
static const struct trace_waker *waker_before(const struct site_before *was,
					      const struct trace_waker *now)
{
	for (unsigned i = 0; i < TRACE_WAKERS; i++) {
		const struct trace_waker *before = &was->wakers[i];

		if (before->count && before->tgid == now->tgid &&
		    !memcmp(before->name, now->name, sizeof(now->name)) &&
		    before->count <= now->count && before->ns <= now->ns)
			return before;
	}
	return NULL;
}

/*
 * Finds the wakers of a site, by the waiting time that they ended, since the previous reading;
 * `was` NULL: since the site was first seen.
 */
static void settle_wakers(struct traced_site *traced, struct site *site,
			  const struct site_before *was)
{
	struct site_waker *wakers = site->wakers;
	unsigned n = 0;

	memset(wakers, 0, sizeof(site->wakers));
	for (unsigned i = 0; i < TRACE_WAKERS; i++) {
		const struct trace_waker *now = &traced->now.wakers[i];
		const struct trace_waker *before = was ? waker_before(was, now) : NULL;
		struct site_waker waker = { .tgid = now->tgid,
					    .ns = now->ns - (before ? before->ns : 0),
					    .count = now->count - (before ? before->count : 0) };

		if (!waker.count)
			continue;
		keep_name(traced->wakers[i], now->name);
		waker.name = traced->wakers[i];
		wakers[n++] = waker;
	}
	wakers_top(wakers, n);
}

/* Time that the waits in progress at a site had lasted at a reading, added up. */
static uint64_t progress_of(const struct traced_site *site, uint64_t read_ns)
{
	uint64_t progress = site->waiting * read_ns - site->since_ns;

	/* A wait may have begun after the reading's time, before its record was read. */
	return (int64_t)progress < 0 ? 0 : progress;
}

/* Sets the waiter count and the longest wait. */
static void settle_waiting(const struct traced_site *traced, uint64_t read_ns, struct site *site)
{
	site->waiting = traced->waiting;
	site->waiting_ns = 0;
	if (traced->waiting && read_ns > traced->first.since_ns)
		site->waiting_ns = read_ns - traced->first.since_ns;
	site->max_ns =
		traced->now.max_ns > site->waiting_ns ? traced->now.max_ns : site->waiting_ns;
}

void traced_sites_whole(struct traced_site *traced, uint64_t read_ns, struct site *site)
{
	uint64_t progress = progress_of(traced, read_ns);

	*site = traced->site;
	site->user_stacks = NULL;
	site->nuser_stacks = site->nwaker_stacks = 0;
	site->count = traced->now.count;
	site->ns = traced->now.ns + progress;
	site->kind_ns = site->kind < 0 ? 0 : ended_of_kind(&traced->now) + progress;
	for (unsigned i = 0; i < SITE_BUCKETS; i++)
		site->log2_us[i] = traced->now.buckets[i];
	settle_wakers(traced, site, NULL);
	settle_waiting(traced, read_ns, site);
}

/* Computes the ended waits of the interval; was: NULL if none ended. */
static void settle_ended(struct traced_site *traced, const struct site_before *was)
{
	struct site *site = &traced->site;

	site->count = was ? traced->now.count - was->count : 0;
	for (unsigned i = 0; i < SITE_BUCKETS; i++)
		site->log2_us[i] = was ? traced->now.buckets[i] - was->buckets[i] : 0;
	if (was)
		settle_wakers(traced, site, was);
	else
		memset(site->wakers, 0, sizeof(site->wakers));
}

/* Counts waits for completions of a disk as I/O, if a site is known to be about that. */
static void settle_disk(struct traced_site *traced)
{
	struct site *site = &traced->site;
	enum wait_purpose about;

	if (traced->now.key.state != STATE_POLL)
		return;
	about = about_waker(site, traced->now.key.syscall);
	if (about != WAIT_FOR_UNKNOWN)
		traced->disk = about == WAIT_FOR_DISK_RING;
	site->state = traced->disk ? STATE_IO : STATE_POLL;
	site->kind = traced->disk ? DELAY_BLKIO : -1;
	site->kind_ns = traced->disk ? site->ns : 0;
}

bool traced_sites_has_any(const struct site *site)
{
	return site->ns || site->kind_ns || site->count || site->waiting;
}

/* Excludes the time waited with user stacks so far from all intervals. */
static void skip_stacks(struct traced_site *traced)
{
	for (size_t i = 0; i < traced->nstacks; i++) {
		traced->stacks[i].shown_ns = traced->stacks[i].ns + traced->stacks[i].progress_ns;
		traced->stacks[i].shown_count = traced->stacks[i].count;
	}
}

/* Computes a site's interval, and adds it to the frame if there were any waits. */
static void settle_site(struct traced_sites *sites, struct traced_site *traced)
{
	uint64_t read_ns = sites->processes->read_ns, progress = progress_of(traced, read_ns);
	struct site *site = &traced->site;

	settle_ended(traced, traced->read_epoch == sites->processes->epoch
				     ? &sites->befores[traced->before]
				     : NULL);
	site->ns = growth(traced->now.ns + progress, &traced->shown_ns);
	if (site->kind >= 0)
		site->kind_ns =
			growth(ended_of_kind(&traced->now) + progress, &traced->shown_kind_ns);
	settle_disk(traced);
	settle_waiting(traced, read_ns, site);
	if (sites->processes->epoch < 2)
		skip_stacks(traced);
	if (sites->processes->epoch < 2 || !traced_sites_has_any(site))
		return;
	push(&sites->framed, &sites->nframed, &sites->framed_cap, traced);
}

void traced_sites_move_time(struct traced_site *traced, int64_t ns)
{
	traced->site.ns += (uint64_t)ns;
	traced->site.kind_ns += (uint64_t)ns;
	traced->shown_ns += (uint64_t)ns;
	traced->shown_kind_ns += (uint64_t)ns;
}

void traced_sites_settle(struct traced_sites *sites)
{
	sites->nframed = 0;
	release_left_sites(sites);
	for (size_t i = 0; i < sites->nchanged; i++)
		settle_site(sites, sites->changed[i]);
	for (size_t i = 0; i < sites->nbusy; i++)
		if (sites->busy[i]->epoch != sites->processes->epoch)
			settle_site(sites, sites->busy[i]);
}

void traced_sites_forget(struct traced_sites *sites, uint64_t idle_ns,
			 traced_sites_forget_fn *forget, void *arg)
{
	struct traced_site *site = sites->oldest;
	uint64_t read_ns = sites->processes->read_ns;

	while (site && site->epoch != sites->processes->epoch &&
	       read_ns - site->now.last_ns > idle_ns && read_ns > site->now.last_ns) {
		struct traced_site *newer = site->newer;

		if (forget(arg, site->slot))
			free_site(sites, site);
		site = newer;
	}
}

void traced_sites_forget_process(struct traced_sites *sites, struct traced_process *process,
				 traced_sites_forget_fn *forget, void *arg)
{
	while (process->sites) {
		forget(arg, process->sites->slot);
		free_site(sites, process->sites);
	}
}

void traced_sites_free(struct traced_sites *sites)
{
	for (size_t i = 0; i < sites->nslots; i++) {
		if (!sites->slots[i])
			continue;
		release_site(sites->slots[i]);
	}
	free(sites->slots);
	free(sites->busy);
	free(sites->changed);
	free(sites->befores);
	free(sites->framed);
	*sites = (struct traced_sites){ 0 };
}
