/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "read/exit_fold.h"
#include "trace/traced_links.h"

/*
 * Maximum error of a start from an inexact source: the kernel's ticks in /proc/PID/stat, and the
 * time that a reply took.
 */
#define START_SLACK_NS (100 * NSEC_PER_MSEC)

/*
 * Maximum difference between sites and threads of a process: a part of the interval and of the
 * waits.
 */
#define AGREE_PART 8

void trace_reading_reset(struct trace_reading *reading)
{
	reading->nsites = reading->nlinks = reading->nwaiters = reading->nends = 0;
}

void trace_reading_site(void *arg, uint32_t slot, const struct trace_site *site)
{
	struct trace_reading *reading = arg;

	GROW(reading->sites, reading->nsites, reading->sites_cap);
	reading->sites[reading->nsites++] = (struct read_site){ slot, *site };
}

void trace_reading_links(void *arg, uint32_t slot, const struct trace_links *links)
{
	struct trace_reading *reading = arg;

	GROW(reading->links, reading->nlinks, reading->links_cap);
	reading->links[reading->nlinks++] = (struct read_links){ slot, *links };
}

void trace_reading_waiter(void *arg, const struct trace_waiter *waiter)
{
	struct trace_reading *reading = arg;

	if (waiter->state >= WAIT_STATES)
		return;
	GROW(reading->waiters, reading->nwaiters, reading->waiters_cap);
	reading->waiters[reading->nwaiters++] = *waiter;
}

void trace_reading_stack(void *arg, const struct trace_stack_key *key,
			 const struct trace_stack_sum *sum)
{
	struct trace_reading *reading = arg;

	GROW(reading->stacks, reading->nstacks, reading->stacks_cap);
	reading->stacks[reading->nstacks++] = (struct read_stack){ *key, *sum };
}

void trace_reading_end(struct trace_reading *reading, const struct trace_end *end)
{
	if (!end->end.last || !end->tgid)
		return;
	GROW(reading->ends, reading->nends, reading->ends_cap);
	reading->ends[reading->nends++] =
		(struct read_end){ end->tgid, end->end.process_start_ns, end->name };
}

void trace_reading_free(struct trace_reading *reading)
{
	free(reading->sites);
	free(reading->links);
	free(reading->waiters);
	free(reading->stacks);
	free(reading->ends);
	*reading = (struct trace_reading){ 0 };
}

/* Maximum error of the start of a row's task. */
static uint64_t start_slack(const struct task *task)
{
	uint64_t known = task->start_hi > task->start_lo ? task->start_hi - task->start_lo : 0;

	return START_SLACK_NS + known;
}

/* Starts the rests of a process: its time by kind that no site has. */
static void touch(struct trace_state *book, struct traced_process *process)
{
	if (process->rest_epoch == book->processes.epoch)
		return;
	process->rest_epoch = book->processes.epoch;
	process->known = 0;
	process->untraced = false;
	memset(process->waited, 0, sizeof(process->waited));
	memset(process->sited, 0, sizeof(process->sited));
	memset(process->most, 0, sizeof(process->most));
	process->comm = NULL;
	*process->waker = '\0';
	GROW(book->touched, book->ntouched, book->touched_cap);
	book->touched[book->ntouched++] = process;
}

/* Compares sites by process. */
static int compare_by_process(const void *a, const void *b)
{
	const struct traced_site *x = *(const struct traced_site *const *)a;
	const struct traced_site *y = *(const struct traced_site *const *)b;

	return (x->process > y->process) - (x->process < y->process);
}

/* Names a process's waker: of most of its waiting time. */
static void name_waker(struct traced_process *process, const struct wakers *wakers)
{
	const struct site_waker *most = wakers->all;

	if (!wakers_top(wakers->all, wakers->n) || !most->ns)
		return;
	if (most->tgid)
		snprintf(process->waker, sizeof(process->waker), "%d %s", (int)most->tgid,
			 most->name);
	else
		snprintf(process->waker, sizeof(process->waker), "%s", most->name);
}

/* Names the waker of each process with some of these sites. */
static void name_wakers(struct traced_site **sites, size_t n)
{
	struct wakers wakers = { 0 };

	if (n)
		qsort(sites, n, sizeof(*sites), compare_by_process);
	for (size_t i = 0, end; i < n; i = end) {
		wakers.n = 0;
		for (end = i; end < n && sites[end]->process == sites[i]->process; end++)
			wakers_add(&wakers, &sites[end]->site);
		name_waker(sites[i]->process, &wakers);
	}
	wakers_free(&wakers);
}

/*
 * Makes the sites of a state match the time of the process's threads in it: sites are read a little
 * before tasks. The site with the most time gets the difference, and returns it in the next
 * interval. A larger difference has other causes.
 */
