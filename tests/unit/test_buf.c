// SPDX-License-Identifier: GPL-2.0-or-later
/* The byte buffer, and the allocation, die() and log that stand under all else. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/scratch.h"

/* Has AddressSanitizer give NULL for too much memory, as the C library does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Asserts what a buffer holds, and empties it. */
static void assert_holds(struct buf *b, const char *expected)
{
	assert_string_equal(buf_cstr(b), expected);
	assert_int_equal(b->len, strlen(expected));
	b->len = 0;
}

/* Appends in every way, across the first growth. */
TEST(test_appends)
{
	struct buf b = { 0 };

	assert_holds(&b, "");
	buf_add(&b, NULL, 0);
	buf_fill(&b, 'x', 0);
	assert_holds(&b, "");
	buf_puts(&b, "ab");
	buf_putc(&b, 'c');
	buf_fill(&b, '-', 3);
	buf_add(&b, "de", 1);
	buf_printf(&b, "%d|%s", -7, "z");
	assert_holds(&b, "abc---d-7|z");
	for (unsigned i = 0; i < 100000; i++)
		buf_putc(&b, (char)('a' + i % 26));
	assert_int_equal(b.len, 100000);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(b.data[i], 'a' + i % 26);
	buf_free(&b);
	assert_null(b.data);
	assert_int_equal(b.len + b.cap, 0);
}

/* Growth doubles: a hundred thousand appends must not copy a hundred thousand times. */
TEST(test_growth_doubles)
{
	struct buf b = { 0 };
	unsigned moves = 0;
	size_t cap = 0;

	for (unsigned i = 0; i < 100000; i++) {
		buf_putc(&b, '.');
		if (b.cap != cap) {
			assert_true(b.cap >= 2 * cap);
			cap = b.cap;
			moves++;
		}
	}
	assert_in_range(moves, 2, 17);
	buf_reserve(&b, 1000000);
	assert_true(b.cap - b.len >= 1000000);
	buf_free(&b);
}

/* buf_printf() with a text longer than any guess. */
TEST(test_printf_long)
{
	struct buf b = { 0 };
	char text[5001];

	memset(text, 'q', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t len = 0; len < sizeof(text); len += 50) {
		buf_printf(&b, "%.*s", (int)len, text);
		assert_int_equal(b.len, len);
		assert_memory_equal(buf_cstr(&b), text, len);
		b.len = 0;
	}
	buf_free(&b);
}

/* buf_uint() against printf at every power of ten and of two, and around it. */
TEST(test_uint)
{
	struct buf b = { 0 };
	uint64_t bases[64 + 20], ten = 1;
	char expected[32];

	for (unsigned i = 0; i < 64; i++)
		bases[i] = UINT64_C(1) << i;
	for (unsigned i = 0; i < 20; i++, ten *= 10)
		bases[64 + i] = ten;
	for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
		for (uint64_t value = bases[i] - 1; value != bases[i] + 2; value++) {
			snprintf(expected, sizeof(expected), "%" PRIu64, value);
			buf_uint(&b, value);
			assert_holds(&b, expected);
		}
	}
	buf_uint(&b, UINT64_MAX);
	assert_holds(&b, "18446744073709551615");
	buf_free(&b);
}

/* buf_fixed(): the point, zeros on both sides of it, and the largest number. */
TEST(test_fixed)
{
	static const struct {
		uint64_t value;
		unsigned decimals;
		const char *text;
	} cases[] = {
		{ 1234, 2, "12.34" },
		{ 1234, 0, "1234" },
		{ 5, 2, "0.05" },
		{ 0, 3, "0.000" },
		{ 100, 2, "1.00" },
		{ 99, 2, "0.99" },
		{ 1, 9, "0.000000001" },
		{ 1000000000, 9, "1.000000000" },
		{ UINT64_MAX, 9, "18446744073.709551615" },
		{ UINT64_MAX, 1, "1844674407370955161.5" },
	};
	struct buf b = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_fixed(&b, cases[i].value, cases[i].decimals);
		assert_holds(&b, cases[i].text);
	}
	buf_free(&b);
}

/* Asserts a number with all decimals there are against printf(). */
static void check_decimal(struct buf *b, double value)
{
	char expected[400];

	for (unsigned decimals = 0; decimals <= 3; decimals++) {
		snprintf(expected, sizeof(expected), "%.*f", (int)decimals, value);
		buf_decimal(b, value, decimals);
		assert_holds(b, expected);
	}
}

/* Decimals as printf() has them: at ties, beside them, for the smallest and the largest. */
TEST(test_decimal)
{
	struct buf b = { 0 };
	double bits;

	for (unsigned i = 0; i <= 16000; i++) {
		double tie = (double)i / 16;

		check_decimal(&b, tie);
		check_decimal(&b, nextafter(tie, 0));
		check_decimal(&b, nextafter(tie, INFINITY));
		check_decimal(&b, (double)i / 1000);
		check_decimal(&b, (double)i * 100.0 / 977);
	}
	for (bits = DBL_TRUE_MIN; bits < DBL_MAX / 3; bits *= 2.7)
		check_decimal(&b, bits);
	check_decimal(&b, DBL_MAX);
	for (unsigned i = 0; i < 50; i++)
		check_decimal(&b, 1e12 - 1 + (double)i / 32);
	buf_free(&b);
}

