/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last values of a figure, drawn in one line of cells. */
#pragma once

#include <stddef.h>

#include "base/text.h"
#include "view/value.h"

#define SPARK_CELLS 60

/* The values. Empty when zero-initialised. */
struct spark {
	double values[SPARK_CELLS]; /* in a ring; NAN: unknown */
	size_t n, next;
};

/* Adds a value, 0 or more, or NAN; the oldest value is dropped. */
void spark_add(struct spark *spark, double value);

/* The largest known of the last `cells` values, NAN if there is none. */
double spark_peak(const struct spark *spark, size_t cells);

/* Appends the cell of one value on the scale up to a peak; a blank if unknown. */
void spark_append_one(double value, double peak, enum text_charset charset, struct buf *out);

/*
 * Appends exactly `cells` cells, up to SPARK_CELLS, of the last values, the newest in the last;
 * unknown values are blank.
 */
void spark_append(const struct spark *spark, size_t cells, enum text_charset charset,
		  struct buf *out);

/* Appends a part of a whole (0 to 1) as a bar of so many cells. */
void gauge_append(double part, size_t cells, enum text_charset charset, struct buf *out);
