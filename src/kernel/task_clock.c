/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/task_clock.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "base/util.h"
#include "kernel/proctask.h"

int task_clock_lag(int procfd, unsigned cpu, int64_t *ns, uint64_t *syscalls)
{
	cpu_set_t before, there;
	uint64_t clock = 0;
	int err;

	if (cpu >= CPU_SETSIZE)
		return -EOPNOTSUPP;
	*syscalls += 6;
	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (sched_setaffinity(0, sizeof(there), &there))
		return -errno;
	err = proctask_ran(procfd, 0, 0, &clock);
	*ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - clock);
	if (sched_setaffinity(0, sizeof(before), &before) && !err)
		err = -errno;
	return err;
}
