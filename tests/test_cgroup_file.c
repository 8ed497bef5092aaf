// SPDX-License-Identifier: GPL-2.0-or-later
/* The small files of cgroups: reading them, and texts of keys and numbers. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup_file.h"
#include "tree.h"
#include "util.h"

#define UNTOUCHED UINT64_C(99)

/* What is found in a copy without a byte to spare. */
static void test_number(void **state)
{
	static const struct {
		const char *text, *key;
		uint64_t value; /* UNTOUCHED: nothing is found */
	} cases[] = {
		{ "populated 1\nfrozen 0\n", "populated", 1 },
		{ "populated 1\nfrozen 0\n", "frozen", 0 },
		{ "usage_usec 5\nthrottled_usec 18446744073709551615\n", "throttled_usec",
		  UINT64_MAX },
		{ "a 18446744073709551616\n", "a", UNTOUCHED },
		{ "oom_kill 3\noom 2\n", "oom", 2 },
		{ "oom 2\noom 3\n", "oom", 2 },
		{ "oom", "oom", UNTOUCHED },
		{ "oom\n", "oom", UNTOUCHED },
		{ "oom \n", "oom", UNTOUCHED },
		{ "oom 1", "oom", UNTOUCHED },
		{ "oom 1 2\n", "oom", UNTOUCHED },
		{ "oom -1\n", "oom", UNTOUCHED },
		{ "oom 1x\n", "oom", UNTOUCHED },
		{ "oom  1\n", "oom", UNTOUCHED },
		{ " oom 1\n", "oom", UNTOUCHED },
		{ "", "oom", UNTOUCHED },
		{ "\n\n\n", "oom", UNTOUCHED },
		{ "x\n\noom 7\n", "oom", 7 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].text);
		char *copy = xcalloc(len, 1);
		uint64_t value = UNTOUCHED;
		bool found;

		memcpy(copy, cases[i].text, len);
		found = cgroup_file_number(copy, len, cases[i].key, &value);
		if (value != cases[i].value || found != (value != UNTOUCHED))
			fail_msg("case %u: %llu", i, (unsigned long long)value);
		free(copy);
	}
}

/* Which paths may be opened below a directory. */
static void test_below(void **state)
{
	static const char *const good[] = { "a", "a/b", "...", "a/..b/c..", ".a", "a b/\n" };
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/../b",
					   "../a", "./a", "a/." };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(cgroup_file_below(good[i]));
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(cgroup_file_below(bad[i]));
}

/* Files, again by the same descriptor, cut to the room there is, and what is none. */
static void test_read(void **state)
{
	const struct tree *tree = *state;
	char text[8];
	int fd;

	put_text(tree, "a/file", "12345");
	assert_int_equal(cgroup_file_read(tree->fd, "a/file", text, sizeof(text)), 5);
	assert_memory_equal(text, "12345", 5);
	assert_int_equal(cgroup_file_read(tree->fd, "a/file", text, 3), 3);
	assert_int_equal(cgroup_file_read(tree->fd, "a/none", text, sizeof(text)), -ENOENT);
	assert_int_equal(cgroup_file_read(tree->fd, "a", text, sizeof(text)), -EISDIR);
	assert_int_equal(symlinkat("file", tree->fd, "a/link"), 0);
	assert_int_equal(cgroup_file_read(tree->fd, "a/link", text, sizeof(text)), -ELOOP);
	/* No writer ever comes: it must not be waited for. */
	assert_int_equal(mkfifoat(tree->fd, "a/fifo", 0600), 0);
	assert_true(cgroup_file_read(tree->fd, "a/fifo", text, sizeof(text)) < 0);
	fd = openat(tree->fd, "a/file", O_RDONLY);
	for (int i = 0; i < 2; i++)
		assert_int_equal(cgroup_file_pread(fd, text, sizeof(text)), 5);
	close(fd);
	assert_int_equal(cgroup_file_pread(-1, text, sizeof(text)), -EBADF);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_below),
		cmocka_unit_test_setup_teardown(test_read, make_tree, remove_tree),
	};

	return cmocka_run_group_tests_name("cgroup_file", tests, NULL, NULL);
}
