/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs do at the end of a thread. Part of measure.bpf.c and trace.bpf.c. */
#pragma once

#include <stdbool.h>

#include "bpf/kernel_types.h"
#include "bpf/thread_end.h"

/* Whether a thread that ends is the last of its process. */
static __always_inline bool is_last(const struct task_struct *task)
{
	return task->signal->live.counter == 0;
}

/* Puts who has ended; the sequence is the caller's, after all else. */
static __always_inline void put_end(struct thread_end *end, const struct task_struct *task)
{
	*(volatile __u64 *)&end->sequence = 0;
	end->start_ns = task->start_time;
	end->process_start_ns = task->group_leader->start_time;
	end->pid = (__s32)task->pid;
	end->tgid = (__s32)task->tgid;
	end->last = is_last(task);
}

/*
 * The storage of a task, made if there is none. Where another CPU makes it at the same time, that
 * fails, and then it is there (kernel/bpf/bpf_local_storage.c: BPF_NOEXIST).
 */
#define MADE_STORAGE(map, task) \
	(bpf_task_storage_get(map, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) \
		 ?: bpf_task_storage_get(map, task, NULL, 0))

/*
 * The thread that keeps the sums of those of its process that end: the leader, or the thread that
 * will be the leader, as it executes a program (fs/exec.c:de_thread()).
 */
static __always_inline struct task_struct *keeper_of(struct task_struct *task)
{
	struct task_struct *next = bpf_core_field_exists(task->signal->group_exec_task)
					   ? task->signal->group_exec_task
					   : task->signal->group_exit_task;

	return next ? next : task->group_leader;
}
