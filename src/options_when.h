/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of triggers that --when names. */
#ifndef STALLTOP_OPTIONS_WHEN_H
#define STALLTOP_OPTIONS_WHEN_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "trigger.h"

/* Zero-initialised it is empty. */
struct when {
	struct trigger_spec *specs;
	size_t n;
};

/* Adds a trigger. False, with what is allowed appended to `why`, when it is none. */
bool when_add(struct when *when, const char *arg, struct buf *why);

/* Takes the first `old` off where others came behind them. */
void when_replace(struct when *when, size_t old);

void when_free(struct when *when);

#endif
