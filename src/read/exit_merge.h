/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges exited tasks into a sample: their last counters are counted exactly once. */
#pragma once

#include "data/sample.h"
#include "read/exit_fold.h"

/*
 * Brings exited tasks into `cur`, whose tasks were read before the records were taken:
 * - a task that `cur` still has (a zombie, or it exited right after its reading) gets its last
 *   counters there and is marked;
 * - a task that only `prev` had, or neither, is added behind the living (sample_add_exited());
 * - a thread's end changes nothing where rows are processes: the kernel's sum over threads has it;
 * - a thread that took the leader's id by exec (fs/exec.c:de_thread()) keeps its own counters
 *   under that id.
 * prev may be NULL: then only tasks in `cur` are marked.
 * Returns how many records, in front, are for the next interval too: see exit_record.left_out.
 */
size_t exit_merge(const struct exit_batch *batch, const struct sample *prev, struct sample *cur);
