/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/trace.h"

/* A trace and what its readings gave so far, for tests of one. */
struct tracebook {
	struct trace *trace;
	struct trace_counts counts; /* of the last reading */
	struct trace_site *sites; /* by slot */
	struct trace_thread *threads;
	uint32_t nsites, nthreads;
	struct trace_thread *ended;
	size_t nended;
	uint64_t lost_waits, lost_threads; /* since it was opened */
	struct syscall_names *calls;
	pid_t only; /* ended threads of that process are kept; 0: all */
};

/* Opens and reads; fails the test if that cannot be. */
void tracebook_open(struct tracebook *book, const struct trace_options *options);
void tracebook_close(struct tracebook *book);

/* Reads. The times of every thread that changed must add up to the time since it is known. */
void tracebook_read(struct tracebook *book);

/* The thread, living or ended; fails the test if there is none. */
const struct trace_thread *tracebook_thread(const struct tracebook *book, pid_t pid);

/* The site of a process where the most time was waited in a state; NULL: there is none. */
const struct trace_site *tracebook_site(const struct tracebook *book, pid_t tgid,
					enum wait_state state);
/* The name of the system call that a site is of; NULL: not known. */
const char *tracebook_call(const struct tracebook *book, const struct trace_site *site);

uint32_t tracebook_slot(const struct tracebook *book, const struct trace_site *site);

/* The time of a thread in a state until the reading. */
uint64_t tracebook_in_state(const struct tracebook *book, const struct trace_thread *thread,
			    enum wait_state state);

/* What children do: sleep for so many ms; for 3 ms, for ever; read a pipe's end (int) to its end.
 */
void tracebook_doze(long ms);
void tracebook_sleep_often(void *arg);
void tracebook_read_pipe(void *arg);

/* A child that runs a function for ever, ended with the test. */
pid_t tracebook_child(void (*run)(void *arg), void *arg);
