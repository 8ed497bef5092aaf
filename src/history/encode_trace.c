/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/encode_parts.h"

/* What this many moments did not have is forgotten; if it comes back, it gets another number. */
#define FORGET_MOMENTS 64

/* The texts of a site. */
enum site_text { SITE_COMM, SITE_SYSCALL, SITE_ON, SITE_WHERE, SITE_STACK, SITE_TEXTS };

/* A process or a site of the trace, with its number. */
struct numbered {
	uint64_t key[2];
	uint32_t id;
	uint64_t met; /* the last moment that had it */
	struct numbered *next;
};

struct written_process {
	struct numbered numbered; /* key: tgid, start */
};

struct written_site {
	struct numbered numbered; /* key: its id in the trace */
	struct moment_site written;
	const char *texts[SITE_TEXTS]; /* owned by encoder.texts */
	size_t stack; /* the stack's index in the trace that written.stack belongs to */
	struct site last; /* what was waited there in the sample before, if somebody still waits */
};

/* Orders by key. */
static int compare_numbered(const void *a, const void *b)
{
	const uint64_t *x = ((const struct numbered *)a)->key;
	const uint64_t *y = ((const struct numbered *)b)->key;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Finds what has a key, or makes it: `size` bytes, zeroed but for the key. */
static struct numbered *find_numbered(struct encoder *encoder, struct numbered_set *set,
				      uint64_t first, uint64_t second, size_t size)
{
	struct numbered key = { .key = { first, second } }, *made;
	struct numbered **node = tfind(&key, &set->tree, compare_numbered);

	if (node) {
		(*node)->met = encoder->moments;
		return *node;
	}
	made = xcalloc(1, size);
	memcpy(made->key, key.key, sizeof(key.key));
	made->met = encoder->moments;
	made->next = set->all;
	set->all = made;
	if (!tsearch(made, &set->tree, compare_numbered))
		die("out of memory");
	return made;
}

/* Forgets what recent moments did not have; all: forgets all. */
static void sweep_numbered(struct numbered_set *set, uint64_t now, bool all)
{
	struct numbered **at = &set->all;

	while (*at) {
		struct numbered *old = *at;

		if (!all && old->met + FORGET_MOMENTS >= now) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		tdelete(old, &set->tree, compare_numbered);
		free(old);
	}
}

void encode_sweep_trace(struct encoder *encoder, bool all)
{
	sweep_numbered(&encoder->processes, encoder->moments, all);
	sweep_numbered(&encoder->sites, encoder->moments, all);
	if (all)
		encoder->nprocesses = encoder->nsites = 0;
}

void encode_drop_site_texts(struct encoder *encoder)
{
	for (struct numbered *at = encoder->sites.all; at; at = at->next) {
		struct written_site *site = (struct written_site *)(void *)at;

		memset(site->texts, 0, sizeof(site->texts));
	}
}

/* Finds or gives the number of a process. */
static uint32_t number_process(struct encoder *encoder, pid_t tgid, uint64_t start_ns)
{
	struct numbered *process =
		find_numbered(encoder, &encoder->processes, (uint64_t)(int64_t)tgid, start_ns,
			      sizeof(struct written_process));
	struct moment_process written = { .tgid = tgid, .start_ns = start_ns };

	if (process->id)
		return process->id;
	written.id = process->id = ++encoder->nprocesses;
	buf_add(&encoder->parts[PART_PROCESSES], &written, sizeof(written));
	return process->id;
}

/*
 * Whether each thread of a task was in one state for the whole interval; *in: how many in each
 * state.
 */
static bool stands(const struct traced *traced, uint64_t interval_ns, uint32_t *in)
{
	if (traced->waker || traced->more || !interval_ns)
		return false;
	if (traced->lost_known && traced->lost_ns % interval_ns)
		return false;
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		uint64_t ns = traced->states.ns[state];

		if (ns % interval_ns || ns / interval_ns > UINT32_MAX)
			return false;
		in[state] = (uint32_t)(ns / interval_ns);
	}
	return true;
}

