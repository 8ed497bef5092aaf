/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a thread spends its time: its slot, made and moved from state to state. Part of trace.bpf.c.
 */
#ifndef STALLTOP_BPF_TRACE_THREAD_H
#define STALLTOP_BPF_TRACE_THREAD_H

#include "bpf/trace_site.bpf.h"

/*
 * Moves a thread to a state, in a site or none. What passed since was spent in the one before.
 * WAIT_STATES: it has ended; from then on the slot is the reader's.
 */
static __always_inline void set_state(struct trace_thread_slot *slot, __u32 at, __u32 state,
				      __u64 now, struct site_ref ref)
{
	__u32 was = slot->thread.state;

	KEEP(was);
	begin_write(&slot->version);
	if (now < slot->thread.since_ns)
		now = slot->thread.since_ns;
	if (was < WAIT_STATES)
		slot->thread.ns[was] += now - slot->thread.since_ns;
	slot->thread.since_ns = now;
	if (state < WAIT_STATES)
		slot->thread.state = (__u8)state;
	else
		slot->thread.ended = 1;
	slot->thread.site = ref.slot;
	slot->thread.generation = ref.generation;
	slot->thread.attached = 0;
	LIST(thread, slot, at);
	end_write(&slot->version);
}

/* Puts who a thread is. */
static __always_inline void identify(struct trace_thread *thread, const struct task_struct *task)
{
	const struct task_struct *leader = task->group_leader;

	thread->pid = pid_of(task);
	thread->tgid = pid_of(leader);
	thread->start_ns = task->start_time;
	thread->process_start_ns = leader->start_time;
}

/* What is known of a thread that has a slot; NULL: it has none. */
static __always_inline struct local *known(struct task_struct *task)
{
	struct local *local = local_of(task, 0);

	return local && local->slot && local->slot != SLOT_TAKEN ? local : NULL;
}

/* Gives a thread a slot, in which it is not seen yet. 0: there is none. */
static __always_inline __u32 make_thread(struct local *local, const struct task_struct *task,
					 __u64 now)
{
	struct trace_thread_slot *slot;
	struct trace_cpu *cpu;
	__u32 at;

	if (!pid_of(task)) {
		local->gone = 1;
		return 0;
	}
	at = take_free(&control.free_threads, &free_threads, thread_room);
	slot = thread_at(at);
	if (!at || !slot) {
		cpu = this_cpu();
		if (!local->lost && cpu)
			cpu->lost_threads++;
		local->lost = 1;
		return 0;
	}
	__builtin_memset(&slot->thread, 0, sizeof(slot->thread));
	identify(&slot->thread, task);
	slot->thread.born_ns = slot->thread.since_ns = now;
	return at;
}

/*
 * The slot of a thread, made where it has none yet: then it has been in that state for no time.
 * NULL: it has none.
 */
static __always_inline struct local *know(struct task_struct *task, __u32 state, __u64 now)
{
	struct local *local = local_of(task, 0);
	__u32 at;

	if (local && local->slot)
		return local->slot != SLOT_TAKEN ? local : NULL;
	if (!local)
		local = local_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!local || local->gone || __sync_val_compare_and_swap(&local->slot, 0, SLOT_TAKEN) != 0)
		return NULL;
	at = make_thread(local, task, now);
	local->run_delay_ns = task->sched_info.run_delay;
	local->run_ns = task->se.sum_exec_runtime;
	if (at) {
		struct trace_thread_slot *slot = thread_at(at);
		struct site_ref none = {};

		if (slot) {
			slot->thread.state = (__u8)state;
			set_state(slot, at, state, now, none);
		}
	}
	__sync_lock_test_and_set(&local->slot, at);
	return at ? local : NULL;
}

/* Whether a thread in that state has neither a CPU nor waits for one. */
static __always_inline bool sleeps(__u32 state)
{
	return state != STATE_RUN && state != STATE_CPU;
}

#endif
