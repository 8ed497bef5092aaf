/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lives of traced threads and processes: how they spent the interval between two readings,
 * state by state. A reading costs in the threads that changed; all others spent the interval in the
 * state that they are in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/trace_record.h"
#include "data/delay.h"
#include "data/wait_state.h"

struct traced_site;

/* A process: its threads, and what they did in the interval of the reading `epoch`. */
struct traced_process {
	struct traced traced; /* of the last interval, as lives_of_process() gave it */
	uint64_t epoch; /* the reading in which a thread changed last */
	uint64_t ended_epoch; /* the reading that found the last thread ended */
	bool seen; /* a thread of it was traced, not only a site */
	bool hidden; /* switches of a thread of it go unseen */
	bool left; /* the times of its whole life were handed out */
	bool listed; /* among lives.empty */
	size_t threads; /* living ones */
	uint32_t name; /* trace_name_hash() of its name, when a thread ended last; 0: none did */
	size_t interval; /* index of what changed in that reading: lives.intervals */
	uint32_t in[WAIT_STATES]; /* living threads by state */
	/* How threads that ended spent their lives, as far as traced; owned. NULL: none ended. */
	struct wait_states *whole;
	struct traced_site *sites; /* traced_sites.c's: a list */
	/* trace_book.c's, for the rows, and for what no site explains: */
	uint64_t row_epoch; /* the reading in which it had a row */
	uint64_t rest_epoch;
	uint64_t partial_epoch; /* the reading in which not all of its threads were traced */
	uint64_t doubt_epoch; /* the reading in which a row says that switches went unseen */
	uint32_t known; /* kinds, as row.valid */
	uint64_t waited[WAIT_KINDS]; /* of its rows in the frame */
	uint64_t sited[WAIT_KINDS]; /* of its sites */
	struct traced_site *most[WAIT_STATES]; /* of each state the site with the most time */
	bool unmeasured; /* blkio of some row is the kernel's figure, not a measured one */
	const char *comm; /* of a row */
	char waker[TRACE_COMM + 16];
	struct traced_process *chain;
};

/* Threads in a site, the one that waits longest first. */
struct site_waiter {
	struct traced_site *site; /* NULL: in none */
	uint64_t since_ns;
	bool attached; /* it waited before tracing began */
	struct site_waiter *before, *after;
};

/* What a process in which a thread changed did in the interval. */
struct process_interval {
	uint32_t unchanged[WAIT_STATES]; /* living threads that did not change, by state */
	struct wait_states changed; /* how the other threads spent it */
};

/* How the times of a thread that changed grew in the interval. */
struct life_growth {
	int64_t ns[WAIT_STATES];
};

/* A thread. */
struct life {
	struct trace_thread now; /* as it was read last */
	/* Of the last interval, as lives_of_thread() gave it; owned. NULL: nobody asked. */
	struct traced *traced;
	uint64_t epoch; /* the reading in which it changed last */
	size_t growth; /* index of what it grew by in that reading: lives.growths */
	uint64_t ended_epoch; /* the reading that found it ended; 0: it lives */
	struct traced_process *process;
	struct site_waiter waiter; /* traced_sites.c's */
	struct life *chain;
};

/* All living tasks, and those that ended in the last two intervals; zero-initialised: none. */
struct lives {
	uint64_t epoch; /* the number of the reading; 0: there was none */
	uint64_t read_ns, before_ns; /* CLOCK_MONOTONIC of this reading and of the one before */
	struct life **slots; /* by the slot of the record */
	size_t nslots;
	struct life **threads; /* by hash of the pid */
	struct traced_process **processes; /* by hash of the tgid */
	size_t buckets, nthreads, nprocesses; /* buckets of both: a power of two */
	struct life **changed; /* of this reading */
	size_t nchanged, changed_cap;
	/* Of this reading: of processes and threads in which something changed. */
	struct process_interval *intervals;
	struct life_growth *growths;
	size_t nintervals, intervals_cap, ngrowths, growths_cap;
	struct life **ended; /* threads, in the order in which they ended */
	size_t nended, ended_cap;
	struct traced_process **empty; /* processes whose threads have all ended, or had */
	size_t nempty, empty_cap;
};

/*
 * Begins a reading. Forgets what ended before the last two intervals: `forget` is called for each
 * such process before it is freed.
 */
void lives_begin(struct lives *lives, uint64_t read_ns,
		 void (*forget)(void *arg, struct traced_process *process), void *arg);

/*
 * Updates the life of a thread that changed. Returns it; it stays for the rest of this interval at
 * least.
 */
struct life *lives_update(struct lives *lives, uint32_t slot, const struct trace_thread *record);

/* Ends a reading: makes the interval of what changed. */
void lives_settle(struct lives *lives);

/*
 * The process of that tgid which started then, as near as the row's clock can tell: within
 * slack_ns. NULL: none.
 */
struct traced_process *lives_process(const struct lives *lives, pid_t tgid, uint64_t start_ns,
				     uint64_t slack_ns);

/* The same, but makes a process that was not traced, or whose threads found no room. */
struct traced_process *lives_process_make(struct lives *lives, pid_t tgid, uint64_t start_ns);

/* The same of a thread. */
struct life *lives_thread(const struct lives *lives, pid_t pid, uint64_t start_ns,
			  uint64_t slack_ns);

/*
 * How it spent the last interval. The threads of a process, ended ones included, add up; one that
 * was in no interval yet has spent none. Valid until the next reading.
 */
struct traced *lives_of_process(const struct lives *lives, struct traced_process *process);
struct traced *lives_of_thread(const struct lives *lives, struct life *life);

/* Frees all. */
void lives_free(struct lives *lives);
