// SPDX-License-Identifier: GPL-2.0-or-later
/* The limits of a task's groups, of both versions: the tightest one up to the root. */
#include "tests/lib/test.h"

#include "base/util.h"
#include "read/limits.h"
#include "tests/lib/tree.h"

#define MIB(n) ((uint64_t)(n) << 20)

/* Mounts what there is: version 2, and of version 1 memory and cpu if told so. */
static void put_machine(const struct tree *tree, bool v1)
{
	struct buf lines = { 0 };

	buf_printf(&lines, "1 2 0:3 / %s/v2 rw - cgroup2 x rw\n", tree->path);
	if (v1) {
		buf_printf(&lines, "1 2 0:4 / %s/memory rw - cgroup x rw,memory\n", tree->path);
		buf_printf(&lines, "1 2 0:5 / %s/cpu rw - cgroup x rw,cpu\n", tree->path);
	}
	put(tree, "self/mountinfo", lines.data, lines.len);
	put_text(tree, "self/cgroup", v1 ? "2:memory:/\n1:cpu:/\n0::/\n" : "0::/\n");
	put_dir(tree, "v2");
	put_dir(tree, "memory");
	put_dir(tree, "cpu");
	buf_free(&lines);
}

/* Mounts blkio of version 1 beside version 2. */
static void put_blkio(const struct tree *tree)
{
	struct buf lines = { 0 };

	buf_printf(&lines, "1 2 0:3 / %s/v2 rw - cgroup2 x rw\n", tree->path);
	buf_printf(&lines, "1 2 0:6 / %s/blkio rw - cgroup x rw,blkio\n", tree->path);
	put(tree, "self/mountinfo", lines.data, lines.len);
	buf_free(&lines);
	put_dir(tree, "blkio");
}

/* Asserts the limits of process 7; a group that is NULL: there is none. */
static void check(const struct tree *tree, const char *cpu, uint64_t quota_us, const char *memory,
		  uint64_t limit, uint64_t usage)
{
	struct limits_reader *reader = limits_open(tree->proc);
	struct limits limits = { .cpu.period_us = 99, .memory.limit = 99 };

	limits_read(reader, 7, 0, &limits);
	assert_int_equal(limits.cpu.period_us != 0, cpu != NULL);
	if (cpu) {
		assert_string_equal(buf_cstr(&limits.cpu.group), cpu);
		assert_int_equal(limits.cpu.quota_us, quota_us);
	}
	assert_int_equal(limits.memory.limit, memory ? limit : 0);
	if (memory) {
		assert_string_equal(buf_cstr(&limits.memory.group), memory);
		assert_int_equal(limits.memory.usage, usage);
	}
	limits_free(&limits);
	limits_close(reader);
}

/* Version 1: each controller has its hierarchy, -1 and a huge number are no limits. */
TREE_TEST(test_v1)
{
	const struct tree *tree = *state;

	put_machine(tree, true);
	check(tree, NULL, 0, NULL, 0, 0);
	put_text(tree, "7/cgroup", "2:memory:/m\n1:cpu:/a/b\n0::/x\n");
	check(tree, NULL, 0, NULL, 0, 0);
	put_text(tree, "cpu/a/b/cpu.cfs_quota_us", "-1\n");
	put_text(tree, "cpu/a/b/cpu.cfs_period_us", "100000\n");
	put_text(tree, "memory/m/memory.limit_in_bytes", "9223372036854771712\n");
	put_text(tree, "memory/m/memory.usage_in_bytes", "4096\n");
	check(tree, NULL, 0, NULL, 0, 0);
	/* That of a group above is its limit, too. */
	put_text(tree, "cpu/a/cpu.cfs_quota_us", "50000\n");
	put_text(tree, "cpu/a/cpu.cfs_period_us", "100000\n");
	put_text(tree, "memory/memory.limit_in_bytes", "67108864\n");
	put_text(tree, "memory/memory.usage_in_bytes", "1048576\n");
	check(tree, "/a", 50000, "/", MIB(64), MIB(1));
	put_text(tree, "cpu/a/b/cpu.cfs_quota_us", "20000\n");
	check(tree, "/a/b", 20000, "/", MIB(64), MIB(1));
	put_text(tree, "cpu/a/b/cpu.cfs_quota_us", "70000\n");
	check(tree, "/a", 50000, "/", MIB(64), MIB(1));
	/* Less in a shorter period may be more. */
	put_text(tree, "cpu/a/b/cpu.cfs_period_us", "1000000\n");
	check(tree, "/a/b", 70000, "/", MIB(64), MIB(1));
	put_text(tree, "cpu/a/b/cpu.cfs_period_us", "0\n");
	check(tree, "/a", 50000, "/", MIB(64), MIB(1));
}

