/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the kernel accounts delays, and for which tasks. A task gets the storage for its delays
 * when it is forked while kernel.task_delayacct is on (include/linux/delayacct.h:
 * delayacct_tsk_init); an older task reads 0 forever in all kinds but cpu, which the scheduler
 * always counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"

/* The file of the switch, below /proc. */
#define DELAYACCT_SYSCTL "sys/kernel/task_delayacct"

struct delayacct {
	int fd; /* of the sysctl; below 0 if the kernel has none (before 5.14) */
	enum delayacct_state state;
	bool toggled; /* the latest reading differs from the previous one */
	uint64_t floor_ns; /* off before this: a task started earlier proves nothing about others */
	uint64_t since_ns; /* start of the oldest task seen to be accounted; UINT64_MAX: none */
	bool irq_seen; /* an irq delay was accounted, so the kernel supports it */
};

/*
 * Opens the sysctl and reads the kernel command line, both below procfd. floor_ns: when accounting
 * was switched on (CLOCK_MONOTONIC), 0: unknown.
 */
void delayacct_open(struct delayacct *acct, int procfd, uint64_t floor_ns);

/* Reads the switch. */
void delayacct_read(struct delayacct *acct);

/*
 * Invalidates values whose zeros mean nothing: all kinds but cpu while accounting is off, or for
 * tasks older than it, and irq if none was ever accounted (kernels without
 * CONFIG_IRQ_TIME_ACCOUNTING). Returns how many tasks are older.
 */
size_t delayacct_mask(struct delayacct *acct, struct sample *sample);

/* True if the delays of all tasks are accounted: accounting is on, and was so since boot. */
bool delayacct_counts_all(const struct delayacct *acct);

/* Switches accounting. 0, or -errno (-ENOENT: no such switch; -EACCES, -EPERM). */
int delayacct_set(int procfd, bool on);

void delayacct_close(struct delayacct *acct);

/*
 * Switches delay accounting on for a run; the last process to exit switches it off. A small file
 * records that it was off before, and each process that needs it holds a lock on that file: the
 * kernel releases the lock however a process ends, so that the next run knows what a killed one
 * left on.
 */

/* The file, lost at a reboot. Only root may open it: others could hold the lock. */
#define DELAYACCT_FILE "/run/stalltop.delayacct"

/* State of accounting that was switched on and is to be switched off again. */
struct delayacct_switch {
	int procfd; /* -1: it was not switched on */
	int file; /* -1: not available, and other runs are unknown */
	uint64_t at_ns; /* when it was switched on (CLOCK_MONOTONIC); 0: before this run */
};

#define DELAYACCT_UNTOUCHED \
	{ \
		.procfd = -1, .file = -1 \
	}

/*
 * Switches accounting on if it is off, below procfd. If an earlier run, still alive or killed, has
 * switched it on, this process has to switch it off, too. 0 or -errno: see delayacct_set().
 */
int delayacct_enable(struct delayacct_switch *switched, int procfd, const char *path);

/*
 * Switches accounting off if this process has to, no other process still needs it and it is still
 * on. 0 or -errno. Makes only system calls: a signal handler may call it, even while it runs.
 */
int delayacct_put_back(struct delayacct_switch *switched);

/*
 * True if accounting is on because a process that had switched it on was killed, and no other needs
 * it. False if unknown.
 */
bool delayacct_left_on(int procfd, const char *path);
