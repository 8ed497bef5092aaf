/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/util.h"
#include "bpf/trace.h"
#include "kernel/exits.h"
#include "read/thread_ends.h"
#include "trace/site_names.h"
#include "trace/trace_state.h"
#include "trace/traced_sites.h"
#include "trace/user_stacks.h"

/* Time after which an unchanged site is dropped: usually, and with little room left. */
#define IDLE_NS (30 * NSEC_PER_SEC)
#define IDLE_FULL_NS NSEC_PER_SEC

/* Room for user stacks, until they are named. */
#define USER_STACKS 4096

/* Number of processes that end waits of the open one, or of one another, and are chosen, too. */
#define ENDERS_MAX 8

/*
 * The pause before user stacks are looked at again: the first after a new stack or an answer. It
 * doubles up to the second: a thread shows its next frame only when its next wait ends.
 */
#define LEARN_NS (20 * NSEC_PER_MSEC)
#define LEARN_SELDOM_NS NSEC_PER_SEC

/* Records beyond which a reading's memory is freed. */
#define READING_KEPT 4096

struct tracing {
	struct trace *trace; /* NULL: stopped */
	struct trace_reading reading; /* the latest reading, and whether it was used */
	struct trace_counts counts;
	int error; /* of the last reading: -errno */
	bool due; /* a reading is to be taken */
	uint32_t room; /* for sites */
	struct thread_ends ends;
	struct site_names *texts;
	struct user_stacks *stacks; /* NULL: none are taken */
	/* The processes whose stacks are taken; first those of the configuration. */
	struct trace_chosen chosen[TRACE_CHOSEN];
	size_t nchosen, nnamed;
	pid_t opened; /* 0: none */
	uint64_t learn_ns, pause_ns; /* when they are to be named, and after which pause */
	struct trace_state book;
	struct trace_frame frame;
};

/* The process of a word: a number is a pid. */
static struct trace_chosen chosen_of(const char *word, size_t len)
{
	struct trace_chosen chosen = { .tgid = 0 };
	const char *at = word;
	uint64_t pid;

	if (parse_uint(&at, word + len, &pid) && at == word + len && pid <= INT32_MAX)
		chosen.tgid = (int32_t)pid;
	else
		memcpy(chosen.name, word, len < TRACE_COMM ? len : TRACE_COMM - 1);
	return chosen;
}

/* Starts taking user stacks of one more process; no change if it was chosen already. */
static void choose_process(struct tracing *tracing, struct trace_chosen chosen)
{
	for (size_t i = 0; i < tracing->nchosen; i++)
		if (!memcmp(&tracing->chosen[i], &chosen, sizeof(chosen)))
			return;
	if (tracing->nchosen < TRACE_CHOSEN && !trace_choose(tracing->trace, &chosen, true))
		tracing->chosen[tracing->nchosen++] = chosen;
}

/* Starts taking user stacks of the processes in the configuration. */
static void open_stacks(struct tracing *tracing, const struct tracing_config *config)
{
	const char *names = config->stacks ? config->stacks : "";
	struct span text = { names, names + strlen(names) }, word;

	tracing->stacks =
		user_stacks_open(config->proc, tracing->trace, tracing->texts, config->debuginfod);
	tracing->book.sites.stacks_over_ns = config->stacks_over_ns;
	/* Places are reserved for the open process, and its wakers. */
	while (tracing->nchosen < TRACE_CHOSEN - 1 - ENDERS_MAX && take_part(&text, ',', &word))
		choose_process(tracing, chosen_of(word.at, (size_t)(word.end - word.at)));
	tracing->nnamed = tracing->nchosen;
}

void tracing_open_process(struct tracing *tracing, pid_t tgid)
{
	if (!tracing->stacks || !tracing->trace || tracing->opened == tgid)
		return;
	while (tracing->nchosen > tracing->nnamed)
		trace_choose(tracing->trace, &tracing->chosen[--tracing->nchosen], false);
	tracing->opened = tgid;
	if (tgid)
		choose_process(tracing, (struct trace_chosen){ .tgid = tgid });
	tracing->learn_ns = tracing->pause_ns = 0;
}

void tracing_learn(struct tracing *tracing)
{
	bool met;

	if (!tracing->stacks)
		return;
	met = user_stacks_learn(tracing->stacks);
	tracing->pause_ns = met || !tracing->pause_ns ? LEARN_NS : 2 * tracing->pause_ns;
	if (tracing->pause_ns > LEARN_SELDOM_NS)
		tracing->pause_ns = LEARN_SELDOM_NS;
	tracing->learn_ns = clock_ns(CLOCK_MONOTONIC) + tracing->pause_ns;
}

uint64_t tracing_learn_due_ns(const struct tracing *tracing)
{
	return tracing->stacks && tracing->trace ? tracing->learn_ns : UINT64_MAX;
}