/* Asserts the real-time budget of process 7; a group that is NULL: there is none. */
static void check_realtime(const struct tree *tree, const char *group, uint64_t runtime_us)
{
	struct limits_reader *reader = limits_open(tree->proc);
	struct limits limits = { .realtime.period_us = 99 };

	limits_read(reader, 7, 0, &limits);
	assert_int_equal(limits.realtime.period_us != 0, group != NULL);
	if (group) {
		assert_string_equal(buf_cstr(&limits.realtime.group), group);
		assert_int_equal(limits.realtime.runtime_us, runtime_us);
	}
	limits_free(&limits);
	limits_close(reader);
}

/* The real-time budget of a group, or of one above it that has less. */
TREE_TEST(test_realtime)
{
	const struct tree *tree = *state;

	put_machine(tree, true);
	put_text(tree, "7/cgroup", "2:memory:/\n1:cpu:/a/b\n0::/x\n");
	put_text(tree, "cpu/cpu.rt_runtime_us", "950000\n");
	put_text(tree, "cpu/cpu.rt_period_us", "1000000\n");
	check_realtime(tree, NULL, 0);
	put_text(tree, "cpu/a/cpu.rt_runtime_us", "300000\n");
	put_text(tree, "cpu/a/cpu.rt_period_us", "1000000\n");
	check_realtime(tree, "/a", 300000);
	put_text(tree, "cpu/a/b/cpu.rt_runtime_us", "10000\n");
	put_text(tree, "cpu/a/b/cpu.rt_period_us", "100000\n");
	check_realtime(tree, "/a/b", 10000);
	put_text(tree, "cpu/a/b/cpu.rt_runtime_us", "-1\n");
	check_realtime(tree, "/a", 300000);
}

/* Version 2: one hierarchy, "max" is no limit; of memory the group with the least room counts. */
TREE_TEST(test_v2)
{
	const struct tree *tree = *state;

	put_machine(tree, false);
	put_text(tree, "7/cgroup", "0::/a/b\n");
	put_text(tree, "v2/a/b/cpu.max", "max 100000\n");
	put_text(tree, "v2/a/b/memory.max", "max\n");
	put_text(tree, "v2/a/b/memory.current", "4096\n");
	check(tree, NULL, 0, NULL, 0, 0);
	put_text(tree, "v2/a/cpu.max", "150000 100000\n");
	put_text(tree, "v2/a/memory.max", "67108864\n");
	put_text(tree, "v2/a/memory.current", "66060288\n");
	check(tree, "/a", 150000, "/a", MIB(64), MIB(63));
	put_text(tree, "v2/a/b/cpu.max", "20000 100000\n");
	put_text(tree, "v2/a/b/memory.max", "33554432\n");
	check(tree, "/a/b", 20000, "/a", MIB(64), MIB(63));
	/* More than the limit leaves nothing. */
	put_text(tree, "v2/a/b/memory.current", "34603008\n");
	check(tree, "/a/b", 20000, "/a/b", MIB(32), MIB(33));
}

