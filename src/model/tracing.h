/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was traced, by interval: the states of threads and the sites of their waits, as differences
 * of what src/bpf/trace reads, with waits in progress as far as they have come.
 */
#ifndef STALLTOP_MODEL_TRACING_H
#define STALLTOP_MODEL_TRACING_H

#include "data/wait_state.h"
#include "model/frame.h"

struct tracing;

struct tracing_config {
	int procfd;
	uint32_t sites; /* room for so many; 0: the default */
};

/* Begins to watch every wait. 0, or -errno as trace_open(). */
int tracing_open(struct tracing **out, const struct tracing_config *config);

/* Reads what happened since the reading before; to be called right after the sample was taken. */
int tracing_read(struct tracing *tracing);

/*
 * Makes the interval of the last two readings: NULL before the second. Adds a line for the rest of
 * each kind of each process that no site explains: what the frame's rows waited, less their sites.
 * Valid until the next call.
 */
const struct trace_frame *tracing_frame(struct tracing *tracing, const struct frame *frame);

/*
 * How a row's threads spent the interval, ended ones included: of a task's row its own (by threads,
 * or by processes, as the frame's rows are), of a group its members'. False where it is not known.
 */
bool tracing_states(const struct tracing *tracing, const struct frame *frame, const struct row *row,
		    struct wait_states *states);

/* System calls made so far. */
uint64_t tracing_syscalls(const struct tracing *tracing);

void tracing_close(struct tracing *tracing);

#endif
