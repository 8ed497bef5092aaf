/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs batch mode as options ask for it, or records without it, and says what failed. */
#pragma once

#include "app/options.h"
#include "base/text.h"

struct recorder;
struct trigger_set;

/* The exit status of --why where a problem was found. */
#define EXIT_PROBLEM 3

/* Returns the exit status. recorder, triggers: NULL where there are none. */
int samples_run(struct options *options, struct recorder *recorder, struct trigger_set *triggers,
		enum text_charset charset);

/* Runs the command that options name, and reports what it waited for. */

/* Returns the command's exit status, or the one that shells use when it cannot be run. */
int command_run(const struct options *options, enum text_charset charset);
