/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the kernel accounts delays, and for which tasks. A task gets the storage for
 * its delays when it is forked while kernel.task_delayacct is on (include/linux/delayacct.h:
 * delayacct_tsk_init); an older one reads 0 for ever in all kinds but cpu, which the
 * scheduler keeps anyway.
 */
#ifndef STALLTOP_KERNEL_DELAYACCT_H
#define STALLTOP_KERNEL_DELAYACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/sample.h"
#include "data/system.h"

/* The file of the switch, below /proc. */
#define DELAYACCT_SYSCTL "sys/kernel/task_delayacct"

struct delayacct {
	int fd; /* of the sysctl; below 0 where the kernel has none (before 5.14) */
	enum delayacct_state state;
	bool toggled; /* the last reading differs from the one before */
	uint64_t floor_ns; /* off before this: a task started earlier tells nothing of others */
	uint64_t since_ns; /* start of the oldest task seen to be accounted; UINT64_MAX: none */
	bool irq_seen; /* an irq delay was booked, so the kernel can book them */
};

/*
 * Opens the sysctl and looks at the kernel's command line, both below procfd. floor_ns: when
 * accounting was switched on (CLOCK_MONOTONIC), 0: not known.
 */
void delayacct_open(struct delayacct *acct, int procfd, uint64_t floor_ns);

/* Reads the switch. */
void delayacct_read(struct delayacct *acct);

/*
 * Makes values invalid whose zeros mean nothing: all kinds but cpu while accounting is off, or for
 * tasks older than it, and irq while none was ever booked (kernels without
 * CONFIG_IRQ_TIME_ACCOUNTING). Returns how many tasks are older.
 */
size_t delayacct_mask(struct delayacct *acct, struct sample *sample);

/* Switches accounting. 0, or -errno (-ENOENT: no such switch; -EACCES, -EPERM). */
int delayacct_set(int procfd, bool on);

void delayacct_close(struct delayacct *acct);

#endif
