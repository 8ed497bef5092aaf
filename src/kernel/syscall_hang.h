/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that a thread sleeps in because it is kept waiting, and not because it has nothing
 * to do: only the former are a hang when they last. Nothing tells for sure; the tables in
 * syscall_hang.c have the rule.
 */
#ifndef STALLTOP_KERNEL_SYSCALL_HANG_H
#define STALLTOP_KERNEL_SYSCALL_HANG_H

#include <stdbool.h>

#include "kernel/procwait.h"
#include "kernel/wait_target.h"

/* Whether it is a hang when a thread sleeps in that call for long. */
bool syscall_hangs(struct wait_targets *targets, pid_t tid, const struct procwait_syscall *call);

#endif
