/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command, and what it and all its descendants waited for. */
#ifndef STALLTOP_MODEL_RUN_H
#define STALLTOP_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/frame.h"
#include "model/sampler.h"

/* So many of the descendants that outlive the command are named. */
#define RUN_NAMED 8

/* A descendant that was still there at the end. */
struct run_outlived {
	pid_t pid;
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
};

/* What came of it. */
struct run_result {
	char *const *command;
	int status; /* of the command, as wait(2) gives it */
	uint64_t elapsed_ns;
	uint64_t user_ns, system_ns; /* counters.run_ns, divided: see run_sum_settle() */
	uint64_t tasks, processes; /* that ended and were read */
	bool ungrouped; /* some do not say what process they are of (before version 12) */
	struct counters counters; /* of all, added up */
	struct task_record record; /* longest and shortest waits of all */
	size_t outlived;
	struct run_outlived named[RUN_NAMED]; /* the first of them */
	struct note notes[NOTES_MAX];
	size_t nnotes;
};

/* Where it failed. */
enum run_failure { RUN_START, RUN_WAIT };

/*
 * Runs the command (with its arguments, ends with NULL) to its end: signals that come
 * meanwhile are passed on to it. What its descendants waited for is in their exit records;
 * where those are refused it is read from the processes that are reaped here, just before. Of
 * `config` it uses procfd, exit_buffer and delayacct_file. 0 or -errno; the command could not be
 * started with RUN_START.
 */
int run_command(char *const *command, const struct sampler_config *config,
		struct run_result *result, enum run_failure *failure);

#endif
