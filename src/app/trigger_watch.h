/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches while samples stay in memory: decides when an event requires them to be written, and for
 * how long.
 */
#pragma once

#include <signal.h>

#include "history/recorder.h"
#include "sampler/triggers.h"

struct trigger_watch {
	struct recorder *recorder;
	struct trigger_set *triggers; /* NULL: none */
	uint64_t before_ns; /* time before the event to be written */
	uint64_t linger_ns; /* time after it to be written */
	int procfd;
	volatile sig_atomic_t *asked; /* a signal came: a user wants the recording */
	/* The state; zero-initialised. */
	struct incidents incidents;
	uint64_t asked_ns; /* CLOCK_MONOTONIC: when the signal was seen; 0: never */
	bool lasts;
};

/* Checks a frame before it is recorded. Reports beginnings and ends on standard error. */
void trigger_watch_look(struct trigger_watch *watch, const struct frame *frame);