/* Counts the threads all of whose time was lost; below 0: not known. */
static int64_t lost_threads(const struct traced *traced, uint64_t interval_ns)
{
	if (!traced->lost_known || !interval_ns || traced->lost_ns % interval_ns)
		return -1;
	return (int64_t)(traced->lost_ns / interval_ns);
}

/* Whether a reader assumes just this about how the task spent the interval. */
static bool is_as_told(const struct known_states *known, const struct traced *traced,
		       uint64_t interval_ns, bool standing, const uint32_t *in)
{
	if (known->unsure)
		return false;
	if (!traced || !known->traced)
		return !traced && !known->traced;
	return standing && known->standing && known->tgid == traced->tgid &&
	       known->start_ns == traced->start_ns && !memcmp(known->in, in, sizeof(known->in)) &&
	       known->lost == lost_threads(traced, interval_ns);
}

void encode_states(struct encoder *encoder, const struct frame_info *info, const struct row *row,
		   bool told)
{
	const struct traced *traced = row->traced;
	struct known_task *task = encode_known(encoder, row->raw->task);
	struct known_states *known = &task->states;
	bool left = row->place >= info->cur->n, standing = false;
	struct moment_states states = { .task = task->written.id, .known = traced };
	uint32_t in[WAIT_STATES] = { 0 };

	if (!info->trace || told || left)
		*known = (struct known_states){ 0 };
	if (!info->trace)
		return;
	standing = traced && stands(traced, info->trace->interval_ns, in);
	if (!is_as_told(known, traced, info->trace->interval_ns, standing, in)) {
		if (traced) {
			states.process = number_process(encoder, traced->tgid, traced->start_ns);
			states.waker = encode_text(encoder, traced->waker);
			states.states = traced->states;
			states.lost_known = traced->lost_known;
			states.lost_ns = traced->lost_ns;
		}
		buf_add(&encoder->parts[PART_STATES], &states, sizeof(states));
	}
	for (const struct traced *at = traced ? traced->more : NULL; at; at = at->more) {
		size_t number = encoder->parts[PART_MORE].len / sizeof(struct moment_more);
		struct moment_more more = { task->written.id, (uint32_t)number,
					    number_process(encoder, at->tgid, at->start_ns) };

		buf_add(&encoder->parts[PART_MORE], &more, sizeof(more));
	}
	/* An element that left is in no later sample, but its task may have another one. */
	*known = (struct known_states){ .traced = traced, .standing = standing, .unsure = left };
	if (!traced)
		return;
	known->tgid = traced->tgid;
	known->start_ns = traced->start_ns;
	memcpy(known->in, in, sizeof(in));
	known->lost = lost_threads(traced, info->trace->interval_ns);
}

/* Encodes what a task waits on. */
static void explain_waiting(struct encoder *encoder, const struct task_waiting *waiting,
			    struct moment_evidence *out)
{
	out->tid = waiting->tid;
	out->state = waiting->state < WAIT_STATES ? (int32_t)waiting->state : -1;
	out->class = out->state < 0 ? -1 : (int32_t)waiting->class;
	out->syscall = encode_text(encoder, waiting->syscall);
	out->on = waiting->on.len ? encode_text(encoder, waiting->on.data) : 0;
	out->where = waiting->where.len ? encode_text(encoder, waiting->where.data) : 0;
}

/* Encodes a task's evidence. */
static void explain_evidence(const struct task_evidence *evidence, struct moment_evidence *out)
{
	out->known = true;
	out->throttled = evidence->throttled;
	out->quota = evidence->quota > 0 ? evidence->quota : 0;
	out->writes = evidence->writes;
	out->limited = evidence->memory_limit;
	out->memory_limit = evidence->memory_limit;
	out->memory_used = evidence->memory_used;
	out->rival = evidence->rival;
	out->io_limited = evidence->io_limited;
}

/* Encodes what holds a task. */
static void explain_held(struct encoder *encoder, const struct task_held *held,
			 struct moment_evidence *out)
{
	out->held = true;
	out->frozen = held->frozen;
	out->tracer = held->tracer;
	out->tracer_name = held->tracer ? encode_text(encoder, held->tracer_comm) : 0;
}