static void agree(const struct trace_state *book, struct traced_process *process,
		  enum wait_state state, unsigned kind)
{
	uint64_t interval_ns = book->processes.read_ns - book->processes.before_ns;
	struct traced_site *site = process->most[state];
	int64_t more = (int64_t)(process->waited[kind] - process->sited[kind]);

	if (!site || (uint64_t)llabs(more) > (interval_ns + process->waited[kind]) / AGREE_PART)
		return;
	if (more < 0 && (uint64_t)-more > site->site.ns)
		more = -(int64_t)site->site.ns;
	traced_sites_move_time(site, more);
	process->sited[kind] += (uint64_t)more;
}

/* Adds a site to its process. */
static void note_site(struct traced_process *process, struct traced_site *traced)
{
	const struct site *site = &traced->site;
	struct traced_site **most = &process->most[site->state];

	if (site->kind >= 0)
		process->sited[site->kind] += site->kind_ns;
	if (!site->overlaps && (!*most || site->ns > (*most)->site.ns))
		*most = traced;
}

/* Reads the sites of the interval: their time by kind, and their wakers. */
static void read_sites(struct trace_state *book)
{
	struct traced_site **ended = xcalloc(book->sites.nframed + 1, sizeof(*ended));
	size_t n = 0;

	for (size_t i = 0; i < book->sites.nframed; i++) {
		struct traced_site *traced = book->sites.framed[i];

		touch(book, traced->process);
		note_site(traced->process, traced);
		if (!traced->site.overlaps && traced->site.wakers[0].name)
			ended[n++] = traced;
	}
	name_wakers(ended, n);
	free(ended);
}

/* Makes the sites of all processes match their rows, if these were traced completely. */
static void agree_all(struct trace_state *book)
{
	for (size_t i = 0; i < book->ntouched && !book->lost; i++) {
		if (!book->touched[i]->known || book->touched[i]->untraced)
			continue;
		agree(book, book->touched[i], STATE_IO, DELAY_BLKIO);
		agree(book, book->touched[i], STATE_DWAIT, WAIT_DWAIT);
	}
}

/* Hands out the sites of a process's whole life. */
static void leave_process(struct trace_state *book, struct traced_process *process)
{
	struct site *sites = NULL;
	size_t n = 0, cap = 0;
	uint64_t polled_ns = 0;

	if (!book->leave || process->left)
		return;
	process->left = true;
	for (struct traced_site *at = process->sites; at; at = at->next) {
		GROW(sites, n, cap);
		traced_sites_whole(at, book->processes.read_ns, &sites[n++]);
		if (traced_is_of_disk(at))
			polled_ns += sites[n - 1].ns;
	}
	book->leave(book->arg, process->traced.tgid, polled_ns, sites, n);
	free(sites);
}

void trace_state_leave(struct trace_state *book)
{
	struct traced_process *at = NULL;

	while ((at = traced_processes_next(&book->processes, at)))
		leave_process(book, at);
}

/* The sites to drop, and what permits it. */
struct forgetting {
	struct trace_state *book;
	traced_sites_forget_fn *forget;
	void *arg;
};

/* Drops the sites of a dropped process. */
static void forget_process(void *arg, struct traced_process *process)
{
	const struct forgetting *forgetting = arg;

	leave_process(forgetting->book, process);
	traced_sites_forget_process(&forgetting->book->sites, process, forgetting->forget,
				    forgetting->arg);
}

/* Records which processes have exited. */
static void note_ends(struct trace_state *book, const struct trace_reading *reading)
{
	for (size_t i = 0; i < reading->nends; i++) {
		const struct read_end *end = &reading->ends[i];
		struct traced_process *process =
			traced_processes_find(&book->processes, end->tgid, end->start_ns, 0);

		if (!process)
			continue;
		process->ended_epoch = book->processes.epoch;
		process->name = end->name;
	}
}

/* Takes over the waiters of a reading. */
static void take_waiters(struct trace_state *book, struct trace_reading *reading)
{
	free(book->waiters);
	book->waiters = reading->waiters;
	book->nwaiters = reading->nwaiters;
	reading->waiters = NULL;
	reading->nwaiters = reading->waiters_cap = 0;
}

void trace_state_update(struct trace_state *book, struct trace_reading *reading,
			traced_sites_forget_fn *forget, void *arg)
{
	struct forgetting forgetting = { book, forget, arg };

	book->n = 0;
	book->sites.processes = &book->processes;
	traced_sites_begin(&book->sites);
	traced_processes_begin(&book->processes, reading->read_ns, forget_process, &forgetting);
	for (size_t i = 0; i < reading->nsites; i++)
		traced_sites_update(&book->sites, reading->sites[i].slot,
				    &reading->sites[i].record);
	for (size_t i = 0; i < reading->nstacks; i++)
		traced_sites_stack(&book->sites, &reading->stacks[i].key, &reading->stacks[i].sum);
	take_waiters(book, reading);
	for (size_t i = 0; i < book->nwaiters; i++)
		traced_sites_wait(&book->sites, &book->waiters[i]);
	traced_sites_settle(&book->sites);
	traced_links_begin(&book->links);
	for (size_t i = 0; i < reading->nlinks; i++)
		traced_links_update(&book->links, &book->sites, reading->links[i].slot,
				    &reading->links[i].record);
	note_ends(book, reading);
	book->ntouched = 0;
	read_sites(book);
}