int tracing_open(struct tracing **out, const struct tracing_config *config)
{
	struct tracing *tracing = xcalloc(1, sizeof(*tracing));
	struct trace_options options = { .stacks = TRACE_STACKS_BLOCKED,
					 .stacks_over_ns = config->stacks_over_ns };
	int err;

	tracing->room = options.sites = config->sites;
	/* A stack is one of a site. */
	if (config->sites && (config->stacks || config->stacks_later))
		options.user_stacks = USER_STACKS;
	err = trace_open(&tracing->trace, &options);
	if (err) {
		debug_log("trace: error %d", -err);
		free(tracing);
		return err;
	}
	thread_ends_open(&tracing->ends, trace_ends(tracing->trace));
	tracing->texts = site_names_open(config->proc, tracing->trace);
	if (options.user_stacks)
		open_stacks(tracing, config);
	*out = tracing;
	/* The first reading has everything: the one at the first sample adds little. */
	tracing_read(tracing);
	return 0;
}

const struct trace *tracing_trace(const struct tracing *tracing)
{
	return tracing->trace;
}

/* Reads the ends of threads since, and records exited processes. */
static void take_ends(struct tracing *tracing)
{
	size_t n;
	const char *ends = thread_ends_take(&tracing->ends, &n);

	for (size_t i = 0; i < n; i++)
		trace_reading_end(&tracing->reading,
				  (const void *)thread_end_at(ends, tracing->ends.size, i));
}

void tracing_exits(struct tracing *tracing, struct exit_record *records, size_t n, bool threads)
{
	if (!tracing->trace)
		return;
	thread_ends_await(records, n);
	take_ends(tracing);
	thread_ends_put_times(&tracing->ends, records, n, threads);
}

int tracing_read(struct tracing *tracing)
{
	struct trace_reader reader = { .site = trace_reading_site,
				       .links = trace_reading_links,
				       .waiter = tracing->room ? trace_reading_waiter : NULL,
				       .user_stack = tracing->stacks ? trace_reading_stack : NULL,
				       .arg = &tracing->reading };

	if (!tracing->trace)
		return -EBADF;
	/* The records of this reading are added to an unused earlier one. */
	if (!tracing->due)
		trace_reading_reset(&tracing->reading);
	tracing->reading.nwaiters = tracing->reading.nstacks = 0;
	tracing->error = trace_read(tracing->trace, &reader, &tracing->counts);
	tracing->due = !tracing->error;
	for (size_t i = 0; i < tracing->reading.nwaiters && tracing->stacks; i++) {
		struct trace_waiter *waiter = &tracing->reading.waiters[i];

		waiter->user_stack = user_stacks_of(tracing->stacks, waiter);
	}
	tracing->reading.read_ns = tracing->counts.read_ns;
	take_ends(tracing);
	return tracing->error;
}

/* Returns a slot to the BPF program. */
static bool forget_slot(void *arg, uint32_t slot)
{
	struct tracing *tracing = arg;

	return !tracing->trace || trace_forget(tracing->trace, slot);
}

/* Drops idle sites, sooner if there is little room. */
static void forget_idle(struct tracing *tracing)
{
	bool full = tracing->book.sites.n > tracing->room / 4 * 3;

	traced_sites_forget(&tracing->book.sites, full ? IDLE_FULL_NS : IDLE_NS, forget_slot,
			    tracing);
}

/* True if user stacks are taken of a site's process. */
static bool takes_stacks_of(const struct tracing *tracing, const struct site *site)
{
	for (size_t i = 0; i < tracing->nchosen; i++) {
		const struct trace_chosen *chosen = &tracing->chosen[i];

		if (chosen->tgid ? chosen->tgid == site->tgid
				 : site->comm && !strcmp(chosen->name, site->comm))
			return true;
	}
	return false;
}

/* Starts taking user stacks of a waker of the open process. */
static void choose_ender(struct tracing *tracing, pid_t tgid)
{
	if (tgid > 0 && tracing->nchosen <= tracing->nnamed + ENDERS_MAX)
		choose_process(tracing, (struct trace_chosen){ .tgid = tgid });
}

/* Does that for all of them, then for theirs: the chain of its waits leads through these. */
static void choose_enders(struct tracing *tracing)
{
	const struct traced_sites *sites = &tracing->book.sites;
	size_t end = tracing->nchosen;

	for (size_t i = 0; tracing->opened && tracing->trace && i < sites->nframed; i++) {
		const struct traced_site *traced = sites->framed[i];
		size_t of = tracing->nnamed;

		while (of < end && tracing->chosen[of].tgid != traced->site.tgid)
			of++;
		if ((of == end && traced->site.tgid != tracing->opened) || traced->site.overlaps)
			continue;
		choose_ender(tracing, traced->holder);
		for (unsigned k = 0; k < SITE_WAKERS; k++)
			choose_ender(tracing, traced->site.wakers[k].tgid);
	}
}

/* Names new sites that are shown, and those that must be named again. */
static void name_sites(struct tracing *tracing)
{
	const struct traced_sites *sites = &tracing->book.sites;

	site_names_renew(tracing->texts);
	tracing_learn(tracing);
	for (size_t i = 0; i < sites->nframed; i++) {
		if (site_names_due(sites->framed[i]))
			site_names_name(tracing->texts, sites->framed[i]);
		site_judge_wakers(sites->framed[i]);
		sites->framed[i]->site.stacked = takes_stacks_of(tracing, &sites->framed[i]->site);
		if (tracing->stacks)
			user_stacks_settle(tracing->stacks, sites->framed[i]);
	}
	choose_enders(tracing);
}

