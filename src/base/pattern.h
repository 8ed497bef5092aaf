/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns that a person or a file gives: bounded in memory and time, whatever they say. */
#ifndef STALLTOP_BASE_PATTERN_H
#define STALLTOP_BASE_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"

struct pattern;

/*
 * Compiles a POSIX extended regular expression, with GNU's "\<", "\>", "\b", "\B", "\w", "\W",
 * "\s", "\S", "\`" and "\'" as regcomp(3) of glibc has them. Characters are those of the locale
 * where that is UTF-8, else bytes. To be freed by pattern_free(); NULL: it is none or too large,
 * and what is wrong is appended to `why`.
 */
struct pattern *pattern_compile(const char *text, struct buf *why);

/*
 * Whether the pattern matches anywhere in the text. What would take too long to tell is taken as
 * no match; so that a pattern that is slow with every name costs a moment once and not with each
 * name, it may take less time after that.
 */
bool pattern_matches(struct pattern *pattern, const char *text);

/* Frees a pattern, or nothing. */
void pattern_free(struct pattern *pattern);

#endif
