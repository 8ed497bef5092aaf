/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity of a task, and the file of its descriptor. Part of trace.bpf.c. */
#pragma once

#include "bpf/trace_maps.bpf.h"

/*
 * Functions that are global, as pid_at() is, are checked by the verifier once for each program, and
 * not at each call with all that led there. Before 6.8 they take no tasks: they get the address, or
 * ask for the current one.
 */

/* ---- Tasks ----------------------------------------------------------------------------------- */

/*
 * A task whose pointers are followed. For each load of a pointer through one that it trusts, the
 * verifier of 6.3 and later looks through all types of the kernel (kernel/bpf/btf.c:
 * btf_nested_type_is_trusted), which takes a millisecond; a read-only one is not trusted. fast: may
 * a program be loaded that has a call of what the kernel lacks (5.16).
 */
static __always_inline const struct task_struct *only_read(const struct task_struct *task,
							   bool fast)
{
	if (fast && bpf_rdonly_cast)
		return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
	return task;
}

/* A pointer that a task has, for the same reason. */
#define POINTER_OF(task, member, fast) \
	((fast) ? only_read(task, fast)->member : BPF_CORE_READ(task, member))

static __always_inline long upid_at(struct upid *upid, const struct pid *pid, __u32 level)
{
	return bpf_probe_read_kernel(upid, sizeof(*upid),
				     (const char *)&pid->numbers + level * sizeof(*upid));
}

/* The number of the task at an address, in the reader's namespace; 0: not in it. */
__noinline int pid_at(__u64 address)
{
	const struct task_struct *task = (const struct task_struct *)address;
	const struct pid *pid;
	struct upid upid = {};

	if (!control.reader_level)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < control.reader_level ||
	    upid_at(&upid, pid, control.reader_level) || (__u64)upid.ns != control.reader_ns)
		return 0;
	return upid.nr;
}

/* The pid of the current process in the reader's namespace; 0: not in it. */
static __always_inline int pid_of_current_leader(void)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();

	return pid_at((__u64)BPF_CORE_READ(task, group_leader));
}

/* Records the namespace of the reader: that of the task that runs this. */
static __always_inline void note_reader(void)
{
	const struct task_struct *self = (const struct task_struct *)bpf_get_current_task();
	const struct pid *pid = BPF_CORE_READ(self, thread_pid);
	struct upid upid = {};

	if (!pid)
		return;
	control.reader_level = BPF_CORE_READ(pid, level);
	if (control.reader_level)
		upid_at(&upid, pid, control.reader_level);
	control.reader_ns = (__u64)upid.ns;
}

/* Priorities of real-time tasks are below; those of deadline tasks below 0. */
#define FIRST_NORMAL_PRIORITY 100

/* Maximum depth to which groups with a real-time budget are checked. */
#define REALTIME_DEPTH 4

/* What throttles a deadline task, as in throttled_by(). */
static __always_inline __u8 deadline_throttled_by(const struct task_struct *task)
{
	if (!bpf_core_field_exists(task->dl.dl_throttled) ||
	    !BPF_CORE_READ_BITFIELD(task, dl.dl_throttled))
		return 0;
	if (bpf_core_field_exists(task->dl.dl_yielded) &&
	    BPF_CORE_READ_BITFIELD(task, dl.dl_yielded))
		return 1 + BUDGET_YIELD;
	return 1 + BUDGET_DEADLINE;
}

/* What throttles a FIFO or RR task: the budget of its group, or of one above it. */
static __always_inline __u8 realtime_throttled_by(const struct task_struct *task)
{
	const struct sched_rt_entity *entity = &task->rt;

	if (!bpf_core_field_exists(task->rt.rt_rq) ||
	    !bpf_core_field_exists(((struct rt_rq *)0)->rt_throttled))
		return 0;
	for (unsigned i = 0; i < REALTIME_DEPTH && entity; i++) {
		const struct rt_rq *queue = BPF_CORE_READ(entity, rt_rq);

		if (queue && BPF_CORE_READ(queue, rt_throttled))
			return 1 + BUDGET_REALTIME;
		entity = BPF_CORE_READ(entity, parent);
	}
	return 0;
}

/*
 * What throttles a queued task besides others that run: 1 + enum cpu_budget; 0: nothing. A group's
 * quota marks its tasks (6.18 and later), or its queues.
 */
static __always_inline __u8 throttled_by(const struct task_struct *task, bool waking)
{
	const struct cfs_rq *queue;
	int priority = (int)task->prio;

	if (priority < 0)
		return deadline_throttled_by(task);
	if (priority < FIRST_NORMAL_PRIORITY)
		return realtime_throttled_by(task);
	if (bpf_core_field_exists(task->throttled))
		return !waking && task->throttled ? 1 + BUDGET_QUOTA : 0;
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count))
		return 0;
	queue = task->se.cfs_rq;
	return queue && queue->throttle_count > 0 ? 1 + BUDGET_QUOTA : 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

struct seen_file {
	const struct file___kernel *file; /* NULL: none */
	__u64 ino;
	__u32 dev, mode;
	bool anonymous; /* an eventfd, timerfd, epoll and so on */
};

/* Reads the inode of an open file; by the faster method if the kernel has it (6.2). */
static __always_inline void read_inode(struct seen_file *seen, const struct file___kernel *file,
				       bool fast)
{
	const struct inode *inode;

	if (fast && bpf_rdonly_cast) {
		file = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file___kernel));
		inode = file->f_inode;
		seen->ino = inode->i_ino;
		seen->mode = inode->i_mode;
		seen->dev = inode->i_sb->s_dev;
		seen->anonymous = inode->i_sb->s_magic == ANON_INODE_FS_MAGIC;
		return;
	}
	inode = BPF_CORE_READ(file, f_inode);
	seen->ino = BPF_CORE_READ(inode, i_ino);
	seen->mode = BPF_CORE_READ(inode, i_mode);
	seen->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen->anonymous = BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_FS_MAGIC;
}

/* Reads the inode at an address. */
static __always_inline void read_inode_at(struct seen_file *seen, __u64 address)
{
	const struct inode *inode = (const struct inode *)address;

	seen->ino = BPF_CORE_READ(inode, i_ino);
	seen->mode = BPF_CORE_READ(inode, i_mode);
	seen->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* Page faults of a task that have ended. */
static __always_inline __u64 faults_of(const struct task_struct *task)
{
	return BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
}

static __always_inline void find_file(struct seen_file *seen, const struct task_struct *task,
				      __u64 fd, bool fast)
{
	const struct files_struct *files = POINTER_OF(task, files, fast);
	const struct fdtable *table;
	const struct file___kernel *file = NULL, **slots;
	__u32 room;

	seen->file = NULL;
	if (!files)
		return;
	table = fast ? files->fdt : BPF_CORE_READ(files, fdt);
	room = fast ? table->max_fds : BPF_CORE_READ(table, max_fds);
	slots = fast ? (void *)table->fd : (void *)BPF_CORE_READ(table, fd);
	/* int: the upper half of the register is undefined. */
	if ((__u32)fd >= room || bpf_probe_read_kernel(&file, sizeof(file), &slots[(__u32)fd]) ||
	    !file)
		return;
	seen->file = file;
	read_inode(seen, file, fast);
}