/* Adds what explains a row, if anything does. */
static void encode_explained(struct encoder *encoder, const struct frame *frame,
			     const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(frame, row);
	const struct task_waiting *waiting = row_waiting(frame, row);
	const struct task_held *held = row_held(frame, row);
	const struct task_extra *extra = row_extra(frame->info, row);
	struct moment_evidence written = {
		.state = -1, .class = -1, .throttled = -1, .writes = -1
	};

	if (extra && extra->hang.tid)
		written.since_ns = extra->hang.since_ns;
	if (!waiting && !evidence && !held && !written.since_ns)
		return;
	written.task = encode_known(encoder, row->raw->task)->written.id;
	if (waiting)
		explain_waiting(encoder, waiting, &written);
	if (evidence)
		explain_evidence(evidence, &written);
	if (held)
		explain_held(encoder, held, &written);
	buf_add(&encoder->parts[PART_EVIDENCE], &written, sizeof(written));
}

void encode_evidence(struct encoder *encoder, const struct frame *frame)
{
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		/*
		 * If only some tasks were asked for, what holds them was read also of those that
		 * are still.
		 */
		if (!row->exited && (!row->still || frame->info->some))
			encode_explained(encoder, frame, row);
	}
}

/* Finds the number of a stack: the text of its functions, one a line. */
static uint32_t number_stack(struct encoder *encoder, const struct trace_frame *trace, size_t stack)
{
	struct buf text = { 0 };
	uint32_t id;

	if (!stack || stack >= trace->nstacks)
		return 0;
	for (size_t i = 0; i < trace->stacks[stack].n; i++)
		buf_printf(&text, "%s%s", i ? "\n" : "", trace->stacks[stack].functions[i]);
	id = encode_text(encoder, buf_cstr(&text));
	buf_free(&text);
	return id;
}

/* Adds what was waited at a site. */
static void write_site_wait(struct encoder *encoder, uint32_t id, const struct site *site)
{
	struct moment_site_wait wait = { .site = id, .of_kind = site->kind >= 0, .wait = *site };

	buf_add(&encoder->parts[PART_SITE_WAITS], &wait, sizeof(wait));
	for (unsigned i = 0; i < SITE_WAKERS; i++) {
		const struct site_waker *by = &site->wakers[i];
		struct moment_waker waker = {
			.site = id, .number = i, .tgid = by->tgid, .ns = by->ns, .count = by->count
		};

		if (!by->tgid && !by->name)
			return;
		waker.name = encode_text(encoder, by->name);
		buf_add(&encoder->parts[PART_WAKERS], &waker, sizeof(waker));
	}
}

/* Adds a row that says: nobody waits at a site any more, and nothing was waited there. */
static void write_left(struct encoder *encoder, struct written_site *known)
{
	known->last = (struct site){ .kind = known->last.kind };
	write_site_wait(encoder, known->numbered.id, &known->last);
}

/* Gives a site a number; a new one if the trace has used the id of another site again. */
static struct written_site *number_site(struct encoder *encoder, const struct trace_frame *trace,
					const struct site *site)
{
	struct written_site *known = (struct written_site *)(void *)find_numbered(
		encoder, &encoder->sites, site->id, 0, sizeof(struct written_site));
	const struct moment_site *was = &known->written;
	struct moment_site now = {
		.id = was->id,
		.process = number_process(encoder, site->tgid, site->start_ns),
		.order = site->id,
		.state = (int32_t)site->state,
		.kind = site->kind,
		.overlaps = site->overlaps,
		.class = (int32_t)site->class,
		.comm = encode_text_again(encoder, &known->texts[SITE_COMM], site->comm, was->comm),
		.syscall = encode_text_again(encoder, &known->texts[SITE_SYSCALL], site->syscall,
					     was->syscall),
		.on = encode_text_again(encoder, &known->texts[SITE_ON], site->on, was->on),
		.where = encode_text_again(encoder, &known->texts[SITE_WHERE], site->where,
					   was->where),
		.stack = was->id && known->stack == site->stack
				 ? was->stack
				 : number_stack(encoder, trace, site->stack),
	};

	known->stack = site->stack;
	/* Not what fills the struct up behind its last member: that may be anything. */
	if (now.id && !memcmp(&now, was, offsetof(struct moment_site, stack) + sizeof(now.stack)))
		return known;
	/* Without this a reader assumes that threads still wait at the former site, too. */
	if (known->last.waiting)
		write_left(encoder, known);
	now.id = known->numbered.id = ++encoder->nsites;
	known->written = now;
	buf_add(&encoder->parts[PART_SITES], &now, sizeof(now));
	return known;
}

