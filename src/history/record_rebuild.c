/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "history/record_parts.h"

/* Trace data added up since the last sample, and the last one returned. */
struct rebuilt_trace {
	bool there;
	struct trace_frame frame; /* without its arrays */
	struct site *sites;
	size_t nsites, sites_cap;
	struct site_link *links;
	size_t nlinks, links_cap;
	struct rebuilt_user_stack {
		uint64_t site; /* its id */
		size_t order;
		struct site_user_stack part;
	} * user_stacks;
	size_t nuser_stacks, user_stacks_cap;
	struct site_stack *stacks; /* [0] is empty */
	size_t nstacks, stacks_cap;
	uint64_t sample; /* the number of the current one */
	/* The last one returned, valid until the next. */
	struct trace_frame given;
	struct site *rebuilt_copy; /* the sites in it */
	const struct site **rebuilt_sites;
	struct site_link *rebuilt_links;
	struct site_user_stack *rebuilt_user_stacks;
	struct site_stack *rebuilt_stacks;
	struct traced *traced;
	const struct traced **rows;
};

/* The readings of a group: for the next sample, and those of the last two samples. */
struct rebuilt_group {
	char *path;
	struct cgroup_sample next, now, before;
	bool next_there, now_there, before_there;
	bool follows; /* `next` is of the same group as `now` */
};

struct record_state *record_open(void)
{
	return xcalloc(1, sizeof(struct record_state));
}

static void free_group_readings(struct rebuilt_group *reading)
{
	free(reading->path);
	free(reading);
}

void record_close(struct record_state *state)
{
	struct rebuilt_trace *trace;

	if (!state)
		return;
	trace = state->rebuilt.given;
	if (trace) {
		free(trace->sites);
		free(trace->links);
		free(trace->user_stacks);
		free(trace->rebuilt_user_stacks);
		free(trace->stacks);
		free(trace->rebuilt_copy);
		free(trace->rebuilt_sites);
		free(trace->rebuilt_links);
		free(trace->rebuilt_stacks);
		free(trace->traced);
		free(trace->rows);
	}
	free(trace);
	while (state->rebuilt.nreadings)
		free_group_readings(state->rebuilt.readings[--state->rebuilt.nreadings]);
	free(state->rebuilt.readings);
	record_state_free(state);
	free(state);
}

/* Excludes impossible delays from lives. */
static void apply_fixes(struct record_state *state)
{
	for (size_t i = 0; i < state->rebuilt.nfixes; i++) {
		struct task *task = state->rebuilt.fixes[i].task;

		if (!task->dropped)
			task->dropped = xcalloc(1, sizeof(*task->dropped));
		*task->dropped = state->rebuilt.fixes[i].dropped;
		task_unref(task);
	}
	state->rebuilt.nfixes = 0;
}

/* Starts an element's sums, or adds what was true only for the previous record. */
static void begin_played(struct recorded_element *known, bool first)
{
	struct decoder_state *played = record_decoder_state(known);

	if (!first && (known->raw->now.waits.dwait_ns || known->raw->exited)) {
		if (!played)
			played = record_rare(known)->played = xcalloc(1, sizeof(*played));
		played->dwait_ns += known->raw->now.waits.dwait_ns;
		played->exited |= known->raw->exited;
	}
	if (!played)
		return;
	played->before_ns = 0;
	if (!first)
		return;
	played->dwait_ns = 0;
	played->exited = played->traced = false;
	played->io = (struct io_pressure){ 0 };
	played->nmore = 0;
	free(played->impossible);
	played->impossible = NULL;
}

/* Starts the traced sums. */
static void begin_trace(struct record_state *state, bool first)
{
	struct rebuilt_trace *trace = state->rebuilt.given;

	if (!trace)
		trace = state->rebuilt.given = xcalloc(1, sizeof(*trace));
	for (size_t i = 0; i < trace->nsites && !first; i++)
		trace->sites[i].waiting = 0, trace->sites[i].waiting_ns = 0;
	if (!first)
		return;
	trace->there = false;
	trace->frame = (struct trace_frame){ .cost = -1 };
	trace->nsites = trace->nlinks = trace->nstacks = trace->nuser_stacks = 0;
	trace->sample++;
}

