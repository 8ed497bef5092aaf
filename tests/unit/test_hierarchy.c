// SPDX-License-Identifier: GPL-2.0-or-later
/* Which cgroup hierarchy is shown, and the groups in it, on made-up trees and hostile texts. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "tests/lib/tree.h"

#define UNTOUCHED UINT64_C(99)

#define OWN "9:name=systemd:/\n5:memory:/\n4:cpu,cpuacct:/\n2:pids:/\n0::/\n"

/* Mounts a directory of the tree, which is made, as a hierarchy: a line of mountinfo. */
static void mount_line(const struct tree *tree, struct buf *lines, const char *dir,
		       const char *root, const char *type, const char *options)
{
	put_dir(tree, dir);
	buf_printf(lines, "1 2 0:3 %s %s/%s rw - %s x rw,%s\n", root, tree->path, dir, type,
		   options);
}

/* A machine with all hierarchies that OWN has, in directories v2, memory, cpu, pids, systemd. */
static void put_machine(const struct tree *tree, const char *own)
{
	struct buf lines = { 0 };

	mount_line(tree, &lines, "v2", "/", "cgroup2", "nsdelegate");
	mount_line(tree, &lines, "memory", "/", "cgroup", "memory");
	mount_line(tree, &lines, "cpu", "/", "cgroup", "cpu,cpuacct");
	mount_line(tree, &lines, "pids", "/", "cgroup", "pids");
	mount_line(tree, &lines, "systemd", "/", "cgroup", "xattr,name=systemd");
	put_dir(tree, "self");
	put(tree, "self/mountinfo", lines.data, lines.len);
	put_text(tree, "self/cgroup", own);
	buf_free(&lines);
}

/* Asserts which hierarchy is chosen. */
static void assert_chosen(const struct tree *tree, const char *wanted, const char *name,
			  const char *dir)
{
	struct hierarchy hierarchy;
	struct buf mount = { 0 };
	struct stat one, other;

	assert_int_equal(hierarchy_open(&hierarchy, tree->fd, wanted), 0);
	assert_string_equal(hierarchy.name, name);
	assert_int_equal(hierarchy.version, strcmp(name, "v2") ? 1 : 2);
	if (dir) {
		buf_printf(&mount, "%s/%s", tree->path, dir);
		assert_string_equal(hierarchy.mount, buf_cstr(&mount));
		assert_int_equal(fstat(hierarchy.fd, &one), 0);
		assert_int_equal(stat(hierarchy.mount, &other), 0);
		assert_true(one.st_ino == other.st_ino && one.st_dev == other.st_dev);
	} else {
		assert_null(hierarchy.mount);
		assert_int_equal(hierarchy.fd, -1);
	}
	hierarchy_close(&hierarchy);
	buf_free(&mount);
}

/* Without groups it is v2; with some in v1, that with the most, groups in groups counted too. */
TREE_TEST(test_most)
{
	const struct tree *tree = *state;

	put_machine(tree, OWN);
	assert_chosen(tree, NULL, "v2", "v2");
	put_dir(tree, "pids/a");
	assert_chosen(tree, NULL, "pids", "pids");
	put_text(tree, "memory/a/b/tasks", "");
	put_text(tree, "memory/tasks", "");
	assert_chosen(tree, NULL, "memory", "memory");
	/* Equal: the first of /proc/self/cgroup. Files are no groups. */
	put_text(tree, "cpu/one", "");
	put_dir(tree, "cpu/a");
	put_dir(tree, "cpu/b");
	put_text(tree, "cpu/c", "");
	assert_chosen(tree, NULL, "memory", "memory");
	put_dir(tree, "cpu/d");
	assert_chosen(tree, NULL, "cpu,cpuacct", "cpu");
	/* Groups of v2 without tasks do not make it used. */
	put_text(tree, "v2/a/cgroup.events", "populated 0\nfrozen 0\n");
	put_text(tree, "v2/b/cgroup.events", "");
	put_dir(tree, "v2/c");
	assert_chosen(tree, NULL, "cpu,cpuacct", "cpu");
	put_text(tree, "v2/d/cgroup.events", "populated 1\nfrozen 0\n");
	assert_chosen(tree, NULL, "v2", "v2");
}

