/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes with sites, or with rows whose waits have no site, and exited ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/trace_record.h"
#include "data/delay.h"
#include "data/wait_state.h"

struct traced_site;

struct traced_process {
	struct traced traced; /* its identity, and the next process of a sum that it is in */
	uint64_t made_epoch; /* the reading in which it was created */
	uint64_t ended_epoch; /* the reading by which it had exited; 0: it lives */
	uint32_t name; /* trace_name_hash() of its name then */
	bool left; /* its sites were handed out */
	struct traced_site *sites; /* traced_sites.c's: a list */
	/* trace_state.c's, for the rows, and for time without a site: */
	uint64_t row_epoch; /* the reading in which it had a row */
	uint64_t rest_epoch;
	uint64_t doubt_epoch; /* the reading in which a row shows that switches were missed */
	uint32_t known; /* kinds, as row.valid */
	uint64_t waited[WAIT_KINDS]; /* of its rows in the frame */
	uint64_t sited[WAIT_KINDS]; /* of its sites */
	struct traced_site *most[WAIT_STATES]; /* per state the site with the most time */
	bool untraced; /* blkio of some row is the kernel's figure, not the traced one */
	const char *comm; /* of a row */
	char waker[TRACE_COMM + 16];
	struct traced_process *chain;
};

/* Zero-initialised: none. */
struct traced_processes {
	uint64_t epoch; /* the number of the reading; 0: there was none */
	uint64_t read_ns, before_ns; /* CLOCK_MONOTONIC of this reading and of the previous one */
	struct traced_process **buckets; /* by hash of the tgid */
	size_t nbuckets, n; /* nbuckets: a power of two */
};

/*
 * Starts a reading. Drops what exited before the last two intervals, and what has no site and had
 * no row since: `forget` is called for each before it is freed, and removes its sites.
 */
void traced_processes_begin(struct traced_processes *processes, uint64_t read_ns,
			    void (*forget)(void *arg, struct traced_process *process), void *arg);

/* The process of that tgid and start, as exact as the row's clock: within slack_ns, or NULL. */
struct traced_process *traced_processes_find(const struct traced_processes *processes, pid_t tgid,
					     uint64_t start_ns, uint64_t slack_ns);

/* Finds a process, adding it if it is unknown. */
struct traced_process *traced_processes_make(struct traced_processes *processes, pid_t tgid,
					     uint64_t start_ns);

/* The next of all processes, in any order; NULL: the first, or no more. */
struct traced_process *traced_processes_next(const struct traced_processes *processes,
					     const struct traced_process *after);

/* Frees all. */
void traced_processes_free(struct traced_processes *processes);