/* Whether two intervals at a site are the same. */
static bool is_same_wait(const struct site *a, const struct site *b)
{
	return a->count == b->count && a->ns == b->ns && a->kind_ns == b->kind_ns &&
	       a->max_ns == b->max_ns && a->waiting == b->waiting &&
	       a->waiting_ns == b->waiting_ns && a->at_least == b->at_least && !b->wakers[0].name &&
	       !memcmp(a->log2_us, b->log2_us, sizeof(a->log2_us));
}

/* Adds a site, unless its threads did nothing but wait on. */
static void write_site(struct encoder *encoder, const struct trace_frame *trace,
		       const struct site *site, bool whole)
{
	struct written_site *known = number_site(encoder, trace, site);

	if (known->last.waiting)
		site_wait_on(&known->last, trace->interval_ns);
	if (whole || !known->last.waiting || !is_same_wait(&known->last, site))
		write_site_wait(encoder, known->numbered.id, site);
	known->last = *site;
}

/* Adds what no site explains. */
static void write_rest(struct encoder *encoder, const struct site *site)
{
	struct moment_rest rest = {
		.process = number_process(encoder, site->tgid, site->start_ns),
		.comm = encode_text(encoder, site->comm),
		.kind = (uint32_t)site->kind,
		.known = !site->unknown,
		.ns = site->rest_ns,
	};

	buf_add(&encoder->parts[PART_RESTS], &rest, sizeof(rest));
}

/* The number of a site that the moment has; 0: it has none of that id. */
static uint32_t number_of_site(const struct encoder *encoder, uint64_t id)
{
	const struct numbered key = { .key = { id, 0 } };
	struct numbered **node = id ? tfind(&key, &encoder->sites.tree, compare_numbered) : NULL;

	return node && (*node)->met == encoder->moments ? (*node)->id : 0;
}

/* Adds what wakers did meanwhile. */
static void write_links(struct encoder *encoder, const struct trace_frame *trace)
{
	uint32_t number = 0;

	for (size_t i = 0; i < trace->nlinks; i++) {
		const struct site_link *link = &trace->links[i];
		struct moment_link row = { .site = number_of_site(encoder, link->site),
					   .to = number_of_site(encoder, link->to),
					   .state = link->state < WAIT_STATES ? (int32_t)link->state
									      : -1,
					   .tgid = link->tgid,
					   .holds = link->holds,
					   .ns = link->ns };

		number = i && trace->links[i - 1].site == link->site ? number + 1 : 0;
		row.number = number;
		if (row.site)
			buf_add(&encoder->parts[PART_LINKS], &row, sizeof(row));
	}
}

void encode_trace(struct encoder *encoder, struct moment *moment, const struct trace_frame *trace,
		  bool whole)
{
	if (trace) {
		moment->flags |= MOMENT_TRACED;
		moment->trace = *trace;
	}
	for (size_t i = 0; trace && i < trace->n; i++)
		if (trace->sites[i].unattributed)
			write_rest(encoder, &trace->sites[i]);
		else
			write_site(encoder, trace, &trace->sites[i], whole);
	if (trace)
		write_links(encoder, trace);
	/* Ends the waits at sites that the trace does not have any more. */
	for (struct numbered *at = encoder->sites.all; at; at = at->next) {
		struct written_site *known = (struct written_site *)(void *)at;

		if (at->met == encoder->moments || !known->last.waiting)
			continue;
		if (trace && !whole)
			write_left(encoder, known);
		else
			known->last = (struct site){ .kind = known->last.kind };
	}
}
