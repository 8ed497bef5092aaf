// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of pids and the files of a task: from a made-up tree. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proctask.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"

/* All that follows the name in a stat of 6.18, with a value of its own in each wanted field. */
#define STAT_TAIL \
	" S 41 7 7 34816 -1 4194560 11 12 13 14 1014 1015 1016 1017 20 0 3 0 9022 23 24 25 26 " \
	"27 28 29 30 31 32 33 34 35 36 37 17 1 0 0 1042 43 44 45 46 47 48 49 50 51 52\n"

/* Parses a copy without a byte to spare, so that a read past the end is seen. */
static int parse_stat(const char *text, size_t len, struct proctask_stat *out)
{
	char *copy = xcalloc(len, 1);
	int err;

	memcpy(copy, text, len);
	err = proctask_stat_parse(copy, len, out);
	free(copy);
	return err;
}

/* Parses a stat with this name in it. */
static int parse_named(const char *name, struct proctask_stat *out)
{
	char text[1024];
	int len = snprintf(text, sizeof(text), "42 (%s)" STAT_TAIL, name);

	return parse_stat(text, (size_t)len, out);
}

/* Every field from its own place. */
TEST(test_stat_fields)
{
	struct proctask_stat stat;

	assert_int_equal(parse_named("bash", &stat), 0);
	assert_string_equal(stat.comm, "bash");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.ppid, 41);
	assert_int_equal(stat.utime, 1014);
	assert_int_equal(stat.stime, 1015);
	assert_int_equal(stat.cutime, 1016);
	assert_int_equal(stat.cstime, 1017);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start, 9022);
	assert_int_equal(stat.blkio, 1042);
}

/* Names that look like the rest of the line come out as the bytes they are. */
TEST(test_stat_names)
{
	static const struct {
		const char *written, *name;
	} cases[] = {
		{ "", "" },
		{ "a) R 1", "a) R 1" },
		{ ") R 1 1 1 1 1 1 1 (", ") R 1 1 1 1 1 1 1 (" },
		{ ")", ")" },
		{ "(", "(" },
		{ "))))((((", "))))((((" },
		{ "a b\tc\033\xFF", "a b\tc\033\xFF" },
		{ "a\nb", "a\nb" },
		{ "a\\nb", "a\\nb" },
		{ "\\\\", "\\\\" },
		{ "1 (a) S 1 1\n2 (b) S 1", "1 (a) S 1 1\n2 (b) S 1" },
		{ "0123456789012345678901234567890123456789012345678901234567890123",
		  "0123456789012345678901234567890123456789012345678901234567890123" },
		{ "0123456789012345678901234567890123456789012345678901234567890123456",
		  "0123456789012345678901234567890123456789012345678901234567890123" },
	};
	struct proctask_stat stat;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse_named(cases[i].written, &stat), 0);
		assert_string_equal(stat.comm, cases[i].name);
		assert_int_equal(stat.ppid, 41);
		assert_int_equal(stat.blkio, 1042);
	}
}

/* Cut at every length: whole, or refused and *out untouched. */
TEST(test_stat_truncated)
{
	static const char text[] = "42 (bash)" STAT_TAIL;
	size_t enough = (size_t)(strstr(text, " 1042 ") + strlen(" 1042 ") - text);
	struct proctask_stat stat;

	for (size_t len = 0; len < sizeof(text); len++) {
		int err;

		memset(&stat, 0x5A, sizeof(stat));
		err = parse_stat(text, len, &stat);
		assert_int_equal(err, len >= enough ? 0 : -EBADMSG);
		if (err)
			assert_int_equal(stat.threads, 0x5A5A5A5A);
		else
			assert_int_equal(stat.blkio, 1042);
	}
}

