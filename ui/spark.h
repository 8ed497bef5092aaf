/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last values of a figure, and how they are drawn in one line of cells. */
#ifndef STALLTOP_UI_SPARK_H
#define STALLTOP_UI_SPARK_H

#include <stddef.h>

#include "base/text.h"

#define SPARK_CELLS 60

/* Zero-initialised it is empty. */
struct spark {
	double values[SPARK_CELLS]; /* in a ring; NAN: not known */
	size_t n, next;
};

/* Adds a value, 0 or more, or NAN; the oldest gives way. */
void spark_add(struct spark *spark, double value);

/* The largest value that is known, NAN when there is none. */
double spark_peak(const struct spark *spark);

/*
 * The step of a value on a scale of `steps` (2 or more) from 0 to the peak: 0 for nothing at
 * all, so that the least there is still shows, and steps - 1 for the peak.
 */
unsigned spark_step(double value, double peak, unsigned steps);

/* Appends exactly SPARK_CELLS cells, the newest value in the last; blank where not known. */
void spark_append(const struct spark *spark, enum text_charset charset, struct buf *out);

#endif
