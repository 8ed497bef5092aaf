/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls a thread sleeps in because somebody keeps it waiting, and not because it has
 * nothing to do: only the former are a hang when they last. There is no telling for sure; the rule
 * is that of the tables in syscall_hang.c.
 */
#ifndef STALLTOP_KERNEL_SYSCALL_HANG_H
#define STALLTOP_KERNEL_SYSCALL_HANG_H

#include <stdbool.h>

#include "kernel/procwait.h"
#include "kernel/wait_target.h"

/* Whether it is a hang when a thread sleeps in that call for long. */
bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call);

#endif