/* Lines that no kernel writes. */
TEST(test_stat_malformed)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "(bash)", "bash)" },
		{ "(bash)", "(bash" },
		{ "(bash)", ")bash(" },
		{ ") S", ")S" },
		{ ") S", ")  " },
		{ " 41 ", " -41 " },
		{ " 41 ", " x " },
		{ " 41 ", " 2147483648 " },
		{ " 41 ", "  41 " },
		{ " 1014 ", " 1014x " },
		{ " 1014 ", " 0x10 " },
		{ " 1014 ", "\n1014 " },
		{ " 9022 ", " \n9022 " },
		{ " 3 0 9", " 4294967296 0 9" },
		{ " 1042 ", " 18446744073709551616 " },
		{ " 1042 ", " 1042z " },
		{ " 1042 ", " -1 " },
	};
	static const char text[] = "42 (bash)" STAT_TAIL;
	struct proctask_stat stat;
	char changed[1024];

	for (unsigned i = 0; i < ARRAY_SIZE(changes); i++) {
		const char *at = strstr(text, changes[i].from);
		int len;

		assert_non_null(at);
		len = snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text,
			       changes[i].to, at + strlen(changes[i].from));
		if (parse_stat(changed, (size_t)len, &stat) != -EBADMSG)
			fail_msg("taken: %s", changed);
	}
}

/* Files of a process and of a thread come from their own places. */
TREE_TEST(test_files)
{
	const struct tree *tree = *state;
	struct proctask_schedstat sched;
	struct proctask_stat stat;
	struct task_io io;
	pid_t group;
	uid_t uid;

	put_text(tree, "42/stat", "42 (leader)" STAT_TAIL);
	put_text(tree, "42/task/43/stat", "43 (thread)" STAT_TAIL);
	put_text(tree, "42/schedstat", "1 2 3\n");
	put_text(tree, "42/task/43/schedstat", "18446744073709551615 5 6\n");
	put_text(tree, "42/io",
		 "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\n"
		 "write_bytes: 8192\ncancelled_write_bytes: 512\n");
	put_text(tree, "42/status",
		 "Name:\tUid:\t7\\nUid:\t8\nState:\tS\nTgid:\t42\nNgid:\t0\n"
		 "Pid:\t42\nPPid:\t1\nUid:\t1000\t0\t0\t0\n");
	put_text(tree, "42/task/43/status", "Tgid:\t42\nPid:\t43\nUid:\t4294967294\t0\t0\t0\n");
	assert_int_equal(proctask_stat(tree->proc, 42, 0, &stat), 0);
	assert_string_equal(stat.comm, "leader");
	assert_int_equal(proctask_stat(tree->proc, 42, 43, &stat), 0);
	assert_string_equal(stat.comm, "thread");
	assert_int_equal(proctask_schedstat(tree->proc, 42, 0, &sched), 0);
	assert_true(sched.run == 1 && sched.wait == 2 && sched.slices == 3);
	assert_int_equal(proctask_schedstat(tree->proc, 42, 43, &sched), 0);
	assert_true(sched.run == UINT64_MAX && sched.wait == 5 && sched.slices == 6);
	assert_int_equal(proctask_io(tree->proc, 42, 0, &io), 0);
	assert_true(io.read == 4096 && io.written == 8192 && io.cancelled == 512);
	assert_int_equal(proctask_status(tree->proc, 42, 0, &uid, &group), 0);
	assert_int_equal(uid, 1000);
	assert_int_equal(group, 42);
	assert_int_equal(proctask_status(tree->proc, 42, 43, &uid, NULL), 0);
	assert_true(uid == 4294967294U);
	group = 0;
	assert_int_equal(proctask_status(tree->proc, 42, 43, NULL, &group), 0);
	assert_int_equal(group, 42);
}

