/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks as a tree: the functions in which waits began, and below each its callers, down to
 * the first function of the program. Shares of less than a hundredth are added up.
 */
#pragma once

#include "data/wait_state.h"

struct stack_line {
	const char *function; /* NULL: of `others`, which have few waits */
	size_t others;
	unsigned depth; /* indentation */
	bool branches; /* one of several callers, or the first: its share is shown */
	bool caller; /* not itself the function in which waits began */
	uint64_t ns;
};

/* Zero-initialised: none. */
struct stack_tree {
	struct stack_line *lines;
	size_t n, cap;
	uint64_t ns; /* of all stacks */
};

/* Makes the tree of all stacks of some sites. Its texts belong to the trace. */
void stack_tree_build(struct stack_tree *tree, const struct trace_frame *trace,
		      const struct site *const *sites, size_t n);

/*
 * The function of the program, not of a library, with most waiting time: the innermost one of a
 * stack. waker: a process; where it ended the waits; 0: where they began. NULL: unknown.
 */
const char *stack_tree_own(const struct trace_frame *trace, const struct site *const *sites,
			   size_t n, pid_t waker);

void stack_tree_free(struct stack_tree *tree);
