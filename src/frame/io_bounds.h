/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds of what tasks waited for I/O by the pressure of their groups. Since 6.12 the kernel books
 * waits from stale stamps: what another group's tasks wait makes the machine's pressure, which then
 * rules nothing out, but not that of a task's own group. Only a few groups are read, those whose
 * tasks were booked some blkio lately: a stamp from before that cannot be taken for a wait of the
 * interval. Nothing is read where nobody was.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "frame/frame.h"

struct proc;

struct io_bounds;

/* Opens nothing yet. proc, of /proc, stays the caller's and must outlive the bounds. */
struct io_bounds *io_bounds_open(struct proc *proc);

/*
 * Bounds rows of a frame that was just built, with what was traced in it: those that were booked
 * much, in groups of version 2 that were read at the last sample, too, and in which the row was
 * found before. Rows that were traced or measured are left as they are, and so are processes whose
 * threads may be in several groups. known: the tasks' groups are those of version 2, as read with
 * this sample.
 */
void io_bounds_take(struct io_bounds *bounds, struct frame *frame, struct frame_info *info,
		    bool known);

/* Frees the bounds. NULL is allowed. */
void io_bounds_close(struct io_bounds *bounds);
