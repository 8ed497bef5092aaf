/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches every wait, in the kernel: at each context switch and wake-up a thread's time is added to
 * the state that it was in, and to the site that it waited in. All of it lies in arrays that
 * trace.c has mapped. Compiled once for kernels from 5.12 on (CO-RE, see kernel_types.h); what a
 * kernel lacks is not known there.
 *
 * A thread's slot is written by whom the scheduler lets: by the CPU that switches it out or in, and
 * by who wakes it while it sleeps (task->pi_lock). A wake-up may come just before the switch that
 * it answers has been seen (kernel/sched/core.c:try_to_wake_up waits for on_cpu after the
 * tracepoint), and the kernel may leave a hook out, as where it would run within itself. What went
 * unseen is told by the scheduler's own figures when the thread is switched the next time.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/trace_queue.bpf.h"
#include "bpf/trace_wait.bpf.h"
#include "bpf/trace_within.bpf.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct local *local = known(task);
	struct trace_thread_slot *slot;
	struct site_ref none = {};
	__u64 now;

	if (!local)
		return 0;
	slot = thread_at(local->slot);
	/* Odd: it is being switched out at this moment, see above. */
	if (!slot || *(volatile __u32 *)&slot->version & 1 || !sleeps(slot->thread.state))
		return 0;
	now = bpf_ktime_get_ns();
	leave_site(local, &slot->thread, now, true);
	local->throttled = is_throttled(task, true);
	set_state(slot, local->slot, STATE_CPU, now, none);
	return 0;
}

/* ---- A CPU is given -------------------------------------------------------------------------- */

/*
 * Books what the kernel counted of the wait of io that ended (kernel/delayacct.c at wake-up). Its
 * stamp of the start may be stale: a wait cannot have begun before the thread ran last.
 */
static __always_inline void book_io(struct local *local, const struct task_struct *task, __u64 now)
{
	__u64 ns = local->io_ns;

	if (task->delays) {
		__u64 booked = task->delays->blkio_delay - local->blkio_ns;

		if (booked <= now - local->arrived_ns)
			ns = booked;
	}
	add_booked(local->io, ns);
	local->io.slot = 0;
}

/*
 * Makes good what went unseen before a task gets a CPU: that it was switched out, as far as its run
 * time tells, or woken, as its time in the queue tells.
 */
static __always_inline void make_good(struct local *local, struct trace_thread_slot *slot,
				      const struct task_struct *task, __u64 now)
{
	struct site_ref none = {};
	__u64 passed = now > slot->thread.since_ns ? now - slot->thread.since_ns : 0, part;

	if (slot->thread.state == STATE_RUN) {
		part = task->se.sum_exec_runtime - local->run_ns;
		if (part > passed)
			part = passed;
		set_state(slot, local->slot, STATE_OTHER, slot->thread.since_ns + part, none);
		passed -= part;
	}
	part = booked_queue(local, task, passed);
	if (part > passed)
		part = passed;
	if (slot->thread.site)
		leave_site(local, &slot->thread, now - part, false);
	set_state(slot, local->slot, STATE_CPU, now - part, none);
}

/* A task gets a CPU. */
static __always_inline void switch_in(struct local *local, struct trace_thread_slot *slot,
				      const struct task_struct *task, __u64 now)
{
	struct site_ref none = {};
	__u64 ns;

	if (slot->thread.state != STATE_CPU)
		make_good(local, slot, task, now);
	if (local->io.slot)
		book_io(local, task, now);
	ns = now > slot->thread.since_ns ? now - slot->thread.since_ns : 0;
	leave_queue(local, &slot->thread, task, now, ns);
	local->arrived_ns = now;
	local->run_ns = task->se.sum_exec_runtime;
	local->throttled = 0;
	set_state(slot, local->slot, STATE_RUN, now, none);
}

/* When a task came to the CPU that it runs on, where that went unseen. */
static __always_inline __u64 arrival(const struct task_struct *task, __u64 since_ns, __u64 now)
{
	__u64 clock = queue_clock(task), ran;

	if (!clock || clock < task->sched_info.last_arrival)
		return now;
	ran = clock - task->sched_info.last_arrival;
	return now > ran && now - ran > since_ns ? now - ran : since_ns;
}