/* What is not there is -ENOENT, what is malformed -EBADMSG, and *out stays. */
TREE_TEST(test_files_bad)
{
	static const char *const scheds[] = {
		"", "1 2\n", "1 2 3", "1 2 x\n", "1  2 3\n", "-1 2 3\n",
	};
	static const char *const ios[] = {
		"",
		"read_bytes: 1\nwrite_bytes: 2\n",
		"read_bytes: 1\nwrite_bytes: 2\ncancelled_write_bytes: 3",
		"read_bytes: -1\nwrite_bytes: 2\ncancelled_write_bytes: 3\n",
		"xread_bytes: 1\nwrite_bytes: 2\ncancelled_write_bytes: 3\n",
	};
	static const char *const statuses[] = {
		"",
		"Uid:\t1\t1\t1\t1\n",
		"Tgid:\t1\n",
		"Tgid:\t1\nUid:\t4294967296\t1\n",
		"Tgid:\t2147483648\nUid:\t1\t1\n",
		"Tgid:\t1\nUid:\t1",
	};
	const struct tree *tree = *state;
	struct proctask_schedstat sched = { .run = 99 };
	struct task_io io = { .read = 99 };
	struct proctask_stat stat;
	struct buf out = { 0 };
	uid_t uid = 99;

	assert_int_equal(proctask_stat(tree->proc, 42, 0, &stat), -ENOENT);
	assert_int_equal(proctask_stat(tree->proc, 42, 42, &stat), -ENOENT);
	assert_int_equal(proctask_schedstat(tree->proc, 42, 0, &sched), -ENOENT);
	assert_int_equal(proctask_io(tree->proc, 42, 0, &io), -ENOENT);
	assert_int_equal(proctask_status(tree->proc, 42, 0, &uid, NULL), -ENOENT);
	assert_int_equal(proctask_cmdline(tree->proc, 42, &out), -ENOENT);
	assert_int_equal(proctask_cgroup(tree->proc, 42, 0, &out), -ENOENT);
	for (unsigned i = 0; i < ARRAY_SIZE(scheds); i++) {
		put_text(tree, "42/schedstat", scheds[i]);
		assert_int_equal(proctask_schedstat(tree->proc, 42, 0, &sched), -EBADMSG);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(ios); i++) {
		put_text(tree, "42/io", ios[i]);
		assert_int_equal(proctask_io(tree->proc, 42, 0, &io), -EBADMSG);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(statuses); i++) {
		put_text(tree, "42/status", statuses[i]);
		assert_int_equal(proctask_status(tree->proc, 42, 0, &uid, NULL), -EBADMSG);
	}
	assert_true(sched.run == 99 && io.read == 99 && uid == 99);
	assert_int_equal(proctask_cgroup(tree->proc, 42, 42, &out), -ENOENT);
	assert_int_equal(out.len, 0);
	buf_free(&out);
}

/* Command lines: NULs to spaces, trailing ones away, the cap, nothing. */
TREE_TEST(test_cmdline)
{
	static const struct {
		const char *text;
		size_t len;
		const char *line;
	} cases[] = {
		{ "sh\0-c\0sleep 1\0", 14, "sh -c sleep 1" },
		{ "sh\0\0x\0", 6, "sh  x" },
		{ "title\0\0\0\0\0\0", 11, "title" },
		{ "no end", 6, "no end" },
		{ "\033\n\xFF\0", 4, "\033\n\xFF" },
		{ "\0\0\0", 3, "" },
		{ "", 0, "" },
	};
	const struct tree *tree = *state;
	static char text[70000];
	struct buf out = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		out.len = 0;
		buf_puts(&out, "[");
		put(tree, "42/cmdline", cases[i].text, cases[i].len);
		assert_int_equal(proctask_cmdline(tree->proc, 42, &out), 0);
		assert_string_equal(buf_cstr(&out) + 1, cases[i].line);
		assert_int_equal(out.data[0], '[');
	}
	memset(text, 'y', sizeof(text));
	put(tree, "42/cmdline", text, sizeof(text));
	out.len = 0;
	assert_int_equal(proctask_cmdline(tree->proc, 42, &out), 0);
	assert_int_equal(out.len, 65536);
	buf_free(&out);
}

/* The lines of cgroup as they are, a process's and a thread's: long paths in 13 hierarchies. */
TREE_TEST(test_cgroup)
{
	const struct tree *tree = *state;
	struct buf text = { 0 }, out = { 0 };

	for (unsigned i = 13; i--;) {
		buf_printf(&text, "%u:%s:/", i, i ? "cpu" : "");
		buf_fill(&text, (char)('a' + i), 4000);
		buf_putc(&text, '\n');
	}
	put(tree, "42/cgroup", text.data, text.len);
	put_text(tree, "42/task/43/cgroup", "0::/thread\n");
	buf_puts(&out, "=");
	assert_int_equal(proctask_cgroup(tree->proc, 42, 0, &out), 0);
	assert_int_equal(out.len, 1 + text.len);
	assert_memory_equal(out.data + 1, text.data, text.len);
	out.len = 0;
	assert_int_equal(proctask_cgroup(tree->proc, 42, 43, &out), 0);
	assert_string_equal(buf_cstr(&out), "0::/thread\n");
	buf_free(&text);
	buf_free(&out);
}

