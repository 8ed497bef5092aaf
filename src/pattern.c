/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "pattern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* As deep may parentheses lie in each other. */
#define DEPTH 64

/*
 * So many characters and operators may come of it when it is compiled: where they can match
 * nothing, glibc's time grows with the cube (2.36: a tenth of a second for 700).
 */
#define EXPANDED_MAX 700.0

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

/* Bytes of the bracket expression that begins there: in it nothing else has a meaning. */
static size_t bracket(const char *at)
{
	size_t len = 1;

	len += at[len] == '^';
	len += at[len] == ']';
	while (at[len] && at[len] != ']') {
		/* "[:alpha:]", "[.a.]", "[=a=]" */
		if (at[len] == '[' && at[len + 1] && strchr(":.=", at[len + 1])) {
			char end[3] = { at[len + 1], ']', '\0' };
			const char *close = strstr(at + len + 2, end);

			len = close ? (size_t)(close + 1 - at) : len;
		}
		len++;
	}
	return len + (at[len] == ']');
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
			/* Even an empty pair is something that is written out. */
			sum[depth] = 1;
			last = 0;
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
			at += *at == '[' ? bracket(at) - 1 : *at == '\\' && at[1];
			last = 1;
		}
		sum[depth] += more;
	}
	for (unsigned i = 0; i < depth; i++)
		sum[depth] += sum[i];
	return sum[depth];
}

/*
 * Copies the pattern with each run of "*", "+" and "?" as the one that means the same: glibc would
 * write out repetitions of repetitions.
 */
static void simplify(const char *pattern, char *out)
{
	/* What has nothing to repeat is taken as it is: some of it is no repetition. */
	bool something = false;

	while (*pattern) {
		size_t run = strspn(pattern, "*+?"), len = 1;

		if (run && something) {
			bool same = strspn(pattern, (char[]){ *pattern, '\0' }) >= run;

			*out++ = same ? *pattern : '*';
			pattern += run;
			continue;
		}
		if (*pattern == '[')
			len = bracket(pattern);
		else if (*pattern == '\\' && pattern[1])
			len = 2;
		something = !strchr("(|^*+?", *pattern);
		memcpy(out, pattern, len);
		out += len;
		pattern += len;
	}
	*out = '\0';
}

int pattern_compile(regex_t *regex, const char *pattern)
{
	char *simple = xcalloc(strlen(pattern) + 1, 1);
	int err = REG_ESPACE;

	memset(regex, 0, sizeof(*regex));
	simplify(pattern, simple);
	if (expanded(simple) <= EXPANDED_MAX)
		err = regcomp(regex, simple, REG_EXTENDED | REG_NOSUB);
	free(simple);
	return err;
}
