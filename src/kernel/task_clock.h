/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock by which the kernel notes when a task ran last (proctask_ran). Each CPU has its own,
 * which stands still while interrupts and other machines of the host take that CPU: after a day
 * they are minutes apart.
 */
#ifndef STALLTOP_KERNEL_TASK_CLOCK_H
#define STALLTOP_KERNEL_TASK_CLOCK_H

#include <stdint.h>

/*
 * Reads by how many ns a CPU's clock is behind CLOCK_MONOTONIC (negative: ahead), to the length of
 * a tick. The calling thread runs there meanwhile. procfd: of the real /proc. Adds its calls to
 * *syscalls. 0 or -errno: -EINVAL where the thread may not run on that CPU, -EOPNOTSUPP for CPUs
 * beyond those of a cpu_set_t.
 */
int task_clock_lag(int procfd, unsigned cpu, int64_t *ns, uint64_t *syscalls);

#endif
