/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of some processes, read beside the sampler's sample: those that a screen unfolds. The
 * sampler reads them (sampler_read_threads()) by a source of their own, so that this can be done
 * while its own sample is under way.
 */
#pragma once

#include "frame/frame.h"
#include "read/source.h"

struct proc;

struct delayacct;
struct hierarchy;
struct tracing;
struct waiting_reader;

/* The wanted threads; zero-initialised: none. */
struct threads {
	/* A row for each thread, valid until the next reading; NULL: none. */
	const struct frame *frame;
	pid_t *pids; /* the processes whose threads are wanted, ascending */
	size_t n;
	bool since_start; /* cumulative figures */
	struct threads_reader *reader; /* NULL: not read yet */
};

/* The parts of the sampler that reading threads needs. */
struct threads_env {
	struct proc *proc; /* of /proc */
	const struct source_ops *source; /* the sampler's source */
	struct measure *measuring; /* see struct source_env */
	const struct delayacct *delayacct; /* its state at the sample */
	struct tracing *tracing; /* NULL: waits are not traced */
	const struct trace_frame *trace; /* of the last sample */
	struct waiting_reader *waiting; /* NULL: what waits are on is not wanted */
	const struct hierarchy *hierarchy; /* the hierarchy of cgroups; NULL: they are not known */
	double idle; /* of the machine, in percent, as of the last sample: see struct frame_options
		      */
};

/*
 * Sets the processes whose threads are wanted (ascending, copied). True where these differ from
 * before: then nothing is read of them yet.
 */
bool threads_want(struct threads *threads, const pid_t *pids, size_t n, bool since_start);

/*
 * Reads the wanted threads, with the data of `needs` (NEED_ bits): a baseline the first time, then
 * the frame of the time since. 0, or -errno: then no threads are wanted any more.
 */
int threads_read(struct threads *threads, const struct threads_env *env, unsigned needs);

/* Reads what `needs` asks for, for some rows of the frame. */
void threads_fill(const struct threads *threads, const struct threads_env *env,
		  const struct row *const *rows, size_t n, unsigned needs);

/* Drops all wanted threads, and frees what was read. */
void threads_close(struct threads *threads);