/* Texts that are none, and paths that lead out, are no limits. */
TREE_TEST(test_broken)
{
	static const char *const texts[] = {
		"",	     "x\n",	  "20000\n",	     "20000 \n",
		"20000 x\n", "20000 0\n", "-20000 100000\n", "99999999999999999999 100000\n"
	};
	static const char *const paths[] = { "0::/../a\n", "0::a\n", "0::\n", "", "0::/a/../a\n" };
	const struct tree *tree = *state;

	put_machine(tree, false);
	put_text(tree, "7/cgroup", "0::/a\n");
	put_text(tree, "v2/a/memory.max", "0\n");
	put_text(tree, "v2/a/memory.current", "-1\n");
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		put_text(tree, "v2/a/cpu.max", texts[i]);
		check(tree, NULL, 0, NULL, 0, 0);
	}
	put_text(tree, "v2/a/cpu.max", "20000 100000\n");
	check(tree, "/a", 20000, NULL, 0, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
		put_text(tree, "7/cgroup", paths[i]);
		check(tree, NULL, 0, NULL, 0, 0);
	}
}

/* Limits of I/O: of the nearest group that has some, in both versions' words for them. */
TREE_TEST(test_io)
{
	const struct tree *tree = *state;
	struct limits limits = { 0 };
	struct limits_reader *reader;

	put_machine(tree, false);
	put_text(tree, "7/cgroup", "0::/a/b\n");
	put_text(tree, "v2/a/b/io.max", "8:0 rbps=max wbps=max riops=max wiops=max\n\n8:16\n");
	put_text(tree, "v2/a/io.max",
		 "8:0 rbps=1048576 wbps=max riops=max wiops=10\n8:16 wbps=5 x\n");
	reader = limits_open(tree->proc);
	limits_read(reader, 7, 0, &limits);
	assert_string_equal(buf_cstr(&limits.io.text), "8:0 rbps=1048576 wiops=10, 8:16 wbps=5");
	assert_string_equal(buf_cstr(&limits.io.group), "/a");
	put_text(tree, "v2/a/b/io.max", "8:0 rbps=1\n");
	limits_read(reader, 7, 0, &limits);
	assert_string_equal(buf_cstr(&limits.io.text), "8:0 rbps=1");
	assert_string_equal(buf_cstr(&limits.io.group), "/a/b");
	limits_close(reader);
	put_text(tree, "self/cgroup", "3:blkio:/\n0::/\n");
	put_text(tree, "7/cgroup", "3:blkio:/c\n0::/a/b\n");
	put_blkio(tree);
	put_text(tree, "blkio/c/blkio.throttle.read_bps_device", "8:0 4096\n");
	put_text(tree, "blkio/c/blkio.throttle.write_iops_device", "8:0 7\n8:16 8\nx\n");
	reader = limits_open(tree->proc);
	limits_read(reader, 7, 0, &limits);
	assert_string_equal(buf_cstr(&limits.io.text), "8:0 rbps=4096, 8:0 wiops=7, 8:16 wiops=8");
	put_text(tree, "7/cgroup", "3:blkio:/\n0::/\n");
	limits_read(reader, 7, 0, &limits);
	assert_int_equal(limits.io.text.len, 0);
	limits_free(&limits);
	limits_close(reader);
}

/* How much of the time it was throttled takes two readings of the same group. */
TREE_TEST(test_throttled)
{
	const struct tree *tree = *state;
	struct limits_reader *reader;
	struct limits before = { 0 }, now = { 0 };

	put_machine(tree, true);
	put_text(tree, "7/cgroup", "1:cpu:/a\n");
	put_text(tree, "7/task/8/cgroup", "1:cpu:/b\n");
	for (unsigned i = 0; i < 2; i++) {
		const char *group = i ? "cpu/b" : "cpu/a";
		char path[64];

		snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", group);
		put_text(tree, path, "20000\n");
		snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", group);
		put_text(tree, path, "100000\n");
	}
	reader = limits_open(tree->proc);
	limits_read(reader, 7, 0, &before);
	assert_false(before.cpu.throttled_valid);
	put_text(tree, "cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_time 3000\n");
	put_text(tree, "cpu/b/cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_time 9000\n");
	limits_read(reader, 7, 0, &now);
	assert_true(now.cpu.throttled_valid);
	assert_int_equal(now.cpu.throttled_ns, 3000);
	limits_read(reader, 7, 8, &now);
	assert_string_equal(buf_cstr(&now.cpu.group), "/b");
	assert_int_equal(now.cpu.throttled_ns, 9000);
	limits_free(&before);
	limits_free(&now);
	limits_close(reader);
}