void rebuilt_begin(struct record_state *state, bool bare)
{
	bool first = !state->rebuilt.passed;

	apply_fixes(state);
	sample_drop_extras(&state->rebuilt.extras);
	state->rebuilt.result.bare = bare;
	for (size_t i = 0; i < state->n; i++)
		begin_played(&state->known[i], first);
	begin_trace(state, first);
	if (!first)
		return;
	for (size_t i = 0; i < state->rebuilt.ngone; i++)
		record_forget(&state->rebuilt.gone[i]);
	state->rebuilt.ngone = 0;
	state->rebuilt.rebuilt_ns = 0;
	for (size_t i = 0; i < state->rebuilt.nreadings; i++)
		state->rebuilt.readings[i]->next_there = false;
}

void rebuilt_keep_left(struct record_state *state)
{
	for (size_t i = 0; i < state->nleft && state->rebuilt.passed; i++) {
		GROW(state->rebuilt.gone, state->rebuilt.ngone, state->rebuilt.gone_cap);
		state->rebuilt.gone[state->rebuilt.ngone++] = state->left[i];
		state->left[i].moved = true;
	}
}

/* Adds counts of two intervals; below 0: unknown. */
static int64_t join_counts(int64_t before, int64_t more)
{
	if (before < 0 || more < 0)
		return before > more ? before : more;
	return more > INT64_MAX - before ? INT64_MAX : before + more;
}

/* The mean of shares of two intervals; below 0: unknown. */
static double join_shares(double a, uint64_t a_ns, double b, uint64_t b_ns)
{
	if (a < 0 || b < 0 || !(a_ns + b_ns))
		return -1;
	return (a * (double)a_ns + b * (double)b_ns) / (double)(a_ns + b_ns);
}

/* Adds the account of another interval; what either does not know is unknown in the sum. */
static void join_accounts(struct account *sum, const struct account *more)
{
	sum->valid &= more->valid;
	sum->recovered_valid &= more->recovered_valid;
	sum->machine_ns += more->machine_ns;
	sum->run_ns += more->run_ns;
	sum->idle_ns += more->idle_ns;
	sum->iowait_ns += more->iowait_ns;
	sum->steal_ns += more->steal_ns;
	sum->irq_ns += more->irq_ns;
	if (__builtin_add_overflow(sum->recovered_ns, more->recovered_ns, &sum->recovered_ns) ||
	    __builtin_add_overflow(sum->unattributed_ns, more->unattributed_ns,
				   &sum->unattributed_ns))
		sum->valid = sum->recovered_valid = false;
	sum->children_ns += more->children_ns;
}

/* Adds a note unless it is already there, if there is room. */
static void join_note(struct frame_head *head, const struct note *note)
{
	for (size_t i = 0; i < head->nnotes; i++)
		if (head->notes[i].id == note->id &&
		    (note->id == NOTE_RECORD_DROPPED || head->notes[i].value == note->value))
			return;
	if (head->nnotes < NOTES_MAX)
		head->notes[head->nnotes++] = *note;
}

/* Combines the heads of two intervals: sums of interval values, the later value of all else. */
static void join_heads(struct frame_head *head, const struct frame_head *before, uint64_t before_ns,
		       uint64_t now_ns)
{
	struct account account = before->account;
	struct frame_head now = *head;

	join_accounts(&account, &now.account);
	head->account = account;
	head->unknown |= before->unknown;
	head->exits = join_counts(before->exits, now.exits);
	head->lost = join_counts(before->lost, now.lost);
	head->others += before->others;
	if (before->self >= 0 && now.self >= 0)
		head->self = join_shares(before->self, before_ns, now.self, now_ns);
	head->nnotes = before->nnotes;
	memcpy(head->notes, before->notes, sizeof(head->notes));
	for (size_t i = 0; i < now.nnotes; i++)
		join_note(head, &now.notes[i]);
}

void rebuilt_end(struct record_state *state)
{
	struct playback_record *result = &state->rebuilt.result;
	struct frame_head before = result->head;
	const struct note missing = { .id = NOTE_RECORD_DROPPED, .value = state->head.dropped };

	result->head = state->head.frame;
	if (state->rebuilt.passed)
		join_heads(&result->head, &before, state->rebuilt.rebuilt_ns,
			   state->head.interval_ns);
	if (missing.value)
		join_note(&result->head, &missing);
	state->rebuilt.rebuilt_ns += state->head.interval_ns;
	result->baseline = !state->head.interval_known;
	result->tasks = state->head.n;
	result->system = state->head.system;
	result->clocks = &state->clocks;
	state->rebuilt.passed++;
}

