/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains the few rows that suffer most: their targets, the limits of their groups, the tasks that
 * ran on their CPUs. It is read with a sample, and so recorded too. Finds tasks that sleep in a
 * request to a file system's server, though not in state D.
 */
#pragma once

#include "frame/frame.h"
#include "sampler/waiting.h"

struct proc;

struct evidence;

/* proc, of /proc, stays the caller's and must outlive it. */
struct evidence *evidence_open(struct proc *proc);

/*
 * Reads what explains a frame that was built, into its sample's extras: evidence, waits, and hangs
 * unless `hangs` tells that they were read. fill_cpu has task->cpu of a row set.
 */
void evidence_read(struct evidence *evidence, struct waiting_reader *waiting, struct frame *frame,
		   bool hangs, void (*fill_cpu)(void *arg, const struct row *row), void *arg);

/* Reads the limits of groups of some rows of tasks, into their sample's extras. */
void evidence_fill(struct evidence *evidence, const struct frame_info *info,
		   const struct row *const *rows, size_t n);

/* NULL is allowed. */
void evidence_close(struct evidence *evidence);
