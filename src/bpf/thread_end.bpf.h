/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs do when a thread ends. Part of measure.bpf.c and trace.bpf.c. */
#pragma once

#include <stdbool.h>

#include "bpf/kernel_types.h"
#include "bpf/thread_end.h"

/* True if a thread that ends is the last of its process. */
static __always_inline bool is_last(const struct task_struct *task)
{
	return task->signal->live.counter == 0;
}

/* Stores which thread ended; the caller sets the sequence number last. */
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
 * The storage of a task, allocated if there is none. If another CPU allocates it concurrently, that
 * fails, and then it is there (kernel/bpf/bpf_local_storage.c: BPF_NOEXIST).
 */
#define MADE_STORAGE(map, task) \
	(bpf_task_storage_get(map, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) \
		 ?: bpf_task_storage_get(map, task, NULL, 0))

/*
 * The thread that keeps the sums of its process's exited threads: the leader, or the thread that
 * becomes the leader at exec (fs/exec.c:de_thread()).
 */
static __always_inline struct task_struct *keeper_of(struct task_struct *task)
{
	struct task_struct *next = bpf_core_field_exists(task->signal->group_exec_task)
					   ? task->signal->group_exec_task
					   : task->signal->group_exit_task;

	return next ? next : task->group_leader;
}
