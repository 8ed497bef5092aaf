/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The states of a thread, as a partition of its time: it is always in exactly one. Recordings store
 * their numbers: append only. Includes nothing, as the BPF program includes it, too.
 */
#pragma once

/* ROW(NAME, id, letter of the bar, column's heading, what the thread does) */
#define WAIT_STATE_TABLE(ROW) \
	ROW(RUN, "run", 'r', "SRUN", "is on CPU") \
	ROW(CPU, "cpu", 'c', "SCPU", "is runnable: queued for a CPU, or throttled") \
	ROW(IO, "io", 'i', "SIO", "waits for block I/O") \
	ROW(DWAIT, "dwait", 'b', "SDWAIT", \
	    "is in uninterruptible sleep, not for I/O: kernel locks, frozen file systems") \
	ROW(LOCK, "lock", 'l', "SLOCK", \
	    "waits for a lock that is held: a futex, or a file by flock() or fcntl()") \
	ROW(NET, "net", 'n', "SNET", "waits for a socket") \
	ROW(PIPE, "pipe", 'p', "SPIPE", "waits for a pipe") \
	ROW(POLL, "poll", '.', "SPOLL", "waits for signals, or any of several files or events") \
	ROW(TIMER, "timer", 't', "STIMER", "sleeps for a given time") \
	ROW(CHILD, "child", 'w', "SCHILD", "waits for a child to end") \
	ROW(STOP, "stop", 's', "SSTOP", "is stopped, or traced by a debugger") \
	ROW(OTHER, "other", 'o', "SOTHER", \
	    "sleeps for other reasons: terminals, idle kernel threads") \
	ROW(PARK, "park", 'k', "SPARK", \
	    "waits for a futex that is not a held lock, as idle threads do")

#define WAIT_STATE_ID(NAME, ...) STATE_##NAME,
enum wait_state { WAIT_STATE_TABLE(WAIT_STATE_ID) WAIT_STATES };
#undef WAIT_STATE_ID

/*
 * Why a runnable task does not run though nobody runs in its place. Recordings store their numbers.
 * ROW(NAME, what throttles it, the words before the task's name)
 */
#define CPU_BUDGET_TABLE(ROW) \
	ROW(QUOTA, "its cgroup's quota", "quota of the cgroup of ") \
	ROW(DEADLINE, "its own deadline budget", "deadline budget of ") \
	ROW(REALTIME, "its cgroup's real-time budget", "real-time budget of the cgroup of ") \
	ROW(YIELD, "its own yield, until its next period", "yield until the next period of ")

#define CPU_BUDGET_ID(NAME, ...) BUDGET_##NAME,
enum cpu_budget { CPU_BUDGET_TABLE(CPU_BUDGET_ID) CPU_BUDGETS };
#undef CPU_BUDGET_ID