/* Whoever is in a v2 group himself need not look further. */
TREE_TEST(test_own)
{
	const struct tree *tree = *state;

	put_machine(tree, "4:cpu,cpuacct:/\n0::/user.slice\n");
	put_dir(tree, "cpu/a");
	assert_chosen(tree, NULL, "v2", "v2");
}

/* What is wanted by name is taken, whatever there is in it. */
TREE_TEST(test_wanted)
{
	static const char *const unknown[] = { "v1", "v", "cp",	   "cpus", "systemd", "cpuacct,cpu",
					       "",   ",", "name=", "0",	   "memory,", "/" };
	const struct tree *tree = *state;
	struct hierarchy hierarchy;
	struct buf names = { 0 };

	put_machine(tree, OWN);
	put_dir(tree, "pids/a");
	assert_chosen(tree, "v2", "v2", "v2");
	assert_chosen(tree, "memory", "memory", "memory");
	assert_chosen(tree, "cpu", "cpu,cpuacct", "cpu");
	assert_chosen(tree, "cpuacct", "cpu,cpuacct", "cpu");
	assert_chosen(tree, "cpu,cpuacct", "cpu,cpuacct", "cpu");
	assert_chosen(tree, "name=systemd", "name=systemd", "systemd");
	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		assert_int_equal(hierarchy_open(&hierarchy, tree->fd, unknown[i]), -EINVAL);
		hierarchy_close(&hierarchy);
	}
	assert_int_equal(hierarchy_names(tree->fd, &names), 0);
	assert_string_equal(buf_cstr(&names), "name=systemd, memory, cpu,cpuacct, pids, v2");
	buf_free(&names);
}

/* Asserts which hierarchy comes after one; NULL: there is no other. */
static void assert_after(const struct tree *tree, const char *name, const char *next)
{
	struct buf out = { 0 };

	assert_int_equal(hierarchy_after(tree->fd, name, &out), next ? 0 : -ENOENT);
	assert_string_equal(buf_cstr(&out), next ? next : "");
	buf_free(&out);
}

/* One after the other, round and round; those that are not mounted are passed over. */
TREE_TEST(test_after)
{
	const struct tree *tree = *state;

	assert_after(tree, "v2", NULL);
	put_machine(tree, "6:gone:/\n" OWN);
	assert_after(tree, "name=systemd", "memory");
	assert_after(tree, "memory", "cpu,cpuacct");
	assert_after(tree, "cpu", "pids");
	assert_after(tree, "pids", "v2");
	assert_after(tree, "v2", "name=systemd");
	assert_after(tree, "unknown", "name=systemd");
	assert_after(tree, "gone", "name=systemd");
	put_text(tree, "self/cgroup", "4:gone:/\n3:memory:/\n");
	assert_after(tree, "memory", NULL);
	assert_after(tree, "gone", "memory");
}

/* What is not mounted, or not to be opened, has names but no files; nothing at all is an error. */
TREE_TEST(test_missing)
{
	const struct tree *tree = *state;
	struct hierarchy hierarchy;
	struct buf names = { 0 };

	assert_int_equal(hierarchy_open(&hierarchy, tree->fd, NULL), -ENOENT);
	hierarchy_close(&hierarchy);
	assert_int_equal(hierarchy_names(tree->fd, &names), -ENOENT);
	put_text(tree, "self/cgroup", "");
	assert_int_equal(hierarchy_open(&hierarchy, tree->fd, NULL), -ENOENT);
	hierarchy_close(&hierarchy);
	put_text(tree, "self/cgroup", "3:memory:/\n0::/\n");
	assert_chosen(tree, NULL, "v2", NULL);
	assert_chosen(tree, "memory", "memory", NULL);
	put_text(tree, "self/cgroup", "3:memory:/\n2:pids:/\n");
	assert_chosen(tree, NULL, "memory", NULL);
	put_text(tree, "self/mountinfo", "1 2 0:3 / /no/such/place rw - cgroup x rw,memory\n");
	assert_chosen(tree, NULL, "memory", NULL);
	buf_free(&names);
}

