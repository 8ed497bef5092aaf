/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "pattern.h"

#include <stdlib.h>
#include <string.h>

/* As deep may parentheses lie in each other. */
#define DEPTH 64

/*
 * So many characters and operators may come of it when it is compiled: where they can match
 * nothing, glibc's time grows with the cube (2.36: a tenth of a second for 1,000).
 */
#define EXPANDED_MAX 1000.0

/* How often "{m,n}" repeats at most: by the larger of its numbers. */
static double repeats(const char *brace)
{
	char *end;
	unsigned long from = strtoul(brace + 1, &end, 10), to = from;

	if (*end == ',')
		to = strtoul(end + 1, &end, 10);
	if (to < from)
		to = from;
	return to > 1 ? (double)to : 1;
}

/*
 * About how many characters and operators the pattern stands for, repetitions written out.
 * glibc does write them out: a few dozen bytes ("a++++++++++++++++++++++++") can make gigabytes.
 */
static double expanded(const char *pattern)
{
	double sum[DEPTH] = { 0 }, last = 0;
	unsigned depth = 0;

	for (const char *at = pattern; *at; at++) {
		double more = 1;

		if (*at == '(') {
			if (++depth == DEPTH)
				return EXPANDED_MAX + 1;
			sum[depth] = last = 0;
			continue;
		}
		if (*at == ')' && depth) {
			more = last = sum[depth--];
		} else if (*at == '+' || *at == '{') {
			more = last * ((*at == '+' ? 2 : repeats(at)) - 1);
			last += more;
		} else if (*at == '*' || *at == '?') {
			last += more;
		} else {
			at += *at == '\\' && at[1];
			last = 1;
		}
		sum[depth] += more;
	}
	for (unsigned i = 0; i < depth; i++)
		sum[depth] += sum[i];
	return sum[depth];
}

int pattern_compile(regex_t *regex, const char *pattern)
{
	if (expanded(pattern) > EXPANDED_MAX) {
		memset(regex, 0, sizeof(*regex));
		return REG_ESPACE;
	}
	return regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
}
