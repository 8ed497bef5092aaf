/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: compares two recordings, or two spans of one. */
#pragma once

#include "app/options.h"

/* The error in the named recordings, in one line; NULL: none. */
const char *diff_fault(const struct options *options);

/*
 * Compares the recordings in the options, and prints the report or the error. Returns the exit
 * status.
 */
int diff_run(const struct options *options, enum text_charset charset);

/*
 * Splits PATH@FROM..TO, in place: the path, and the times, either of which may be empty. Without a
 * span, as PATH, the times are unchanged. False: the span is invalid.
 */
bool diff_take_span(char *text, const char **from, const char **to);
