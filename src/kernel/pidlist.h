/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numeric names of a directory: the processes of /proc, the threads of /proc/PID/task. */
#ifndef STALLTOP_KERNEL_PIDLIST_H
#define STALLTOP_KERNEL_PIDLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero-initialised it is an empty list; kept from sample to sample for its memory. */
struct pidlist {
	pid_t *pids;
	size_t n;
	size_t cap;
	char *scratch;
	uint64_t syscalls; /* made so far, for the tests that hold the cost down */
};

/*
 * Reads the numeric entries of a directory from its start, in ascending order.
 * 0, or -errno (-ENOENT where the process behind the directory has gone).
 */
int pidlist_read(struct pidlist *list, int dirfd);

/* Opens /proc/TGID/task below procfd and reads it. 0, or -errno (-ENOENT: has gone). */
int pidlist_read_threads(struct pidlist *list, int procfd, pid_t tgid);

/*
 * Makes a list of processes of what a person named: ids of threads become their process's,
 * the rest stays (it may come to life). Ascending, each once; n is the new length.
 */
void pidlist_processes(int procfd, pid_t *pids, size_t *n);

/* Whether an ascending list has that id. */
bool pidlist_has(const pid_t *pids, size_t n, pid_t pid);

/* Frees the memory and leaves an empty list. */
void pidlist_free(struct pidlist *list);

#endif
