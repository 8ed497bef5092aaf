// SPDX-License-Identifier: GPL-2.0-or-later
/* User stacks as a tree of functions and their callers. */
#include "tests/lib/test.h"

#include <string.h>

#include "base/util.h"
#include "view/stack_tree.h"

#define STACK(...) \
	{ \
		(const char *const[]){ __VA_ARGS__ }, \
			ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })) \
	}

static const struct site_stack stacks[] = {
	{ NULL, 0 },
	STACK("read (libc.so.6)", "load (a.c:1)", "work (a.c:9)", "main (a.c:20)"),
	STACK("read (libc.so.6)", "load (a.c:1)", "start (a.c:7)", "main (a.c:19)"),
	STACK("read (libc.so.6)", "[ends in libc.so.6]"),
	STACK("poll (libc.so.6)", "main (a.c:21)"),
};

/* The lines of a tree as text: depth, share in percent where it is shown, function. */
static void check_tree(const struct site_user_stack *parts, size_t n, const char *wanted)
{
	const struct site site = { .user_stacks = parts, .nuser_stacks = n };
	const struct site *const sites[] = { &site };
	const struct trace_frame trace = { .stacks = stacks, .nstacks = ARRAY_SIZE(stacks) };
	struct stack_tree tree = { 0 };
	struct buf text = { 0 };

	stack_tree_build(&tree, &trace, sites, 1);
	for (size_t i = 0; i < tree.n; i++) {
		const struct stack_line *line = &tree.lines[i];

		buf_printf(&text, "%u ", line->depth);
		if (line->branches)
			buf_printf(&text, "%llu%% ",
				   (unsigned long long)(line->ns * 100 / tree.ns));
		if (line->function)
			buf_printf(&text, "%s\n", line->function);
		else
			buf_printf(&text, "%zu others\n", line->others);
	}
	assert_string_equal(buf_cstr(&text), wanted);
	buf_free(&text);
	stack_tree_free(&tree);
}

TEST(test_none)
{
	check_tree(NULL, 0, "");
}

/* A chain of single callers is not indented; the most time comes first. */
TEST(test_branches)
{
	static const struct site_user_stack parts[] = {
		{ 4, 10, 1, 0 }, { 1, 30, 1, 0 }, { 2, 40, 1, 0 }, { 1, 20, 1, 0 }
	};

	check_tree(parts, ARRAY_SIZE(parts),
		   "0 90% read (libc.so.6)\n"
		   "1 load (a.c:1)\n"
		   "1 50% work (a.c:9)\n"
		   "2 main (a.c:20)\n"
		   "1 40% start (a.c:7)\n"
		   "2 main (a.c:19)\n"
		   "0 10% poll (libc.so.6)\n"
		   "1 main (a.c:21)\n");
}

/* What is little is added up. */
TEST(test_others)
{
	static const struct site_user_stack parts[] = { { 1, 9900, 1, 0 },
							{ 3, 60, 1, 0 },
							{ 4, 40, 1, 0 } };

	check_tree(parts, ARRAY_SIZE(parts),
		   "0 99% read (libc.so.6)\n"
		   "1 99% load (a.c:1)\n"
		   "2 work (a.c:9)\n"
		   "2 main (a.c:20)\n"
		   "1 0% 1 others\n"
		   "0 0% 1 others\n");
}

/* The program's own function is found below the library's, of the waiter and of its wakers. */
TEST(test_own)
{
	static const struct site_user_stack parts[] = {
		{ 3, 70, 1, 0 }, { 4, 10, 1, 0 }, { 2, 20, 1, 0 }, { 1, 5, 1, 9 }, { 4, 90, 1, 8 }
	};
	const struct site site = { .user_stacks = parts, .nuser_stacks = 3, .nwaker_stacks = 2 };
	const struct site bare = { .user_stacks = parts, .nuser_stacks = 1 };
	const struct site *sites[] = { &site }, *none[] = { &bare };
	const struct trace_frame trace = { .stacks = stacks, .nstacks = ARRAY_SIZE(stacks) };

	assert_string_equal(stack_tree_own(&trace, sites, 1, 0), "load (a.c:1)");
	assert_null(stack_tree_own(&trace, none, 1, 0));
	assert_string_equal(stack_tree_own(&trace, sites, 1, 9), "load (a.c:1)");
	assert_null(stack_tree_own(&trace, sites, 1, 7));
}
