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

/* The switch, below /proc. */
#define DELAYACCT_SYSCTL "sys/kernel/task_delayacct"

struct delayacct {
	int fd; /* of the sysctl; -1 where the kernel has none (before 5.14) */
	enum delayacct_state state;
	bool toggled; /* the last reading differs from the one before */
	uint64_t floor_ns; /* it was off before this: who started earlier shows nothing of others */
	uint64_t since_ns; /* start of the oldest task seen to be accounted; UINT64_MAX: none */
	bool irq_seen; /* an irq delay was booked, so the kernel can book them */
};

/*
 * Opens the sysctl and looks at the kernel's command line, both below procfd. floor_ns: when
 * it is known to have been switched on (CLOCK_MONOTONIC), 0: not known.
 */
void delayacct_open(struct delayacct *acct, int procfd, uint64_t floor_ns);

/* Reads the switch. */
void delayacct_read(struct delayacct *acct);

/*
 * Makes invalid what the zeros in a sample do not say: all kinds but cpu while accounting
 * is off, those of tasks older than it, and irq while none was ever booked (kernels without
 * CONFIG_IRQ_TIME_ACCOUNTING). Returns how many tasks are older.
 */
size_t delayacct_mask(struct delayacct *acct, struct sample *sample);

/* Switches accounting. 0, or -errno (-ENOENT: no such switch; -EACCES, -EPERM). */
int delayacct_set(int procfd, bool on);

void delayacct_close(struct delayacct *acct);

#endif
