/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history in one line of cells. */
#include "tests/lib/test.h"

#include <math.h>
#include <string.h>

#include "ui/term/spark.h"

/* Asserts what is drawn behind the blanks. */
static void assert_drawn(const struct spark *spark, enum text_charset charset, const char *expected,
			 size_t cells)
{
	struct buf out = { 0 };

	spark_append(spark, SPARK_CELLS, charset, &out);
	for (size_t i = 0; i < SPARK_CELLS - cells; i++)
		assert_int_equal(out.data[i], ' ');
	assert_string_equal(buf_cstr(&out) + SPARK_CELLS - cells, expected);
	buf_free(&out);
}

/* Nothing is the lowest step, the least value the next, the peak the last. */
TEST(test_steps)
{
	assert_int_equal(value_step(0, 100, 8), 0);
	assert_int_equal(value_step(1e-300, 100, 8), 1);
	assert_int_equal(value_step(14, 100, 8), 1);
	assert_int_equal(value_step(14.3, 100, 8), 2);
	assert_int_equal(value_step(99, 100, 8), 7);
	assert_int_equal(value_step(100, 100, 8), 7);
	assert_int_equal(value_step(1e300, 1e-300, 8), 7);
	assert_int_equal(value_step(5, 0, 8), 0);
	assert_int_equal(value_step(NAN, 100, 8), 0);
	assert_int_equal(value_step(1, NAN, 8), 0);
	assert_int_equal(value_step(1, 100, 2), 1);
	for (int i = 1; i < 1000; i++)
		assert_true(value_step(i, 1000, 9) <= value_step(i + 1, 1000, 9));
}

/* Every step has its character; what is not known is blank; the newest is last. */
TEST(test_cells)
{
	struct spark spark = { 0 };

	assert_drawn(&spark, TEXT_UTF8, "", 0);
	assert_true(isnan(spark_peak(&spark, SPARK_CELLS)));
	for (int i = 0; i < 8; i++)
		spark_add(&spark, i);
	spark_add(&spark, NAN);
	spark_add(&spark, 0);
	assert_drawn(&spark, TEXT_UTF8, "▁▂▃▄▅▆▇█ ▁", 10);
	assert_true(spark_peak(&spark, SPARK_CELLS) == 7);
	spark = (struct spark){ 0 };
	for (int i = 0; i < 9; i++)
		spark_add(&spark, i * 1e9);
	assert_drawn(&spark, TEXT_ASCII, ".:-=+*#%@", 9);
}

/* Without any value but 0 all is low. */
TEST(test_flat)
{
	struct spark spark = { 0 };

	spark_add(&spark, 0);
	spark_add(&spark, NAN);
	assert_drawn(&spark, TEXT_UTF8, "▁ ", 2);
	assert_true(spark_peak(&spark, SPARK_CELLS) == 0);
}

/* The oldest gives way, and with it its part in the scale. */
TEST(test_ring)
{
	char expected[SPARK_CELLS + 1];
	struct spark spark = { 0 };

	spark_add(&spark, 1000);
	for (int i = 0; i < SPARK_CELLS - 1; i++)
		spark_add(&spark, 0);
	assert_true(spark_peak(&spark, SPARK_CELLS) == 1000);
	memset(expected, '.', SPARK_CELLS);
	expected[SPARK_CELLS] = '\0';
	expected[0] = '@';
	assert_drawn(&spark, TEXT_ASCII, expected, SPARK_CELLS);
	spark_add(&spark, 8);
	assert_true(spark_peak(&spark, SPARK_CELLS) == 8);
	spark_add(&spark, 1);
	memset(expected, '.', SPARK_CELLS);
	expected[SPARK_CELLS - 2] = '@';
	expected[SPARK_CELLS - 1] = ':';
	assert_drawn(&spark, TEXT_ASCII, expected, SPARK_CELLS);
}

/* In less room are the last values, on a scale of their own. */
TEST(test_narrow)
{
	struct spark spark = { 0 };
	struct buf out = { 0 };

	spark_add(&spark, 1);
	spark_append(&spark, 3, TEXT_ASCII, &out);
	assert_string_equal(buf_cstr(&out), "  @");
	for (int i = 0; i < SPARK_CELLS; i++)
		spark_add(&spark, 1000);
	spark_add(&spark, 0);
	spark_add(&spark, 8);
	out.len = 0;
	spark_append(&spark, 2, TEXT_ASCII, &out);
	assert_string_equal(buf_cstr(&out), ".@");
	assert_true(spark_peak(&spark, 2) == 8);
	assert_true(spark_peak(&spark, 3) == 1000);
	buf_free(&out);
}
