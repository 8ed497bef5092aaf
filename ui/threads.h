/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of some processes, sampled beside the processes: what a screen unfolds. */
#ifndef STALLTOP_UI_THREADS_H
#define STALLTOP_UI_THREADS_H

#include "sampler.h"

/* Zero-initialised there are none. */
struct threads {
	struct sampler_config config;
	struct sampler *sampler; /* NULL: none is open */
	const struct frame *frame; /* the threads' rows; NULL: none */
	pid_t *pids;		   /* whose, ascending */
	size_t n;
};

/*
 * Takes the processes whose threads are wanted (ascending), and a first reading where they
 * are others than before. 0 or -errno: then there are none.
 */
int threads_set(struct threads *threads, const struct sampler_config *like, const pid_t *pids,
		size_t n, unsigned needs);

/* Takes the next reading; the frame before is not valid any more. 0 or -errno. */
int threads_tick(struct threads *threads, unsigned needs);

void threads_close(struct threads *threads);

#endif
