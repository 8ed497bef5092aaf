/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounting of traced time: takes readings of absolute totals, and computes from two of them the
 * interval of the threads, processes and sites, for the rows of a frame.
 */
#pragma once

#include "frame/frame.h"
#include "trace/traced_links.h"
#include "trace/traced_sites.h"

/* The changes since the previous reading, as read. Zero-initialised: none. */
struct trace_reading {
	uint64_t read_ns; /* CLOCK_MONOTONIC: waits in progress are counted up to it */
	struct read_site {
		uint32_t slot;
		struct trace_site record;
	} * sites;
	struct read_links {
		uint32_t slot;
		struct trace_links record;
	} * links;
	struct trace_waiter *waiters; /* all of them, as last read */
	struct read_stack {
		struct trace_stack_key key;
		struct trace_stack_sum sum;
	} * stacks; /* likewise of user stacks */
	/* Exited processes. */
	struct read_end {
		pid_t tgid;
		uint64_t start_ns;
		uint32_t name; /* as in struct trace_end */
	} * ends;
	size_t nsites, sites_cap, nlinks, links_cap, nwaiters, waiters_cap, nends, ends_cap;
	size_t nstacks, stacks_cap;
};

/* Empties the reading. */
void trace_reading_reset(struct trace_reading *reading);

/* Add a record: as in struct trace_reader, with the reading as `reading`. */
void trace_reading_site(void *reading, uint32_t slot, const struct trace_site *site);
void trace_reading_links(void *reading, uint32_t slot, const struct trace_links *links);
void trace_reading_waiter(void *reading, const struct trace_waiter *waiter);
void trace_reading_stack(void *reading, const struct trace_stack_key *key,
			 const struct trace_stack_sum *sum);

/* Adds the end of a process. */
void trace_reading_end(struct trace_reading *reading, const struct trace_end *end);

void trace_reading_free(struct trace_reading *reading);

/* Zero-initialised: empty. */
struct trace_state {
	struct traced_processes processes;
	struct traced_sites sites;
	struct traced_links links;
	struct trace_waiter *waiters; /* of the last reading */
	size_t nwaiters;
	/* The interval's sites and the rests without a site, longest first. */
	const struct site **order;
	size_t n, order_cap;
	struct site *rests;
	size_t nrests, rests_cap;
	struct traced_process **touched; /* processes with rests */
	size_t ntouched, touched_cap;
	/* Rows of the frame for many exited tasks, and these tasks' processes. */
	struct ended_row {
		struct row *row;
		struct traced_process *process; /* has the row's waits, and those of its sites */
	} * ended;
	size_t nended, ended_cap;
	uint64_t lost; /* waits in the interval that found no room for a site; set by the caller */
	/* Called for each dropped process: see tracing_leave_fn; NULL: not wanted. */
	void (*leave)(void *arg, pid_t tgid, uint64_t polled_ns, const struct site *sites,
		      size_t n);
	void *arg;
};

/*
 * Adds a reading, and takes over its waiters. Invalidates what was returned for the previous
 * interval. `forget` releases the slots of sites whose process has exited.
 */
void trace_state_update(struct trace_state *book, struct trace_reading *reading,
			traced_sites_forget_fn *forget, void *arg);

/* Calls `leave` for all exited processes, but not twice for one. */
void trace_state_leave(struct trace_state *book);

/* True if there is an interval: two readings were taken. */
static inline bool trace_state_ready(const struct trace_state *book)
{
	return book->processes.epoch > 1;
}

/*
 * Adds data from sites to the rows of a frame with traced times: their wakers, the time lost, and
 * polled I/O.
 */
void trace_state_rows(struct trace_state *book, struct frame *frame);

/* Adds traced data to the rows of another frame, read beside that one. */
void trace_state_beside(struct trace_state *book, struct frame *frame);

/* Sorts the interval's sites; after trace_state_rows() including the rows' unattributed time. */
void trace_state_sites(struct trace_state *book);

void trace_state_free(struct trace_state *book);
