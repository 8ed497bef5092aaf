/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The task that a person means to send a signal or to give a nice value: that one and no other,
 * whoever has its pid by the time it is done.
 */
#ifndef STALLTOP_MODEL_TARGET_H
#define STALLTOP_MODEL_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	int procfd; /* of /proc; stays the caller's */
	pid_t tgid, tid; /* tid 0: the process as a whole */
	uint64_t start; /* in ticks, as the kernel had it when it was found */
};

/* What is known of a task from when it was seen alive. */
struct target_seen {
	uint64_t start_ns; /* CLOCK_MONOTONIC, of a sample */
	uint64_t by_ns; /* it was there at that time, CLOCK_BOOTTIME */
};

/*
 * Finds the task that was seen: who has its pid, unless he began later than that. 0 or -errno;
 * -ESRCH: it no longer exists. So the others, which say -EPERM or -EACCES without permission.
 */
int target_find(struct target *target, int procfd, pid_t tgid, pid_t tid,
		const struct target_seen *seen);

/* Sends a signal to the process, also where the target is one of its threads. */
int target_signal(const struct target *target, int number);

/* Sets the nice value of the thread, or of all threads of the process: how many that were. */
int target_renice(const struct target *target, int value, size_t *threads);

#endif