void rebuilt_bound(struct decoder_state *played, const struct io_pressure *io, uint64_t begin_ns)
{
	played->io.stalled_ns += io->stalled_ns;
	played->io.passed_ns += io->passed_ns;
	played->io.until_ns = begin_ns + io->until_ns;
}

void rebuilt_impossible(struct decoder_state *played, const struct counters *now,
			const struct counters *before)
{
	struct counters grown = *now;

	if (before)
		counters_take_off(&grown, before, before->valid & DELAY_ALL);
	if (!played->impossible)
		played->impossible = xcalloc(1, sizeof(*played->impossible));
	counters_add_known(played->impossible, &grown, grown.valid);
}

void rebuilt_traced(struct decoder_state *played, const struct record_traced *traced)
{
	struct traced *sum = &played->sum;
	bool first = !played->traced;

	if (first)
		*sum = (struct traced){ .lost_known = true };
	wait_states_add(&sum->states, &traced->states);
	sum->lost_ns += traced->lost_ns;
	sum->lost_known &= traced->lost_known;
	if (traced->waker)
		sum->waker = traced->waker;
	sum->tgid = traced->tgid;
	sum->start_ns = traced->start_ns;
	played->traced = true;
}

void rebuilt_more(struct decoder_state *played, const struct record_process *more)
{
	played->more = xreallocarray(played->more, played->nmore + 1, sizeof(*played->more));
	played->more[played->nmore++] = *more;
}

void rebuilt_totals(struct rebuilt_trace *trace, const struct trace_frame *totals)
{
	struct trace_frame *sum = &trace->frame;

	sum->cost = trace->there ? join_shares(sum->cost, sum->interval_ns, totals->cost,
					       totals->interval_ns)
				 : totals->cost;
	sum->interval_ns += totals->interval_ns;
	sum->lost += totals->lost;
	sum->switches += totals->switches;
	sum->stacked |= totals->stacked;
	trace->there = true;
}

void rebuilt_site(struct rebuilt_trace *trace, const struct site *site)
{
	if (!site->unattributed && !site->ns && !site->kind_ns && !site->count && !site->waiting)
		return;
	GROW(trace->sites, trace->nsites, trace->sites_cap);
	trace->sites[trace->nsites++] = *site;
}

void rebuilt_link(struct rebuilt_trace *trace, const struct site_link *link)
{
	GROW(trace->links, trace->nlinks, trace->links_cap);
	trace->links[trace->nlinks++] = *link;
}

void rebuilt_user_stack(struct rebuilt_trace *trace, uint64_t site,
			const struct site_user_stack *part)
{
	GROW(trace->user_stacks, trace->nuser_stacks, trace->user_stacks_cap);
	trace->user_stacks[trace->nuser_stacks] =
		(struct rebuilt_user_stack){ site, trace->nuser_stacks, *part };
	trace->nuser_stacks++;
}

/* Parses the functions of a stack's text, one per line; the text follows their pointers. */
static void find_functions(struct kept_text *kept)
{
	size_t n = 1, len = strlen(kept->text) + 1;
	char *copy;

	for (const char *at = kept->text; (at = strchr(at, '\n')); at++)
		n++;
	kept->functions = xcalloc(1, n * sizeof(*kept->functions) + len);
	kept->nfunctions = n;
	copy = memcpy(kept->functions + n, kept->text, len);
	for (size_t i = 0; i < n; i++)
		kept->functions[i] = strsep(&copy, "\n");
}

/* Adds a stack, and returns its index. */
static size_t add_rebuilt_stack(struct rebuilt_trace *trace, struct site_stack stack)
{
	GROW(trace->stacks, trace->nstacks, trace->stacks_cap);
	trace->stacks[trace->nstacks] = stack;
	return trace->nstacks++;
}

size_t rebuilt_stack(struct record_state *state, const char *text)
{
	struct rebuilt_trace *trace = state->rebuilt.given;
	struct kept_text *kept;
	size_t at;

	if (!trace->nstacks)
		add_rebuilt_stack(trace, (struct site_stack){ 0 });
	if (!text)
		return 0;
	kept = record_kept(state, text, &at);
	if (!kept->functions)
		find_functions(kept);
	if (kept->sample != trace->sample)
		kept->index = add_rebuilt_stack(
			trace, (struct site_stack){ kept->functions, kept->nfunctions });
	kept->sample = trace->sample;
	return kept->index;
}