/* A container's mount shows a part: its group is of use where it has tasks. */
TREE_TEST(test_part)
{
	const struct tree *tree = *state;
	struct hierarchy hierarchy;
	struct buf lines = { 0 };

	mount_line(tree, &lines, "v2", "/docker/abc", "cgroup2", "x");
	put_dir(tree, "self");
	put(tree, "self/mountinfo", lines.data, lines.len);
	put_text(tree, "self/cgroup", "0::/\n");
	assert_int_equal(hierarchy_open(&hierarchy, tree->fd, NULL), 0);
	assert_string_equal(hierarchy.group, "/docker/abc");
	assert_string_equal(hierarchy_below(&hierarchy, "/docker/abc"), ".");
	assert_string_equal(hierarchy_below(&hierarchy, "/docker/abc/"), ".");
	assert_string_equal(hierarchy_below(&hierarchy, "/docker/abc/x/y"), "x/y");
	assert_null(hierarchy_below(&hierarchy, "/docker/abcd"));
	assert_null(hierarchy_below(&hierarchy, "/docker/abcdef"));
	assert_null(hierarchy_below(&hierarchy, "/docker"));
	assert_null(hierarchy_below(&hierarchy, "/"));
	assert_null(hierarchy_below(&hierarchy, ""));
	assert_null(hierarchy_below(&hierarchy, "/docker/abc/../x"));
	hierarchy_close(&hierarchy);
	/* Groups of v1 count unless that part of v2 has tasks. */
	mount_line(tree, &lines, "pids", "/", "cgroup", "pids");
	put(tree, "self/mountinfo", lines.data, lines.len);
	put_text(tree, "self/cgroup", "1:pids:/\n0::/\n");
	put_dir(tree, "pids/a");
	assert_chosen(tree, NULL, "pids", "pids");
	put_text(tree, "v2/cgroup.events", "populated 1\n");
	assert_chosen(tree, NULL, "v2", "v2");
	buf_free(&lines);
}

/* Where groups lie below a hierarchy that is mounted as a whole. */
TEST(test_below)
{
	static const char *const none[] = { "",	     "a",     "//",    "//a",  "/..",
					    "/../a", "/a/..", "/a//b", "/./a", "/a/" };
	struct hierarchy hierarchy = { .version = 1, .name = "memory", .group = "/" };

	assert_string_equal(hierarchy_below(&hierarchy, "/"), ".");
	assert_string_equal(hierarchy_below(&hierarchy, "/a"), "a");
	assert_string_equal(hierarchy_below(&hierarchy, "/a/b c"), "a/b c");
	for (unsigned i = 0; i < ARRAY_SIZE(none); i++)
		assert_null(hierarchy_below(&hierarchy, none[i]));
	/* Seen from a namespace that begins below what is mounted. */
	hierarchy.group = "/..";
	assert_string_equal(hierarchy_below(&hierarchy, "/../b"), "b");
	assert_null(hierarchy_below(&hierarchy, "/b"));
	assert_null(hierarchy_below(&hierarchy, "/../../b"));
	hierarchy.group = NULL;
	assert_null(hierarchy_below(&hierarchy, "/"));
}