/* Only strictly numeric names, in order, whatever the order of the directory. */
TREE_TEST(test_pidlist)
{
	static const char *const others[] = {
		"self",
		"0",
		"007",
		"1x",
		"x1",
		"-1",
		"+1",
		" 1",
		"1.5",
		"2147483648",
		"99999999999999999999",
		"sys",
	};
	static const pid_t pids[] = { 1, 2, 9, 10, 42, 99, 100, 4194304, 2147483647 };
	const struct tree *tree = *state;
	struct pidlist list = { 0 };
	char name[32];

	assert_int_equal(pidlist_read(&list, tree->fd), 0);
	assert_int_equal(list.n, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
		put_dir(tree, others[i]);
	for (unsigned i = ARRAY_SIZE(pids); i--;) {
		snprintf(name, sizeof(name), "%d", (int)pids[i]);
		put_dir(tree, name);
	}
	/* Twice: each reading begins at the directory's start. */
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(pidlist_read(&list, tree->fd), 0);
		assert_int_equal(list.n, ARRAY_SIZE(pids));
		assert_memory_equal(list.pids, pids, sizeof(pids));
	}
	pidlist_free(&list);
	assert_null(list.pids);
	assert_int_equal(list.n, 0);
}

/* Many entries: none lost, none twice, and calls that do not grow with them. */
TREE_TEST(test_pidlist_many)
{
	const struct tree *tree = *state;
	struct pidlist list = { 0 };
	char name[32];
	uint64_t calls;

	for (int pid = 5000; pid; pid--) {
		snprintf(name, sizeof(name), "%d", pid * 7);
		put_dir(tree, name);
	}
	calls = CALLS_OF(assert_int_equal(pidlist_read(&list, tree->fd), 0));
	assert_int_equal(list.n, 5000);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(list.pids[i], (i + 1) * 7);
	assert_in_range(calls, 3, 16);
	pidlist_free(&list);
}

/* Threads, and what has gone. */
TREE_TEST(test_pidlist_threads)
{
	const struct tree *tree = *state;
	struct pidlist list = { 0 };
	int lowest = dup(tree->fd), lowest_after;
	uint64_t calls;

	close(lowest);
	put_text(tree, "42/task/44/stat", "");
	put_text(tree, "42/task/42/stat", "");
	put_text(tree, "42/task/43/stat", "");
	calls = CALLS_OF(assert_int_equal(pidlist_read_threads(&list, tree->fd, 42), 0));
	assert_int_equal(list.n, 3);
	assert_memory_equal(list.pids, ((const pid_t[]){ 42, 43, 44 }), 3 * sizeof(pid_t));
	assert_int_equal(calls, 4);
	assert_int_equal(pidlist_read_threads(&list, tree->fd, 43), -ENOENT);
	assert_int_equal(list.n, 0);
	put_text(tree, "45/task", "no directory");
	assert_int_equal(pidlist_read_threads(&list, tree->fd, 45), -ENOTDIR);
	assert_int_equal(pidlist_read(&list, -1), -EBADF);
	/* Nothing stays open, and the tree's descriptor, which is the caller's, does. */
	lowest_after = dup(tree->fd);
	assert_true(lowest_after >= 0);
	assert_int_equal(lowest_after, lowest);
	close(lowest_after);
	pidlist_free(&list);
}

/* The line below the head of /proc/PID/sched: longer than a name can be. */
#define RULE "-------------------------------------------------------------------\n"

/* When a task ran last; no name, which stands in front of it as it is, tells it. */
TREE_TEST(test_ran)
{
	static const char *const names[] = {
		"x",
		"\nse.exec_start ",
		"\nse.exec_start\t",
		"\n-\nse.exec_star",
		"\n--------------",
		"---------------\n",
		"\n-----------\n--",
		"",
	};
	const struct tree *tree = *state;
	char text[512];
	uint64_t ns;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text, sizeof(text),
			 "%s (42, #threads: 1)\n" RULE "se.exec_start      :      17.000012\n",
			 names[i]);
		put_text(tree, "42/sched", text);
		ns = 0;
		assert_int_equal(proctask_ran(tree->proc, 42, 0, &ns), 0);
		assert_int_equal(ns, 17000012);
	}
	put_text(tree, "42/sched",
		 "\nse.exec_start : (42, #threads: 1)\n" RULE "se.vruntime : 1.0\n");
	assert_int_equal(proctask_ran(tree->proc, 42, 0, &ns), -EBADMSG);
}
