/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches every wait, in the kernel: at each context switch and wake-up a thread's time is added to
 * the state that it was in, and to the site that it waited in. Sites lie in arrays that
 * trace.c has mapped; the times of a thread lie in its storage, where the walk (snapshot.bpf.c)
 * reads them. Compiled once for all kernels (CO-RE, see kernel_types.h); kernels before 5.12 lack
 * the storage of tasks that it needs. What else a kernel lacks is not known there.
 *
 * A thread's data has one writer at a time, as the scheduler sees to: the CPU that switches it out
 * or in, or whoever wakes it while it sleeps (task->pi_lock). A wake-up may come just before the
 * switch that it answers has been seen (kernel/sched/core.c:try_to_wake_up waits for on_cpu after
 * the tracepoint), and the kernel may leave a hook out, as where it would run within itself. The
 * scheduler's own figures tell what went unseen, when the thread is switched the next time.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/trace_chain.bpf.h"
#include "bpf/trace_queue.bpf.h"
#include "bpf/trace_wait.bpf.h"
#include "bpf/trace_within.bpf.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct thread_storage *local = known(task);
	struct trace_site_slot *site;
	struct waker waker = {};
	struct site_word word = {};
	struct thread_storage *own;
	__u64 now;

	if (!local)
		return 0;
	/* Odd: it is being switched out at this moment, see above. */
	if (*(volatile __u32 *)&local->version & 1 || !sleeps(local->thread.state))
		return 0;
	now = bpf_ktime_get_ns();
	local->woken = 1 + local->thread.state;
	if (states_alone) {
		set_state(local, STATE_CPU, now, 0);
		return 0;
	}
	site = site_at(local->thread.site);
	put_waker(&waker, site && site->site.here);
	own = waker.tgid ? known(bpf_get_current_task_btf()) : NULL;
	waker.relation = waker.tgid ? relation_of(own, &local->thread, site) : RELATIONS;
	leave_site(local, now, &waker);
	word.ref.slot = local->thread.site;
	word.ref.generation = local->thread.generation;
	keep_activity(local, now);
	keep_asked(local, waker.tgid, local->thread.state);
	if (waker.tgid) {
		add_links(word.word, own, local->thread.since_ns, now);
		end_segments(local, own, task, local->thread.state == STATE_CHILD, now);
		add_waker_stack(word.word, local, own, now);
	}
	local->throttled = throttled_by(task, true);
	set_state(local, STATE_CPU, now, 0);
	return 0;
}

/* ---- A CPU is given -------------------------------------------------------------------------- */

/* Repairs events missed at switch-in: a switch-out (by run time) or a wake-up (by queue time). */
__noinline int make_good(struct thread_storage *local, const struct switch_in *arrival)
{
	__u64 now, part, passed;

	if (!local || !arrival)
		return 0;
	now = arrival->now;
	passed = now > local->thread.since_ns ? now - local->thread.since_ns : 0;
	if (local->thread.state == STATE_RUN) {
		part = arrival->run_ns - local->run_ns;
		if (part > passed)
			part = passed;
		keep_activity(local, local->thread.since_ns + part);
		set_state_seldom(local, STATE_OTHER, local->thread.since_ns + part);
		passed -= part;
	}
	part = booked_queue(local, arrival, passed);
	if (part > passed)
		part = passed;
	if (local->thread.site)
		leave_site(local, now - part, NULL);
	keep_activity(local, now - part);
	set_state_seldom(local, STATE_CPU, now - part);
	return 0;
}

/* Time between a wake-up and queueing on a CPU that is checked. */
#define LATE_NS 500

/*
 * Extends the wait of a woken task until it was queued: a deeply idle CPU takes some 20 us to
 * answer, and nobody waits for that CPU meanwhile. at: when it was queued.
 */
__noinline int wait_until_queued(struct thread_storage *local, __u64 at)
{
	__u64 ns;

	if (!local || !local->woken || at < local->thread.since_ns)
		return 0;
	local->thread.state = (__u8)(local->woken - 1);
	if (!states_alone) {
		ns = at - local->thread.since_ns;
		local->thread.site = local->sleep.ref.slot;
		local->thread.generation = local->sleep.ref.generation;
		add_late(local->sleep.ref, ns);
		keep_activity(local, at);
	}
	set_state_seldom(local, STATE_CPU, at);
	return 0;
}

