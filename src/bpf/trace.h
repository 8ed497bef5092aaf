/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches all waits of all threads with BPF programs (trace.bpf.c): loads and attaches them, and
 * reads what changed. Closing it detaches and removes the programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/end_ring.h"
#include "bpf/trace_record.h"

struct trace;

/* When kernel stacks are taken, besides the first of each site. */
enum trace_stacks { TRACE_STACKS_NONE, TRACE_STACKS_BLOCKED /* at waits of io and dwait */ };

struct trace_options {
	uint32_t sites; /* maximum number of sites; 0: states only */
	enum trace_stacks stacks;
	uint32_t user_stacks; /* maximum number of user stacks; 0: none are taken */
	uint64_t stacks_over_ns; /* shorter waits are not added to them */
};

/* Events of the whole trace since the previous reading. */
struct trace_counts {
	uint64_t read_ns; /* CLOCK_MONOTONIC of the reading: waits in progress are counted up to
			   * it */
	uint64_t switches; /* context switches */
	uint64_t lost_waits; /* waits that found no room for a site */
	uint64_t lost_stacks; /* user stacks, or waits of one, that found no room */
	bool no_stacks; /* user stacks cannot be taken on this machine */
	bool no_calls; /* the system calls of sleepers cannot be read on this machine */
	double cost_ns; /* CPU time of the programs; negative: unknown */
};

/*
 * Receives the sites that changed since the previous reading, as consistent copies valid during the
 * call, and after them all threads that wait in sites, run, or wait for a CPU. `slot` is the index
 * by which threads refer to sites. `links` receives those of the preceding site, if it has any. All
 * but `site` may be NULL.
 */
struct trace_reader {
	void (*site)(void *arg, uint32_t slot, const struct trace_site *site);
	void (*links)(void *arg, uint32_t slot, const struct trace_links *links);
	void (*waiter)(void *arg, const struct trace_waiter *waiter);
	/* Before the waiters: the totals of all user stacks so far. */
	void (*user_stack)(void *arg, const struct trace_stack_key *key,
			   const struct trace_stack_sum *sum);
	void *arg;
};

/* Loads and attaches. 0, or -errno as explained by refusal_summary(). */
int trace_open(struct trace **out, const struct trace_options *options);

/* Reads what changed. 0 or -errno. */
int trace_read(struct trace *trace, const struct trace_reader *reader, struct trace_counts *counts);

/* When it was opened (CLOCK_MONOTONIC): another trace may have the same address later. */
uint64_t trace_began_ns(const struct trace *trace);

/* The ends of threads: struct trace_end. */
struct end_ring *trace_ends(struct trace *trace);

/* Descriptors of the maps with the threads' time by state, while this is open. */
struct trace_maps {
	int locals, ended;
};

struct trace_maps trace_maps(const struct trace *trace);

/* A kernel stack's addresses, innermost first; returns their number, 0 if it is gone. */
size_t trace_stack(struct trace *trace, int32_t stack, uint64_t *addresses, size_t room);

/* Reads the user stacks seen since the last call, including known ones. 0 or -errno. */
int trace_take_stacks(struct trace *trace,
		      void (*take)(void *arg, uint64_t id, const struct trace_user_stack *stack),
		      void *arg);

/* Adds a rule for walking user stacks. 0 or -errno. */
int trace_add_rule(struct trace *trace, const struct trace_rule_key *key,
		   const struct frame_rule *rule);

/* Starts or stops taking user stacks of one more process. 0 or -errno. */
int trace_choose(struct trace *trace, const struct trace_chosen *chosen, bool taken);

/*
 * Frees the slot of an idle site without a waiter. Returns whether it is free: a wait may have
 * begun meanwhile.
 */
bool trace_forget(struct trace *trace, uint32_t slot);

void trace_close(struct trace *trace);
