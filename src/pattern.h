/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns that a person or a file gives. */
#ifndef STALLTOP_PATTERN_H
#define STALLTOP_PATTERN_H

#include <regex.h>

/*
 * Compiles a POSIX extended regular expression without subexpressions. 0, or as regcomp(3)
 * has it; REG_ESPACE for one whose repetitions would take too much memory.
 */
int pattern_compile(regex_t *regex, const char *pattern);

#endif
