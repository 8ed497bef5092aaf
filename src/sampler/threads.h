/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of some processes, read beside the sampler's sample: those unfolded on a screen. The
 * sampler reads them (sampler_read_threads()) with a separate source, so that this can be done
 * while its own sample is in progress.
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
	/* One row per thread, valid until the next reading; NULL: none. */
	const struct frame *frame;
	pid_t *pids; /* the processes whose threads are wanted, ascending */
	size_t n;
	bool since_start; /* cumulative figures */
	struct threads_reader *reader; /* NULL: not read yet */
};

/* What the sampler passes to the reader of threads. */
struct threads_env {
	struct proc *proc; /* of /proc */
	const struct source_ops *source; /* the sampler's source */
	struct measure *measuring; /* see struct source_env */
	const struct delayacct *delayacct; /* its state at the sample */
	struct tracing *tracing; /* NULL: waits are not traced */
	const struct trace_frame *trace; /* of the last sample */
	struct waiting_reader *waiting; /* NULL: wait targets are not wanted */
	const struct hierarchy *hierarchy; /* the cgroup hierarchy; NULL: unknown */
	double idle; /* of the machine, in percent, at the last sample: see struct frame_options */
};

/*
 * Sets the processes whose threads are wanted (ascending, copied). True if they changed: then none
 * of them has been read yet.
 */
bool threads_want(struct threads *threads, const pid_t *pids, size_t n, bool since_start);

/*
 * Reads the wanted threads, with the data of `needs` (NEED_ bits): a baseline the first time, then
 * the frame of the time since. 0, or -errno: then no threads are wanted any more.
 */
int threads_read(struct threads *threads, const struct threads_env *env, unsigned needs);

/* Reads the data in `needs` for some rows of the frame. */
void threads_fill(const struct threads *threads, const struct threads_env *env,
		  const struct row *const *rows, size_t n, unsigned needs);

/* Drops all wanted threads, and frees their data. */
void threads_close(struct threads *threads);
