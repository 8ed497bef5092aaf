/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds of tasks' I/O waits by the pressure of their groups. Since 6.12 the kernel accounts waits
 * from stale time stamps: waits of another group's tasks contribute to the machine's pressure,
 * which then rules nothing out, but not to that of a task's own group. Only a few groups are read,
 * those whose tasks had some accounted blkio recently: an earlier stamp cannot be taken for a wait
 * of the interval. Nothing is read if no task had any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "frame/frame.h"

struct proc;

struct io_bounds;

/* Opens nothing yet. The caller keeps proc, of /proc, while the bounds are in use. */
struct io_bounds *io_bounds_open(struct proc *proc);

/*
 * Bounds rows of a frame just built, including its traced times: those with much accounted, in
 * groups of version 2 that were read at the previous sample, too, and in which the row was found
 * before. Rows that were traced or measured are unchanged, and so are processes whose threads may
 * be in several groups. known: the tasks' groups are those of version 2, as read with this sample.
 */
void io_bounds_take(struct io_bounds *bounds, struct frame *frame, struct frame_info *info,
		    bool known);

/* Frees the bounds. NULL is allowed. */
void io_bounds_close(struct io_bounds *bounds);
