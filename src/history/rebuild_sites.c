/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/rebuild_parts.h"

/* The most sites that are remembered although nobody waits there. */
#define SITES_MAX (1 << 16)

/* A site of the recording, with its number. */
struct known_site {
	int64_t id;
	struct site last; /* in the sample read last; its texts stay valid */
	uint64_t seen_in; /* the last sample that had a row of it */
	size_t sum; /* 1 + its index in `sums`; 0: it is not there */
	struct known_site *next;
};

/* Orders by number. */
static int compare_sites(const void *a, const void *b)
{
	int64_t x = ((const struct known_site *)a)->id, y = ((const struct known_site *)b)->id;

	return (x > y) - (x < y);
}

/* Forgets sites; busy: also those where somebody waits. */
void rebuild_forget_sites(struct rebuild_trace *trace, bool busy)
{
	struct known_site **at = &trace->known;

	while (*at) {
		struct known_site *old = *at;

		if (!busy && old->last.waiting) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		tdelete(old, &trace->tree, compare_sites);
		free(old);
		trace->nknown--;
	}
}

/* Finds or adds the stack of a text, one function a line. Returns its index. */
static size_t stack_of(struct rebuild_trace *trace, const char *text)
{
	const char **functions;
	size_t n = 1;
	char *copy;

	if (!text)
		return 0;
	for (size_t i = 1; i < trace->nstacks; i++)
		if (trace->stack_texts[i] == text)
			return i;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n++;
	if (!trace->nstacks)
		trace->nstacks = 1;
	trace->stacks = xreallocarray(trace->stacks, trace->nstacks + 1, sizeof(*trace->stacks));
	trace->stack_texts =
		xreallocarray(trace->stack_texts, trace->nstacks + 1, sizeof(*trace->stack_texts));
	trace->stacks[0] = (struct site_stack){ 0 };
	trace->stack_texts[0] = NULL;
	/* The functions follow their pointers. */
	functions = xcalloc(1, n * sizeof(*functions) + strlen(text) + 1);
	copy = (char *)(functions + n);
	strcpy(copy, text);
	for (size_t i = 0; i < n; i++)
		functions[i] = strsep(&copy, "\n");
	trace->stacks[trace->nstacks] = (struct site_stack){ functions, n };
	trace->stack_texts[trace->nstacks] = text;
	return trace->nstacks++;
}

bool rebuild_identify(struct rebuild *rebuild, uint32_t id, pid_t *tgid, uint64_t *start_ns)
{
	struct moment_process row = { 0 };

	if (id && archive_get(rebuild->archive, TABLE_PROCESS, id, &row) != 1)
		rebuild->archive->bad = true;
	else if (id)
		archive_done(rebuild->archive, TABLE_PROCESS);
	*tgid = row.tgid;
	*start_ns = row.start_ns;
	return !rebuild->archive->bad;
}

/* Reads the site with a number. */
static struct known_site *read_site(struct rebuild *rebuild, uint32_t id)
{
	struct known_site *known;
	struct moment_site row;
	struct site site = { 0 };

	if (archive_get(rebuild->archive, TABLE_SITE, id, &row) != 1) {
		rebuild->archive->bad = true;
		return NULL;
	}
	archive_done(rebuild->archive, TABLE_SITE);
	site.id = row.order;
	site.overlaps = row.overlaps;
	/* Other kinds and states were written by a later version. */
	site.kind = row.kind < WAIT_KINDS ? row.kind : -1;
	site.state = row.state < WAIT_STATES ? (enum wait_state)row.state : STATE_OTHER;
	/* Files before version 6 have no classes. */
	site.class = row.class < 0		? wait_class_of_state(site.state)
		     : row.class < WAIT_CLASSES ? (enum wait_class)row.class
						: CLASS_UNKNOWN;
	rebuild_identify(rebuild, row.process, &site.tgid, &site.start_ns);
	site.comm = rebuild_keep_text(rebuild, row.comm);
	site.syscall = rebuild_keep_text(rebuild, row.syscall);
	site.on = rebuild_keep_text(rebuild, row.on);
	site.where = rebuild_keep_text(rebuild, row.where);
	site.stack = stack_of(&rebuild->trace, rebuild_keep_text(rebuild, row.stack));
	known = xcalloc(1, sizeof(*known));
	*known = (struct known_site){ .id = id, .last = site, .next = rebuild->trace.known };
	rebuild->trace.known = known;
	rebuild->trace.nknown++;
	if (!tsearch(known, &rebuild->trace.tree, compare_sites))
		die("out of memory");
	return known;
}

/* Finds or reads the site with a number. NULL, and bad: there is none. */
static struct known_site *site_numbered(struct rebuild *rebuild, uint32_t id)
{
	struct known_site key = { .id = id };
	void *found = tfind(&key, &rebuild->trace.tree, compare_sites);

	return found ? *(struct known_site **)found : read_site(rebuild, id);
}

