/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delay accounting that is switched on for a run, and put back by whoever ends last. A small file
 * says that it was off before, and who runs with it holds a lock on that file: the kernel lets go
 * of the lock however a process ends, so that the next one knows what a killed one has left.
 */
#ifndef STALLTOP_KERNEL_DELAYACCT_SWITCH_H
#define STALLTOP_KERNEL_DELAYACCT_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

/* The file, where no reboot outlives it. It is root's alone: others could hold the lock. */
#define DELAYACCT_FILE "/run/stalltop.delayacct"

/* Whether accounting was switched on, so that it is to be put back. */
struct delayacct_switch {
	int procfd; /* -1: it was not */
	int file; /* -1: it cannot be had, and nobody knows of others */
	uint64_t at_ns; /* when (CLOCK_MONOTONIC); 0: by another, before */
};

#define DELAYACCT_UNTOUCHED \
	{ \
		.procfd = -1, .file = -1 \
	}

/*
 * Switches accounting on where it is off, below procfd; where that was done before us, by one who
 * still runs or was killed, it becomes ours to put back, too. 0 or -errno: see delayacct_set().
 */
int delayacct_enable(struct delayacct_switch *switched, int procfd, const char *path);

/*
 * Switches it off, if it is ours to put back, nobody else still runs with it and it is still on. 0
 * or -errno. By system calls alone: a signal handler may call it, and in the middle of itself.
 */
int delayacct_put_back(struct delayacct_switch *switched);

/*
 * Whether accounting is on because one was killed who had switched it on, and nobody else runs
 * with it. False where that cannot be known.
 */
bool delayacct_left_on(int procfd, const char *path);

#endif
