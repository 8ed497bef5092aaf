/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/run_trace.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/util.h"
#include "kernel/exits.h"
#include "trace/traced_links.h"
#include "trace/tracing.h"

uint32_t run_sum_add(struct counters *sum, const struct counters *last, uint64_t life_ns)
{
	struct counters possible = *last, excess = { 0 };

	if (life_ns)
		counters_excess(last, life_ns, &excess);
	counters_take_off(&possible, &excess, excess.valid);
	counters_add(sum, &possible);
	return excess.valid;
}

void run_sum_add_range(struct task_record *sum, const struct task_record *last, uint32_t left_out,
		       bool first)
{
	struct task_record possible = *last;

	possible.range_valid &= ~left_out;
	possible.stamp_valid &= ~left_out;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (left_out & DELAY_BIT(kind))
			possible.max[kind] = possible.min[kind] = possible.stamp[kind] = 0;
	if (first)
		*sum = possible;
	else
		record_fold(sum, &possible);
}

void run_sum_settle(struct counters *sum, uint64_t *user_ns, uint64_t *system_ns)
{
	uint64_t reaped = *user_ns + *system_ns;
	uint64_t user = reaped ? *user_ns : sum->user_ns, all = user;

	if (!(sum->valid & VALID_RUN) || sum->run_ns <= reaped) {
		sum->run_ns = reaped;
		sum->valid |= VALID_RUN;
		return;
	}
	all += reaped ? *system_ns : sum->system_ns;
	*user_ns = all ? (uint64_t)((double)sum->run_ns * ((double)user / (double)all)) : 0;
	*system_ns = sum->run_ns - *user_ns;
}

/* Time between readings: then sites of exited processes make room for others. */
#define READ_NS (250 * NSEC_PER_MSEC)

/* Number of sums above which sites are added up without their targets. */
#define SUMS_MAX 20000

struct run_trace {
	struct tracing *tracing;
	uint64_t due_ns;
	uint8_t *ours; /* a bit for each pid */
	size_t ours_size;
	struct wait_states states;
	uint64_t polled_ns; /* of that in state poll, but I/O */
	struct site **sums;
	size_t n, cap;
	void *tree; /* likewise, of tsearch() */
	uint64_t lost;
};

/* Orders sites by the key of their sum. */
static int compare_sums(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int order = text_compare(x->comm, y->comm);

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->overlaps != y->overlaps)
		return x->overlaps - y->overlaps;
	order = order ? order : text_compare(x->syscall, y->syscall);
	order = order ? order : text_compare(x->on, y->on);
	return order ? order : text_compare(x->where, y->where);
}

/*
 * Strips the per-process part of a target, so that alike processes add up: a runner by name only,
 * children and private locks not at all.
 */
static const char *common_target(const struct site *site)
{
	const char *name;

	if (!site->on || site->state == STATE_CHILD || site->state == STATE_LOCK)
		return NULL;
	if (site->state != STATE_CPU)
		return site->on;
	name = site->on + strspn(site->on, "0123456789");
	return name > site->on && *name == ' ' ? name + 1 : site->on;
}

/* The sum of a site; created if there is none. */
static struct site *sum_of_site(struct run_trace *trace, const struct site *site)
{
	void *known = tfind(site, &trace->tree, compare_sums);
	struct site *sum;

	if (known)
		return *(struct site **)known;
	sum = xcalloc(1, sizeof(*sum));
	GROW(trace->sums, trace->n, trace->cap);
	trace->sums[trace->n++] = sum;
	*sum = (struct site){ .id = trace->n,
			      .comm = xstrdup(site->comm),
			      .state = site->state,
			      .kind = site->kind,
			      .overlaps = site->overlaps,
			      .syscall = xstrdup(site->syscall),
			      .on = xstrdup(site->on),
			      .where = xstrdup(site->where) };
	if (!tsearch(sum, &trace->tree, compare_sums))
		die("out of memory");
	return sum;
}