/* Sets what was waited at a site in the sample. */
static void set_site_wait(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_site_wait *row = from;
	struct known_site *known = site_numbered(rebuild, row->site);
	struct site *site;

	if (!known)
		return;
	known->seen_in = rebuild->trace.nsamples;
	site = &known->last;
	site->count = row->wait.count;
	site->ns = row->wait.ns;
	site->kind_ns = row->wait.kind_ns;
	site->max_ns = row->wait.max_ns;
	site->waiting = row->wait.waiting;
	site->waiting_ns = row->wait.waiting_ns;
	site->at_least = row->wait.at_least;
	memcpy(site->log2_us, row->wait.log2_us, sizeof(site->log2_us));
	memset(site->wakers, 0, sizeof(site->wakers));
}

/* Sets one of those who ended waits at a site. */
static void set_waker(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_waker *row = from;
	struct known_site *known = site_numbered(rebuild, row->site);

	if (known && row->number < SITE_WAKERS)
		known->last.wakers[row->number] = (struct site_waker){
			.tgid = row->tgid,
			.name = rebuild_keep_text(rebuild, row->name),
			.ns = row->ns,
			.count = row->count,
		};
}

/* Adds what a waker did meanwhile. */
static void add_link(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	struct rebuild_trace *trace = &rebuild->trace;
	const struct moment_link *row = from;
	const struct known_site *site = site_numbered(rebuild, row->site);
	const struct known_site *to = row->to ? site_numbered(rebuild, row->to) : NULL;

	if (!site || (row->to && !to))
		return;
	GROW(trace->links, trace->nlinks, trace->links_cap);
	/* Other states were written by a later version. */
	trace->links[trace->nlinks++] = (struct site_link){
		.site = site->last.id,
		.tgid = row->tgid,
		.to = to ? to->last.id : 0,
		.state = row->state >= 0 && row->state < WAIT_STATES ? (enum wait_state)row->state
								     : WAIT_STATES,
		.ns = row->ns,
		.holds = row->holds,
	};
}

/* Adds a sum for one more site. */
static struct site *new_sum(struct rebuild_trace *trace)
{
	GROW(trace->sums, trace->nsums, trace->sums_cap);
	return &trace->sums[trace->nsums++];
}

/* Adds what no site explains of a kind. */
static void add_rest(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_rest *row = from;
	struct site *rest;
	uint64_t start_ns;
	pid_t tgid;

	if (row->kind >= WAIT_KINDS || !rebuild_identify(rebuild, row->process, &tgid, &start_ns))
		return;
	/* Earlier programs wrote rests below 0 if the kernel booked less than was waited. */
	if (row->ns <= 0 && row->known)
		return;
	rest = new_sum(&rebuild->trace);
	*rest = site_rest(tgid, start_ns, rebuild_keep_text(rebuild, row->comm), row->kind,
			  row->ns);
	rest->unknown = !row->known;
}

/* Adds the wakers of a later interval, and keeps those that ended most waiting time. */
static void merge_wakers(struct site *sum, const struct site *more)
{
	struct site_waker all[2 * SITE_WAKERS];
	size_t n = 0;

	for (unsigned i = 0; i < 2 * SITE_WAKERS; i++) {
		const struct site_waker *waker =
			i < SITE_WAKERS ? &sum->wakers[i] : &more->wakers[i - SITE_WAKERS];

		if (waker->tgid || waker->name)
			all[n++] = *waker;
	}
	n = wakers_top(all, n);
	memset(sum->wakers, 0, sizeof(sum->wakers));
	memcpy(sum->wakers, all, (n < SITE_WAKERS ? n : SITE_WAKERS) * sizeof(*all));
}

/* Adds a later interval of a site, or of the rest of a kind. */
static void merge_site(struct site *sum, const struct site *more)
{
	merge_wakers(sum, more);
	/* Intervals in which it is not known are left out. */
	sum->unknown &= more->unknown;
	site_add(sum, more);
	if (sum->unattributed)
		sum->ns = (uint64_t)sum->rest_ns;
}

/* Adds an interval of a site to its sum. */
static void add_interval(struct rebuild_trace *trace, struct known_site *known)
{
	const struct site *last = &known->last;

	if (!last->ns && !last->kind_ns && !last->count && !last->waiting)
		return;
	if (!known->sum) {
		*new_sum(trace) = *last;
		known->sum = trace->nsums;
	} else {
		merge_site(&trace->sums[known->sum - 1], last);
	}
}

/* Adds all sites of the sample: those with a row, and those where threads waited on. */
static void add_sites(struct rebuild *rebuild)
{
	struct rebuild_trace *trace = &rebuild->trace;

	for (struct known_site *at = trace->known; at; at = at->next) {
		if (at->seen_in != trace->nsamples) {
			if (rebuild->whole || !trace->now)
				at->last.waiting = 0;
			if (!at->last.waiting)
				continue;
			site_wait_on(&at->last, trace->now_ns);
		}
		add_interval(trace, at);
	}
}