/* Adds the reading to the book. */
static void add_reading(struct tracing *tracing)
{
	struct trace_state *book = &tracing->book;

	tracing->due = false;
	if (book->processes.epoch)
		forget_idle(tracing);
	book->lost = tracing->counts.lost_waits;
	trace_state_update(book, &tracing->reading, forget_slot, tracing);
	/* The first has everything, those after it what changed. */
	if (tracing->reading.nsites > READING_KEPT)
		trace_reading_free(&tracing->reading);
	name_sites(tracing);
}

const struct trace_frame *tracing_frame(struct tracing *tracing, struct frame *frame)
{
	struct trace_state *book = &tracing->book;
	uint64_t interval_ns;

	if (!tracing->due)
		return NULL;
	add_reading(tracing);
	if (!trace_state_ready(book))
		return NULL;
	if (frame)
		trace_state_rows(book, frame);
	/* Without sites all would be unattributed. */
	if (tracing->room)
		trace_state_sites(book);
	interval_ns = book->processes.read_ns - book->processes.before_ns;
	tracing->frame = (struct trace_frame){ .sites = book->order,
					       .n = book->n,
					       .links = book->links.all,
					       .nlinks = book->links.n,
					       .interval_ns = interval_ns,
					       .stacked = tracing->nchosen,
					       .lost = tracing->counts.lost_waits,
					       .switches = tracing->counts.switches,
					       .cost = -1 };
	tracing->frame.stacks = site_names_stacks(tracing->texts, &tracing->frame.nstacks);
	if (tracing->counts.cost_ns >= 0 && interval_ns)
		tracing->frame.cost = tracing->counts.cost_ns * 100.0 / (double)interval_ns;
	return &tracing->frame;
}

void tracing_rows(struct tracing *tracing, struct frame *frame)
{
	if (trace_state_ready(&tracing->book))
		trace_state_beside(&tracing->book, frame);
}

void tracing_on_leave(struct tracing *tracing, tracing_leave_fn *leave, void *arg)
{
	tracing->book.leave = leave;
	tracing->book.arg = arg;
}

void tracing_leave(struct tracing *tracing)
{
	trace_state_leave(&tracing->book);
}

void tracing_note(const struct tracing *tracing, struct frame_info *info)
{
	if (tracing->error)
		frame_note(info, NOTE_TRACE_ERROR, (uint64_t)-tracing->error);
	if (tracing->counts.lost_waits)
		frame_note(info, NOTE_TRACE_LOST, tracing->counts.lost_waits);
	if (!tracing->room)
		frame_note(info, NOTE_TRACE_STATES, 0);
	if (tracing->counts.no_calls)
		frame_note(info, NOTE_TRACE_CALLS, 0);
	if (tracing->counts.lost_stacks)
		frame_note(info, NOTE_STACKS_LOST, tracing->counts.lost_stacks);
	if (tracing->stacks && tracing->counts.no_stacks)
		frame_note(info, NOTE_STACKS_MACHINE, 0);
#ifndef LIBDW_BUILT
	else if (tracing->stacks)
		frame_note(info, NOTE_STACKS_LIBRARY, 0);
#endif
	if (tracing->room && site_names_hidden(tracing->texts))
		frame_note(info, NOTE_TRACE_SYMBOLS, 0);
}

struct note tracing_note_of(int error)
{
	switch (error) {
	case -EPERM:
		return (struct note){ .id = NOTE_TRACE_CAP };
	case -ENOENT:
		return (struct note){ .id = NOTE_TRACE_BTF };
	case -ENOSYS:
		return (struct note){ .id = NOTE_TRACE_ABSENT };
	case -EINVAL:
	case -ENXIO:
	case -EACCES:
	case -EXDEV:
	case -ENOEXEC:
	case -EOPNOTSUPP:
		return (struct note){ .id = NOTE_TRACE_KERNEL, .value = (uint64_t)-error };
	case -ENODATA:
		return (struct note){ .id = NOTE_TRACE_UNRECORDED };
	default:
		return (struct note){ .id = NOTE_TRACE_ERROR, .value = (uint64_t)-error };
	}
}

void tracing_stop(struct tracing *tracing)
{
	site_names_stop(tracing->texts);
	user_stacks_stop(tracing->stacks);
	trace_close(tracing->trace);
	tracing->trace = NULL;
}

void tracing_close(struct tracing *tracing)
{
	if (!tracing)
		return;
	if (tracing->trace)
		trace_close(tracing->trace);
	thread_ends_free(&tracing->ends);
	trace_state_free(&tracing->book);
	trace_reading_free(&tracing->reading);
	user_stacks_close(tracing->stacks);
	site_names_close(tracing->texts);
	free(tracing);
}
