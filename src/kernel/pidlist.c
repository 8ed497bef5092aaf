// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "kernel/pidlist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/proctask.h"

/* One call reads some 8,000 processes; the 32 KiB of readdir(3) take eight. */
#define SCRATCH_BYTES (256 * 1024)

/* The pid that a name is, or 0. */
static pid_t pid_of_name(const char *name)
{
	const char *end = name + strlen(name);
	uint64_t value;

	/* No sign, no leading zero: the kernel writes none, and 0 is no task. */
	if (name[0] == '0' || !parse_uint(&name, end, &value) || name != end || value > INT_MAX)
		return 0;
	return (pid_t)value;
}

/* Appends a pid. */
static void add_pid(struct pidlist *list, pid_t pid)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 1024;
		list->pids = xreallocarray(list->pids, list->cap, sizeof(*list->pids));
	}
	list->pids[list->n++] = pid;
}

/* Orders pids for qsort(). */
static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Leaves one of each pid in a sorted array. How many that are. */
static size_t unite_pids(pid_t *pids, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || pids[i] != pids[kept - 1])
			pids[kept++] = pids[i];
	return kept;
}

/*
 * Sorts, when the directory did not come in order (/proc does, other trees do not), and leaves one
 * of each: a thread that takes its leader's id while it calls exec can be listed behind it, too.
 */
static void sort_pids(struct pidlist *list)
{
	for (size_t i = 1; i < list->n; i++) {
		if (list->pids[i - 1] >= list->pids[i]) {
			qsort(list->pids, list->n, sizeof(*list->pids), compare_pids);
			list->n = unite_pids(list->pids, list->n);
			return;
		}
	}
}

/*
 * Reads a directory from where it stands to its end. The end is only what gives no
 * entry: a pending signal ends a call early (filldir64() of fs/readdir.c), so that
 * room left in the buffer means nothing.
 */
static int read_entries(struct pidlist *list, int dirfd)
{
	list->n = 0;
	if (!list->scratch)
		list->scratch = xreallocarray(NULL, SCRATCH_BYTES, 1);
	for (;;) {
		long got = syscall(SYS_getdents64, dirfd, list->scratch, SCRATCH_BYTES);

		list->syscalls++;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			list->n = 0;
			return -errno;
		}
		if (!got)
			break;
		for (long at = 0; at < got;) {
			/* Laid out as the kernel's linux_dirent64, aligned to 8 bytes by it. */
			struct dirent64 *entry = (struct dirent64 *)(void *)(list->scratch + at);
			pid_t pid = pid_of_name(entry->d_name);

			if (pid)
				add_pid(list, pid);
			at += entry->d_reclen;
		}
	}
	sort_pids(list);
	return 0;
}

int pidlist_read(struct pidlist *list, int dirfd)
{
	list->n = 0;
	list->syscalls++;
	if (lseek(dirfd, 0, SEEK_SET) < 0)
		return -errno;
	return read_entries(list, dirfd);
}

int pidlist_read_threads(struct pidlist *list, int procfd, pid_t tgid)
{
	char path[32];
	int dirfd, err;

	list->n = 0;
	snprintf(path, sizeof(path), "%d/task", (int)tgid);
	list->syscalls++;
	dirfd = file_open(procfd, path, O_DIRECTORY);
	if (dirfd < 0)
		return dirfd;
	err = read_entries(list, dirfd);
	list->syscalls++;
	close(dirfd);
	return err;
}

void pidlist_processes(int procfd, pid_t *pids, size_t *n)
{
	pid_t group;

	for (size_t i = 0; i < *n; i++)
		if (!proctask_status(procfd, pids[i], 0, NULL, &group))
			pids[i] = group;
	if (*n)
		qsort(pids, *n, sizeof(*pids), compare_pids);
	*n = unite_pids(pids, *n);
}

bool pidlist_has(const pid_t *pids, size_t n, pid_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(*pids), compare_pids);
}

void pidlist_free(struct pidlist *list)
{
	free(list->pids);
	free(list->scratch);
	*list = (struct pidlist){ 0 };
}
