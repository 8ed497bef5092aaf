/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/snapshot.h"
#include "bpf/trace.h"

/* A thread at a reading: how it spent its time so far, and where it waits. */
struct traced_children_thread {
	pid_t pid, tgid;
	bool known; /* its times are */
	uint64_t ns[WAIT_STATES];
	uint32_t state;
	struct trace_waiter waiter; /* pid 0: it waits in no site */
};

/* A trace and what its readings gave so far, for tests of one; and a walk over its threads. */
struct traced_children {
	struct trace *trace;
	struct snapshot *walk;
	struct trace_counts counts; /* of the last reading */
	struct trace_site *sites; /* by slot */
	struct traced_children_thread *threads; /* of the last reading, by pid */
	struct trace_waiter *waiters; /* the same */
	uint32_t nsites;
	size_t nthreads, nwaiters, waiters_cap;
	struct trace_end *ended; /* threads of `only` */
	size_t nended;
	uint64_t lost_waits; /* since it was opened */
	struct syscall_names *calls;
	pid_t only; /* the process whose ends are kept, in the initial namespace; 0: none */
};

/* Opens and reads; fails the test if that cannot be. */
void traced_children_open(struct traced_children *book, const struct trace_options *options);
void traced_children_close(struct traced_children *book);

/* Reads. */
void traced_children_read(struct traced_children *book);

/* The thread; fails the test if there is none, or its times are not known. */
const struct traced_children_thread *traced_children_thread(const struct traced_children *book,
							    pid_t pid);

/* The site of a process where the most time was waited in a state; NULL: there is none. */
const struct trace_site *traced_children_site(const struct traced_children *book, pid_t tgid,
					      enum wait_state state);
/* The name of the system call that a site is of; NULL: not known. */
const char *traced_children_call(const struct traced_children *book, const struct trace_site *site);

uint32_t traced_children_slot(const struct traced_children *book, const struct trace_site *site);

/* What children do: sleep for so many ms; for 3 ms, for ever; read a pipe's end (int) to its end.
 */
void traced_children_doze(long ms);
void traced_children_sleep_often(void *arg);
void traced_children_read_pipe(void *arg);

/* A child that runs a function for ever, ended with the test. */
pid_t traced_children_child(void (*run)(void *arg), void *arg);
