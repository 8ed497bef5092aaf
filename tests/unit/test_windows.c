// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of a large array: what was looked at is mapped, the rest and what rests is not. */
#include "tests/lib/test.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/trace_load.h"

/* A value that does not divide a window: some lie in two. */
struct value {
	uint64_t words[41];
};

#define VALUES 4000

/* How many windows are mapped. */
static size_t mapped(const struct windows *windows)
{
	size_t n = 0;

	for (size_t i = 0; i < windows->n; i++)
		n += windows->rest[i] != 0;
	return n;
}

/* A file in memory stands for the map. */
static int make_map(void)
{
	int fd = memfd_create("values", MFD_CLOEXEC);
	struct value value = { { 0 } };

	assert_true(fd >= 0);
	for (uint64_t i = 0; i < VALUES; i++) {
		value.words[0] = i;
		value.words[40] = ~i;
		assert_int_equal(pwrite(fd, &value, sizeof(value), (off_t)(i * sizeof(value))),
				 sizeof(value));
	}
	return fd;
}

/* Each value is where it is in the map, also where it lies in two windows. */
TEST(test_values)
{
	int fd = make_map();
	struct windows windows;

	assert_int_equal(windows_open(&windows, fd, VALUES, sizeof(struct value)), 0);
	assert_true(windows.n > 3);
	assert_int_equal(mapped(&windows), 0);
	for (uint64_t i = 0; i < VALUES; i++) {
		const struct value *value = windows_at(&windows, i);

		assert_true(value->words[0] == i && value->words[40] == ~i);
	}
	assert_int_equal(mapped(&windows), windows.n);
	windows_close(&windows);
	close(fd);
}

/* What nobody looks at is unmapped after some readings, and is there again when it is. */
TEST(test_rest)
{
	int fd = make_map();
	struct windows windows;
	struct value *value;
	uint64_t written;

	assert_int_equal(windows_open(&windows, fd, VALUES, sizeof(*value)), 0);
	for (size_t i = 0; i < VALUES; i++)
		windows_at(&windows, i);
	for (unsigned i = 0; i < WINDOW_READINGS; i++) {
		assert_int_equal(mapped(&windows), windows.n);
		value = windows_at(&windows, 1);
		value->words[0] = 1000 + i;
		windows_trim(&windows);
	}
	assert_int_equal(mapped(&windows), 1);
	assert_int_equal(pread(fd, &written, sizeof(written), sizeof(*value)), sizeof(written));
	assert_int_equal(written, 1000 + WINDOW_READINGS - 1);
	value = windows_at(&windows, VALUES - 1);
	assert_int_equal(value->words[0], VALUES - 1);
	assert_int_equal(mapped(&windows), 2);
	windows_close(&windows);
	close(fd);
}
