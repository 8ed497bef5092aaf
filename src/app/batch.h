/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batch mode: writes samples on a grid to a stream, at all times or while there is pressure. */
#pragma once

#include <signal.h>

#include "app/trigger_watch.h"
#include "history/recorder.h"
#include "out/out.h"
#include "sampler/sampler.h"
#include "sampler/triggers.h"
#include "view/view_config.h"

/* Receives samples, instead of a descriptor. */
struct batch_sink {
	/* Takes the bytes of out->buf, and empties it. 0 or -errno. */
	int (*put)(void *arg, struct out *out);
	void *arg;
};

struct batch {
	struct sampler *sampler;
	struct out *out; /* NULL: samples are only recorded */
	int fd;
	/* NULL: samples go to fd. It also receives a first sample without an interval. */
	const struct batch_sink *sink;
	/* Called before each frame goes to fd, as a file may have been replaced; may be NULL. */
	int (*renew)(void *arg, struct out *out);
	void *renew_arg;
	struct recorder *recorder; /* NULL: nothing is recorded */
	/* Decides what is recorded; samples are then taken all the time. NULL: everything is. */
	struct trigger_watch *trigger_watch;
	bool replay; /* samples come from a recording, as fast as possible */
	const struct view_config *view; /* interval and iterations */
	/*
	 * The pressure to wait for before the first sample and after each stretch of samples. A
	 * stretch lasts until there has been no pressure for watch->linger_ns; NULL: no waiting.
	 * Each stretch has at least one sample and a baseline of its own; its first interval is
	 * half a second at most.
	 */
	struct trigger_set *triggers;
	const struct watch_config *watch;
	/*
	 * Set by the handlers of the signals that end the run; these are blocked except while
	 * waiting.
	 */
	const volatile sig_atomic_t *caught;
	const sigset_t *waiting; /* the signal mask while waiting */
};

/* The step at which a batch run failed. */
enum batch_failure {
	BATCH_SOURCE, /* the source could not be opened again */
	BATCH_SAMPLE,
	BATCH_WRITE,
	BATCH_RECORD, /* nothing else is done, and the recording has ended */
	BATCH_TRIGGERS /* all triggers have expired */
};

/*
 * Runs until the iterations are done or a signal comes. Returns 0, or -errno with `failure` set; a
 * reader that closed its end is no failure.
 */
int batch_run(const struct batch *batch, enum batch_failure *failure);