/* parse_uint(): bounds, overflow, and that nothing moves on failure. */
TEST(test_parse_uint)
{
	static const struct {
		const char *text;
		size_t len;
		bool ok;
		size_t taken;
		uint64_t value;
	} cases[] = {
		{ "0", 1, true, 1, 0 },
		{ "12 3", 4, true, 2, 12 },
		{ "1234", 2, true, 2, 12 },
		{ "007", 3, true, 3, 7 },
		{ "18446744073709551615", 20, true, 20, UINT64_MAX },
		{ "18446744073709551616", 20, false, 0, 0 },
		{ "184467440737095516150", 21, false, 0, 0 },
		{ "", 0, false, 0, 0 },
		{ "1", 0, false, 0, 0 },
		{ "-1", 2, false, 0, 0 },
		{ "+1", 2, false, 0, 0 },
		{ " 1", 2, false, 0, 0 },
		{ "x", 1, false, 0, 0 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *at = cases[i].text;
		uint64_t value = 0;

		assert_int_equal(parse_uint(&at, at + cases[i].len, &value), cases[i].ok);
		assert_ptr_equal(at, cases[i].text + cases[i].taken);
		assert_true(value == cases[i].value);
	}
}

/* Memory is zeroed, survives growth, and 0 elements are memory too. */
TEST(test_allocation)
{
	unsigned char *bytes = xcalloc(1000, 3);
	char *copy = xstrdup("a\\b"), *none;

	for (unsigned i = 0; i < 3000; i++)
		assert_int_equal(bytes[i], 0);
	bytes[2999] = 7;
	bytes = xreallocarray(bytes, 100000, 3);
	assert_int_equal(bytes[2999], 7);
	assert_string_equal(copy, "a\\b");
	none = xcalloc(0, 8);
	assert_non_null(none);
	none = xreallocarray(none, 0, 8);
	assert_non_null(none);
	free(none);
	free(copy);
	free(bytes);
}

/* The hook of die(), in a child: writes first, and dies itself. */
static void dying_hook(void *arg)
{
	if (write(STDERR_FILENO, arg, strlen(arg)) < 0)
		_exit(99);
	die("again");
}

/* An ordinary hook. */
static void writing_hook(void *arg)
{
	if (write(STDERR_FILENO, arg, strlen(arg)) < 0)
		_exit(99);
}

/* Dies with a hook. */
static void die_hooked(void)
{
	die_set_hook(writing_hook, "hook\n");
	die("no %s for %d", "room", 42);
}

/* Dies with a hook that dies. */
static void die_twice(void)
{
	die_set_hook(dying_hook, "hook\n");
	die("first");
}

/* Dies with more than a line holds. */
static void die_long(void)
{
	static char text[5000];

	memset(text, 'm', sizeof(text) - 1);
	die("%s", text);
}

/* Dies for want of memory: twice as much as a size can say. */
static void die_of_memory(void)
{
	free(xreallocarray(NULL, SIZE_MAX, 2));
}

/* die(): the hook before the line, status 1, one line, no endless loop. */
TEST(test_die)
{
	char text[8192];

	assert_int_equal(scratch_dying(die_hooked, text, sizeof(text)), 1);
	assert_string_equal(text, "hook\nstalltop: no room for 42\n");
	assert_int_equal(scratch_dying(die_twice, text, sizeof(text)), 1);
	assert_string_equal(text, "hook\nstalltop: again\n");
	assert_int_equal(scratch_dying(die_long, text, sizeof(text)), 1);
	assert_in_range(strlen(text), 200, 4999);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(scratch_dying(die_of_memory, text, sizeof(text)), 1);
	assert_string_equal(text, "stalltop: out of memory\n");
}

/* The debug log: silent until opened, appends, one stamped line a call. */
TEST(test_debug_log)
{
	char path[] = "/tmp/stalltop-test-XXXXXX";
	unsigned long long seconds, micros;
	char line[64], word[16];
	int fd = mkstemp(path);
	FILE *file;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "old\n", 4), 4);
	close(fd);
	debug_log("into nothing");
	assert_int_equal(debug_log_open("/nonexistent/log"), -ENOENT);
	assert_int_equal(debug_log_open(path), 0);
	errno = 77;
	debug_log("n=%d", 5);
	assert_int_equal(errno, 77);
	debug_log("last");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "old\n");
	assert_int_equal(fscanf(file, "%llu.%6llu %15s\n", &seconds, &micros, word), 3);
	assert_string_equal(word, "n=5");
	assert_in_range(clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC - seconds, 0, 60);
	assert_int_equal(fscanf(file, "%llu.%6llu %15s\n", &seconds, &micros, word), 3);
	assert_string_equal(word, "last");
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
	unlink(path);
	/* A disk that is full is no matter of the caller's. */
	assert_int_equal(debug_log_open("/dev/full"), 0);
	errno = 77;
	debug_log("lost");
	assert_int_equal(errno, 77);
}
