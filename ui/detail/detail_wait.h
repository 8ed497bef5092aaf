/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The current wait of a detail's task: the system call, the file, the stack. */
#pragma once

#include "model/frame.h"
#include "ui/term/pager.h"

/* The task's current wait; texts are raw bytes, empty where not known. */
struct detail_wait {
	pid_t tid; /* the thread that waits; 0: none, or not known */
	uint32_t cpu; /* one more than the CPU that the task ran on last; 0: not known */
	enum wait_state state; /* WAIT_STATES: not known */
	struct buf call, on, where; /* call: with its arguments */
	struct buf stack; /* functions, each on a line */
};

/* Takes what was read of a row's wait: see row_waiting(). */
void detail_wait_take(struct detail_wait *wait, const struct frame *frame, const struct row *row);

/* Writes a line with the function and what the wait is on, where that is known. */
void detail_wait_name(const struct detail_wait *wait, struct pager *pager);

/* Writes the part about the wait; nothing where nothing is known. */
void detail_wait_write(const struct detail_wait *wait, struct pager *pager, struct buf *scratch);

void detail_wait_free(struct detail_wait *wait);
