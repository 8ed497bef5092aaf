/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of a cell, which may be unknown; comparison and display of values of each type. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/util.h"

enum value_type { VALUE_UNSET, VALUE_NUMBER, VALUE_TEXT, VALUE_BAR };

/* Cells of a bar. */
#define VALUE_BAR_CELLS 10

struct value {
	enum value_type type;
	bool at_least; /* of a number: a lower bound, as part of it is unknown */
	double number; /* of a bar: its sort value */
	union {
		struct {
			const char *text; /* raw bytes, NUL-terminated, not owned */
			/* Appended to the text in brackets, trusted; NULL: none. */
			const char *more;
			/* Of a cgroup's path: its container's name for users; NULL: none. */
			const char *pod, *container;
		};
		char bar[VALUE_BAR_CELLS + 1]; /* one letter per cell */
	};
};

enum value_format {
	FORMAT_TEXT,
	FORMAT_COUNT, /* 12345, or in k, M, G ... if that is too wide */
	FORMAT_SHARE, /* one decimal; too wide: 12345, 999k, >999k */
	FORMAT_WAIT, /* the same, but three decimals below 0.1 */
	FORMAT_DURATION, /* seconds as hours:minutes */
};

static inline struct value value_unset(void)
{
	return (struct value){ .type = VALUE_UNSET };
}

static inline struct value value_number(double number)
{
	return (struct value){ .type = VALUE_NUMBER, .number = number };
}

/* NULL is unset. */
static inline struct value value_text(const char *text)
{
	return (struct value){ .type = text ? VALUE_TEXT : VALUE_UNSET, .text = text };
}

/*
 * A bar that is always full: each of the n parts has a number of its letter's cells in proportion,
 * by largest remainders. Unset if all parts are 0. `number` is the bars' sort value.
 */
struct value value_bar(const uint64_t *parts, const char *letters, size_t n, double number);

/*
 * The step of a value on a scale of `steps` (2 or more) from 0 to the peak: 0 only for the value 0,
 * so that even the smallest other value is visible, and steps - 1 for the peak.
 */
unsigned value_step(double value, double peak, unsigned steps);

/* The characters for the steps of a graph, from 0 on. */
#define GRAPH_SIGNS ".:-=+*#%@"

/* The block character for a level of a graph. */
const char *value_block(char sign);

/*
 * A bar that is a graph: a sign of GRAPH_SIGNS for each of VALUE_BAR_CELLS values, on a scale up to
 * the largest, or to `least`; a blank for NAN. They are compared by their mean.
 */
struct value value_graph(const double *values, double least);

/* Appends a value's text, and (unless NULL) its addition in brackets, both untrusted. */
void value_escape(struct buf *out, const char *text, const char *more, enum text_charset charset);

/* The value's text or bar; NULL: it has none. */
static inline const char *value_chars(const struct value *value)
{
	if (value->type == VALUE_BAR)
		return value->bar;
	return value->type == VALUE_TEXT ? value->text : NULL;
}

/* Negative, 0 or positive as a sorts before, with or after b. Unset values sort last. */
int value_compare(const struct value *a, const struct value *b);

/*
 * Appends a number (or "-" if unset) right-aligned in `width` cells, never wider, with ">=" before
 * a lower bound. Plain ASCII. Not for texts.
 */
void value_append(struct buf *out, const struct value *value, enum value_format format,
		  unsigned width);
