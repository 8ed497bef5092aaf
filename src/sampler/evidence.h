/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects evidence for the most delayed rows: wait targets, cgroup limits, the tasks that ran on
 * their CPUs. Read with the sample, so recorded too.
 */
#pragma once

#include "frame/frame.h"
#include "sampler/waiting.h"

struct proc;

struct evidence;

/* The caller keeps proc, of /proc, while this is in use. */
struct evidence *evidence_open(struct proc *proc);

/*
 * Reads what explains a built frame, into its sample's extras: evidence, waits, and hangs unless
 * `hangs` says that they were read. fill_cpu sets task->cpu of a row.
 */
void evidence_read(struct evidence *evidence, struct waiting_reader *waiting, struct frame *frame,
		   bool hangs, void (*fill_cpu)(void *arg, const struct row *row), void *arg);

/* Reads the cgroup limits of some rows of tasks, into their sample's extras. */
void evidence_fill(struct evidence *evidence, const struct frame_info *info,
		   const struct row *const *rows, size_t n);

/* NULL is allowed. */
void evidence_close(struct evidence *evidence);