int rebuild_read_sites(struct rebuild *rebuild, int64_t number)
{
	static const struct archive_reader readers[] = {
		{ TABLE_SITE_WAIT, set_site_wait },
		{ TABLE_SITE_WAKER, set_waker },
		{ TABLE_SITE_LINK, add_link },
		{ TABLE_UNEXPLAINED, add_rest },
	};
	int err = archive_each_of(rebuild->archive, readers,
				  rebuild->trace.now ? ARRAY_SIZE(readers) : 0, number, rebuild);

	if (!err)
		add_sites(rebuild);
	return err;
}

/* Orders by site, or by what a rest belongs to. */
static int compare_same(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

/* Merges the sums of the same site, which several samples or files may have. */
static void merge_sites(struct rebuild_trace *trace)
{
	size_t kept = 0;

	if (trace->nsums)
		qsort(trace->sums, trace->nsums, sizeof(*trace->sums), compare_same);
	for (size_t i = 0; i < trace->nsums; i++) {
		if (kept && !compare_same(&trace->sums[kept - 1], &trace->sums[i]))
			merge_site(&trace->sums[kept - 1], &trace->sums[i]);
		else
			trace->sums[kept++] = trace->sums[i];
	}
	trace->nsums = kept;
	for (struct known_site *at = trace->known; at; at = at->next)
		at->sum = 0;
}

/* Orders links by all but their time. */
static int compare_same_links(const void *a, const void *b)
{
	struct site_link x = *(const struct site_link *)a, y = *(const struct site_link *)b;

	x.ns = y.ns = 0;
	return site_link_compare(&x, &y);
}

/* Orders links as site_link_compare() does. */
static int compare_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

/* Merges the same links of several samples. */
static void merge_links(struct rebuild_trace *trace)
{
	size_t kept = 0;

	if (trace->nlinks)
		qsort(trace->links, trace->nlinks, sizeof(*trace->links), compare_same_links);
	for (size_t i = 0; i < trace->nlinks; i++) {
		if (kept && !compare_same_links(&trace->links[kept - 1], &trace->links[i]))
			trace->links[kept - 1].ns += trace->links[i].ns;
		else
			trace->links[kept++] = trace->links[i];
	}
	trace->nlinks = kept;
}

/* Copies the links, too, in their order. */
static void give_links(struct rebuild_trace *trace, bool several)
{
	if (several)
		merge_links(trace);
	trace->given_links =
		xreallocarray(trace->given_links, trace->nlinks + 1, sizeof(*trace->given_links));
	if (trace->nlinks) {
		memcpy(trace->given_links, trace->links, trace->nlinks * sizeof(*trace->links));
		qsort(trace->given_links, trace->nlinks, sizeof(*trace->links), compare_links);
	}
	trace->given_frame.links = trace->given_links;
	trace->given_frame.nlinks = trace->nlinks;
}

/* Orders sites as site_compare() does. */
static int compare_given(const void *a, const void *b)
{
	return site_compare(a, b);
}

/* Copies sites and stacks for the sample that is made; they stay valid until the next one. */
void rebuild_give_sites(struct rebuild_trace *trace, bool several)
{
	struct trace_frame *frame = &trace->given_frame;

	if (several)
		merge_sites(trace);
	trace->given_sites =
		xreallocarray(trace->given_sites, trace->nsums + 1, sizeof(*trace->given_sites));
	trace->given_stacks = xreallocarray(trace->given_stacks, trace->nstacks + 1,
					    sizeof(*trace->given_stacks));
	if (trace->nsums) {
		memcpy(trace->given_sites, trace->sums, trace->nsums * sizeof(*trace->sums));
		qsort(trace->given_sites, trace->nsums, sizeof(*trace->sums), compare_given);
	}
	if (trace->nstacks)
		memcpy(trace->given_stacks, trace->stacks, trace->nstacks * sizeof(*trace->stacks));
	*frame = trace->frame;
	frame->sites = trace->given_sites;
	frame->n = trace->nsums;
	frame->stacks = trace->given_stacks;
	frame->nstacks = trace->nstacks;
	give_links(trace, several);
}

void rebuild_begin_sites(struct rebuild_trace *trace)
{
	for (struct known_site *at = trace->known; at; at = at->next)
		at->sum = 0;
	trace->nsums = trace->nlinks = 0;
	if (trace->nknown > SITES_MAX)
		rebuild_forget_sites(trace, false);
}

void rebuild_free_sites(struct rebuild_trace *trace)
{
	rebuild_forget_sites(trace, true);
	for (size_t i = 1; i < trace->nstacks; i++)
		free((void *)(uintptr_t)trace->stacks[i].functions);
	free(trace->stacks);
	free(trace->stack_texts);
	free(trace->sums);
	free(trace->given_sites);
	free(trace->links);
	free(trace->given_links);
	free(trace->given_stacks);
}
