/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the program: opens the resources that the options need, in order, runs, and closes them
 * again.
 */
#pragma once

#include "app/options.h"
#include "base/text.h"

struct cursor;
struct recorder;
struct trigger_set;

/* The screen's settings; NULL: no screen. */
struct screen_parts {
	struct recorder *recorder;
	struct cursor *past; /* a recording to show instead of the machine */
	struct trigger_set *triggers;
	const char *message; /* for its first seconds; "": none */
};

/* How results are shown. */
struct program_display {
	enum text_charset charset;
	int (*screen)(struct options *options, const struct screen_parts *parts);
};

/* Runs what the options request. message: errors of configurations. Returns the exit status. */
int program_run(struct options *options, const char *message,
		const struct program_display *display);

/* Opens /proc. The descriptor, or -1 with a line printed. */
int program_open_proc(void);
