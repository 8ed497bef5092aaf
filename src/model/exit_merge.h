/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks that have exited: their last counters find their place in the sample, exactly once. */
#ifndef STALLTOP_MODEL_EXIT_MERGE_H
#define STALLTOP_MODEL_EXIT_MERGE_H

#include "data/sample.h"
#include "model/exit_fold.h"

/*
 * Brings what exited into `cur`, whose tasks were read before the records were taken:
 * - one that `cur` still has (a zombie, or it exited right after its reading) gets its last
 *   counters there and is marked;
 * - one that only `prev` had, or none of them, is added behind the living (sample_leave());
 * - a thread's end is nothing in a row a process: the kernel's sum over threads has it;
 * - a thread that took the leader's id by exec (fs/exec.c:de_thread()) goes on with its own
 *   counters under that id.
 * prev may be NULL: then only tasks in `cur` are marked.
 * Returns how many records, in front, are for the next interval too: see exit_record.left_out.
 */
size_t exit_merge(const struct exit_batch *batch, const struct sample *prev, struct sample *cur);

#endif
