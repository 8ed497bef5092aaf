/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/kthread.h"

#include <string.h>

/* The pid of kthreadd, the parent of all threads of the kernel. */
#define KTHREADD 2

/* Whether that is the kernel's kthreadd: in a container its pid may be anybody's. */
static bool is_kthreadd(const struct row *row)
{
	return row->task && row->task->key.pid == KTHREADD && !row->task->ppid &&
	       !strcmp(row->task->comm, "kthreadd");
}

bool kthreads_shown(const struct frame *frame)
{
	/* Only init's threads come before it. */
	for (size_t i = 0; i < frame->n && frame->rows[i].task->tgid <= KTHREADD; i++)
		if (is_kthreadd(&frame->rows[i]))
			return true;
	return false;
}

bool kthread_row(const struct row *row)
{
	return row->task && (row->task->tgid == KTHREADD || row->task->ppid == KTHREADD);
}
