// SPDX-License-Identifier: GPL-2.0-or-later
/* Who descends from whom, by a made-up /proc and the records of a drain. */
#include "tests/lib/test.h"

#include "kernel/ancestry.h"
#include "tests/lib/tree.h"

#define ROOT 100

/* A living process. */
static void put_process(const struct tree *tree, int pid, int ppid)
{
	char path[32], text[256];

	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (x) S %d 7 7 0 -1 0 11 12 13 14 15 16 17 18 20 0 1 0 9022 "
		 "23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 17 1 0 0 42 43 44 45 46 47 48 49 50 "
		 "51 52\n",
		 pid, ppid);
	put_text(tree, path, text);
}

/* The end of a process, or of a thread that is not its last. */
static struct exit_record end_of(pid_t tgid, pid_t pid, pid_t ppid, bool last)
{
	return (struct exit_record){ .tgid = tgid, .pid = pid, .ppid = ppid, .last = last };
}

/* Whether one of the first n records is of that pid. */
static bool has(const struct exit_record *records, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (records[i].pid == pid)
			return true;
	return false;
}

/* Sorts, with nothing left over before. */
static void sort(const struct tree *tree, struct exit_record *records, size_t n, size_t *ours,
		 size_t *open)
{
	struct ancestry *ancestry = ancestry_new(tree->proc, ROOT);

	ancestry_sort(ancestry, records, n, 0, ours, open);
	ancestry_free(ancestry);
}

/* Children of living and of ended parents, threads, and strangers between them. */
TREE_TEST(test_sort)
{
	const struct tree *tree = *state;
	struct exit_record records[] = {
		end_of(10, 10, 1, true), /* a daemon */
		end_of(203, 203, 202, true), /* its parent's record comes behind */
		end_of(11, 11, 9, true), /* its parent lives and is another's child */
		end_of(202, 202, 201, true), /* its parent lives */
		end_of(201, 301, ROOT, false), /* a thread of the child */
		end_of(12, 12, 2, true), /* a kernel thread */
		end_of(204, 204, ROOT, true),  end_of(13, 13, 0, true),
	};
	size_t ours, open;

	put_process(tree, ROOT, 50);
	put_process(tree, 50, 1);
	put_process(tree, 201, ROOT);
	put_process(tree, 9, 1);
	sort(tree, records, 8, &ours, &open);
	assert_int_equal(ours, 4);
	assert_int_equal(open, 0);
	assert_true(has(records, 4, 203) && has(records, 4, 202) && has(records, 4, 301) &&
		    has(records, 4, 204));
}

/* Before version 12 of the record no group is named, nor whether it was the last. */
TREE_TEST(test_old_version)
{
	const struct tree *tree = *state;
	struct exit_record records[] = {
		end_of(0, 203, 202, false),
		end_of(0, 202, ROOT, false),
		end_of(0, 12, 11, false),
		end_of(0, 11, 1, false),
	};
	size_t ours, open;

	sort(tree, records, 4, &ours, &open);
	assert_int_equal(ours, 2);
	assert_int_equal(open, 0);
	assert_true(has(records, 2, 203) && has(records, 2, 202));
}

/* A parent of which there is nothing yet is waited for once. */
TREE_TEST(test_open)
{
	const struct tree *tree = *state;
	struct ancestry *ancestry = ancestry_new(tree->proc, ROOT);
	struct exit_record records[4] = {
		end_of(10, 10, 1, true),
		end_of(302, 302, 301, true),
		end_of(402, 402, 401, true),
	};
	size_t ours, open;

	ancestry_sort(ancestry, records, 3, 0, &ours, &open);
	assert_int_equal(ours, 0);
	assert_int_equal(open, 2);
	assert_true(has(records, 2, 302) && has(records, 2, 402));
	/* The one parent's record comes with the next drain, the other's never. */
	records[2] = end_of(301, 301, ROOT, true);
	ancestry_sort(ancestry, records, 3, 2, &ours, &open);
	assert_int_equal(ours, 2);
	assert_int_equal(open, 0);
	assert_true(has(records, 2, 302) && has(records, 2, 301));
	ancestry_free(ancestry);
}

/* A chain of many, and a ring, which pids used again can make. */
TREE_TEST(test_chains)
{
	const struct tree *tree = *state;
	static struct exit_record records[1000];
	struct exit_record ring[] = { end_of(20, 20, 21, true), end_of(21, 21, 20, true) };
	size_t ours, open;

	for (int i = 0; i < 1000; i++)
		records[i] = end_of(1000 + i, 1000 + i, i == 999 ? ROOT : 1001 + i, true);
	sort(tree, records, 1000, &ours, &open);
	assert_int_equal(ours, 1000);
	sort(tree, ring, 2, &ours, &open);
	assert_int_equal(ours, 0);
}

/* The living. */
TREE_TEST(test_living)
{
	const struct tree *tree = *state;
	struct ancestry *ancestry = ancestry_new(tree->proc, ROOT);
	size_t ours, open;

	put_process(tree, 201, ROOT);
	put_process(tree, 202, 201);
	put_process(tree, 9, 1);
	assert_true(ancestry_has(ancestry, 201));
	assert_true(ancestry_has(ancestry, 202));
	assert_false(ancestry_has(ancestry, 9));
	assert_false(ancestry_has(ancestry, ROOT));
	assert_false(ancestry_has(ancestry, 1));
	assert_false(ancestry_has(ancestry, 555));
	/* What was looked up stays, until the next drain. */
	put_process(tree, 9, 201);
	assert_false(ancestry_has(ancestry, 9));
	ancestry_sort(ancestry, NULL, 0, 0, &ours, &open);
	assert_true(ancestry_has(ancestry, 9));
	ancestry_free(ancestry);
}