/* The index of the readings of a group, or where they would be inserted. */
static size_t reading_index(const struct record_state *state, const char *path)
{
	size_t at;

	LOWER_BOUND(at, state->rebuilt.nreadings,
		    strcmp(state->rebuilt.readings[at]->path, path) < 0);
	return at;
}

void rebuilt_group(struct record_state *state, const struct recorded_group *group)
{
	size_t at = reading_index(state, group->path);
	struct rebuilt_group *reading;

	if (at == state->rebuilt.nreadings ||
	    strcmp(state->rebuilt.readings[at]->path, group->path) != 0) {
		GROW(state->rebuilt.readings, state->rebuilt.nreadings,
		     state->rebuilt.readings_cap);
		memmove(&state->rebuilt.readings[at + 1], &state->rebuilt.readings[at],
			(state->rebuilt.nreadings++ - at) * sizeof(*state->rebuilt.readings));
		state->rebuilt.readings[at] = xcalloc(1, sizeof(**state->rebuilt.readings));
		state->rebuilt.readings[at]->path = xstrdup(group->path);
	}
	reading = state->rebuilt.readings[at];
	reading->follows = group->follows && (reading->follows || !reading->next_there);
	reading->next = group->sample;
	reading->next_there = true;
}

/* Returns the readings of groups; groups missing in the sample are dropped. */
static void rebuild_groups(struct record_state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->rebuilt.nreadings; i++) {
		struct rebuilt_group *reading = state->rebuilt.readings[i];

		if (!reading->next_there) {
			free_group_readings(reading);
			continue;
		}
		reading->before = reading->now;
		reading->before_there = reading->now_there && reading->follows;
		reading->now = reading->next;
		reading->now_there = true;
		state->rebuilt.readings[kept++] = reading;
	}
	state->rebuilt.nreadings = kept;
}

void record_group(const struct record_state *state, const char *path,
		  const struct cgroup_sample **now, const struct cgroup_sample **before)
{
	size_t at = reading_index(state, path);
	const struct rebuilt_group *reading =
		at < state->rebuilt.nreadings ? state->rebuilt.readings[at] : NULL;

	if (reading && strcmp(reading->path, path) != 0)
		reading = NULL;
	*now = reading && reading->now_there ? &reading->now : NULL;
	*before = *now && reading->before_there ? &reading->before : NULL;
}

