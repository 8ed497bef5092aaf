// SPDX-License-Identifier: GPL-2.0-or-later
/* Values as cells: every format, at its edges, never wider than the cell; and their order. */
#include "tests/lib/test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "view/value.h"

/* Asserts the cell that a value makes. */
static void check_cell(const struct value *value, enum value_format format, unsigned width,
		       const char *cell)
{
	struct buf out = { 0 };

	value_append(&out, value, format, width);
	assert_string_equal(buf_cstr(&out), cell);
	buf_free(&out);
}

/* Asserts the cell of a number. */
static void check(double number, enum value_format format, unsigned width, const char *cell)
{
	struct value value = value_number(number);

	check_cell(&value, format, width, cell);
}

/* What may be more says so, within its cells. */
TEST(test_bounds)
{
	struct value value = value_number(40.2);

	value.at_least = true;
	check_cell(&value, FORMAT_SHARE, 8, "  >=40.2");
	check_cell(&value, FORMAT_SHARE, 6, ">=40.2");
	check_cell(&value, FORMAT_COUNT, 4, ">=40");
	check_cell(&value, FORMAT_COUNT, 2, "40");
	value = value_unset();
	value.at_least = true;
	check_cell(&value, FORMAT_SHARE, 6, "     -");
}

/* Delay cells: one decimal as long as it fits, then the ladder of the manual: 12345, 999k, >999k.
 */
TEST(test_share)
{
	static const struct {
		double number;
		const char *cell;
	} cases[] = {
		{ 0, "   0.0" },	{ 0.04, "   0.0" },    { 0.05, "   0.1" },
		{ 84.94, "  84.9" },	{ 100, " 100.0" },     { 999.96, "1000.0" },
		{ 9999.9, "9999.9" },	{ 9999.94, "9999.9" }, { 9999.96, " 10000" },
		{ 12345, " 12345" },	{ 99999.4, " 99999" }, { 99999.6, "  100k" },
		{ 123456, "  123k" },	{ 999499, "  999k" },  { 999500, " >999k" },
		{ 1e6, " >999k" },	{ 1e18, " >999k" },    { DBL_MAX, " >999k" },
		{ INFINITY, " >999k" }, { -1, "   0.0" },      { -INFINITY, "   0.0" },
		{ NAN, "     -" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].number, FORMAT_SHARE, 6, cases[i].cell);
}

/* Milliseconds of a single wait: as shares, but of what is below 0.1 the microseconds. */
TEST(test_wait)
{
	static const struct {
		double number;
		const char *cell;
	} cases[] = {
		{ 0, "   0.0" },      { 1e-6, " 0.000" },  { 0.0004, " 0.000" },
		{ 0.0005, " 0.001" }, { 0.012, " 0.012" }, { 0.0994, " 0.099" },
		{ 0.0999, " 0.100" }, { 0.1, "   0.1" },   { 0.16, "   0.2" },
		{ 9999.9, "9999.9" }, { 12345, " 12345" }, { 123456, "  123k" },
		{ 1e6, " >999k" },    { -1, "   0.0" },	   { NAN, "     -" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].number, FORMAT_WAIT, 6, cases[i].cell);
}

/* Whole numbers: all digits as long as they fit, then in thousands. */
TEST(test_count)
{
	static const struct {
		double number;
		unsigned width;
		const char *cell;
	} cases[] = {
		{ 0, 7, "      0" },
		{ 0.4, 7, "      0" },
		{ 0.5, 7, "      1" },
		{ 4194304, 7, "4194304" },
		{ 9999999, 7, "9999999" },
		{ 10000000, 7, " 10000k" },
		{ 4294967295.0, 7, "  4295M" },
		{ -20, 7, "    -20" },
		{ -0.4, 7, "      0" },
		{ 99999999, 8, "99999999" },
		{ 123456789, 8, " 123457k" },
		{ 1e12, 8, "1000000M" },
		{ 1e14, 8, " 100000G" },
		{ 1e15, 8, "1000000G" },
		{ 1.8446744073709552e19, 8, "  18447P" },
		{ INFINITY, 8, "     >1E" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].number, FORMAT_COUNT, cases[i].width, cases[i].cell);
}

