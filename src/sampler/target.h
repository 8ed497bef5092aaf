/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The task that a user wants to signal or renice: that task and no other, even if its pid is reused
 * meanwhile.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc;

struct target {
	struct proc *proc; /* of /proc; the caller keeps it */
	pid_t tgid, tid; /* tid 0: the process as a whole */
	uint64_t start; /* its start in ticks, as read from the kernel when it was found */
};

/* Facts about a task, from when it was last seen alive. */
struct target_seen {
	uint64_t start_ns; /* its start according to a sample (CLOCK_MONOTONIC) */
	uint64_t by_ns; /* a time at which it existed (CLOCK_BOOTTIME) */
};

/*
 * Finds the task that was seen: the task with its pid, unless that started later. 0 or -errno;
 * -ESRCH: it no longer exists. The functions below return the same, and -EPERM or -EACCES without
 * permission.
 */
int target_find(struct target *target, struct proc *proc, pid_t tgid, pid_t tid,
		const struct target_seen *seen);

/* Sends a signal to the process, even if the target is one of its threads. */
int target_signal(const struct target *target, int number);

/* Sets the nice value of the thread, or of all threads of the process, and counts them. */
int target_renice(const struct target *target, int value, size_t *threads);
