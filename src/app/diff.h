/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: compares two recordings, or two spans of one. */
#pragma once

#include "app/options.h"

/* The fault of the named recordings, in one line; NULL: none. */
const char *diff_fault(const struct options *options);

/* Compares what the options name, and prints the report or why not. Returns the exit status. */
int diff_run(const struct options *options, enum text_charset charset);

/*
 * Takes PATH@FROM..TO apart, in the text: the path, and the times, either of which may be empty.
 * Without a span, as PATH, the times stay as they are. False: the span is invalid.
 */
bool diff_take_span(char *text, const char **from, const char **to);
