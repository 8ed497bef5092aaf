/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up /proc for the tests of what reads one. make_tree() and remove_tree()
 * are a test's set-up and tear-down; the state is the struct tree.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proc.h"
#include "tests/lib/test.h"

/* A test whose state it is. */
#define TREE_TEST(name) TEST_WITH(name, make_tree, remove_tree)

/* Its path, the descriptor to hand on, and what reads files below that. */
struct tree {
	char path[64];
	int fd;
	struct proc *proc;
};

/* Makes an empty tree. */
static inline int make_tree(void **state)
{
	struct tree *tree = xcalloc(1, sizeof(*tree));

	strcpy(tree->path, "/tmp/stalltop-test-XXXXXX");
	if (!mkdtemp(tree->path))
		return -1;
	tree->fd = open(tree->path, O_RDONLY | O_DIRECTORY);
	tree->proc = xcalloc(1, sizeof(*tree->proc));
	tree->proc->fd = tree->fd;
	*state = tree;
	return tree->fd < 0 ? -1 : 0;
}

/* Removes one entry, for nftw(). */
static inline int remove_entry(const char *path, const struct stat *info, int type,
			       struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

/* Removes a tree. */
static inline int remove_tree(void **state)
{
	struct tree *tree = *state;
	int err = nftw(tree->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

	close(tree->fd);
	free(tree->proc);
	free(tree);
	return err;
}

/* Puts a file into a tree, with the directories on its way. */
static inline void put(const struct tree *tree, const char *path, const char *text, size_t len)
{
	char part[256];
	int fd;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		assert_true(mkdirat(tree->fd, part, 0700) == 0 || errno == EEXIST);
	}
	fd = openat(tree->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* Puts a string. */
static inline void put_text(const struct tree *tree, const char *path, const char *text)
{
	put(tree, path, text, strlen(text));
}

/* Makes an empty directory. */
static inline void put_dir(const struct tree *tree, const char *path)
{
	assert_int_equal(mkdirat(tree->fd, path, 0700), 0);
}
