/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a thread spends its time: its slot, and its move between states. Part of trace.bpf.c. */
#pragma once

#include "bpf/trace_site.bpf.h"

/*
 * Moves a thread to a state, in a site (struct site_word) or none. The time since the last move was
 * spent in the state before. WAIT_STATES: it has ended; from then on the slot is the reader's.
 */
static __always_inline void set_state(struct trace_thread_slot *slot, __u32 at, __u32 state,
				      __u64 now, __u64 word)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
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

/* The same where it is rare. */
__noinline int set_state_seldom(struct trace_thread_slot *slot, __u32 at, __u32 state, __u64 now)
{
	if (slot)
		set_state(slot, at, state, now, 0);
	return 0;
}

/* The site as a global function takes it. */
struct named_task {
	const struct task_struct *task;
};

/* The number of a process, by its leader. */
__noinline int pid_of_named(const struct named_task *named)
{
	return named ? pid_at((__u64)named->task) : 0;
}

/* Puts who a thread is. */
__noinline int identify(struct trace_thread *thread, const struct named_task *named)
{
	const struct task_struct *task, *leader;

	if (!thread || !named)
		return 0;
	task = named->task;
	leader = BPF_CORE_READ(task, group_leader);
	thread->pid = pid_at((__u64)task);
	thread->tgid = pid_at((__u64)leader);
	thread->start_ns = BPF_CORE_READ(task, start_time);
	thread->process_start_ns = BPF_CORE_READ(leader, start_time);
	return 0;
}

/* Notes the name of a thread's process, which ends. */
__noinline int note_name(struct trace_thread *thread, const struct named_task *named)
{
	char comm[TRACE_COMM] = { 0 };
	const struct task_struct *task;

	if (!thread || !named)
		return 0;
	task = named->task;
	BPF_CORE_READ_INTO(&comm, task, group_leader, comm);
	thread->name = trace_name_hash(comm);
	return 0;
}

/* The data of a thread with a slot; NULL: it has none. */
static __always_inline struct local *known(struct task_struct *task)
{
	struct local *local = local_of(task, 0);

	return local && local->slot && local->slot != SLOT_TAKEN ? local : NULL;
}

/* A thread that is met so long after it began was hidden: by the walk, and at switches. */
#define HIDDEN_NS 1000000000ULL

/* Counts a thread that finds no room, once; or takes that back: it has room, or has ended. */
static __always_inline void count_lost(struct local *local, bool lost)
{
	struct trace_cpu *cpu = this_cpu();

	if (local->lost == lost || !cpu)
		return;
	local->lost = lost;
	cpu->lost_threads += lost;
	__sync_fetch_and_add(&control.roomless, lost ? 1 : -1);
}

/*
 * Gives a thread without a slot one; it is not seen before local->slot names it. Returns the slot;
 * 0: none is free, or another CPU makes one.
 */
__noinline __u32 make_thread(struct local *local, const struct named_task *named, __u64 now)
{
	const struct task_struct *task;
	struct trace_thread_slot *slot;
	__u32 at;

	if (!local || !named || local->gone ||
	    __sync_val_compare_and_swap(&local->slot, 0, SLOT_TAKEN) != 0)
		return 0;
	task = named->task;
	local->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	local->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	if (!pid_at((__u64)task)) {
		local->gone = GONE;
		__sync_lock_test_and_set(&local->slot, 0);
		return 0;
	}
	at = take_free(&control.free_threads, &free_threads, thread_room);
	slot = thread_at(at);
	if (at && slot) {
		__builtin_memset(&slot->thread, 0, sizeof(slot->thread));
		identify(&slot->thread, named);
		slot->thread.born_ns = slot->thread.since_ns = now;
		slot->thread.hidden = *(volatile __u32 *)&control.walked && !local->lost &&
				      now > slot->thread.start_ns + HIDDEN_NS;
		count_lost(local, false);
		return at;
	}
	count_lost(local, true);
	__sync_lock_test_and_set(&local->slot, 0);
	return 0;
}

/* Gives a thread a slot in which it has been in that state for no time. Whether it has one. */
__noinline int meet(struct local *local, const struct named_task *named, __u32 state, __u64 now)
{
	__u32 at = make_thread(local, named, now);
	struct trace_thread_slot *slot = thread_at(at);

	if (!local || !at || !slot)
		return 0;
	slot->thread.state = (__u8)state;
	set_state_seldom(slot, at, state, now);
	__sync_lock_test_and_set(&local->slot, at);
	return 1;
}

/* The data of a thread, which gets a slot if it has none yet; NULL: without a slot. */
static __always_inline struct local *know(struct task_struct *task, __u32 state, __u64 now)
{
	struct local *local = local_of(task, 0);
	struct named_task named = { task };

	if (local && local->slot)
		return local->slot != SLOT_TAKEN ? local : NULL;
	if (!local)
		local = local_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return local && meet(local, &named, state, now) ? local : NULL;
}

/* Whether a thread in that state has neither a CPU nor waits for one. */
static __always_inline bool sleeps(__u32 state)
{
	return state != STATE_RUN && state != STATE_CPU;
}
