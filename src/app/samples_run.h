/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs batch mode by the options, or records without it, and reports failures. */
#pragma once

#include "app/options.h"
#include "base/text.h"

struct recorder;
struct sampler;
struct sink;
struct trigger_set;

/* The exit status of --why if a problem was found. */
#define EXIT_PROBLEM 3

/* The open resources of a run. */
struct samples_parts {
	struct sampler *sampler;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct trigger_set *triggers; /* NULL: none */
	struct sink *sink;
	enum text_charset charset;
};

/* Returns the exit status. */
int samples_run(const struct options *options, const struct samples_parts *parts);
