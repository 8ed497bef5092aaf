/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Stacks with less than this part of all waiting time are added up. */
#define LEAST_PART 100

/* A stack of a site. */
struct timed_stack {
	const struct site_stack *stack;
	uint64_t ns;
};

/* True for functions that start a program or a thread, not of the program itself. */
static bool is_start(const char *function)
{
	static const char *const starts[] = { "__libc_start_", "_start (", "start_thread (",
					      "__clone" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (!strncmp(function, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* The function of a stack at a level; NULL: none, or an uninteresting one. */
static const char *function_at(const struct timed_stack *timed, size_t level)
{
	const char *function = level < timed->stack->n ? timed->stack->functions[level] : NULL;

	return function && level && is_start(function) ? NULL : function;
}

/* Orders stacks by their functions, innermost first. */
static int compare_functions(const void *a, const void *b)
{
	const struct timed_stack *x = a, *y = b;
	const char *p, *q;
	int order = 0;

	for (size_t i = 0; !order; i++) {
		p = function_at(x, i);
		q = function_at(y, i);
		if (!p || !q)
			return (p != NULL) - (q != NULL);
		order = strcmp(p, q);
	}
	return order;
}

/* Stacks with the same functions up to a level. */
struct bough {
	const struct timed_stack *first;
	size_t n;
	uint64_t ns;
};

/* Orders branches: most time first. */
static int compare_boughs(const void *a, const void *b)
{
	const struct bough *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void add_tree_line(struct stack_tree *tree, struct stack_line line)
{
	GROW(tree->lines, tree->n, tree->cap);
	tree->lines[tree->n++] = line;
}

/* Splits stacks by their functions at a level; those that end there are in none. */
static size_t split_stacks(const struct bough *all, size_t level, struct bough *boughs)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct timed_stack *timed = &all->first[i];
		const char *function = function_at(timed, level);

		if (!function)
			continue;
		if (!n || strcmp(function, function_at(boughs[n - 1].first, level)) != 0)
			boughs[n++] = (struct bough){ .first = timed };
		boughs[n - 1].n++;
		boughs[n - 1].ns += timed->ns;
	}
	return n;
}

/* Adds the lines of a branch, from a level on. */
static void grow_tree(struct stack_tree *tree, const struct bough *all, size_t level,
		      unsigned depth)
{
	struct bough *boughs = xcalloc(all->n + 1, sizeof(*boughs));
	size_t n = split_stacks(all, level, boughs);
	struct stack_line others = { .depth = depth, .branches = true, .caller = level > 0 };

	qsort(boughs, n, sizeof(*boughs), compare_boughs);
	for (size_t i = 0; i < n; i++) {
		if (i && boughs[i].ns < tree->ns / LEAST_PART) {
			others.others++;
			others.ns += boughs[i].ns;
			continue;
		}
		add_tree_line(tree,
			      (struct stack_line){ .function = function_at(boughs[i].first, level),
						   .depth = depth,
						   .branches = !level || n > 1,
						   .caller = level > 0,
						   .ns = boughs[i].ns });
		grow_tree(tree, &boughs[i], level + 1, depth + (n > 1));
	}
	if (others.others)
		add_tree_line(tree, others);
	free(boughs);
}

/* Collects the stacks of sites. */
static struct timed_stack *collect_stacks(const struct trace_frame *trace,
					  const struct site *const *sites, size_t n,
					  size_t *nstacks)
{
	struct timed_stack *stacks = NULL;
	size_t cap = 0;

	*nstacks = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sites[i]->nuser_stacks; k++) {
			const struct site_user_stack *part = &sites[i]->user_stacks[k];

			if (part->stack >= trace->nstacks || !part->ns)
				continue;
			GROW(stacks, *nstacks, cap);
			stacks[(*nstacks)++] =
				(struct timed_stack){ &trace->stacks[part->stack], part->ns };
		}
	if (stacks)
		qsort(stacks, *nstacks, sizeof(*stacks), compare_functions);
	return stacks;
}

void stack_tree_build(struct stack_tree *tree, const struct trace_frame *trace,
		      const struct site *const *sites, size_t n)
{
	struct bough all = { 0 };
	struct timed_stack *stacks = collect_stacks(trace, sites, n, &all.n);

	tree->n = 0;
	tree->ns = 0;
	all.first = stacks;
	for (size_t i = 0; i < all.n; i++)
		tree->ns += stacks[i].ns;
	grow_tree(tree, &all, 0, 0);
	free(stacks);
}

/* True if a function is in no shared library, and no mark. */
static bool is_own(const char *function)
{
	return *function != '[' && !strstr(function, ".so") && strchr(function, '(');
}

/* The innermost own function of a stack; NULL: none. */
static const char *own_function(const struct trace_frame *trace, size_t stack)
{
	const struct site_stack *at = stack < trace->nstacks ? &trace->stacks[stack] : NULL;

	for (size_t i = 0; at && i < at->n; i++)
		if (is_own(at->functions[i]))
			return at->functions[i];
	return NULL;
}

const char *stack_tree_own(const struct trace_frame *trace, const struct site *const *sites,
			   size_t n, pid_t waker)
{
	const char *most = NULL, *function;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sites[i]->nuser_stacks + sites[i]->nwaker_stacks; k++) {
			const struct site_user_stack *part = &sites[i]->user_stacks[k];

			if (part->waker != waker || part->ns <= most_ns)
				continue;
			function = own_function(trace, part->stack);
			if (!function)
				continue;
			most = function;
			most_ns = part->ns;
		}
	return most;
}

void stack_tree_free(struct stack_tree *tree)
{
	free(tree->lines);
	*tree = (struct stack_tree){ 0 };
}
