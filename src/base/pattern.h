/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns from a user or a file; matching is always bounded in memory and time. */
#pragma once

#include <stdbool.h>

#include "base/util.h"

struct pattern;

/*
 * Compiles a POSIX extended regular expression, with GNU's "\<", "\>", "\b", "\B", "\w", "\W",
 * "\s", "\S", "\`" and "\'" as regcomp(3) of glibc has them. Characters are those of the locale
 * where that is UTF-8, else bytes. Freed by pattern_free(). NULL: it is invalid or too large, and
 * the reason is appended to `why`.
 */
struct pattern *pattern_compile(const char *text, struct buf *why);

/*
 * True if the pattern matches anywhere in the text. A match that takes too long counts as none and
 * lowers the limit for later texts, so a pattern that is slow on every name delays only once.
 */
bool pattern_matches(struct pattern *pattern, const char *text);

/* Frees a pattern, or nothing. */
void pattern_free(struct pattern *pattern);
