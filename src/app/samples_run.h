/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs batch mode as options ask for it, or records without it, and says what failed. */
#pragma once

#include "app/options.h"
#include "base/text.h"

struct recorder;
struct sampler;
struct sink;
struct trigger_set;

/* The exit status of --why where a problem was found. */
#define EXIT_PROBLEM 3

/* What a run has open. */
struct samples_parts {
	struct sampler *sampler;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct trigger_set *triggers; /* NULL: none */
	struct sink *sink;
	enum text_charset charset;
};

/* Returns the exit status. */
int samples_run(const struct options *options, const struct samples_parts *parts);
