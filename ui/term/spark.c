/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/spark.h"

#include <math.h>

#include "base/util.h"

void spark_add(struct spark *spark, double value)
{
	spark->values[spark->next] = value;
	spark->next = (spark->next + 1) % SPARK_CELLS;
	if (spark->n < SPARK_CELLS)
		spark->n++;
}

/* One of the values: 0 is the newest. */
static double value_before(const struct spark *spark, size_t before)
{
	return spark->values[(spark->next + SPARK_CELLS - 1 - before) % SPARK_CELLS];
}

double spark_peak(const struct spark *spark, size_t cells)
{
	double peak = (double)NAN;

	for (size_t i = 0; i < spark->n && i < cells; i++)
		if (isnan(peak) || value_before(spark, i) > peak)
			peak = value_before(spark, i);
	return peak;
}

void spark_append_one(double value, double peak, enum text_charset charset, struct buf *out)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const signs[] = { ".", ":", "-", "=", "+", "*", "#", "%", "@" };
	const char *const *cells = charset == TEXT_UTF8 ? blocks : signs;
	unsigned steps = charset == TEXT_UTF8 ? ARRAY_SIZE(blocks) : ARRAY_SIZE(signs);

	buf_puts(out, isnan(value) ? " " : cells[value_step(value, peak, steps)]);
}

void gauge_append(double part, size_t cells, enum text_charset charset, struct buf *out)
{
	size_t full = part > 0 ? (size_t)(part * (double)cells + 0.5) : 0;

	for (size_t i = 0; i < cells; i++)
		buf_puts(out, charset == TEXT_UTF8 ? (i < full ? "█" : "░") : i < full ? "#" : "-");
}

void spark_append(const struct spark *spark, size_t cells, enum text_charset charset,
		  struct buf *out)
{
	size_t n = spark->n < cells ? spark->n : cells;
	double peak = spark_peak(spark, cells);

	buf_fill(out, ' ', cells - n);
	while (n--)
		spark_append_one(value_before(spark, n), peak, charset, out);
}