/* A task gets a CPU. */
static __always_inline void switch_in(struct thread_storage *local, const struct switch_in *arrival)
{
	__u64 ns, queued;

	if (local->thread.state != STATE_CPU) {
		make_good(local, arrival);
	} else if (local->woken) {
		queued = booked_queue(local, arrival, -1);
		if (queued < arrival->now &&
		    arrival->now - queued > local->thread.since_ns + LATE_NS)
			wait_until_queued(local, arrival->now - queued);
	}
	local->woken = 0;
	ns = arrival->now > local->thread.since_ns ? arrival->now - local->thread.since_ns : 0;
	if (!states_alone) {
		leave_queue(local, arrival, ns);
		keep_activity(local, arrival->now);
	}
	local->arrived_ns = arrival->now;
	local->run_ns = arrival->run_ns;
	local->throttled = 0;
	set_state(local, STATE_RUN, arrival->now, 0);
}

/* The same for rare cases. */
__noinline int switch_in_seldom(struct thread_storage *local, const struct switch_in *arrival)
{
	if (local && arrival)
		switch_in(local, arrival);
	return 0;
}

/* Gives a task a CPU. */
static __always_inline void arrive(struct thread_storage *local, const struct task_struct *task,
				   const struct task_struct *leader, __u64 now, bool fast,
				   bool seldom)
{
	struct switch_in arrival = { .now = now, .leader = leader };

	arrival.run_ns = task->se.sum_exec_runtime;
	arrival.queued_ns = queued_of(task, fast);
	if (seldom)
		switch_in_seldom(local, &arrival);
	else
		switch_in(local, &arrival);
}

/* The time at which a task got its CPU, if its switch was missed. */
static __always_inline __u64 arrived_at(const struct task_struct *task, __u64 since_ns, __u64 now,
					bool fast)
{
	__u64 clock = queue_clock(task, fast), ran;

	if (!clock || clock < task->sched_info.last_arrival)
		return now;
	ran = clock - task->sched_info.last_arrival;
	return now > ran && now - ran > since_ns ? now - ran : since_ns;
}

/* The current task sleeps: finds its site. Returns its state. */
static __always_inline __u32 fall_asleep(void *context, struct task_struct *task,
					 struct thread_storage *local, __u32 bits, __u64 now,
					 bool fast)
{
	struct wait wait = {};

	look_at_sleep(&wait, &local->thread, task, bits, fast, true);
	if (states_alone)
		return wait.key.state;
	look_at_fault(&wait, local, task);
	enter_site(context, local, &wait, now);
	if (user_stack_room)
		take_user_stack(local, task);
	return wait.key.state;
}

/* The current task leaves its CPU. */
static __always_inline void switch_out(void *context, struct task_struct *task, bool preempted,
				       __u32 bits, __u64 now, bool fast)
{
	struct thread_storage *local;
	struct site_word word = {};
	__u32 state = STATE_CPU;

	if (bits & TASK_DEAD && !preempted) {
		local = known(task);
		if (!local)
			return;
		set_state_seldom(local, WAIT_STATES, now);
		local->presence = GONE;
		return;
	}
	local = know(task, STATE_RUN, now);
	if (!local)
		return;
	if (local->thread.state != STATE_RUN)
		arrive(local, task, only_read(task, fast)->group_leader,
		       arrived_at(task, local->thread.since_ns, now, fast), fast, true);
	if (!states_alone)
		keep_activity(local, now);
	if (bpf_core_field_exists(task->sched_info.run_delay))
		local->run_delay_ns = task->sched_info.run_delay;
	if (preempted || !bits) {
		local->throttled = throttled_by(task, false);
	} else {
		local->throttled = 0;
		state = fall_asleep(context, task, local, bits, now, fast);
		word.ref = local->sleep.ref;
	}
	set_state(local, state, now, word.word);
}

static __always_inline int trace_switch(void *context, bool preempted, struct task_struct *before,
					struct task_struct *task, __u32 bits, bool fast)
{
	struct trace_cpu *cpu = this_cpu();
	const struct task_struct *leader;
	struct named_task named;
	struct thread_storage *local;
	__u64 now = bpf_ktime_get_ns();
	__s32 tgid = 0;