/* A task leaves its CPU. */
static __always_inline void switch_out(void *context, struct task_struct *task, bool preempted,
				       __u32 bits, __u64 now, bool fast)
{
	struct local *local;
	struct trace_thread_slot *slot;
	struct site_ref none = {};
	__u32 state = STATE_CPU;

	if (bits & TASK_DEAD && !preempted) {
		local = known(task);
		if (!local)
			return;
		slot = thread_at(local->slot);
		if (slot)
			set_state(slot, local->slot, WAIT_STATES, now, none);
		local->slot = 0;
		local->gone = 1;
		return;
	}
	local = know(task, STATE_RUN, now);
	slot = local ? thread_at(local->slot) : NULL;
	if (!slot)
		return;
	if (slot->thread.state != STATE_RUN)
		switch_in(local, slot, task, arrival(task, slot->thread.since_ns, now));
	if (bpf_core_field_exists(task->sched_info.run_delay))
		local->run_delay_ns = task->sched_info.run_delay;
	if (preempted || !bits) {
		local->throttled = is_throttled(task, false);
		set_state(slot, local->slot, STATE_CPU, now, none);
		return;
	}
	local->throttled = 0;
	state = enter_site(context, task, local, &slot->thread, bits, now, fast);
	set_state(slot, local->slot, state, now, local->sleep.ref);
}

static __always_inline int switched(void *context, bool preempted, struct task_struct *before,
				    struct task_struct *task, __u32 bits, bool fast)
{
	struct trace_cpu *cpu = this_cpu();
	struct trace_thread_slot *slot;
	struct local *local;
	__u64 now = bpf_ktime_get_ns();

	if (cpu)
		cpu->switches++;
	/* The idle tasks have no number. */
	if (before->pid)
		switch_out(context, before, preempted, bits, now, fast);
	if (task->pid) {
		local = know(task, STATE_CPU, now);
		slot = local ? thread_at(local->slot) : NULL;
		if (slot)
			switch_in(local, slot, task, now);
	}
	if (cpu)
		note_run(cpu, task, now);
	return 0;
}

/* 5.18 and later */
SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_state, bool preempted, struct task_struct *before, struct task_struct *task,
	     unsigned int bits)
{
	return switched(ctx, preempted, before, task, bits, true);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_plain, bool preempted, struct task_struct *before, struct task_struct *task)
{
	return switched(ctx, preempted, before, task, state_of(before), false);
}

/* ---- Births, changes of number --------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u64 now = bpf_ktime_get_ns();
	struct local *local = know(child, STATE_CPU, now);

	if (local)
		local->arrived_ns = now;
	return 0;
}

/* A thread that executes a program becomes the leader (fs/exec.c:de_thread). */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task)
{
	struct local *local = known(task);
	struct trace_thread_slot *slot;

	if (!local)
		return 0;
	slot = thread_at(local->slot);
	if (!slot)
		return 0;
	begin_write(&slot->version);
	identify(&slot->thread, task);
	LIST(thread, slot, local->slot);
	end_write(&slot->version);
	return 0;
}

/* ---- Times within others: reclaim and compaction --------------------------------------------- */

/* What of these a kernel has is loaded. */
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

/* ---- What interrupts a CPU ------------------------------------------------------------------- */

/* Two programs: this CPU handles that from now on, and no more. */
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
/* What one CPU asks of another: x86's two, and arm64's. */
HANDLES(call_function, ipi, 1)
HANDLES(call_function_single, ipi, 1)
HANDLES(ipi, ipi, 1)

/* ---- The threads that there are when tracing begins ------------------------------------------ */

/* Adds a thread in the state that it is in. Hooks may do so at the same time: one of them does. */
static __always_inline void meet_thread(struct task_struct *task, __u64 now)
{
	struct local *local = local_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct trace_thread_slot *slot;
	__u32 at, bits = state_of(task), state;
	struct site_ref ref = {};

	if (!local || local->gone || __sync_val_compare_and_swap(&local->slot, 0, SLOT_TAKEN) != 0)
		return;
	at = make_thread(local, task, now);
	slot = at ? thread_at(at) : NULL;
	if (slot) {
		if (!bits || task->on_cpu) {
			state = task->on_cpu ? STATE_RUN : STATE_CPU;
		} else {
			state = enter_site(NULL, task, local, &slot->thread, bits, now, false);
			ref = local->sleep.ref;
		}
		local->run_delay_ns = task->sched_info.run_delay;
		local->run_ns = task->se.sum_exec_runtime;
		slot->thread.state = (__u8)state;
		set_state(slot, at, state, now, ref);
		slot->thread.attached = sleeps(state);
	}
	__sync_lock_test_and_set(&local->slot, at);
}

SEC("iter/task")
int each_thread(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;
	if (!control.walking)
		meet_reader();
	else if (task->pid && !task->exit_state)
		meet_thread(task, bpf_ktime_get_ns());
	return 0;
}
