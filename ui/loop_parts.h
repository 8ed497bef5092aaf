/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a loop, and the functions that take its samples: shared by the files of loop.h. */
#pragma once

#include "ui/state/ui.h"

struct loop {
	struct ui ui;
	struct sampler *live; /* of the machine; NULL: a recording is shown */
	int signals; /* signalfd */
	uint64_t last_ns; /* when the last sample began */
	uint64_t skipped; /* grid points skipped since then */
	bool asked; /* a sample is due as soon as the interval is long enough */
	bool dirty; /* something needs drawing */
	bool more; /* keys may be pending that were left for the next turn */
	bool paused; /* ui.paused when the grid was last checked */
	unsigned wanted; /* the NEED_ bits of the last sample */
	bool trace_due; /* the tracing programs are to be loaded */
	bool opened; /* the page of the only selected process */
};

/* The NEED_ bits of the views on the stack. */
unsigned loop_needs(struct ui *ui);

/* Opens the source of the display: the machine, or a recording. Returns 0 or -errno. */
int loop_open(struct loop *loop);

/* Takes a sample, and shows it unless the past is shown. */
void loop_sample(struct loop *loop);

/* Takes a sample at a point of the grid, and moves to the next point. */
void loop_sample_on_grid(struct loop *loop);

/* When the next sample is due (CLOCK_MONOTONIC), unless an event comes first. */
uint64_t loop_sample_due(const struct loop *loop);

/* Carries out postponed reactions that must wait for the end of a sample. */
void loop_catch_up(struct loop *loop);

/* Loads the tracing programs, if a view needs them. True: it did, or it failed. */
bool loop_load_trace(struct loop *loop);

/* Reads records of exiting tasks when due. Returns when to check again. */
uint64_t loop_drain_exits(const struct loop *loop, uint64_t now);
