/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks that were stopped on purpose: by a signal, a debugger, the freezer of a cgroup. Read only
 * of tasks that were asked about.
 */
#ifndef STALLTOP_MODEL_HELD_H
#define STALLTOP_MODEL_HELD_H

#include "data/sample.h"

struct proc;

/*
 * Sets task->held of the tasks of a sample, as far as they are not too many. What cannot be read is
 * not set.
 */
void held_read(struct proc *proc, const struct sample *sample);

#endif