/* Which line counts. */
TEST(test_path)
{
	static const struct {
		const char *name, *text, *path;
		int err;
	} cases[] = {
		{ "v2", "0::/user.slice/a.scope\n", "/user.slice/a.scope", 0 },
		{ "v2", "2:cpu,cpuacct:/v1\n0::/\n", "/", 0 },
		{ "v2", "2:cpu:/v1\n", "", -ENOENT },
		{ "v2", "10::/not-unified\n0::/u\n", "/u", 0 },
		{ "v2", "01::/not-unified\n0::/u\n", "/u", 0 },
		{ "cpu", "1:cpu:relative\n2:pids:/p\n", "", -ENOENT },
		{ "v2", "0:x:/not-unified\n0::/u\n", "/u", 0 },
		{ "v2", "0::/with:colon:and space\n", "/with:colon:and space", 0 },
		{ "v2", "0::/gone (deleted)\n", "/gone (deleted)", 0 },
		{ "v2", "0::/\xff\x1b[2J\\n\n", "/\xff\x1b[2J\\n", 0 },
		{ "v2", "0::/../../outside\n", "/../../outside", 0 },
		{ "v2", "0::/first\n0::/second\n", "/first", 0 },
		{ "cpu,cpuacct", "3:cpuset:/s\n2:cpu,cpuacct:/v1\n0::/v2\n", "/v1", 0 },
		{ "cpu,cpuacct", "0::/cpu,cpuacct\n2:cpuacct,cpu:/v1\n", "", -ENOENT },
		{ "cpu", "3:cpuset:/s\n2:cpuacct,cpu:/v1\n0::/v2\n", "/v1", 0 },
		{ "name=systemd", "1:name=systemd:/init.scope\n", "/init.scope", 0 },
		{ "name=systemd", "1:name=system:/a\n1:name=systemd2:/b\n", "", -ENOENT },
		{ "pids", "2:cpu\n:\n1:cpu:relative\n::\n4:pids:/p\n0::/cut", "/p", 0 },
		{ "pids", "4:pids:/cut", "", -EBADMSG },
		{ "v2", "", "", -EBADMSG },
		{ "v2", "no line of one\n", "", -EBADMSG },
		{ "v2", "0::\n", "", -EBADMSG },
		{ "v2", "\n\n0:\n::/\n", "", -EBADMSG },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].text);
		char *copy = xcalloc(len, 1), *name = xstrdup(cases[i].name);
		struct hierarchy hierarchy = { .version = strcmp(name, "v2") ? 1 : 2,
					       .name = name };
		struct buf out = { 0 };

		/* Without a byte to spare. */
		memcpy(copy, cases[i].text, len);
		buf_puts(&out, "=");
		assert_int_equal(hierarchy_path(&hierarchy, copy, len, &out), cases[i].err);
		assert_string_equal(buf_cstr(&out) + 1, cases[i].path);
		buf_free(&out);
		free(copy);
		free(name);
	}
}

/* Makes so many groups. */
static void put_groups(const struct tree *tree, const char *dir, unsigned n)
{
	char name[64];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%u", dir, i);
		put_dir(tree, name);
	}
}

/* Many groups, and a chain of them, are not counted to the end. */
TREE_TEST(test_bounds)
{
	const struct tree *tree = *state;
	int fd;

	put_machine(tree, OWN);
	put_groups(tree, "systemd", 100);
	fd = openat(tree->fd, "cpu", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 200; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	close(fd);
	assert_chosen(tree, NULL, "name=systemd", "systemd");
	/* Both are as many as are counted: the first. */
	put_groups(tree, "memory", 4100);
	put_groups(tree, "pids", 4300);
	assert_chosen(tree, NULL, "memory", "memory");
}

/* What is found in a copy without a byte to spare. */
TEST(test_number)
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

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].text);
		char *copy = xcalloc(len, 1);
		uint64_t value = UNTOUCHED;
		bool found;

		memcpy(copy, cases[i].text, len);
		found = cgroup_number(copy, len, cases[i].key, &value);
		if (value != cases[i].value || found != (value != UNTOUCHED))
			fail_msg("case %u: %llu", i, (unsigned long long)value);
		free(copy);
	}
}

/* Which paths may be opened below a directory. */
TEST(test_is_below)
{
	static const char *const good[] = { "a", "a/b", "...", "a/..b/c..", ".a", "a b/\n" };
	static const char *const bad[] = { "",	 "/",	 "/a",	   "a/",   "a//b", ".",
					   "..", "a/..", "a/../b", "../a", "./a",  "a/." };

	for (unsigned i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(cgroup_is_below(good[i]));
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(cgroup_is_below(bad[i]));
}
