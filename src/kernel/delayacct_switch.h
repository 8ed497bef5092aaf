/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches delay accounting on for a run; the last process to end puts it back. A small file says
 * that it was off before, and each process that runs with it holds a lock on that file: the kernel
 * releases the lock however a process ends, so that the next run knows what a killed one has left.
 */
#ifndef STALLTOP_KERNEL_DELAYACCT_SWITCH_H
#define STALLTOP_KERNEL_DELAYACCT_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

/* The file; it does not outlive a reboot. It is root's alone: others could hold the lock. */
#define DELAYACCT_FILE "/run/stalltop.delayacct"

/* Whether accounting was switched on, so that it is to be put back. */
struct delayacct_switch {
	int procfd; /* -1: it was not switched on */
	int file; /* -1: it cannot be had, and other runs are not known */
	uint64_t at_ns; /* when it was switched on (CLOCK_MONOTONIC); 0: before this run */
};

#define DELAYACCT_UNTOUCHED \
	{ \
		.procfd = -1, .file = -1 \
	}

/*
 * Switches accounting on where it is off, below procfd. If an earlier run, still alive or killed,
 * has switched it on, it becomes this process's to put back, too. 0 or -errno: see delayacct_set().
 */
int delayacct_enable(struct delayacct_switch *switched, int procfd, const char *path);

/*
 * Switches accounting off if it is this process's to put back, no other process still runs with it
 * and it is still on. 0 or -errno. Makes only system calls: a signal handler may call it, even
 * while it runs.
 */
int delayacct_put_back(struct delayacct_switch *switched);

/*
 * Whether accounting is on because a process that had switched it on was killed, and no other runs
 * with it. False where that cannot be known.
 */
bool delayacct_left_on(int procfd, const char *path);

#endif