	if (!cpu)
		return 0;
	cpu->switches++;
	/* The idle tasks have no number. */
	if (before->pid)
		switch_out(context, before, preempted, bits, now, fast);
	named.task = leader = only_read(task, fast)->group_leader;
	if (task->pid) {
		local = know(task, STATE_CPU, now);
		if (local) {
			arrive(local, task, leader, now, fast, false);
			tgid = local->thread.tgid;
		} else {
			tgid = pid_of_named(&named);
		}
	}
	if (!states_alone)
		note_run(cpu, leader, tgid, now);
	return 0;
}

/* 5.18 and later */
SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_state, bool preempted, struct task_struct *before, struct task_struct *task,
	     unsigned int bits)
{
	return trace_switch(ctx, preempted, before, task, bits, true);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_plain, bool preempted, struct task_struct *before, struct task_struct *task)
{
	return trace_switch(ctx, preempted, before, task, state_of(before), false);
}

/* ---- Births, changes of number --------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_storage *local = know(child, STATE_CPU, now);

	if (local)
		local->arrived_ns = now;
	return 0;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* Reads the final times of a thread; false: it was not traced completely. */
static __always_inline bool take_times(__u64 *ns, const struct thread_storage *local, __u64 now)
{
	__u32 state;

	__builtin_memset(ns, 0, WAIT_STATES * sizeof(*ns));
	if (!local)
		return false;
	__builtin_memcpy(ns, local->thread.ns, WAIT_STATES * sizeof(*ns));
	state = local->thread.state;
	if (state < WAIT_STATES && now > local->thread.since_ns)
		ns[state] += now - local->thread.since_ns;
	return !local->thread.hidden;
}

/* Adds the times of an exiting thread to its process's. */
static __always_inline void keep_times(struct task_struct *task, const struct trace_end *end)
{
	struct task_struct *keeper = keeper_of(task);
	struct ended_times *sum = keeper ? MADE_STORAGE(&ended_of, keeper) : NULL;

	if (!sum)
		return;
	for (unsigned i = 0; i < WAIT_STATES; i++)
		__sync_fetch_and_add(&sum->ns[i], end->own[i]);
	if (!end->own_known)
		sum->partial = 1;
}

/*
 * Stores a thread's time by state until its end, which takes a few us from here, and its process's
 * if it is the last thread.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(exited, struct task_struct *task)
{
	struct ended_times *sum = bpf_task_storage_get(&ended_of, task->group_leader, NULL, 0);
	__u64 number = __sync_fetch_and_add(&control.ends, 1);
	__u32 at = number & (TRACE_ENDS - 1);
	struct trace_end *end = bpf_map_lookup_elem(&ends, &at);
	struct thread_storage *local = known(task);
	struct named_task named = { task };

	if (!end)
		return 0;
	put_end(&end->end, task);
	end->tgid = local ? local->thread.tgid : 0;
	end->name = end->end.last ? name_of(&named) : 0;
	end->own_known = take_times(end->own, local, bpf_ktime_get_ns());
	__builtin_memcpy(end->process, end->own, sizeof(end->process));
	end->process_known = end->own_known && !(sum && sum->partial);
	for (unsigned i = 0; sum && i < WAIT_STATES; i++)
		end->process[i] += sum->ns[i];
	if (!end->end.last)
		keep_times(task, end);
	if (local)
		local->presence = LEAVING;
	__sync_lock_test_and_set(&end->end.sequence, number + 1);
	return 0;
}

/* ---- Times within others: reclaim and compaction --------------------------------------------- */

