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

/* Bytes of an anchor (GNU's among them), 0: there is none. */
static size_t anchor(const char *at)
{
	if (*at == '^' || *at == '$')
		return 1;
	return *at == '\\' && at[1] && strchr("bB<>`'", at[1]) ? 2 : 0;
}

/* What is known of a pattern, or of a part of it in parentheses. */
struct part {
	double size;   /* characters and operators */
	bool anchored; /* there is an anchor in it */
};

/* Takes an operator or a character behind `last`, in the part `sum`. Bytes; 0: not allowed. */
static size_t take(const char *at, struct part *sum, struct part *last)
{
	bool repeats_it = *at == '+' || *at == '{';
	struct part one = { 1, anchor(at) != 0 };
	size_t len;

	if (repeats_it || *at == '*' || *at == '?') {
		double more = 1;

		/* Where an anchor may repeat, glibc's time doubles with every byte. */
		if (last->anchored && *at != '?')
			return 0;
		if (repeats_it)
			more = last->size * ((*at == '+' ? 2 : repeats(at)) - 1);
		last->size += more;
		sum->size += more;
		/* The numbers are no characters to be repeated: "a{9}{9}" is 81. */
		len = *at == '{' ? strspn(at + 1, "0123456789,") + 1 : 0;
		return len && at[len] == '}' ? len + 1 : 1;
	}
	*last = one;
	sum->size++;
	sum->anchored |= one.anchored;
	if (*at == '[')
		return bracket(at);
	return *at == '\\' && at[1] ? 2 : 1;
}

/*
 * About how many characters and operators the pattern stands for, repetitions written out.
 * glibc does write them out: a few dozen bytes ("(((((((a+)+)+)+)+)+)+)+") can make gigabytes.
 */
static double expanded(const char *pattern)
{
	struct part sum[DEPTH] = { 0 }, last = { 0 };
	unsigned depth = 0;
	size_t len;

	for (const char *at = pattern; *at; at += len) {
		len = 1;
		if (*at == '(') {
			if (++depth == DEPTH)
				return EXPANDED_MAX + 1;
			/* Even an empty pair is something that is written out. */
			sum[depth] = (struct part){ .size = 1 };
			last = (struct part){ 0 };
		} else if (*at == ')' && depth) {
			last = sum[depth--];
			sum[depth].size += last.size;
			sum[depth].anchored |= last.anchored;
		} else {
			len = take(at, &sum[depth], &last);
			if (!len)
				return EXPANDED_MAX + 1;
		}
	}
	for (unsigned i = 0; i < depth; i++)
		sum[depth].size += sum[i].size;
	return sum[depth].size;
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
