/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data shared by snapshot.bpf.c, which runs in the kernel, and snapshot.c, which reads it. Includes
 * nothing but the kernel's types and the kinds, as snapshot.bpf.c is compiled for another machine.
 */
#pragma once

#include <linux/types.h>

#include "bpf/measure_record.h"
#include "data/delay_table.h"
#include "data/wait_state_table.h"

#define SNAPSHOT_COMM 16

/* The current wait of a task. */
enum snapshot_wait { SNAPSHOT_NO_WAIT, SNAPSHOT_WAIT_CPU, SNAPSHOT_WAIT_IO, SNAPSHOT_WAIT_D };

/* A kind's counters since start, in ns; max and min are 0 if there was no wait. */
struct snapshot_delay {
	__u64 ns, max, min;
};

/*
 * A thread's own figures. A process of several threads has one record per thread, consecutively,
 * and one with the sums of its exited threads: together they are the process's figures.
 */
struct snapshot_record {
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 read_ns; /* CLOCK_MONOTONIC */
	__u64 run_ns;
	__u64 user_ns, system_ns; /* in ticks */
	__u64 waited_ns; /* time that it has waited so far */
	struct snapshot_delay delay[DELAY_KINDS];
	__u32 count[DELAY_KINDS]; /* of waits, modulo 2^32 as in the kernel */
	__u32 kinds; /* bits of known kinds; swapin, too: if its delays are accounted */
	__u32 ranges; /* bits of kinds with a known max and min */
	__u64 dwait_ns; /* in state D without I/O wait, if measured */
	/*
	 * Bits of measured kinds, which include waits in progress and delays accounted earlier;
	 * SNAPSHOT_DWAIT: dwait_ns.
	 */
	__u32 measured;
	/*
	 * Per state the time since it was first traced, if known; in a process's first record
	 * including its exited threads. in: the current state, WAIT_STATES: it exits. Not in the
	 * record of exited threads.
	 */
	__u32 times_known, in;
	__u64 state_ns[WAIT_STATES];
	__u32 wait; /* enum snapshot_wait */
	__u32 part; /* enum snapshot_part */
	__s32 pid; /* the thread's */
	__s32 tgid, ppid; /* from here on set in a process's first record only */
	__u32 uid;
	__u32 threads; /* living ones, of the process */
	__u32 state, exit_state; /* as in struct task_struct */
	char comm[SNAPSHOT_COMM];
	__u64 cgroup; /* id of the cgroup of the unified hierarchy */
	__u64 groups; /* changes with the cgroup, in any hierarchy */
	__u64 exec; /* changes with exec */
	__u64 children_user_ns, children_system_ns; /* of the process's reaped children */
};

enum snapshot_part { SNAPSHOT_FIRST, SNAPSHOT_THREAD, SNAPSHOT_ENDED };

/* Each task's entry, in the order of the walk. */
struct snapshot_entry {
	__s32 pid;
	__u32 record; /* number of its first record, from 1; 0: unchanged since the previous walk */
};

/* The reading process: pids are of its namespace, and its clocks give the present time. */
struct snapshot_reader {
	__u64 ns;
	__u64 level; /* of the namespace, 0: the initial namespace */
	__u64 at_ns; /* CLOCK_MONOTONIC: time of the clocks below */
	__u64 now_ns; /* the scheduler's clock */
	__u64 exec_ns; /* the task clock, without stolen time */
};

/* The request to the program, and its answer. */
struct snapshot_control {
	__u32 threads; /* one record per thread, else per process */
	__u32 whole; /* records of all tasks, including unchanged ones */
	__u32 cgroups; /* a task moved to another cgroup counts as changed */
	__u32 mask; /* mask of the memory's index */
	__u32 entries, records; /* number found; those beyond the room were not written */
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC, of the walk */
	struct snapshot_reader reader;
};