/* Hours and minutes, in days where there are too many. */
TEST(test_duration)
{
	check(0, FORMAT_DURATION, 7, "   0:00");
	check(59.9, FORMAT_DURATION, 7, "   0:00");
	check(60, FORMAT_DURATION, 7, "   0:01");
	check(3599, FORMAT_DURATION, 7, "   0:59");
	check(3600 * 27 + 61, FORMAT_DURATION, 7, "  27:01");
	check(3600.0 * 9999 + 59 * 60, FORMAT_DURATION, 7, "9999:59");
	check(3600.0 * 10000, FORMAT_DURATION, 7, "   416d");
	check(18446744073.0, FORMAT_DURATION, 7, "213503d");
	check(-5, FORMAT_DURATION, 7, "   0:00");
}

/* What is not known is a dash in every format. */
TEST(test_unset)
{
	struct value unset = value_unset();

	check_cell(&unset, FORMAT_SHARE, 6, "     -");
	check_cell(&unset, FORMAT_COUNT, 3, "  -");
	check_cell(&unset, FORMAT_DURATION, 1, "-");
	assert_int_equal(value_text(NULL).type, VALUE_UNSET);
	assert_int_equal(value_text("").type, VALUE_TEXT);
}

/* Numbers of all sizes at all widths come out as printf() has them where they fit. */
TEST(test_printf)
{
	char expected[64];

	for (unsigned width = 1; width <= 20; width++) {
		for (uint64_t number = 0; number < 12000000000; number += 1 + number / 7) {
			struct value value = value_number((double)number);
			struct value tenths = value_number((double)number / 10);

			if (snprintf(expected, sizeof(expected), "%*" PRIu64, (int)width, number) ==
			    (int)width)
				check_cell(&value, FORMAT_COUNT, width, expected);
			snprintf(expected, sizeof(expected), "%*.1f", (int)width, tenths.number);
			if (number < 100000)
				check_cell(&tenths, FORMAT_SHARE, width, expected);
		}
	}
}

/* No number is wider than its cell. */
TEST(test_widths)
{
	static const enum value_format formats[] = { FORMAT_COUNT, FORMAT_SHARE, FORMAT_WAIT,
						     FORMAT_DURATION };
	static const unsigned widths[] = { 6, 7, 8, 12 };

	for (unsigned f = 0; f < ARRAY_SIZE(formats); f++) {
		/* 64 bits of ns are 1.8e10 s. */
		double most = formats[f] == FORMAT_DURATION ? 18446744073.0 : 2e19;

		/* A year in minutes takes seven cells. */
		for (unsigned w = formats[f] == FORMAT_DURATION; w < ARRAY_SIZE(widths); w++) {
			for (double size = 1e-7; size < most; size *= 1.37) {
				struct value value = value_number(size);
				struct buf out = { 0 };

				value_append(&out, &value, formats[f], widths[w]);
				assert_int_equal(out.len, widths[w]);
				buf_free(&out);
			}
		}
	}
}

/* Numbers by size, texts by bytes, what is unset behind both. */
TEST(test_compare)
{
	struct value unset = value_unset(), one = value_number(1), two = value_number(2);
	struct value a = value_text("a"), b = value_text("b"), high = value_text("\xc3\xa9");

	assert_true(value_compare(&one, &two) < 0);
	assert_true(value_compare(&two, &one) > 0);
	assert_int_equal(value_compare(&one, &one), 0);
	assert_true(value_compare(&unset, &one) > 0);
	assert_true(value_compare(&one, &unset) < 0);
	assert_int_equal(value_compare(&unset, &unset), 0);
	assert_true(value_compare(&a, &b) < 0);
	assert_true(value_compare(&b, &high) < 0);
	assert_true(value_compare(&unset, &a) > 0);
}