/* Adds a row's waits to those of its process. */
static void add_waited(struct trace_state *book, const struct row *row,
		       struct traced_process *process)
{
	const struct waited *waited = &row->deltas->waited;

	/* Most rows have neither waited nor sites. */
	if (row->deltas == &no_deltas && (!process || process->rest_epoch != book->processes.epoch))
		return;
	if (!process)
		process = traced_processes_make(&book->processes, row->task->tgid,
						row->task->key.start_ns);
	touch(book, process);
	process->known |= row_waited(row);
	process->untraced |= !row->traced;
	if (!process->comm || row->task->key.pid == row->task->tgid)
		process->comm = row->task->comm;
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
		process->waited[kind] += waited->ns[kind];
}

/* True if the row of a thread is the only one of its process. */
static bool is_only_thread(const struct frame *frame, const struct row *row)
{
	size_t at = (size_t)(row - frame->rows);

	return (!at || row[-1].task->tgid != row->task->tgid) &&
	       (at + 1 == frame->n || row[1].task->tgid != row->task->tgid);
}

/*
 * Adds data from its process's sites to a row; returns the process, NULL: it has neither sites nor
 * unexplained waits.
 */
static struct traced_process *trace_row(struct trace_state *book, struct frame *frame,
					struct row *row)
{
	const struct task *task = row->task;
	bool threads = frame->info->threads, alone;
	struct traced_process *process =
		traced_processes_find(&book->processes, task->tgid, task->key.start_ns,
				      threads ? UINT64_MAX : start_slack(task));
	struct traced *traced = row->traced ? &frame->traced[row - frame->rows] : NULL;

	if (!process) {
		if (traced)
			traced_lose(NULL, book->processes.epoch, true, traced);
		return NULL;
	}
	process->row_epoch = book->processes.epoch;
	/* Its times are known, but were rejected. */
	if (!row->traced && row->raw->times && row->before && row->before->times)
		process->doubt_epoch = book->processes.epoch;
	if (!traced)
		return process;
	/* A site belongs to a process: which thread waited is unknown. */
	alone = !threads || is_only_thread(frame, row);
	traced->tgid = process->traced.tgid;
	traced->start_ns = process->traced.start_ns;
	if (alone && process->rest_epoch == book->processes.epoch && *process->waker)
		traced->waker = process->waker;
	if (alone && traced_move_completions(process, book->processes.epoch, &traced->states))
		frame_resolve(frame, row);
	traced_lose(process, book->processes.epoch, alone, traced);
	return process;
}

void trace_state_beside(struct trace_state *book, struct frame *frame)
{
	for (size_t i = 0; i < frame->n; i++)
		trace_row(book, frame, &frame->rows[i]);
}

/* Adds a row of many exited tasks. */
static void add_ended_row(struct trace_state *book, struct row *row)
{
	const struct task *task = row->task;
	struct ended_row *ended;

	GROW(book->ended, book->nended, book->ended_cap);
	ended = &book->ended[book->nended++];
	ended->row = row;
	/* An identity of no process: nothing started at 0. */
	ended->process = traced_processes_make(&book->processes, -(pid_t)book->nended, 0);
	touch(book, ended->process);
	ended->process->traced = (struct traced){ .tgid = ended->process->traced.tgid };
	ended->process->comm = task->comm;
}

/* The row into which an exited process is merged: that of its name, else "(others)". */
static struct ended_row *row_of_ended(struct trace_state *book,
				      const struct traced_process *process)
{
	struct ended_row *others = NULL;

	for (size_t i = 0; i < book->nended; i++) {
		const char *comm = book->ended[i].row->task->comm;

		/* Its name at exit: sites have those of their first waits. */
		if (process->name == trace_name_hash(comm))
			return &book->ended[i];
		if (!strcmp(comm, EXIT_OTHERS))
			others = &book->ended[i];
	}
	return others;
}

/*
 * Assigns exited processes without a row of their own to rows of many: which process went into
 * which row is unknown, but their names are known.
 */