/* Orders by site, or by the owner of a rest. */
static int compare_same(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

/* Adds the wakers of a later interval, and keeps those of most waiting time. */
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

/* Adds up the intervals of one site, or of one rest. */
static void merge_sites(struct rebuilt_trace *trace)
{
	size_t kept = 0;

	if (trace->nsites)
		qsort(trace->sites, trace->nsites, sizeof(*trace->sites), compare_same);
	for (size_t i = 0; i < trace->nsites; i++) {
		struct site *sum = kept ? &trace->sites[kept - 1] : NULL;

		if (!sum || compare_same(sum, &trace->sites[i])) {
			trace->sites[kept++] = trace->sites[i];
			continue;
		}
		merge_wakers(sum, &trace->sites[i]);
		/* Intervals in which it is unknown are excluded. */
		sum->unknown &= trace->sites[i].unknown;
		site_add(sum, &trace->sites[i]);
		if (sum->unattributed)
			sum->ns = (uint64_t)sum->unattributed_ns;
	}
	trace->nsites = kept;
}

/* Orders links by everything but their time. */
static int compare_same_links(const void *a, const void *b)
{
	struct site_link x = *(const struct site_link *)a, y = *(const struct site_link *)b;

	x.ns = y.ns = 0;
	return site_link_compare(&x, &y);
}

/* Adds up equal links of several records. */
static void merge_links(struct rebuilt_trace *trace)
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

/* Orders sites and links as a frame has them. */
static int compare_sites(const void *a, const void *b)
{
	return site_compare(*(const struct site *const *)a, *(const struct site *const *)b);
}

static int compare_rebuilt_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

/* Replaces an array by a copy of another; it has room for one more element. */
static void *copy_array(void *old, const void *from, size_t n, size_t size)
{
	void *copy = xreallocarray(old, n + 1, size);

	if (n)
		memcpy(copy, from, n * size);
	return copy;
}

/* Orders user stacks by site, waker and stack, and then as they came. */
static int compare_user_stacks(const void *a, const void *b)
{
	const struct rebuilt_user_stack *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->part.waker != y->part.waker)
		return x->part.waker < y->part.waker ? -1 : 1;
	if (x->part.stack != y->part.stack)
		return x->part.stack < y->part.stack ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Orders them by site, and those of a site by time, most first, its own before those of wakers. */
static int compare_stack_times(const void *a, const void *b)
{
	const struct rebuilt_user_stack *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (!x->part.waker != !y->part.waker)
		return x->part.waker ? 1 : -1;
	if (x->part.ns != y->part.ns)
		return x->part.ns > y->part.ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Returns the user stacks of the sites, those of several records added up. */
static void rebuild_user_stacks(struct rebuilt_trace *trace)
{
	struct rebuilt_user_stack *all = trace->user_stacks;
	size_t n = trace->nuser_stacks, kept = 0, at = 0;

	if (n)
		qsort(all, n, sizeof(*all), compare_user_stacks);
	for (size_t i = 0; i < n; i++) {
		struct rebuilt_user_stack *sum = kept ? &all[kept - 1] : NULL;

		if (sum && sum->site == all[i].site && sum->part.stack == all[i].part.stack &&
		    sum->part.waker == all[i].part.waker) {
			sum->part.ns += all[i].part.ns;
			sum->part.count += all[i].part.count;
		} else {
			all[kept++] = all[i];
		}
	}
	if (kept)
		qsort(all, kept, sizeof(*all), compare_stack_times);
	trace->nuser_stacks = kept;
	trace->rebuilt_user_stacks = xreallocarray(trace->rebuilt_user_stacks, kept + 1,
						   sizeof(*trace->rebuilt_user_stacks));
	for (size_t i = 0; i < kept; i++)
		trace->rebuilt_user_stacks[i] = all[i].part;
	for (size_t i = 0; i < trace->nsites; i++) {
		struct site *site = &trace->rebuilt_copy[i];
		size_t own, end;

		LOWER_BOUND(at, kept, all[at].site < site->id);
		for (own = at; own < kept && all[own].site == site->id && !all[own].part.waker;)
			own++;
		for (end = own; end < kept && all[end].site == site->id;)
			end++;
		site->user_stacks = end > at ? trace->rebuilt_user_stacks + at : NULL;
		site->nuser_stacks = own - at;
		site->nwaker_stacks = end - own;
	}
}

/* Returns the sites, the links and the stacks. */
static void rebuild_sites(struct rebuilt_trace *trace, bool several)
{
	struct trace_frame *frame = &trace->given;

	if (several) {
		merge_sites(trace);
		merge_links(trace);
	}
	trace->rebuilt_copy =
		copy_array(trace->rebuilt_copy, trace->sites, trace->nsites, sizeof(*trace->sites));
	trace->rebuilt_sites = xreallocarray(trace->rebuilt_sites, trace->nsites + 1,
					     sizeof(*trace->rebuilt_sites));
	for (size_t i = 0; i < trace->nsites; i++)
		trace->rebuilt_sites[i] = &trace->rebuilt_copy[i];
	rebuild_user_stacks(trace);
	trace->rebuilt_links = copy_array(trace->rebuilt_links, trace->links, trace->nlinks,
					  sizeof(*trace->links));
	trace->rebuilt_stacks = copy_array(trace->rebuilt_stacks, trace->stacks, trace->nstacks,
					   sizeof(*trace->stacks));
	qsort(trace->rebuilt_sites, trace->nsites, sizeof(*trace->rebuilt_sites), compare_sites);
	qsort(trace->rebuilt_links, trace->nlinks, sizeof(*trace->links), compare_rebuilt_links);
	*frame = trace->frame;
	frame->sites = trace->rebuilt_sites;
	frame->n = trace->nsites;
	frame->links = trace->rebuilt_links;
	frame->nlinks = trace->nlinks;
	frame->stacks = trace->rebuilt_stacks;
	frame->nstacks = trace->nstacks;
}

/* Returns the traced data of an element; *at: the next free index. NULL: none. */
static const struct traced *rebuild_traced(struct rebuilt_trace *trace,
					   const struct decoder_state *played, size_t *at)
{
	struct traced *given = &trace->traced[*at];

	if (!played || !played->traced)
		return NULL;
	*given = played->sum;
	++*at;
	for (size_t i = 0; i < played->nmore; i++) {
		trace->traced[*at] = (struct traced){ .tgid = played->more[i].tgid,
						      .start_ns = played->more[i].start_ns };
		trace->traced[*at - 1].more = &trace->traced[*at];
		++*at;
	}
	return given;
}

/* The elements to be returned: the living ones, then those that left, the first to leave first. */
static const struct recorded_element *rebuilt_nth(const struct record_state *state, size_t i)
{
	if (i < state->n)
		return &state->known[i];
	i -= state->n;
	return i < state->rebuilt.ngone ? &state->rebuilt.gone[i]
					: &state->left[i - state->rebuilt.ngone];
}

/* True if a process is selected. */
static bool is_pid_wanted(const pid_t *pids, size_t npids, pid_t tgid)
{
	size_t at;

	if (!npids)
		return true;
	LOWER_BOUND(at, npids, pids[at] < tgid);
	return at < npids && pids[at] == tgid;
}

/* Returns the traced data, rows in the order of the sample. */
static void rebuild_trace(struct record_state *state, const pid_t *pids, size_t npids,
			  struct playback_record *result)
{
	struct rebuilt_trace *trace = state->rebuilt.given;
	size_t n = state->n + state->rebuilt.ngone + state->nleft, room = n, row = 0, at = 0;

	result->trace = NULL;
	result->traced = NULL;
	if (!trace->there)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct decoder_state *played = record_decoder_state(rebuilt_nth(state, i));

		room += played ? played->nmore : 0;
	}
	trace->traced = xreallocarray(trace->traced, room + 1, sizeof(*trace->traced));
	trace->rows = xreallocarray(trace->rows, n + 1, sizeof(*trace->rows));
	for (size_t i = 0; i < n; i++) {
		const struct recorded_element *known = rebuilt_nth(state, i);

		if (is_pid_wanted(pids, npids, known->raw->tgid))
			trace->rows[row++] =
				rebuild_traced(trace, record_decoder_state(known), &at);
	}
	rebuild_sites(trace, state->rebuilt.passed > 1);
	result->trace = &trace->given;
	result->traced = trace->rows;
}

/* Returns the data of a living element besides its counters. */
static void rebuild_extra(const struct record_state *state, size_t i, struct sample *cur, size_t at)
{
	struct task_extra *from = sample_extra(&state->rebuilt.extras, i), *to;
	const struct decoder_state *played = record_decoder_state(&state->known[i]);
	bool bound = played && played->io.passed_ns;

	if (!from && !bound)
		return;
	to = sample_add_extra(cur, at);
	if (from) {
		*to = *from;
		*from = (struct task_extra){ .place = from->place };
	}
	to->place = (uint32_t)at;
	if (bound)
		to->io = played->io;
}

/* Returns an element, at a place of the sample. */
static void rebuild_element(const struct recorded_element *known, struct sample *cur, size_t at,
			    bool several)
{
	const struct decoder_state *played = record_decoder_state(known);
	bool late = several && known->raw->read_ns < cur->begin_ns && !known->raw->exited;

	if (cur->records && known->more && known->more->record)
		cur->records[at] = *known->more->record;
	if (cur->procs && known->more && known->more->proc)
		cur->procs[at] = *known->more->proc;
	if (!late && !(played && (played->dwait_ns || played->exited)))
		return;
	if (late)
		sample_own(cur, at)->read_ns = cur->begin_ns;
	if (!played)
		return;
	sample_own(cur, at)->now.waits.dwait_ns += played->dwait_ns;
	cur->raw[at]->exited |= played->exited;
}

/* Corrects the previous sample by what is known only now: when its elements were read. */
static void correct(struct sample *prev, const struct recorded_element *known)
{
	const struct decoder_state *played = record_decoder_state(known);
	size_t at;

	if (!played || !played->before_ns)
		return;
	at = sample_place(prev, known->raw->tgid, known->raw->pid);
	if (at != NO_PLACE)
		sample_own(prev, at)->read_ns = played->before_ns;
}

/*
 * Excludes from an interval of several records what is impossible in one of them, but possible in a
 * longer time: it counts as accounted before.
 */
static void leave_out_impossible(struct sample *prev, const struct recorded_element *known)
{
	const struct decoder_state *played = record_decoder_state(known);
	size_t at;

	if (!played || !played->impossible)
		return;
	at = sample_place(prev, known->raw->tgid, known->raw->pid);
	if (at != NO_PLACE && prev->raw[at]->task == known->raw->task)
		counters_add_known(&sample_own(prev, at)->counters, played->impossible,
				   played->impossible->valid & prev->raw[at]->counters.valid);
}

/* Copies data known only to frames from the previous sample, if elements differ from those read. */
static void match_before(const struct sample *prev, struct sample *cur)
{
	size_t at = 0;

	for (size_t i = 0; prev && i < cur->n; i++) {
		uint64_t order = raw_order(cur->raw[i]);

		while (at < prev->n && raw_order(prev->raw[at]) < order)
			at++;
		if (at < prev->n && raw_order(prev->raw[at]) == order &&
		    prev->raw[at]->task == cur->raw[i]->task)
			cur->raw[i]->ran_ns = prev->raw[at]->ran_ns;
	}
}

/* Adds the selected elements, and their marks. */
static void rebuild_elements(const struct record_state *state, struct sample *cur,
			     const pid_t *pids, size_t npids, bool several)
{
	size_t n = state->n + state->rebuilt.ngone + state->nleft, left = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct recorded_element *known = rebuilt_nth(state, i);

		if (!is_pid_wanted(pids, npids, known->raw->tgid))
			continue;
		if (i < state->n)
			sample_add_shared(cur, known->raw);
		else
			left++;
	}
	sample_add_exited(cur, left);
	sample_extend(cur, state->head.have & (NEED_RECORD | NEED_RANGE | NEED_PROC));
	if (state->head.marked && !several)
		sample_mark(cur, 0);
	for (size_t i = 0; i < n; i++) {
		const struct recorded_element *known = rebuilt_nth(state, i);

		if (!is_pid_wanted(pids, npids, known->raw->tgid))
			continue;
		if (i < state->n) {
			rebuild_extra(state, i, cur, at);
			if (cur->marks)
				cur->marks[at] = known->mark;
		} else {
			sample_share(cur, at, known->raw);
		}
		rebuild_element(known, cur, at++, several && i < state->n);
	}
}

