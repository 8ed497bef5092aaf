/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the current wait of some rows of a sample: three files per task, and those of its target;
 * so never of all tasks unless all are shown.
 */
#pragma once

#include "data/sample.h"
#include "frame/frame.h"

struct proc;

struct waiting_reader;

struct waiting_reader *waiting_open(struct proc *proc);

/* Starts a sample: data shared by several tasks is read again. */
void waiting_renew(struct waiting_reader *reader);

/*
 * Reads the waits of some rows' tasks, as task_extra.waiting of the frame's sample; threads: rows
 * are threads. Rows already read for this sample are unchanged; groups and exited tasks have none.
 * needs: NEED_ bits; does nothing without one of NEED_SHOWN.
 */
void waiting_fill(struct waiting_reader *reader, const struct frame_info *info,
		  const struct row *const *rows, size_t n, bool threads, unsigned needs);

/* Why nothing could be read since waiting_renew(), as -errno; 0: something could. */
int waiting_refused(const struct waiting_reader *reader);

void waiting_close(struct waiting_reader *reader);
