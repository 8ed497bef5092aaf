/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of some processes, read beside the sampler's sample: what a screen unfolds. The
 * sampler reads them (sampler_read_threads()); a source of their own lets that be done while its
 * sample is under way.
 */
#ifndef STALLTOP_MODEL_THREADS_H
#define STALLTOP_MODEL_THREADS_H

#include "model/frame.h"
#include "model/source.h"

struct delayacct;
struct hierarchy;

/* Zero-initialised none are wanted. */
struct threads {
	const struct frame *frame; /* a row a thread, valid until the next reading; NULL: none */
	pid_t *pids; /* whose, ascending */
	size_t n;
	bool since_start; /* cumulative figures */
	struct threads_reader *reader; /* NULL: not read yet */
};

/* What the sampler knows that their reading depends on. */
struct threads_env {
	int procfd; /* of /proc */
	const struct source_ops *source; /* the sampler's */
	const struct delayacct *delayacct; /* as of the sample */
	const struct hierarchy *hierarchy; /* that cgroups are of; NULL: they are not known */
};

/*
 * Takes the processes whose threads are wanted (ascending, copied). True where they are others
 * than before: then nothing is read of them yet.
 */
bool threads_want(struct threads *threads, const pid_t *pids, size_t n, bool since_start);

/*
 * Reads the threads that are wanted, and needs of each (NEED_ bits): the first time a baseline,
 * then a frame of what happened since. 0, or -errno: then none are wanted any more.
 */
int threads_read(struct threads *threads, const struct threads_env *env, unsigned needs);

/* Reads what is asked for of some rows of the frame. */
void threads_fill(const struct threads *threads, const struct threads_env *env,
		  const struct row *const *rows, size_t n, unsigned needs);

/* System calls made so far for the processes that are wanted. */
uint64_t threads_syscalls(const struct threads *threads);

/* Wants none, and frees what was read. */
void threads_close(struct threads *threads);

#endif
