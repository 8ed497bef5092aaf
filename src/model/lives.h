/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced threads and processes: which site a thread waits in. A reading costs in the threads
 * that changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/trace_record.h"
#include "data/delay.h"
#include "data/wait_state.h"

struct traced_site;

/* A process. */
struct traced_process {
	struct traced traced; /* its identity, and the next process of a sum that it is in */
	uint64_t ended_epoch; /* the reading that found the last thread ended */
	bool seen; /* a thread of it was traced, not only a site */
	bool left; /* its sites were handed out */
	bool listed; /* among lives.empty */
	size_t threads; /* living ones */
	uint32_t name; /* trace_name_hash() of its name, when a thread ended last; 0: none did */
	struct traced_site *sites; /* traced_sites.c's: a list */
	/* trace_book.c's, for the rows, and for what no site explains: */
	uint64_t row_epoch; /* the reading in which it had a row */
	uint64_t rest_epoch;
	uint64_t doubt_epoch; /* the reading in which a row says that switches went unseen */
	uint32_t known; /* kinds, as row.valid */
	uint64_t waited[WAIT_KINDS]; /* of its rows in the frame */
	uint64_t sited[WAIT_KINDS]; /* of its sites */
	struct traced_site *most[WAIT_STATES]; /* of each state the site with the most time */
	bool untraced; /* blkio of some row is the kernel's figure, not the traced one */
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

/* A thread. */
struct life {
	struct trace_thread now; /* as it was read last */
	uint64_t epoch; /* the reading in which it changed last */
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

/* Frees all. */
void lives_free(struct lives *lives);
