/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in a made-up /proc. */
#pragma once

#include "tests/lib/tree.h"

/* What a thread's files say; times in ticks and ns. */
struct thread {
	pid_t tgid, tid;
	const char *comm;
	unsigned utime, stime, start, blkio;
	unsigned run, wait, slices;
	unsigned uid;
};

/* Puts one of a thread's files, and the same into the process's folder for the leader. */
static inline void put_file(const struct tree *tree, const struct thread *thread, const char *name,
			    const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%d/task/%d/%s", thread->tgid, thread->tid, name);
	put_text(tree, path, text);
	snprintf(path, sizeof(path), "%d/%s", thread->tgid, name);
	if (thread->tid == thread->tgid)
		put_text(tree, path, text);
}

/* Puts a thread's files. */
static inline void put_thread(const struct tree *tree, const struct thread *thread)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "%d (%s) S 41 7 7 34816 -1 4194560 11 12 13 14 %u %u 0 0 20 0 3 0 %u 23 24 25 26 "
		 "27 28 29 30 31 32 33 34 35 36 37 17 1 0 0 %u 43 44 45 46 47 48 49 50 51 52\n",
		 thread->tid, thread->comm, thread->utime, thread->stime, thread->start,
		 thread->blkio);
	put_file(tree, thread, "stat", text);
	snprintf(text, sizeof(text), "%u %u %u\n", thread->run, thread->wait, thread->slices);
	put_file(tree, thread, "schedstat", text);
	snprintf(text, sizeof(text), "Name:\t%s\nTgid:\t%d\nPid:\t%d\nUid:\t%u\t0\t0\t0\n",
		 thread->comm, thread->tgid, thread->tid, thread->uid);
	put_file(tree, thread, "status", text);
}

/* Removes a file or an empty folder. */
static inline void drop(const struct tree *tree, const char *path, int flags)
{
	assert_int_equal(unlinkat(tree->fd, path, flags), 0);
}

/* Makes a file or folder one that is there, but cannot be opened (-ELOOP). */
static inline void bar(const struct tree *tree, const char *path)
{
	char away[128];

	snprintf(away, sizeof(away), "%s.away", path);
	assert_int_equal(renameat(tree->fd, path, tree->fd, away), 0);
	assert_int_equal(symlinkat(strrchr(path, '/') + 1, tree->fd, path), 0);
}

/* Makes it what it was. */
static inline void unbar(const struct tree *tree, const char *path)
{
	char away[128];

	snprintf(away, sizeof(away), "%s.away", path);
	assert_int_equal(unlinkat(tree->fd, path, 0), 0);
	assert_int_equal(renameat(tree->fd, away, tree->fd, path), 0);
}

/* Removes a thread: it has ended. */
static inline void end_thread(const struct tree *tree, const struct thread *thread)
{
	static const char *const names[] = { "/stat", "/schedstat", "/status", "" };
	char path[64];

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%d/task/%d%s", thread->tgid, thread->tid, names[i]);
		drop(tree, path, *names[i] ? 0 : AT_REMOVEDIR);
	}
}
