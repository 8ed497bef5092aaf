/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A second opinion: taskstats over a bare netlink socket, with offsets of its
 * own for every version of the record, so that an error in the program's decoder
 * cannot hide in the test.
 */

#define READER_KINDS 8

extern const char *const reader_kind_names[READER_KINDS];

struct reader_kind {
	bool valid; /* the record's version has it */
	uint64_t count;
	uint64_t ns;
	uint64_t max_ns; /* 0 before version 15 */
	uint64_t min_ns;
};

struct reader_record {
	unsigned int version;
	struct reader_kind kind[READER_KINDS];
	uint64_t run_ns;
	uint64_t utime_us;
	uint64_t stime_us;
	uint64_t etime_us;
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	char comm[32];
};

/* 0, or -errno: -EPERM without the privilege, -ENOENT without the family. */
int reader_open(void);
void reader_close(void);

/* 0, or -errno: -ESRCH for a task that is not there. */
int reader_pid(pid_t pid, struct reader_record *rec);
int reader_tgid(pid_t tgid, struct reader_record *rec);

/*
 * Exit records of all CPUs by one socket, with a buffer for some ten thousand: 0, or -errno
 * (-EINVAL in a namespace). Each call takes the next one's task part: -EAGAIN when there is none.
 */
int reader_listen(void);
int reader_next_exit(struct reader_record *rec);
void reader_unlisten(void);

/* Sum over /proc/PID/task of schedstat's run, wait and slices. */
int reader_schedstat(pid_t pid, uint64_t *run, uint64_t *wait, uint64_t *slices);

/* Sum over /proc/PID/task of stat's field 42, in ticks. */
int reader_blkio_ticks(pid_t pid, uint64_t *ticks);
