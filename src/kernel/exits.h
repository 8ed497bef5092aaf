/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of exiting tasks, which the kernel sends to listeners registered per CPU
 * (Documentation/accounting/taskstats.rst): one socket per CPU, separate from the one for requests,
 * with buffers for the records that come between two drains. An exit does not wake the program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "data/delay.h"
#include "data/sample.h"

/* Maximum run time missing from a record: a clock tick of a kernel with CONFIG_HZ=100. */
#define EXIT_LACKS_NS (10 * NSEC_PER_MSEC)

/* The exit of a task, or of several similar tasks merged into one record. */
struct exit_record {
	pid_t pid, ppid;
	pid_t tgid; /* 0: not in the record (before version 12), and the task was one of several */
	uid_t uid;
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
	uint32_t status; /* as wait(2) gives it */
	bool last; /* the last of its thread group: the process has ended */
	uint64_t life_ns; /* since the task's start; with whole processes: since the process's */
	uint64_t lo_ns, hi_ns; /* it exited between these (CLOCK_MONOTONIC) */
	struct counters counters; /* the task's; with whole processes the whole process's */
	/*
	 * Kinds with so much more accounted than the task has lived, as kernels do from stale time
	 * stamps, that nothing is known of them: DELAY_BIT()s. They are 0 in the counters, except
	 * for a thread when whole processes are wanted: there they, and the part cut to the life,
	 * are the excess in the process's sum.
	 */
	uint32_t left_out;
	bool impossible; /* something was removed, or cut */
	bool single; /* see struct task_raw */
	uint32_t measured; /* kinds that were measured, not accounted, as in struct task_now */
	uint32_t max_us[DELAY_KINDS]; /* the longest wait of these */
	/* How the task spent its time, if traced: with whole processes the process's. */
	struct wait_states times;
	bool times_known, times_tried;
	size_t field; /* index of its task_record, if those are stored */
	/* Set by exit_fold.c: */
	pid_t reaper; /* the nearest living ancestor; 0: none, or not searched for */
	bool mixed; /* has several parents, and ppid is their reaper */
	bool kept; /* set by exit_merge.c: of the previous interval, without its fields */
	bool others; /* tasks of any names: see exit_fold_kept() */
};

/* The counts of all listeners. */
struct exits_stats {
	uint64_t received; /* records of single tasks, since start */
	uint64_t lost; /* since start; if not exact: a lower bound */
	uint64_t impossible; /* tasks with an impossible delay, since start */
	bool exact; /* the kernel counts dropped messages (SO_MEMINFO, 4.12 and later) */
	int error; /* 0, or the -errno for which the last drain was incomplete */
};

struct exits;

/*
 * The buffer size in bytes for each of so many listeners. asked: 0 for the default. secure: the
 * program has its privileges from its file and not from the user (AT_SECURE). One of these
 * privileges exceeds the limit of buffers, which are kernel memory: so the default is the maximum
 * then.
 */
size_t exits_buffer(size_t asked, size_t listeners, bool secure);

/*
 * Registers the listeners. threads: the exits of all tasks are wanted, else those of whole
 * processes. fields: see exits_want_fields(); a task may exit before this returns. buffer: see
 * exits_buffer(). 0, or -errno: -EINVAL outside the initial user and pid namespaces
 * (kernel/taskstats.c:add_del_listener()), -ENETUNREACH outside the initial network namespace,
 * -EPERM, -ENOENT without taskstats.
 */
int exits_open(struct exits **out, bool threads, bool fields, size_t buffer);

/*
 * Like exits_open() over descriptors that keep message boundaries, which it takes ownership of,
 * without registering. timeout_ms: how long to wait for each answer.
 */
int exits_open_fds(struct exits **out, bool threads, const int *fds, size_t n, uint16_t family,
		   int timeout_ms);

/* Registers open listeners. 0 or -errno: -ETIMEDOUT without an answer. */
int exits_register(struct exits *exits);

/*
 * The highest CPU of a list as the kernel writes it ("0-3,8"), plus 1; 0 if the list is malformed.
 * Pure.
 */
unsigned exits_cpus(const char *list);

/* Sets whether all fields of the records are stored from now on. */
void exits_want_fields(struct exits *exits, bool fields);

/*
 * Receives the records that came before the call, and as many of those that come meanwhile as a
 * buffer holds. Never waits.
 */
void exits_drain(struct exits *exits);

/* When the next drain is due, early enough that no buffer overflows (CLOCK_MONOTONIC). */
uint64_t exits_due_ns(const struct exits *exits);

/* The records since the last exits_clear(), valid until the next call. */
struct exit_record *exits_records(struct exits *exits, size_t *n);

/* Keeps only the first n records, which the caller may have moved and changed. */
void exits_keep(struct exits *exits, size_t n);

/* All fields of the records, by exit_record.field, for folding; NULL if they were not stored. */
struct task_record *exits_fields(struct exits *exits);

/* Drops the records. */
void exits_clear(struct exits *exits);

const struct exits_stats *exits_stats(const struct exits *exits);

/* Deregisters and frees. NULL is allowed. */
void exits_close(struct exits *exits);