/* Adds a site of a descendant. */
static void add_to_sums(struct run_trace *trace, const struct site *site)
{
	struct site key = *site;

	key.on = trace->n < SUMS_MAX ? common_target(site) : NULL;
	/* Time waited counts, not current waiters. */
	key.class = CLASS_UNKNOWN;
	key.waiting = 0;
	key.waiting_ns = 0;
	key.at_least = false;
	site_add(sum_of_site(trace, &key), &key);
}

/* True if the process of that id is a descendant; the id may be reused. */
static bool remove_ours(struct run_trace *trace, pid_t tgid)
{
	size_t at = (size_t)tgid / 8;
	uint8_t bit = (uint8_t)(1u << (tgid % 8));

	if (tgid < 0 || at >= trace->ours_size || !(trace->ours[at] & bit))
		return false;
	trace->ours[at] &= (uint8_t)~bit;
	return true;
}

/* Adds the sites of an exited process: see tracing_leave_fn. */
static void add_ended_sites(void *arg, pid_t tgid, uint64_t polled_ns, const struct site *sites,
			    size_t n)
{
	struct run_trace *trace = arg;

	if (!remove_ours(trace, tgid))
		return;
	trace->polled_ns += polled_ns;
	for (size_t i = 0; i < n; i++)
		add_to_sums(trace, &sites[i]);
}

int run_trace_open(struct run_trace **out, struct proc *proc, uint32_t sites)
{
	struct tracing_config config = { .proc = proc, .sites = sites };
	struct run_trace *trace = xcalloc(1, sizeof(*trace));
	int err = tracing_open(&trace->tracing, &config);

	if (err) {
		free(trace);
		return err;
	}
	tracing_on_leave(trace->tracing, add_ended_sites, trace);
	/* The state before the command is the baseline. */
	run_trace_read(trace);
	*out = trace;
	return 0;
}

void run_trace_exits(struct run_trace *trace, struct exit_record *records, size_t n)
{
	tracing_exits(trace->tracing, records, n, true);
}

void run_trace_ours(struct run_trace *trace, const struct exit_record *record)
{
	pid_t tgid = record->tgid;
	size_t at = (size_t)tgid / 8, old = trace->ours_size;

	if (record->times_known)
		wait_states_add(&trace->states, &record->times);
	if (tgid <= 0)
		return;
	if (at >= old) {
		trace->ours_size = at * 2 + 4096;
		trace->ours = xreallocarray(trace->ours, trace->ours_size, 1);
		memset(trace->ours + old, 0, trace->ours_size - old);
	}
	trace->ours[at] |= (uint8_t)(1u << (tgid % 8));
}

uint64_t run_trace_due_ns(const struct run_trace *trace)
{
	return trace->due_ns;
}

void run_trace_read(struct run_trace *trace)
{
	const struct trace_frame *frame;

	trace->due_ns = clock_ns(CLOCK_MONOTONIC) + READ_NS;
	if (tracing_read(trace->tracing))
		return;
	frame = tracing_frame(trace->tracing, NULL);
	if (!frame)
		return;
	trace->lost += frame->lost;
}

void run_trace_end(struct run_trace *trace, struct run_traced *traced)
{
	run_trace_read(trace);
	tracing_leave(trace->tracing);
	traced_move_polling(&trace->states, trace->polled_ns);
	*traced = (struct run_traced){ .known = true,
				       .states = trace->states,
				       .sites = trace->sums,
				       .n = trace->n,
				       .lost = trace->lost };
}

/* Frees a sum. */
static void free_sum(void *arg)
{
	struct site *sum = arg;

	free((char *)sum->comm);
	free((char *)sum->syscall);
	free((char *)sum->on);
	free((char *)sum->where);
	free(sum);
}

void run_trace_close(struct run_trace *trace)
{
	if (!trace)
		return;
	tracing_close(trace->tracing);
	tdestroy(trace->tree, free_sum);
	free(trace->sums);
	free(trace->ours);
	free(trace);
}
