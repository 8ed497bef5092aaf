/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows are threads of the kernel, by their parent. */
#ifndef STALLTOP_VIEW_KTHREAD_H
#define STALLTOP_VIEW_KTHREAD_H

#include <stdbool.h>

#include "model/frame.h"

/* Whether a frame of tasks, in order of their pids, has the parent of the kernel's threads. */
bool kthreads_shown(const struct frame *frame);

/* Whether a row of a frame that has it is a thread of the kernel. */
bool kthread_row(const struct row *row);

#endif
