// SPDX-License-Identifier: GPL-2.0-or-later
/* Where cgroup hierarchies are mounted: from texts as the kernel writes them, and worse ones. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "tests/lib/tree.h"

#define LINES \
	"23 28 0:21 / /sys rw,nosuid - sysfs sysfs rw\n" \
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" \
	"33 31 0:30 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n" \
	"34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup " \
	"rw,cpu,cpuacct\n" \
	"37 31 0:34 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n" \
	"38 31 0:35 /docker/abc /run/part rw - cgroup2 cgroup2 rw\n" \
	"39 31 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n" \
	"40 31 0:35 / /run/again rw - cgroup2 cgroup2 rw\n"

/* Asserts what is found in a copy without a byte to spare; NULL: nothing. */
static void assert_found(const char *text, const char *hierarchy, const char *expected)
{
	size_t len = strlen(text);
	char *copy = xcalloc(len, 1);
	struct buf group = { 0 }, path = { 0 };
	int err;

	memcpy(copy, text, len);
	err = hierarchy_mount(copy, len, hierarchy, &group, &path);
	assert_int_equal(err, expected ? 0 : -ENOENT);
	assert_string_equal(buf_cstr(&group), expected ? "/" : "");
	assert_string_equal(buf_cstr(&path), expected ? expected : "");
	buf_free(&group);
	buf_free(&path);
	free(copy);
}

/* Each hierarchy, and not one whose name only begins or ends alike. */
TEST(test_hierarchies)
{
	assert_found(LINES, NULL, "/sys/fs/cgroup/unified");
	assert_found(LINES, "cpuset", "/sys/fs/cgroup/cpuset");
	assert_found(LINES, "cpu", "/sys/fs/cgroup/cpu,cpuacct");
	assert_found(LINES, "cpuacct", "/sys/fs/cgroup/cpu,cpuacct");
	assert_found(LINES, "cpuacct,cpu", "/sys/fs/cgroup/cpu,cpuacct");
	assert_found(LINES, "name=systemd", "/sys/fs/cgroup/systemd");
	assert_found(LINES, "cpu,cpuset", NULL);
	assert_found(LINES, "systemd", NULL);
	assert_found(LINES, "memory", NULL);
	assert_found(LINES, "", NULL);
}

/* Where nothing shows the whole hierarchy a part of it will do, with its group. */
TEST(test_part)
{
	static const char parts[] = "1 2 0:3 /docker/a\\040b /one rw - cgroup c rw,memory\n"
				    "1 2 0:3 /../x /two rw - cgroup c rw,memory\n"
				    "1 2 0:4 /part /three rw - cgroup c rw,cpu\n"
				    "1 2 0:4 / /four rw - cgroup c rw,cpu\n";
	static const struct {
		const char *hierarchy, *group, *path;
	} cases[] = {
		{ "memory", "/docker/a b", "/one" },
		{ "cpu", "/", "/four" },
		{ "pids", NULL, NULL },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf group = { 0 }, path = { 0 };
		int err = hierarchy_mount(parts, strlen(parts), cases[i].hierarchy, &group, &path);

		assert_int_equal(err, cases[i].path ? 0 : -ENOENT);
		assert_string_equal(buf_cstr(&group), cases[i].path ? cases[i].group : "");
		assert_string_equal(buf_cstr(&path), cases[i].path ? cases[i].path : "");
		buf_free(&group);
		buf_free(&path);
	}
}

/* Bytes written in octal come out as they are; what is no escape stays. */
TEST(test_escapes)
{
	assert_found("1 2 0:3 / /a\\040b\\011c\\012d\\134e\\043 rw - cgroup2 c rw\n", NULL,
		     "/a b\tc\nd\\e#");
	assert_found("1 2 0:3 / /a\\ rw - cgroup2 c rw\n", NULL, "/a\\");
	assert_found("1 2 0:3 / /a\\04 rw - cgroup2 c rw\n", NULL, "/a\\04");
	assert_found("1 2 0:3 / /a\\080 rw - cgroup2 c rw\n", NULL, "/a\\080");
	assert_found("1 2 0:3 / /a\\400\\000b rw - cgroup2 c rw\n", NULL, "/a\\400\\000b");
	assert_found("1 2 0:3 / /\\303\\274 rw - cgroup2 c rw", NULL, "/\303\274");
}

/* Lines that are cut anywhere give nothing and harm no others. */
TEST(test_cut)
{
	static const char line[] = "1 2 0:3 / /cut rw shared:1 - cgroup2 c rw";
	static const char other[] = "\n1 2 0:3 / /whole rw - cgroup2 c rw\n";
	char text[sizeof(line) + sizeof(other)];

	assert_found(line, NULL, "/cut");
	for (size_t len = 0; len < strlen(line) - 1; len++) {
		memcpy(text, line, len);
		memcpy(text + len, other, sizeof(other));
		assert_found(text, NULL, "/whole");
		text[len] = '\0';
		assert_found(text, NULL, NULL);
	}
	assert_found("", NULL, NULL);
	assert_found("\n\n - \n-\n", NULL, NULL);
}

/* The file below a made-up /proc, longer than one read. */
TREE_TEST(test_file)
{
	static const char last[] = "9 2 0:3 / /far rw - cgroup2 c rw\n"
				   "9 2 0:4 / /near rw - cgroup c rw,memory\n"
				   "9 2 0:5 /part /box rw - cgroup c rw,pids\n";
	static const char filler[] = "7 2 0:3 / /mnt rw - tmpfs tmpfs rw\n";
	const struct tree *tree = *state;
	struct buf text = { 0 }, path = { 0 };

	assert_int_equal(hierarchy_mounted(tree->fd, NULL, &path), -ENOENT);
	for (int i = 0; i < 2000; i++)
		buf_puts(&text, filler);
	buf_puts(&text, last);
	put(tree, "self/mountinfo", text.data, text.len);
	assert_int_equal(hierarchy_mounted(tree->fd, NULL, &path), 0);
	assert_string_equal(buf_cstr(&path), "/far");
	path.len = 0;
	assert_int_equal(hierarchy_mounted(tree->fd, "memory", &path), 0);
	assert_string_equal(buf_cstr(&path), "/near");
	path.len = 0;
	assert_int_equal(hierarchy_mounted(tree->fd, "cpu", &path), -ENOENT);
	/* A part of it will not do where the whole is wanted. */
	assert_int_equal(hierarchy_mounted(tree->fd, "pids", &path), -ENOENT);
	put_text(tree, "self/mountinfo", "");
	assert_int_equal(hierarchy_mounted(tree->fd, NULL, &path), -ENOENT);
	assert_int_equal(path.len, 0);
	buf_free(&text);
	buf_free(&path);
}
