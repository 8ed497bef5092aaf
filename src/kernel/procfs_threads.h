/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers the counters of each process's threads at the previous reading. The kernel's files are
 * of live threads only, so a process's total is kept here: it grows with each thread's counters,
 * and keeps the last ones of exited threads. Reads no files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum thread_counter {
	THREAD_RUN, /* ns */
	THREAD_WAIT,
	THREAD_SLICES, /* a number of waits */
	THREAD_BLKIO,
	THREAD_USER,
	THREAD_SYSTEM,
	THREAD_LIFE, /* ns since its start */
	THREAD_COUNTERS
};

/* A thread at a reading. */
struct thread_figures {
	pid_t tid;
	uint64_t start_ns; /* since boot: tid and start identify the thread */
	uint64_t count[THREAD_COUNTERS];
};

/* A process: its total, and its threads, unless it has only the main thread. */
struct process_figures {
	pid_t tgid;
	uint64_t start_ns, read_ns;
	uint64_t total[THREAD_COUNTERS];
	size_t first, n; /* n is 0: never had another thread, total is the main thread's */
};

/* All processes of one sample, ascending, and their threads in the same order. */
struct threads_round {
	struct process_figures *processes;
	struct thread_figures *threads;
	size_t nprocesses, cap_processes, nthreads, cap_threads;
};

/*
 * Two rounds used in turn, so that exited processes drop out and a sample like the previous one
 * allocates nothing. Zero-initialised: no processes are known.
 */
struct procfs_threads {
	struct threads_round rounds[2];
	unsigned now;
	size_t at; /* position in the previous round */
	uint64_t began_ns, before_ns;
	/* The process being read. */
	struct process_figures process;
	const struct process_figures *known; /* as it was in the previous round, or NULL */
	struct thread_figures lone; /* its main thread, if that was the only one */
	const struct thread_figures *old;
	size_t nold;
};

/*
 * Starts a sample. A thread that started before since_boot_ns and is unknown in the next sample was
 * missed by this sample.
 */
void procfs_threads_begin(struct procfs_threads *memory, uint64_t since_boot_ns);

/*
 * Starts a process; the tgids of a sample ascend. Returns its threads at the previous reading, by
 * tid, and their number n; the main thread is among them even if the process is new.
 */
const struct thread_figures *procfs_threads_of(struct procfs_threads *memory, pid_t tgid,
					       uint64_t start_ns, uint64_t read_ns, size_t *n);

/* Adds a thread of the process; their tids ascend, and the main thread is one of them. */
void procfs_threads_add(struct procfs_threads *memory, const struct thread_figures *figures);

/*
 * Ends the process and returns its figures, valid until the next call. True if a thread ran,
 * started or exited since the previous reading.
 */
bool procfs_threads_end(struct procfs_threads *memory, const struct process_figures **process);

/* Frees the memory. */
void procfs_threads_free(struct procfs_threads *memory);
