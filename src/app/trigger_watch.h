/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps watch while samples stay in memory: says when something happens for which they are to be
 * written, and for how long.
 */
#pragma once

#include <signal.h>

#include "history/recorder.h"
#include "sampler/triggers.h"

struct trigger_watch {
	struct recorder *recorder;
	struct trigger_set *triggers; /* NULL: none */
	uint64_t before_ns; /* how much of the time before is asked for */
	uint64_t linger_ns; /* for how long is written after it is over */
	int procfd;
	volatile sig_atomic_t *asked; /* a signal came: a user wants the recording */
	/* The state; zero-initialised. */
	struct incidents incidents;
	uint64_t asked_ns; /* CLOCK_MONOTONIC: when the signal was seen; 0: never */
	bool lasts;
};

/* Looks at a frame before it is recorded. Reports on standard error what begins and ends. */
void trigger_watch_look(struct trigger_watch *watch, const struct frame *frame);