void record_rebuild_sample(struct record_state *state, struct sample *prev, struct sample *cur,
			   const pid_t *pids, size_t npids, struct playback_record *result)
{
	bool several = state->rebuilt.passed > 1;

	sample_reset(cur);
	cur->begin_ns = state->head.begin_ns;
	cur->end_ns = state->head.begin_ns + state->head.took_ns;
	cur->real_ns = state->head.real_ns;
	cur->hangs_read = state->head.hangs_read;
	rebuild_elements(state, cur, pids, npids, several);
	if (cur->marks && prev && cur->n == state->n && state->head.steady <= cur->n &&
	    state->head.steady <= prev->n)
		cur->stable[1] = state->head.steady;
	/* A frame compares elements at the same place in both samples. */
	for (size_t i = 0; i < cur->stable[1]; i++)
		if (cur->raw[i]->task != prev->raw[i]->task)
			cur->stable[1] = i;
	for (size_t i = 0; prev && !several && i < state->n + state->nleft; i++)
		correct(prev, rebuilt_nth(state, i));
	for (size_t i = 0; prev && several && i < state->n + state->rebuilt.ngone + state->nleft;
	     i++)
		leave_out_impossible(prev, rebuilt_nth(state, i));
	if (several)
		match_before(prev, cur);
	*result = state->rebuilt.result;
	/* The account is about the whole machine. */
	if (npids)
		result->head.account = (struct account){ 0 };
	rebuild_trace(state, pids, npids, result);
	rebuild_groups(state);
	state->rebuilt.passed = 0;
	/* The previous sample may still be shown, with texts of the one before it. */
	record_forget_texts(state, state->rebuilt.gave[1]);
	state->rebuilt.gave[1] = state->rebuilt.gave[0];
	state->rebuilt.gave[0] = state->keys;
}

void record_after_gap(struct record_state *state, bool baseline, uint64_t dropped)
{
	const struct note missing = { .id = NOTE_RECORD_DROPPED, .value = dropped };

	state->rebuilt.result.baseline |= baseline;
	if (dropped)
		join_note(&state->rebuilt.result.head, &missing);
}

const char *record_shown_group(const struct record_state *state)
{
	return state->head.frame.cgroup;
}

uint64_t record_begin_ns(const struct record_state *state)
{
	return state->head.begin_ns;
}

void record_pass(struct record_state *state)
{
	state->rebuilt.passed = 0;
}
