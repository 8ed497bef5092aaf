/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of exiting tasks, which the kernel sends to listeners registered by CPU
 * (Documentation/accounting/taskstats.rst): a socket a CPU, apart from the one for asking, with
 * buffers that hold what comes between two drains. Nobody is woken by an exit.
 */
#ifndef STALLTOP_KERNEL_EXITS_H
#define STALLTOP_KERNEL_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/record.h"
#include "data/sample.h"

/* What a record lacks of the run time at most: a clock tick of a kernel with CONFIG_HZ=100. */
#define EXIT_LACKS_NS (10 * NSEC_PER_MSEC)

/* The end of a task, or of some alike that were folded into one. */
struct exit_record {
	pid_t pid, ppid;
	pid_t tgid; /* 0: the record does not say (before version 12) and it was one of several */
	uid_t uid;
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
	uint32_t status; /* as wait(2) gives it */
	bool last; /* of its thread group: the process has ended */
	uint64_t life_ns; /* since the task's start; with whole processes: since the process's */
	uint64_t lo_ns, hi_ns; /* it ended between these (CLOCK_MONOTONIC) */
	struct counters counters; /* the task's; with whole processes the whole process's */
	/*
	 * Kinds of which more was booked than the task has lived, as kernels do from stale stamps:
	 * DELAY_BIT()s. They are 0 in the counters, but of a thread whose process is wanted: there
	 * they are what that one's sum has too much.
	 */
	uint32_t left_out;
	bool single; /* see struct task_raw */
	size_t field; /* of the task_record, where those are kept */
	/* Exit_fold.c's: */
	pid_t reaper; /* the nearest ancestor that lives; 0: none, or not looked for */
	bool mixed; /* of several parents, ppid is their reaper */
	bool kept; /* exit_merge.c's: it is of the interval before, and has no fields any more */
	bool others; /* of whatever names: see exit_fold_kept() */
};

/* What listeners have seen. */
struct exits_stats {
	uint64_t received; /* records of single tasks, since the start */
	uint64_t lost; /* since the start; not exact: a lower bound */
	uint64_t impossible; /* tasks with a delay that cannot be, since the start */
	bool exact; /* the kernel counts what it drops (SO_MEMINFO, 4.12 and later) */
	uint64_t syscalls;
	int error; /* 0, or the -errno for which the last drain could not take what there was */
};

struct exits;

/*
 * The size of a listener's buffer in bytes, of so many. asked: 0 for the default. secure: whoever
 * runs the program has its privileges from the file alone (AT_SECURE), among them to pass the
 * limit of buffers, which lie in the kernel's memory: the default is the most then.
 */
size_t exits_buffer(size_t asked, size_t listeners, bool secure);

/*
 * Registers the listeners. threads: every task's end is wanted, else that of whole processes.
 * buffer: see exits_buffer(). 0, or -errno: -EINVAL outside
 * the initial user and pid namespaces (kernel/taskstats.c:add_del_listener()), -EPERM,
 * -ENOENT without taskstats.
 */
int exits_open(struct exits **out, bool threads, size_t buffer);

/*
 * The same over descriptors that keep message boundaries, taken over, without registering.
 * timeout_ms: how long each answer is waited for.
 */
int exits_open_fds(struct exits **out, bool threads, const int *fds, size_t n, uint16_t family,
		   int timeout_ms);

/* Registers listeners that are open. 0 or -errno: -ETIMEDOUT without an answer. */
int exits_register(struct exits *exits);

/*
 * Pure: one more than the highest CPU of a list as the kernel writes it ("0-3,8"); 0 where it is
 * none.
 */
unsigned exits_cpus(const char *list);

/* Whether all fields of the records are to be kept from now on. */
void exits_want_fields(struct exits *exits, bool fields);

/*
 * Takes what had come before the call, and what comes meanwhile up to what a buffer holds. Never
 * waits.
 */
void exits_drain(struct exits *exits);

/* When the next drain is due, so that no buffer can run over (CLOCK_MONOTONIC). */
uint64_t exits_due_ns(const struct exits *exits);

/* The records since the last exits_clear(), valid until the next call. */
struct exit_record *exits_records(struct exits *exits, size_t *n);

/* Keeps the first n records only, which may have been moved and changed. */
void exits_keep(struct exits *exits, size_t n);

/* All fields of the records, by exit_record.field, to be folded; NULL where they were not kept. */
struct task_record *exits_fields(struct exits *exits);

/* Forgets the records. */
void exits_clear(struct exits *exits);

const struct exits_stats *exits_stats(const struct exits *exits);

/* Deregisters and frees. NULL is allowed. */
void exits_close(struct exits *exits);

#endif