static void trace_ended(struct trace_state *book)
{
	struct traced_process *process = NULL, *sum;

	while (book->nended && (process = traced_processes_next(&book->processes, process))) {
		struct ended_row *ended;

		if (process->ended_epoch != book->processes.epoch ||
		    process->row_epoch == book->processes.epoch)
			continue;
		ended = row_of_ended(book, process);
		if (!ended)
			continue;
		sum = ended->process;
		process->traced.more = sum->traced.more;
		sum->traced.more = &process->traced;
		if (process->rest_epoch != book->processes.epoch)
			continue;
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
			sum->sited[kind] += process->sited[kind];
	}
}

/* Adds the sites' times of its processes to a row of many. */
static void trace_ended_row(struct trace_state *book, struct frame *frame,
			    const struct ended_row *ended)
{
	struct row *row = ended->row;
	struct traced *traced;

	if (row->traced) {
		traced = &frame->traced[row - frame->rows];
		traced->tgid = ended->process->traced.tgid;
		traced->start_ns = 0;
		traced->more = ended->process->traced.more;
		traced_lose(ended->process, book->processes.epoch, true, traced);
	}
	add_waited(book, row, ended->process);
}

void trace_state_rows(struct trace_state *book, struct frame *frame)
{
	book->nended = 0;
	for (size_t i = 0; i < frame->n; i++) {
		struct row *row = &frame->rows[i];

		if (row->exited && row->members > 1 && !frame->info->threads)
			add_ended_row(book, row);
		else
			add_waited(book, row, trace_row(book, frame, row));
	}
	trace_ended(book);
	for (size_t i = 0; i < book->nended; i++)
		trace_ended_row(book, frame, &book->ended[i]);
	agree_all(book);
}

/*
 * True if the time of a process's sites of a kind may be wrong, as switches were missed: a row
 * shows it, or the sites have far more than was waited, as after a missed end of a wait.
 */
static bool are_sites_wrong(const struct trace_state *book, const struct traced_process *process,
			    unsigned kind)
{
	uint64_t sited = process->sited[kind], waited = process->waited[kind];
	uint64_t interval_ns = book->processes.read_ns - book->processes.before_ns;

	if (sited && process->doubt_epoch == book->processes.epoch)
		return true;
	return sited > waited && sited - waited > interval_ns / 4 && sited - waited > sited / 4;
}

/*
 * Makes a line of the rest of a kind without a site in a process; none if the sites have all of it,
 * or more, as the kernel uses other clocks. Measured kinds are in sites, except waits that found no
 * room.
 */
static void add_rest(struct trace_state *book, const struct traced_process *process, unsigned kind)
{
	uint64_t waited = process->waited[kind], sited = process->sited[kind];
	uint32_t bit = kind < DELAY_KINDS ? DELAY_BIT(kind) : VALID_DWAIT;
	bool measured = !process->untraced && (kind == DELAY_BLKIO || kind == WAIT_DWAIT);
	bool unknown = !measured && are_sites_wrong(book, process, kind);
	int64_t unattributed_ns = unknown || waited < sited ? 0 : (int64_t)(waited - sited);

	if (!(process->known & bit) || (!unattributed_ns && !unknown) || (measured && !book->lost))
		return;
	GROW(book->rests, book->nrests, book->rests_cap);
	book->rests[book->nrests] =
		site_unattributed(process->traced.tgid, process->traced.start_ns, process->comm,
				  kind, unattributed_ns);
	book->rests[book->nrests++].unknown = unknown;
}

/* Compares sites. */
static int compare_shown(const void *a, const void *b)
{
	return site_compare(*(const struct site *const *)a, *(const struct site *const *)b);
}

/* Sorts sites and rests, without those whose time was moved to the previous interval. */
static void order_sites(struct trace_state *book)
{
	size_t most = book->sites.nframed + book->nrests, n = 0;

	if (most > book->order_cap) {
		book->order_cap = most * 2;
		book->order = xreallocarray(book->order, book->order_cap, sizeof(*book->order));
	}
	for (size_t i = 0; i < book->sites.nframed; i++)
		if (traced_sites_has_any(&book->sites.framed[i]->site))
			book->order[n++] = &book->sites.framed[i]->site;
	for (size_t i = 0; i < book->nrests; i++)
		book->order[n++] = &book->rests[i];
	if (n)
		qsort(book->order, n, sizeof(*book->order), compare_shown);
	book->n = n;
}

void trace_state_sites(struct trace_state *book)
{
	book->nrests = 0;
	for (size_t i = 0; i < book->ntouched; i++)
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
			add_rest(book, book->touched[i], kind);
	order_sites(book);
	traced_links_settle(&book->links, &book->sites, book->waiters, book->nwaiters);
}

void trace_state_free(struct trace_state *book)
{
	traced_sites_free(&book->sites);
	traced_links_free(&book->links);
	traced_processes_free(&book->processes);
	free(book->waiters);
	free(book->rests);
	free(book->order);
	free(book->touched);
	free(book->ended);
	*book = (struct trace_state){ 0 };
}
