/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/util.h"
#include "history/rebuild_parts.h"

/* Adds what a task lost of the interval. */
static void add_lost(struct element_trace *trace, const struct moment_states *row,
		     uint64_t interval_ns)
{
	trace->standing &= !row->lost_known || row->lost_ns % (interval_ns ? interval_ns : 1) == 0;
	trace->lost = interval_ns ? row->lost_ns / interval_ns : 0;
	trace->loses = row->lost_known;
	trace->sum.lost_ns += row->lost_ns;
	trace->sum.lost_known = row->lost_known && (!trace->summed || trace->sum.lost_known);
	trace->summed = true;
}

/* Adds how a task spent the interval. */
static void add_task_states(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_states *row = from;
	struct element *element = rebuild_element(rebuild, row->task);
	uint64_t interval_ns = rebuild->trace.now_ns;
	struct element_trace *trace;
	const char *waker;

	if (!element)
		return;
	trace = rebuild_trace_of(element);
	trace->seen_in = rebuild->trace.nsamples;
	trace->standing = false;
	/* It was not traced. */
	if (!row->known)
		return;
	waker = rebuild_keep_text(rebuild, row->waker);
	trace->traced = true;
	trace->standing = !waker && interval_ns;
	if (waker)
		trace->sum.waker = waker;
	rebuild_identify(rebuild, row->process, &trace->sum.tgid, &trace->sum.start_ns);
	for (int state = 0; state < WAIT_STATES; state++) {
		uint64_t ns = row->states.ns[state];

		trace->sum.states.ns[state] += ns;
		trace->standing &= ns % (interval_ns ? interval_ns : 1) == 0;
		trace->in[state] = interval_ns ? ns / interval_ns : 0;
	}
	add_lost(trace, row, interval_ns);
}

/* Adds another process that a row stands for. */
static void add_stood_for(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_more *row = from;
	struct element *element = rebuild_element(rebuild, row->task);
	struct element_trace *trace;
	struct task_key key;

	if (!element || !rebuild_identify(rebuild, row->process, &key.pid, &key.start_ns))
		return;
	trace = rebuild_trace_of(element);
	trace->standing = false;
	trace->more = xreallocarray(trace->more, trace->nmore + 1, sizeof(*trace->more));
	trace->more[trace->nmore++] = key;
}

/* Adds the figures of the trace as a whole. */
static void add_totals(void *arg, const void *from)
{
	struct rebuild_trace *trace = &((struct rebuild *)arg)->trace;
	const struct trace_frame *row = from;
	struct trace_frame *sum = &trace->frame;
	uint64_t before_ns = sum->interval_ns;

	trace->now = true;
	trace->now_ns = row->interval_ns;
	if (!trace->there)
		sum->cost = row->cost;
	else if (row->cost < 0 || sum->cost < 0 || !(before_ns + trace->now_ns))
		sum->cost = -1;
	else
		sum->cost = (sum->cost * (double)before_ns + row->cost * (double)trace->now_ns) /
			    (double)(before_ns + trace->now_ns);
	sum->interval_ns += trace->now_ns;
	sum->lost += row->lost;
	sum->switches += row->switches;
	trace->there = true;
}

void rebuild_begin_trace(struct rebuild *rebuild)
{
	struct rebuild_trace *trace = &rebuild->trace;

	trace->now = false;
	trace->now_ns = 0;
	trace->nsamples++;
	if (rebuild->passed) {
		for (size_t i = 0; i < trace->nsums; i++)
			trace->sums[i].waiting = 0, trace->sums[i].waiting_ns = 0;
		return;
	}
	for (size_t i = 0; i < rebuild->n && trace->there; i++) {
		struct element_trace *of = rebuild->elements[i].trace;

		if (!of)
			continue;
		of->traced = of->summed = false;
		of->sum = (struct traced){ .tgid = of->sum.tgid, .start_ns = of->sum.start_ns };
		of->nmore = 0;
	}
	rebuild_begin_sites(trace);
	trace->there = false;
	trace->frame = (struct trace_frame){ .cost = -1 };
}

/* Lets threads of elements without a row go on in their states. */
static void repeat_states(struct rebuild *rebuild)
{
	struct rebuild_trace *trace = &rebuild->trace;

	for (size_t i = 0; i < rebuild->n; i++) {
		struct element_trace *of = rebuild->elements[i].trace;

		if (!of || of->seen_in == trace->nsamples)
			continue;
		of->standing &= trace->now;
		if (!of->standing)
			continue;
		of->traced = true;
		for (unsigned state = 0; state < WAIT_STATES; state++)
			of->sum.states.ns[state] += of->in[state] * trace->now_ns;
		of->sum.lost_ns += of->lost * trace->now_ns;
		of->sum.lost_known = of->loses && (!of->summed || of->sum.lost_known);
		of->summed = true;
	}
}

int rebuild_read_trace(struct rebuild *rebuild, int64_t number)
{
	static const struct archive_reader readers[] = {
		{ TABLE_STATES, add_task_states },
		{ TABLE_STOOD_FOR, add_stood_for },
	};
	int err = archive_each(rebuild->archive, TABLE_TRACE, number, add_totals, rebuild);

	if (!err && rebuild->trace.now)
		err = archive_each_of(rebuild->archive, readers, ARRAY_SIZE(readers), number,
				      rebuild);
	if (!err)
		repeat_states(rebuild);
	return err ? err : rebuild_read_sites(rebuild, number);
}

/*
 * Copies what was traced of an element to trace->given; *at: the next free index. NULL: nothing
 * was.
 */
static const struct traced *give_traced(struct rebuild_trace *trace, const struct element *element,
					size_t *at)
{
	const struct element_trace *of = element->trace;
	struct traced *given = &trace->given[*at];

	if (!of || !of->traced)
		return NULL;
	*given = of->sum;
	++*at;
	for (size_t i = 0; i < of->nmore; i++) {
		trace->given[*at] = (struct traced){ .tgid = of->more[i].pid,
						     .start_ns = of->more[i].start_ns };
		trace->given[*at - 1].more = &trace->given[*at];
		++*at;
	}
	return given;
}

void rebuild_give_trace(struct rebuild *rebuild, const pid_t *pids, size_t npids,
			struct playback_moment *moment)
{
	struct rebuild_trace *trace = &rebuild->trace;
	size_t n = rebuild->n + rebuild->nleft, room = n, row = 0, at = 0;

	moment->trace = NULL;
	moment->traced = NULL;
	if (!trace->there)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct element *element = rebuild_nth(rebuild, i);

		room += element->trace ? element->trace->nmore : 0;
	}
	trace->given = xreallocarray(trace->given, room + 1, sizeof(*trace->given));
	trace->rows = xreallocarray(trace->rows, n + 1, sizeof(*trace->rows));
	for (size_t i = 0; i < n; i++) {
		const struct element *element = rebuild_nth(rebuild, i);

		if (rebuild_is_wanted(pids, npids, element->raw.tgid))
			trace->rows[row++] = give_traced(trace, element, &at);
	}
	rebuild_give_sites(trace, rebuild->passed > 1);
	moment->trace = &trace->given_frame;
	moment->traced = trace->rows;
}

void rebuild_forget_all_sites(struct rebuild *rebuild)
{
	rebuild_forget_sites(&rebuild->trace, true);
}

void rebuild_free_trace(struct rebuild *rebuild)
{
	struct rebuild_trace *trace = &rebuild->trace;

	rebuild_free_sites(trace);
	free(trace->given);
	free(trace->rows);
}
