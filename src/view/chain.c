/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/stack_tree.h"

/* Maximum depth of a chain. */
#define DEPTH_MAX 8

/* A share that is not followed further, and one that is too small for a step of its own. */
#define SHARE_FOLLOWED 0.002
#define SHARE_SHOWN 0.01

/* Unknown share of a waker's time from which it is shown. */
#define KNOWN_LESS 0.1

/* A wait in progress up to this multiple of the average is treated like the completed ones. */
#define ALIKE 3

#define CHAIN_ROOT_WORD(NAME, id, ...) id,
const char *const chain_root_ids[CHAIN_ROOTS] = { CHAIN_ROOT_TABLE(CHAIN_ROOT_WORD) };
#undef CHAIN_ROOT_WORD

/* ---- The index ------------------------------------------------------------------------------- */

static int compare_site_ids(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a, *y = *(const struct site *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

void chain_index_make(struct chain_index *index, const struct trace_frame *trace)
{
	index->trace = trace;
	index->n = 0;
	for (size_t i = 0; i < trace->n; i++) {
		if (trace->sites[i]->unattributed || trace->sites[i]->overlaps)
			continue;
		GROW(index->sites, index->n, index->cap);
		index->sites[index->n++] = trace->sites[i];
	}
	if (index->n)
		qsort(index->sites, index->n, sizeof(struct site *), compare_site_ids);
}

const struct site *chain_site(const struct chain_index *index, uint64_t id)
{
	const struct site wanted = { .id = id }, *key = &wanted, *const * found;

	if (!id || !index->n)
		return NULL;
	found = bsearch(&key, index->sites, index->n, sizeof(struct site *), compare_site_ids);
	return found ? *found : NULL;
}

/* The links of a site and a waker, or those to the holder; n is set to their number. */
static const struct site_link *find_links(const struct chain_index *index, uint64_t site,
					  pid_t tgid, bool holds, size_t *n)
{
	const struct site_link wanted = {
		.site = site, .tgid = tgid, .ns = UINT64_MAX, .holds = holds
	};
	const struct trace_frame *trace = index->trace;
	size_t low = 0, high = trace->nlinks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (site_link_compare(&trace->links[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < trace->nlinks; (*n)++) {
		const struct site_link *link = &trace->links[low + *n];

		if (link->site != site || link->holds != holds || (tgid && link->tgid != tgid))
			break;
	}
	return trace->links + low;
}

const struct site_link *chain_holder(const struct chain_index *index, const struct site *site)
{
	size_t n;
	const struct site_link *link = find_links(index, site->id, 0, true, &n);

	return n ? link : NULL;
}

bool chain_explains(const struct chain_index *index, const struct site *site)
{
	bool asked = site->state == STATE_PIPE || site->state == STATE_NET ||
		     site->state == STATE_LOCK || site->state == STATE_CHILD ||
		     site->state == STATE_PARK || site->state == STATE_IO ||
		     (site->state == STATE_POLL && site->class == CLASS_UNKNOWN);

	if (site->unattributed || site->overlaps)
		return false;
	return wait_is_lost(site->class, site->state) ||
	       (asked && (site->wakers[0].tgid ||
			  ((site->state == STATE_PIPE || site->state == STATE_POLL) &&
			   chain_holder(index, site))));
}

bool chain_follows(const struct site *site)
{
	return !site->unattributed && !site->overlaps && site->state != STATE_CPU &&
	       site->wakers[0].tgid > 0;
}

/* Length of a lock's target without its holder. */
static size_t lock_length(const struct site *site)
{
	const char *held = strstr(site->on, SITE_HELD_BY);

	return held ? (size_t)(held - site->on) : strlen(site->on);
}

/* True if two sites are waits for one lock, which tasks take in turn. */
static bool are_one_lock(const struct site *a, const struct site *b)
{
	if (!a || !b || a->class != CLASS_CONTENDED || b->class != CLASS_CONTENDED ||
	    a->state == STATE_CPU)
		return false;
	return a == b ||
	       (a->state == b->state && a->on && b->on && lock_length(a) == lock_length(b) &&
		!memcmp(a->on, b->on, lock_length(a)));
}

/* ---- The roots ------------------------------------------------------------------------------- */

/* True if two roots of one kind and task are one: of waits for disks and peers, by the target. */
static bool are_one_place(const struct chain_root *a, const struct chain_root *b)
{
	if (a->kind != CHAIN_DISK && a->kind != CHAIN_PEER)
		return true;
	return a->site && b->site ? !text_compare(a->site->on, b->site->on) : a->site == b->site;
}

/* Adds a share to a root. */
static void add_root(struct chain *chain, struct chain_root root)
{
	for (size_t i = 0; i < chain->nroots; i++) {
		struct chain_root *at = &chain->roots[i];

		if (at->kind == root.kind && at->tgid == root.tgid &&
		    !text_compare(at->name, root.name) && are_one_place(at, &root)) {
			at->share += root.share;
			return;
		}
	}
	GROW(chain->roots, chain->nroots, chain->roots_cap);
	chain->roots[chain->nroots++] = root;
}

/* Adds the roots of waits that no task ended: the root names the waiting task, and the place. */
static void add_interrupt(struct chain *chain, const struct site *site,
			  const struct site_waker *waker, double share)
{
	struct chain_root root = { .kind = CHAIN_INTERRUPT,
				   .name = site->comm,
				   .tgid = site->tgid,
				   .site = site,
				   .share = share };

	if (strstr(waker->name, "timer"))
		root.kind = CHAIN_TIMER;
	else if (site->state == STATE_IO || !strcmp(waker->name, "block"))
		root.kind = CHAIN_DISK;
	else if (site->state == STATE_NET || !strcmp(waker->name, "net_rx"))
		root.kind = CHAIN_PEER;
	else
		root = (struct chain_root){ CHAIN_INTERRUPT, waker->name, .site = site,
					    .share = share };
	add_root(chain, root);
}

/* Adds a wait for a CPU. Its root is the task that ran instead, or the used-up budget. */
static void add_queue(struct chain *chain, const struct site *site, double share)
{
	bool quota = site_throttled_by(site) >= 0;

	add_root(chain, (struct chain_root){ .kind = quota ? CHAIN_QUOTA : CHAIN_QUEUE,
					     .name = quota ? site->comm : site->on,
					     .tgid = quota ? site->tgid : 0,
					     .site = site,
					     .share = share });
}

/* ---- The steps ------------------------------------------------------------------------------- */

/* The wait being followed. */
struct following {
	struct chain *chain;
	const struct chain_index *index;
	/*
	 * Path from the first wait; held: the waiter at this site holds the lock awaited one level
	 * up.
	 */
	struct {
		const struct site *site;
		bool held;
	} path[DEPTH_MAX];
	unsigned depth;
};

static void follow_site(struct following *following, const struct site *site, double share,
			bool held);

/* Follows a part of a waker's activity. */
static void follow_part(struct following *following, const struct chain_step *step,
			const struct chain_part *part)
{
	struct chain_root root = { .kind = CHAIN_UNEXPLAINED,
				   .site = part->site,
				   .share = step->share * part->share };

	if (part->state == STATE_RUN) {
		root.kind = CHAIN_RUN;
		root.name = step->waker.name;
		root.tgid = step->waker.tgid;
		root.at = stack_tree_own(following->index->trace, &step->of, 1, root.tgid);
		add_root(following->chain, root);
	} else if (part->state == STATE_STOP) {
		root.kind = CHAIN_STOPPED;
		root.name = step->waker.name;
		root.tgid = step->waker.tgid;
		add_root(following->chain, root);
	} else if (!part->site) {
		if (part->state == STATE_CPU) {
			root.kind = CHAIN_QUEUE;
		} else if (part->state == STATE_TIMER || part->state == STATE_IO) {
			root.kind = part->state == STATE_IO ? CHAIN_DISK : CHAIN_TIMER;
			root.name = step->waker.name;
			root.tgid = step->waker.tgid;
		}
		add_root(following->chain, root);
	} else if (part->state == STATE_CPU) {
		add_queue(following->chain, part->site, root.share);
	} else {
		follow_site(following, part->site, root.share, !step->waker.count);
	}
}

/* Orders parts: most time first. */
static int compare_parts(const void *a, const void *b)
{
	const struct chain_part *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

/* True if a waker waited for the same lock while another had its turn. */
static bool is_turn(const struct chain_index *index, const struct chain_step *step,
		    const struct site_link *link)
{
	return !link->holds && are_one_lock(step->of, chain_site(index, link->to));
}

/*
 * Adds a step's parts: the waker's activity during the wait (for a lock passed around: while it
 * held it). Time no longer recorded is unexplained. Returns that share.
 */
static double add_parts(struct following *following, struct chain_step *step)
{
	struct chain *chain = following->chain;
	size_t n;
	const struct site_link *links = find_links(following->index, step->of->id, step->waker.tgid,
						   !step->waker.count, &n);
	double sum = 0, past = 0, turns = 0, all;

	for (size_t i = 0; i < n; i++) {
		sum += (double)links[i].ns;
		if (links[i].state == WAIT_STATES)
			past += (double)links[i].ns;
		if (is_turn(following->index, step, &links[i]))
			turns += (double)links[i].ns;
	}
	/* Links that found no room are missing. */
	all = sum > (double)step->waker.ns ? sum : (double)step->waker.ns;
	past += all - sum;
	all -= turns;
	step->first = chain->nparts;
	step->n = 0;
	step->in_part = past > all * KNOWN_LESS;
	for (size_t i = 0; i < n; i++) {
		if (links[i].state == WAIT_STATES || is_turn(following->index, step, &links[i]))
			continue;
		GROW(chain->parts, chain->nparts, chain->parts_cap);
		chain->parts[chain->nparts++] =
			(struct chain_part){ .state = links[i].state,
					     .site = chain_site(following->index, links[i].to),
					     .share = (double)links[i].ns / all };
		step->n++;
	}
	if (step->n)
		qsort(&chain->parts[step->first], step->n, sizeof(*chain->parts), compare_parts);
	return all > 0 ? past / all : 1;
}

/* Follows a waker of a site, or the holder of its target. */
static void follow_waker(struct following *following, const struct site *site,
			 const struct site_waker *waker, double share)
{
	struct chain *chain = following->chain;
	struct chain_step step = {
		.depth = following->depth, .of = site, .waker = *waker, .share = share
	};
	double unknown;

	if (!waker->tgid && waker->name) {
		add_interrupt(chain, site, waker, share);
		return;
	}
	unknown = add_parts(following, &step) * share;
	if (unknown > 0)
		add_root(chain, (struct chain_root){ CHAIN_UNEXPLAINED, .share = unknown });
	if (share >= SHARE_SHOWN) {
		GROW(chain->steps, chain->nsteps, chain->steps_cap);
		chain->steps[chain->nsteps++] = step;
	}
	for (size_t i = 0; i < step.n; i++) {
		/* Parts may move as more are added. */
		struct chain_part part = chain->parts[step.first + i];

		follow_part(following, &step, &part);
	}
}

/* The name of a process, if one of its waits is known; else NULL. */
static const char *process_name(const struct chain_index *index, pid_t tgid)
{
	for (size_t i = 0; i < index->n; i++)
		if (index->sites[i]->tgid == tgid)
			return index->sites[i]->comm;
	return NULL;
}

/* Follows waits in progress to the lock holder, if known. */
static void follow_rest(struct following *following, const struct site *site, double share)
{
	struct chain_root root = { .kind = CHAIN_GOES_ON,
				   .name = site->comm,
				   .tgid = site->tgid,
				   .site = site,
				   .share = share };
	size_t n;
	const struct site_link *link = find_links(following->index, site->id, 0, true, &n);
	struct site_waker holder;

	if (n) {
		holder = (struct site_waker){ .tgid = link->tgid,
					      .name = process_name(following->index, link->tgid) };
		for (size_t i = 0; i < n && link[i].tgid == link->tgid; i++)
			holder.ns += link[i].ns;
		follow_waker(following, site, &holder, share);
		return;
	}
	if (site->state == STATE_TIMER)
		root.kind = CHAIN_TIMER;
	else if (site->state == STATE_IO)
		root.kind = CHAIN_DISK;
	add_root(following->chain, root);
}

/* Adds the root of waits already being followed, at their place; false: they are not. */
static bool add_circle(struct following *following, const struct site *site, double share,
		       bool held)
{
	struct chain_root root = { .kind = CHAIN_CIRCLE,
				   .name = site->comm,
				   .tgid = site->tgid,
				   .site = site,
				   .share = share };

	for (unsigned i = following->depth; i-- > 0;) {
		if (following->path[i].site == site) {
			root.kind = held ? CHAIN_DEADLOCK : CHAIN_CIRCLE;
			add_root(following->chain, root);
			return true;
		}
		held &= following->path[i].held;
	}
	return false;
}

/* True if a wait in progress is unlike those that ended, and so may have another cause. */
static bool is_wait_unlike(const struct site *site)
{
	uint64_t ended_ns = 0, count = 0;

	for (unsigned i = 0; i < SITE_WAKERS; i++) {
		ended_ns += site->wakers[i].ns;
		count += site->wakers[i].count;
	}
	return !count || site->waiting_ns > ALIKE * ended_ns / count;
}

/* True if the waker identifies the cause; not a timer, as lock waiters may retry on timeouts. */
static bool waker_counts(const struct site *site, const struct site_waker *waker)
{
	if (waker->tgid || site->class != CLASS_CONTENDED)
		return true;
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		if (site->wakers[i].tgid)
			return false;
	return true;
}

/* Follows the waits of a site with their share of the chain. held: see struct following. */
static void follow_site(struct following *following, const struct site *site, double share,
			bool held)
{
	double ended = 0, all;

	if (add_circle(following, site, share, held))
		return;
	/* The task that finally unblocks it is not the one that made it wait. */
	if (site->state == STATE_STOP) {
		add_root(following->chain, (struct chain_root){ .kind = CHAIN_STOPPED,
								.name = site->comm,
								.tgid = site->tgid,
								.site = site,
								.share = share });
		return;
	}
	if (following->depth == DEPTH_MAX || share < SHARE_FOLLOWED) {
		add_root(following->chain,
			 (struct chain_root){ CHAIN_UNEXPLAINED, .share = share });
		return;
	}
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		ended += waker_counts(site, &site->wakers[i]) ? (double)site->wakers[i].ns : 0;
	/* A wait that began in earlier intervals may have ended: then it is more. */
	all = (double)site->ns > ended && is_wait_unlike(site) ? (double)site->ns : ended;
	following->path[following->depth].site = site;
	following->path[following->depth++].held = held;
	for (unsigned i = 0; i < SITE_WAKERS && all > 0; i++)
		if (site->wakers[i].ns && waker_counts(site, &site->wakers[i]))
			follow_waker(following, site, &site->wakers[i],
				     share * (double)site->wakers[i].ns / all);
	if (all <= 0 || ended < all)
		follow_rest(following, site, all > 0 ? share * (1 - ended / all) : share);
	following->depth--;
}

/* Orders roots: largest share first, and unknown last. */
static int compare_roots(const void *a, const void *b)
{
	const struct chain_root *x = a, *y = b;

	if ((x->kind == CHAIN_UNEXPLAINED) != (y->kind == CHAIN_UNEXPLAINED))
		return x->kind == CHAIN_UNEXPLAINED ? 1 : -1;
	return (x->share < y->share) - (x->share > y->share);
}

void chain_build(struct chain *chain, const struct chain_index *index,
		 const struct site *const *sites, size_t n)
{
	struct following following = { .chain = chain, .index = index };

	chain->ns = 0;
	chain->nsteps = chain->nparts = chain->nroots = 0;
	for (size_t i = 0; i < n; i++)
		chain->ns += sites[i]->ns;
	for (size_t i = 0; i < n && chain->ns; i++) {
		double share = (double)sites[i]->ns / (double)chain->ns;

		if (sites[i]->state == STATE_CPU)
			add_queue(chain, sites[i], share);
		else
			follow_site(&following, sites[i], share, false);
	}
	for (size_t i = 0; i < chain->nroots; i++)
		if (chain->roots[i].site)
			chain->roots[i].at =
				stack_tree_own(index->trace, &chain->roots[i].site, 1, 0);
	if (chain->nroots)
		qsort(chain->roots, chain->nroots, sizeof(*chain->roots), compare_roots);
}

void chain_index_free(struct chain_index *index)
{
	free(index->sites);
	*index = (struct chain_index){ 0 };
}

void chain_free(struct chain *chain)
{
	free(chain->steps);
	free(chain->parts);
	free(chain->roots);
	*chain = (struct chain){ 0 };
}

/* Appends a raw text. */
static void put_raw(struct buf *out, const char *raw, enum text_charset charset)
{
	text_escape(out, raw, strlen(raw), charset);
}

/* Appends the name and number of a task, if known. */
static void put_task_name(struct buf *out, const char *name, pid_t tgid, enum text_charset charset)
{
	if (name)
		put_raw(out, name, charset);
	if (tgid > 0)
		buf_printf(out, "%s%d", name ? " " : "", (int)tgid);
}

/* Appends a wait for a CPU: which task runs. */
static void put_queue(struct buf *out, const struct site *site, enum text_charset charset)
{
	int by = site_throttled_by(site);

	if (by >= 0) {
		buf_printf(out, "throttled by %s", cpu_budget_words[by].own);
		return;
	}
	buf_puts(out, "run queue");
	if (!site || !site->on)
		return;
	buf_puts(out, " behind ");
	put_raw(out, site->on, charset);
}

/* A site's target, without the system call's name if it begins with that: "futex 0x10". */
static const char *target_beside_call(const struct site *site)
{
	size_t len = site->syscall ? strlen(site->syscall) : 0;

	if (len && site->on && !strncmp(site->on, site->syscall, len) && site->on[len] == ' ')
		return site->on + len + 1;
	return site->on;
}

void chain_put_site(struct buf *out, const struct site *site, enum text_charset charset)
{
	const char *words, *on = target_beside_call(site);

	if (site->state == STATE_CPU) {
		put_queue(out, site, charset);
		return;
	}
	if (site->syscall)
		put_raw(out, site->syscall, charset);
	else
		buf_puts(out,
			 site->state == STATE_IO ? "block I/O" : wait_state_table[site->state].id);
	if (on || (!site->syscall && site->where)) {
		buf_puts(out, on ? " " : " in ");
		put_raw(out, on ? on : site->where, charset);
	}
	words = wait_words(site->where, site->on);
	if (words)
		buf_printf(out, " (%s)", words);
}

void chain_put_part(struct buf *out, const struct chain_part *part, enum text_charset charset)
{
	if (part->state == STATE_RUN)
		buf_puts(out, "on CPU");
	else if (part->state == STATE_CPU)
		put_queue(out, part->site, charset);
	else if (part->site)
		chain_put_site(out, part->site, charset);
	else
		buf_puts(out, wait_state_table[part->state].id);
}

void chain_put_waker(struct buf *out, const struct chain_step *step, enum text_charset charset)
{
	const struct site_waker *waker = &step->waker;

	put_task_name(out, waker->name, waker->tgid, charset);
	if (!waker->count)
		buf_puts(out, step->of->state == STATE_CHILD	   ? " still runs"
			      : step->of->class == CLASS_CONTENDED ? " holds it"
								   : " has not answered");
	else
		buf_printf(out, " %s %llu %s", step->of->state == STATE_LOCK ? "released" : "ended",
			   (unsigned long long)waker->count, plural(waker->count, "wait", "waits"));
}

/* Appends how a task is stopped. */
static void put_stopped(struct buf *out, const struct chain_root *root, enum text_charset charset)
{
	const struct site *site = root->site;

	put_task_name(out, root->name, root->tgid, charset);
	buf_puts(out, site_is_frozen(site) ? " is " WAIT_FROZEN : " is stopped");
	if (!site_is_frozen(site) && site && site->on) {
		buf_puts(out, " by ");
		put_raw(out, site->on, charset);
	}
}

/* Appends a wait that needs no other task. */
static void put_own_wait(struct buf *out, const char *what, const struct chain_root *root,
			 enum text_charset charset)
{
	buf_puts(out, what);
	if (root->tgid > 0 || root->name) {
		buf_puts(out, " of ");
		put_task_name(out, root->name, root->tgid, charset);
	}
	if (root->site) {
		buf_puts(out, ": ");
		chain_put_site(out, root->site, charset);
	}
	if (root->at) {
		buf_puts(out, " at ");
		put_raw(out, root->at, charset);
	}
}

/* True if the other end of a socket is known: without a connection anybody may send to it. */
static bool has_peer(const struct site *site)
{
	return !site || !site->on || strncmp(site->on, "udp *:", 6) != 0;
}

void chain_put_root(struct buf *out, const struct chain_root *root, enum text_charset charset)
{
	int by = site_throttled_by(root->site);

	switch (root->kind) {
	case CHAIN_RUN:
		put_task_name(out, root->name, root->tgid, charset);
		buf_puts(out, " on CPU");
		if (root->at) {
			buf_puts(out, " before ");
			put_raw(out, root->at, charset);
		}
		break;
	case CHAIN_QUEUE:
		put_queue(out, root->site, charset);
		break;
	case CHAIN_QUOTA:
		buf_puts(out, cpu_budget_words[by < 0 ? BUDGET_QUOTA : by].of);
		put_task_name(out, root->name, root->tgid, charset);
		break;
	case CHAIN_STOPPED:
		put_stopped(out, root, charset);
		break;
	case CHAIN_DISK:
		put_own_wait(out, "disk I/O", root, charset);
		break;
	case CHAIN_PEER:
		put_own_wait(out, has_peer(root->site) ? "remote peer" : "unknown peer", root,
			     charset);
		break;
	case CHAIN_TIMER:
		put_own_wait(out, "sleep", root, charset);
		break;
	case CHAIN_INTERRUPT:
		buf_puts(out, "interrupt ");
		put_task_name(out, root->name, 0, charset);
		break;
	case CHAIN_CIRCLE:
		put_own_wait(out, "mutual wait", root, charset);
		break;
	case CHAIN_DEADLOCK:
		put_own_wait(out, "deadlock", root, charset);
		break;
	case CHAIN_GOES_ON:
		put_own_wait(out,
			     root->site && root->site->waiting ? "wait in progress"
							       : "unknown waker",
			     root, charset);
		break;
	default:
		buf_puts(out, "unexplained");
		break;
	}
}
