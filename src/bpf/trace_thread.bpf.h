/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread's time by state: its data, and its change of states. Part of trace.bpf.c. */
#pragma once

#include "bpf/trace_site.bpf.h"

/*
 * Moves a thread to a state, in a site (struct site_word) or none. The time since the last move was
 * spent in the previous state. WAIT_STATES: it has exited.
 */
static __always_inline void set_state(struct thread_storage *local, __u32 state, __u64 now,
				      __u64 word)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	__u32 was = local->thread.state;

	KEEP(was);
	begin_write(&local->version);
	if (now < local->thread.since_ns)
		now = local->thread.since_ns;
	if (was < WAIT_STATES)
		local->thread.ns[was] += now - local->thread.since_ns;
	local->thread.since_ns = now;
	local->thread.state = (__u8)state;
	local->thread.site = ref.slot;
	local->thread.generation = ref.generation;
	local->thread.attached = 0;
	end_write(&local->version);
}

/* The same for rare cases. */
__noinline int set_state_seldom(struct thread_storage *local, __u32 state, __u64 now)
{
	if (local)
		set_state(local, state, now, 0);
	return 0;
}

/* A task as an argument of global functions. */
struct named_task {
	const struct task_struct *task;
};

/* The number of a task; of a process, that of its leader. */
__noinline int pid_of_named(const struct named_task *named)
{
	return named ? pid_at((__u64)named->task) : 0;
}

/* The hash of the name of a thread's process. */
__noinline __u32 name_of(const struct named_task *named)
{
	char comm[TRACE_COMM] = { 0 };
	const struct task_struct *task;

	if (!named)
		return 0;
	task = named->task;
	BPF_CORE_READ_INTO(&comm, task, group_leader, comm);
	return trace_name_hash(comm);
}

/* The data of a present thread; NULL: it is not present. */
static __always_inline struct thread_storage *known(struct task_struct *task)
{
	struct thread_storage *local = storage_of(task, 0);

	return local && (local->presence == PRESENT || local->presence == LEAVING) ? local : NULL;
}

/* A thread first seen this long after its start was hidden from the walk and from switch events. */
#define HIDDEN_NS 1000000000ULL

/*
 * Registers a thread, which has been in that state for no time; it is not visible before the caller
 * makes it `PRESENT`. 0: another CPU does, or it is outside the reader's namespace.
 */
__noinline int register_thread(struct thread_storage *local, const struct named_task *named,
			       __u32 state, __u64 now)
{
	const struct task_struct *task, *leader;

	if (!local || !named ||
	    __sync_val_compare_and_swap(&local->presence, UNREGISTERED, REGISTERING) !=
		    UNREGISTERED)
		return 0;
	task = named->task;
	leader = BPF_CORE_READ(task, group_leader);
	if (!pid_at((__u64)task)) {
		__sync_lock_test_and_set(&local->presence, GONE);
		return 0;
	}
	local->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	local->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	local->thread.tgid = pid_at((__u64)leader);
	local->thread.process_start_ns = BPF_CORE_READ(leader, start_time);
	local->thread.born_ns = local->thread.since_ns = now;
	local->thread.state = (__u8)state;
	local->thread.hidden = *(volatile __u32 *)&control.walked &&
			       now > BPF_CORE_READ(task, start_time) + HIDDEN_NS;
	return 1;
}

/* The data of a thread, registered if it is new; NULL: not present. */
static __always_inline struct thread_storage *know(struct task_struct *task, __u32 state, __u64 now)
{
	struct thread_storage *local = storage_of(task, 0);
	struct named_task named = { task };

	if (local && local->presence != UNREGISTERED)
		return local->presence == PRESENT || local->presence == LEAVING ? local : NULL;
	if (!local)
		local = storage_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!local || !register_thread(local, &named, state, now))
		return NULL;
	__sync_lock_test_and_set(&local->presence, PRESENT);
	return local;
}

/* True if a thread in that state neither has a CPU nor waits for one. */
static __always_inline bool sleeps(__u32 state)
{
	return state != STATE_RUN && state != STATE_CPU;
}
