/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/spark.h"

#include <math.h>

#include "base/util.h"

void spark_add(struct spark *spark, double value)
{
	spark->values[spark->next] = value;
	spark->next = (spark->next + 1) % SPARK_CELLS;
	if (spark->n < SPARK_CELLS)
		spark->n++;
}

double spark_peak(const struct spark *spark)
{
	double peak = (double)NAN;

	for (size_t i = 0; i < spark->n; i++)
		if (isnan(peak) || spark->values[i] > peak)
			peak = spark->values[i];
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

void spark_append(const struct spark *spark, enum text_charset charset, struct buf *out)
{
	size_t oldest = spark->n < SPARK_CELLS ? 0 : spark->next;
	double peak = spark_peak(spark);

	buf_fill(out, ' ', SPARK_CELLS - spark->n);
	for (size_t i = 0; i < spark->n; i++)
		spark_append_one(spark->values[(oldest + i) % SPARK_CELLS], peak, charset, out);
}
