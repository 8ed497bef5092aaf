// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a pressure file: what the kernel writes, and what it never would. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "data/system.h"

#define SOME "some avg10=0.00 avg60=1.02 avg300=99.99 total=1663222\n"
#define FULL "full avg10=12.34 avg60=0.50 avg300=100.00 total=18446744073709551615\n"

/* Parses a copy without a byte to spare, so that a read past the end is seen. */
static int parse(const char *text, size_t len, struct psi *out)
{
	char *copy = xcalloc(len, 1);
	int err;

	memcpy(copy, text, len);
	memset(out, 0xA5, sizeof(*out));
	err = psi_parse(copy, len, out);
	free(copy);
	return err;
}

/* Parses a string. */
static int parse_text(const char *text, struct psi *out)
{
	return parse(text, strlen(text), out);
}

/* Asserts a line that is not there, with nothing left in it. */
static void assert_invalid(const struct psi_line *line)
{
	assert_false(line->valid);
	assert_int_equal(line->avg10 | line->avg60 | line->avg300, 0);
	assert_true(line->total_us == 0);
}

/* Asserts the values of SOME. */
static void assert_some(const struct psi_line *line)
{
	assert_true(line->valid);
	assert_int_equal(line->avg10, 0);
	assert_int_equal(line->avg60, 102);
	assert_int_equal(line->avg300, 9999);
	assert_true(line->total_us == 1663222);
}

/* Asserts the values of FULL. */
static void assert_full(const struct psi_line *line)
{
	assert_true(line->valid);
	assert_int_equal(line->avg10, 1234);
	assert_int_equal(line->avg60, 50);
	assert_int_equal(line->avg300, 10000);
	assert_true(line->total_us == UINT64_MAX);
}

/* Both lines, in either order, with and without a last newline. */
TEST(test_both)
{
	static const char *const texts[] = { SOME FULL, FULL SOME, "\n" SOME "\n\n" FULL "\n" };
	struct psi psi;

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(parse_text(texts[i], &psi), 0);
		assert_some(&psi.some);
		assert_full(&psi.full);
	}
	assert_int_equal(parse(SOME FULL, strlen(SOME FULL) - 1, &psi), 0);
	assert_some(&psi.some);
	assert_full(&psi.full);
}

/* irq has no `some`, an old kernel's cpu no `full`. */
TEST(test_one_missing)
{
	struct psi psi;

	assert_int_equal(parse_text(SOME, &psi), 0);
	assert_some(&psi.some);
	assert_invalid(&psi.full);
	assert_int_equal(parse_text(FULL, &psi), 0);
	assert_invalid(&psi.some);
	assert_full(&psi.full);
}

/* A malformed line does no harm to the other. */
TEST(test_malformed)
{
	static const char *const lines[] = {
		"some",
		"some ",
		"somewhat avg10=0.00 avg60=1.02 avg300=99.99 total=1663222",
		"some  avg10=0.00 avg60=1.02 avg300=99.99 total=1663222",
		" some avg10=0.00 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=0 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=0. avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=0.0 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=0.000 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=.00 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=-0.00 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=0,00 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=42949672.96 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=18446744073709551616.00 avg60=1.02 avg300=99.99 total=1663222",
		"some avg10=nan avg60=1.02 avg300=99.99 total=1663222",
		"some avg60=1.02 avg10=0.00 avg300=99.99 total=1663222",
		"some avg10=0.00 avg300=99.99 total=1663222",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=-1",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=0x10",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=18446744073709551616",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=1663222 ",
		"some avg10=0.00 avg60=1.02 avg300=99.99 total=1663222\r",
		"SOME avg10=0.00 avg60=1.02 avg300=99.99 total=1663222",
	};
	char text[512];
	struct psi psi;

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse_text(lines[i], &psi), -EBADMSG);
		assert_invalid(&psi.some);
		assert_invalid(&psi.full);
		snprintf(text, sizeof(text), "%s\n" FULL, lines[i]);
		assert_int_equal(parse_text(text, &psi), 0);
		assert_invalid(&psi.some);
		assert_full(&psi.full);
	}
	/* The largest average that a field can hold is no overflow. */
	assert_int_equal(parse_text("some avg10=42949672.95 avg60=0.00 avg300=0.00 total=0", &psi),
			 0);
	assert_true(psi.some.avg10 == UINT32_MAX);
}

/* Unknown lines are passed over; of two of a name the first valid one counts. */
TEST(test_unknown_and_twice)
{
	struct psi psi;

	assert_int_equal(parse_text("most avg10=1.00\n" SOME "\n###\n" FULL "tail", &psi), 0);
	assert_some(&psi.some);
	assert_full(&psi.full);
	assert_int_equal(parse_text(SOME "some avg10=7.00 avg60=7.00 avg300=7.00 total=7\n", &psi),
			 0);
	assert_some(&psi.some);
}

/* Nothing, NUL bytes, noise. */
TEST(test_garbage)
{
	static const char nul[] = "some avg10=0.00\0avg60=1.02 avg300=99.99 total=1\n";
	struct psi psi;

	assert_int_equal(parse("", 0, &psi), -EBADMSG);
	assert_invalid(&psi.some);
	assert_int_equal(parse("\n\n\n", 3, &psi), -EBADMSG);
	assert_int_equal(parse(nul, sizeof(nul) - 1, &psi), -EBADMSG);
	assert_int_equal(parse("\xFF\xFE\0\0", 4, &psi), -EBADMSG);
}

/* Cut at every length: never a value that the whole text does not have, but total's digits. */
TEST(test_truncated)
{
	static const char text[] = SOME FULL;
	size_t some_end = strlen(SOME) - 1;
	size_t some_total = (size_t)(strstr(text, "total=") + 6 - text);
	size_t full_total = (size_t)(strstr(text + some_end, "total=") + 6 - text);
	struct psi psi;

	for (size_t len = 0; len < sizeof(text); len++) {
		int err = parse(text, len, &psi);

		assert_int_equal(err, len > some_total ? 0 : -EBADMSG);
		assert_int_equal(psi.some.valid, len > some_total);
		assert_int_equal(psi.full.valid, len > full_total);
		if (len >= some_end)
			assert_some(&psi.some);
		if (psi.full.valid)
			assert_int_equal(psi.full.avg300, 10000);
	}
}

/* The names are those of the kernel's files. */
TEST(test_names)
{
	assert_string_equal(psi_names[PSI_CPU], "cpu");
	assert_string_equal(psi_names[PSI_MEMORY], "memory");
	assert_string_equal(psi_names[PSI_IO], "io");
	assert_string_equal(psi_names[PSI_IRQ], "irq");
}

/* This kernel's own files, where it has them. */
TEST(test_live)
{
	char path[64], text[512];
	struct psi psi;
	unsigned seen = 0;

	for (unsigned i = 0; i < PSI_RESOURCES; i++) {
		ssize_t len;
		int fd;

		snprintf(path, sizeof(path), "/proc/pressure/%s", psi_names[i]);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		len = read(fd, text, sizeof(text));
		close(fd);
		if (len < 0)
			continue;
		assert_int_equal(parse(text, (size_t)len, &psi), 0);
		assert_int_equal(psi.some.valid, i != PSI_IRQ);
		assert_true(psi.some.avg10 <= 10000 && psi.full.avg10 <= 10000);
		seen++;
	}
	if (!seen) {
		printf("# skip: test_live: no readable pressure files\n");
		skip();
	}
}
