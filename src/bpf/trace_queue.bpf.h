/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits in a CPU's run queue: the time that the kernel accounts, and who ran instead. Part of
 * trace.bpf.c.
 */
#pragma once

#include "bpf/trace_thread.bpf.h"

/* The clock of a task's run queue, as the scheduler read it last; 0: unknown. */
static __always_inline __u64 queue_clock(const struct task_struct *task, bool fast)
{
	const struct cfs_rq *queue;

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	queue = only_read(task, fast)->se.cfs_rq;
	return queue ? queue->rq->clock : 0;
}

/* A task that gets a CPU, as an argument of global functions. */
struct switch_in {
	__u64 now;
	__u64 run_ns; /* its run time so far */
	__u64 queued_ns; /* accounted queue time, including the present one; -1: unknown */
	const struct task_struct *leader;
};

/*
 * The time that the kernel accounts for a task's earlier run queues and the one that it leaves now
 * (kernel/sched/stats.h: sched_info_arrive runs after the tracepoint, by the same reading of the
 * queue's clock).
 */
static __always_inline __u64 queued_of(const struct task_struct *task, bool fast)
{
	__u64 booked, clock = queue_clock(task, fast);

	if (!clock)
		return -1;
	booked = task->sched_info.run_delay;
	if (task->sched_info.last_queued && clock > task->sched_info.last_queued)
		booked += clock - task->sched_info.last_queued;
	return booked;
}

/* The time accounted for the run queue that a task leaves. */
static __always_inline __u64 booked_queue(const struct thread_storage *local,
					  const struct switch_in *arrival, __u64 unknown)
{
	return arrival->queued_ns == (__u64)-1 ? unknown : arrival->queued_ns - local->run_delay_ns;
}

/*
 * Finds the process that ran on this CPU for most of the time since then, among the latest runs.
 * The last one may have run for a moment only.
 */
static __always_inline const struct trace_run *who_ran(struct trace_cpu *cpu, __u64 since,
						       __u64 now)
{
	const struct trace_run *most = NULL;
	__u64 longest = 0, end = now;

	for (__u32 i = 0; i < TRACE_RUNS; i++) {
		const struct trace_run *run = &cpu->runs[(cpu->run - i) & (TRACE_RUNS - 1)];
		__u64 start = run->since_ns, from = start > since ? start : since;

		if (!start)
			break;
		if (end > from && end - from > longest) {
			longest = end - from;
			most = run;
		}
		if (start <= since)
			break;
		end = start;
	}
	return most && most->tgid ? most : NULL;
}

/* Records the process that runs on this CPU from now on. */
static __always_inline void note_run(struct trace_cpu *cpu, const struct task_struct *leader,
				     __s32 tgid, __u64 now)
{
	__u32 at = (cpu->run + 1) & (TRACE_RUNS - 1);
	struct trace_run *run = &cpu->runs[at];

	run->since_ns = now;
	run->tgid = tgid;
	((__u64 *)run->name)[0] = ((const __u64 *)leader->comm)[0];
	((__u64 *)run->name)[1] = ((const __u64 *)leader->comm)[1];
	cpu->run = at;
}

/* Adds a wait in the run queue, by the process that ran instead. */
static __always_inline void leave_queue(struct thread_storage *local,
					const struct switch_in *arrival, __u64 ns)
{
	struct trace_cpu *cpu = this_cpu();
	const struct trace_run *run = cpu ? who_ran(cpu, arrival->now - ns, arrival->now) : NULL;
	struct trace_key key = {};
	struct trace_site_slot *slot;
	struct site_ref ref;

	key.start_ns = local->thread.process_start_ns;
	key.tgid = local->thread.tgid;
	key.syscall = key.stack = -1;
	key.state = STATE_CPU;
	if (local->throttled) {
		key.target = TRACE_THROTTLED;
		key.ino = local->throttled - 1U;
	} else if (run) {
		key.target = TRACE_TASK;
		key.ino = (__u64)run->tgid;
	}
	find_site(&local->queue, &key, arrival->now);
	ref = local->queue.ref;
	slot = site_at(ref.slot);
	if (ref.slot && slot && !slot->site.filled && lock_site(slot, ref.slot)) {
		slot->site.filled = FILLED;
		bpf_probe_read_kernel(slot->site.comm, sizeof(slot->site.comm),
				      arrival->leader->comm);
		if (key.target == TRACE_TASK && run)
			__builtin_memcpy(slot->site.name, run->name, TRACE_COMM);
		end_write(&slot->version);
	}
	/* A wait that began before tracing is accounted as a whole. */
	if (!add_wait_at(ref, arrival->now, ns,
			 local->arrived_ns ? booked_queue(local, arrival, ns) : ns, NULL))
		count_lost_wait();
}