/* Only the programs whose hooks the kernel has are loaded. */
#define WITHIN(name, kind) \
	SEC("?tp_btf/" #name "_begin") \
	int BPF_PROG(name##_begins) \
	{ \
		return enter_within(kind); \
	} \
	SEC("?tp_btf/" #name "_end") \
	int BPF_PROG(name##_ends) \
	{ \
		return leave_within(ctx, kind); \
	}

WITHIN(mm_vmscan_direct_reclaim, DELAY_RECLAIM)
WITHIN(mm_vmscan_memcg_reclaim, DELAY_RECLAIM)
WITHIN(mm_compaction, DELAY_COMPACT)

/* ---- Page faults ----------------------------------------------------------------------------- */

/* 6.10 and later: a fault on a mapped file whose page was not mapped along with a neighbour's. */
SEC("?tp_btf/mm_filemap_fault")
int BPF_PROG(faulted, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_storage *local = known(task);

	if (!local)
		return 0;
	local->fault_inode = (__u64)mapping->host;
	local->faults = faults_of(task);
	return 0;
}

/* ---- What interrupts a CPU ------------------------------------------------------------------- */

/* Two programs: this CPU starts and stops handling that. */
#define HANDLES(name, member, what, ...) \
	SEC("?tp_btf/" #name "_entry") \
	int BPF_PROG(name##_begins, ##__VA_ARGS__) \
	{ \
		struct trace_cpu *cpu = this_cpu(); \
		if (cpu) \
			cpu->member = (what); \
		return 0; \
	} \
	SEC("?tp_btf/" #name "_exit") \
	int BPF_PROG(name##_ends) \
	{ \
		struct trace_cpu *cpu = this_cpu(); \
		if (cpu) \
			cpu->member = 0; \
		return 0; \
	}

HANDLES(irq_handler, interrupt, (__u64)action->name, int number, struct irqaction *action)
HANDLES(softirq, softirq, vector + 1, unsigned int vector)
/* x86; other machines' timers are handled as any interrupt. */
HANDLES(local_timer, timer, 1)
/* Requests of one CPU to another: x86's two, and arm64's. */
HANDLES(call_function, ipi, 1)
HANDLES(call_function_single, ipi, 1)
HANDLES(ipi, ipi, 1)

/* ---- The threads that exist when tracing begins ---------------------------------------------- */

/* Registers a thread in its current state. Hooks may do so concurrently: one of them wins. */
static __always_inline void register_existing(struct task_struct *task, __u64 now)
{
	struct thread_storage *local = storage_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct named_task named = { task };
	struct wait wait = {};
	struct site_word word = {};
	__u32 bits = state_of(task), state = STATE_RUN;

	if (!local || !register_thread(local, &named, STATE_OTHER, now))
		return;
	if (!bits || task->on_cpu) {
		state = task->on_cpu ? STATE_RUN : STATE_CPU;
	} else {
		look_at_sleep(&wait, &local->thread, task, bits, false, false);
		state = wait.key.state;
		if (!states_alone)
			enter_site(NULL, local, &wait, now);
		word.ref = local->sleep.ref;
	}
	local->thread.state = (__u8)state;
	set_state(local, state, now, word.word);
	local->thread.attached = sleeps(state);
	__sync_lock_test_and_set(&local->presence, PRESENT);
}

SEC("iter/task")
int each_thread(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;
	if (!control.walking) {
		note_reader();
		control.calls = are_calls_known();
		control.user_stacks = takes_user_stacks();
		return 0;
	}
	if (task->pid && !task->exit_state)
		register_existing(task, bpf_ktime_get_ns());
	return 0;
}

/* ---- Who waits where ------------------------------------------------------------------------- */

/* Copies where a thread is, unless that is written all the time. */
static __always_inline bool copy_waiter(struct trace_waiter *waiter,
					const struct thread_storage *local)
{
	for (int i = 0; i < 4; i++) {
		__u32 version = *(volatile __u32 *)&local->version;

		if (version & 1)
			continue;
		barrier();
		waiter->since_ns = local->thread.since_ns;
		waiter->site = local->thread.site;
		waiter->generation = local->thread.generation;
		waiter->state = local->thread.state;
		waiter->attached = local->thread.attached;
		waiter->user_stack = local->user_stack;
		barrier();
		if (*(volatile __u32 *)&local->version == version)
			return true;
	}
	return false;
}

/* Writes a struct trace_waiter for each thread in a site, on a CPU or in a run queue. */
SEC("iter/task")
int each_waiter(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct named_task named = { task };
	struct trace_waiter waiter = {};
	struct thread_storage *local;

	if (!task)
		return 0;
	local = known(task);
	if (!local || !copy_waiter(&waiter, local) || (!waiter.site && sleeps(waiter.state)))
		return 0;
	/* Since 6.1 a sleeper is frozen without a switch (kernel/freezer.c).
	 */
	if (state_of(task) & TASK_FROZEN)
		waiter.state = STATE_STOP;
	if (!sleeps(waiter.state))
		waiter.user_stack = 0;
	else if (user_stack_room && !waiter.user_stack)
		put_registers(&waiter, local, task);
	waiter.pid = pid_of_named(&named);
	waiter.tgid = local->thread.tgid;
	waiter.stacked = waiter.user_stack || waiter.ip;
	if (waiter.stacked)
		bpf_seq_write(context->meta->seq, &waiter, sizeof(waiter));
	else
		bpf_seq_write(context->meta->seq, &waiter, TRACE_WAITER_LEAST);
	return 0;
}
