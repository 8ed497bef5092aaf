/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command, and the waits of it and all its descendants. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame/frame.h"
#include "sampler/run_trace.h"
#include "sampler/sampler.h"

/* Maximum number of named descendants that outlive the command. */
#define RUN_NAMED 8

/* A descendant that still existed at the end. */
struct run_outlived {
	pid_t pid;
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
};

/* The result of a run. */
struct run_result {
	char *const *command;
	int status; /* of the command, as wait(2) gives it */
	uint64_t elapsed_ns;
	uint64_t user_ns, system_ns; /* counters.run_ns, divided: see run_sum_settle() */
	uint64_t tasks, processes; /* those that exited and were read */
	bool ungrouped; /* some records lack their process (before version 12) */
	struct counters counters; /* the sum over all tasks */
	struct task_record record; /* longest and shortest waits of all */
	size_t outlived;
	struct run_outlived named[RUN_NAMED]; /* the first of them */
	struct run_traced traced;
	struct run_trace *trace; /* owns the data in `traced`; NULL: waits were not traced */
	struct note notes[NOTES_MAX];
	size_t nnotes;
};

/* The step that failed. */
enum run_failure { RUN_START, RUN_WAIT };

/*
 * Runs the command (with its arguments, ends with NULL) to its exit, and forwards signals to it.
 * Its descendants' waits come from their exit records; if those are refused, they are read from
 * processes just before they are reaped here. Uses proc, exit_buffer, delayacct_file, trace and
 * trace_sites of `config`. 0 or -errno; RUN_START: the command could not be started; RUN_WAIT: if
 * it was, it has been ended. run_result_free() in any case.
 */
int run_command(char *const *command, const struct sampler_config *config,
		struct run_result *result, enum run_failure *failure);

/* Frees the result's memory. */
void run_result_free(struct run_result *result);
