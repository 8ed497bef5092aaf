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

#include "bpf/trace_maps.bpf.h"
#include "bpf/trace_site.bpf.h"
#include "bpf/trace_task.bpf.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* ---- Threads --------------------------------------------------------------------------------- */

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

/* ---- A wait begins --------------------------------------------------------------------------- */

/* What a descriptor says of who sleeps on it. */
static __always_inline __u32 state_by_file(const struct seen_file *seen)
{
	if (!seen->file)
		return STATE_OTHER;
	if ((seen->mode & S_IFMT) == S_IFSOCK)
		return STATE_NET;
	if ((seen->mode & S_IFMT) == S_IFIFO)
		return STATE_PIPE;
	return seen->anonymous ? STATE_POLL : STATE_OTHER;
}

/* The state that a task sleeps in, by the scheduler's. */
static __always_inline __u32 sleep_of(const struct task_struct *task, __u32 bits,
				      const struct call *call, const struct seen_file *seen)
{
	__u32 state = STATE_OTHER;

	if (bits & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return STATE_STOP;
	if (bits & TASK_INTERRUPTIBLE) {
		state = call->class.state;
		if (state == STATE_OTHER && call->class.target == CALL_FD)
			state = state_by_file(seen);
		if (state != STATE_OTHER)
			return state;
	}
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		return STATE_IO;
	if ((bits & TASK_UNINTERRUPTIBLE && !(bits & TASK_NOLOAD)) || bits & TASK_RTLOCK_WAIT)
		return STATE_BLOCK;
	return state;
}

/* Puts what the wait is on into its key. */
static __always_inline void put_target(struct trace_key *key, const struct call *call,
				       const struct seen_file *seen)
{
	if (call->class.target == CALL_FD && seen->file) {
		key->target = (seen->mode & S_IFMT) == S_IFSOCK ? TRACE_SOCKET : TRACE_FILE;
		key->ino = seen->ino;
		key->dev = seen->dev;
	} else if (call->class.target == CALL_FUTEX && key->state == STATE_LOCK) {
		key->target = TRACE_FUTEX;
		key->ino = call->argument;
	} else if (call->class.target == CALL_CHILD && key->state == STATE_CHILD) {
		key->target = TRACE_CHILD;
		key->ino = (__u64)(__s64)(__s32)call->argument;
	}
}

/* Completes a site that is waited in for the first time. */
static __always_inline void complete(struct site_ref ref, const struct task_struct *task,
				     const struct call *call, const struct seen_file *seen,
				     __s32 stack, __u8 filled)
{
	struct trace_site_slot *slot = site_at(ref.slot);

	if (!slot || !lock_site(ref.slot))
		return;
	if ((__u32)slot->site.generation == ref.generation) {
		if (!slot->site.filled)
			describe(&slot->site, ref.slot, task, call, seen);
		slot->site.filled = filled;
		slot->site.stack = stack;
		LIST(site, slot, ref.slot);
	}
	end_write(&slot->version);
}

/*
 * Finds the site of the wait that a task begins, and its state. context: NULL where the task is not
 * the current one, so that its stack cannot be kept.
 */
static __always_inline __u32 enter_site(void *context, struct task_struct *task,
					struct local *local, const struct trace_thread *thread,
					__u32 bits, __u64 now, bool fast)
{
	struct trace_key key = {};
	struct seen_file seen = {};
	struct trace_site_slot *slot;
	struct call call;
	bool stacks_tell;
	__u8 filled = context ? FILLED : FILLED_BUT_STACK;

	find_call(&call, task);
	if (call.class.target == CALL_FD)
		find_file(&seen, task, call.argument, fast);
	key.state = (__u8)sleep_of(task, bits, &call, &seen);
	key.start_ns = thread->process_start_ns;
	key.tgid = thread->tgid;
	key.syscall = call.number;
	key.stack = -1;
	put_target(&key, &call, &seen);
	stacks_tell = blocked_stacks && (key.state == STATE_IO || key.state == STATE_BLOCK);
	if (stacks_tell && context)
		key.stack = (__s32)bpf_get_stackid(context, &stacks, 0);
	if (key.stack < 0)
		key.stack = -1;
	find_site(&local->sleep, &key, now);
	slot = site_at(local->sleep.ref.slot);
	if (local->sleep.ref.slot && slot && slot->site.filled < filled) {
		if (context && key.stack < 0)
			key.stack = (__s32)bpf_get_stackid(context, &stacks, 0);
		complete(local->sleep.ref, task, &call, &seen, key.stack, filled);
	}
	return key.state;
}

/* ---- A wait ends ----------------------------------------------------------------------------- */

/* The names of softirqs (include/linux/interrupt.h). */
static const char softirq_names[][TRACE_COMM] = {
	"hi",	    "timer",   "net_tx", "net_rx",  "block",
	"irq_poll", "tasklet", "sched",	 "hrtimer", "rcu",
};
#define SOFTIRQS (sizeof(softirq_names) / sizeof(softirq_names[0]))

/*
 * Puts who wakes: what handles an interrupt on this CPU, else the task that runs. What comes to a
 * socket from this machine is delivered in a softirq of who sent it.
 */
static __always_inline void put_waker(struct waker *waker, bool here)
{
	const struct trace_cpu *cpu = this_cpu();
	const struct task_struct *leader;
	__u32 vector;

	if (!cpu)
		return;
	if (cpu->interrupt) {
		bpf_probe_read_kernel_str(waker->name, sizeof(waker->name),
					  (const void *)cpu->interrupt);
	} else if (cpu->timer) {
		__builtin_memcpy(waker->name, "timer", sizeof("timer"));
	} else if (cpu->ipi) {
		__builtin_memcpy(waker->name, "ipi", sizeof("ipi"));
	} else if (cpu->softirq && !here) {
		vector = cpu->softirq - 1;
		if (vector < SOFTIRQS)
			__builtin_memcpy(waker->name, softirq_names[vector], TRACE_COMM);
	} else {
		leader = bpf_get_current_task_btf()->group_leader;
		waker->tgid = pid_of(leader);
		waker->words[0] = ((const __u64 *)leader->comm)[0];
		waker->words[1] = ((const __u64 *)leader->comm)[1];
	}
}

/* Ends the wait of a sleeping thread, in its site. seen: by the wake-up, of who runs now. */
static __always_inline void leave_site(struct local *local, const struct trace_thread *thread,
				       __u64 now, bool seen)
{
	struct site_ref ref = { thread->site, thread->generation };
	struct trace_site_slot *slot = site_at(ref.slot);
	__u64 ns = now > thread->since_ns ? now - thread->since_ns : 0;
	struct waker waker = {};
	bool io = thread->state == STATE_IO;

	if (seen)
		put_waker(&waker, slot && slot->site.here);
	if (!add_wait_at(ref, now, ns, io ? 0 : ns, seen ? &waker : NULL)) {
		/* The site was given back while it was waited in. */
		ref = find_site(&local->sleep, &local->sleep.key, now);
		if (!add_wait_at(ref, now, ns, io ? 0 : ns, seen ? &waker : NULL)) {
			count_lost_wait();
			ref.slot = 0;
		}
	}
	if (io) {
		local->io = ref;
		local->io_ns = ns;
	}
}

/* Whether a thread in that state has neither a CPU nor waits for one. */
static __always_inline bool sleeps(__u32 state)
{
	return state != STATE_RUN && state != STATE_CPU;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *slot;
	struct site_ref none = {};
	__u64 now;

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
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

/* The clock of the queue that a task is in, as the scheduler read it last; 0: not known. */
static __always_inline __u64 queue_clock(const struct task_struct *task)
{
	const struct cfs_rq *queue;

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	queue = task->se.cfs_rq;
	return queue ? queue->rq->clock : 0;
}

/*
 * What the kernel books for the queue that a task leaves now (kernel/sched/stats.h:
 * sched_info_arrive runs after the tracepoint, by the same reading of the queue's clock).
 */
static __always_inline __u64 booked_queue(const struct local *local, const struct task_struct *task,
					  __u64 unknown)
{
	__u64 booked, clock = queue_clock(task);

	if (!clock)
		return unknown;
	booked = task->sched_info.run_delay - local->run_delay_ns;
	if (task->sched_info.last_queued && clock > task->sched_info.last_queued)
		booked += clock - task->sched_info.last_queued;
	return booked;
}

/*
 * Finds who ran on this CPU for most of the time since then, among the latest runs. Who came last
 * may have run for a moment only.
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

/* Keeps who runs on this CPU from now on. */
static __always_inline void note_run(struct trace_cpu *cpu, const struct task_struct *task,
				     __u64 now)
{
	const struct task_struct *leader = task->group_leader;
	__u32 at = (cpu->run + 1) & (TRACE_RUNS - 1);
	struct trace_run *run = &cpu->runs[at];

	run->since_ns = now;
	run->tgid = task->pid ? pid_of(leader) : 0;
	((__u64 *)run->name)[0] = ((const __u64 *)leader->comm)[0];
	((__u64 *)run->name)[1] = ((const __u64 *)leader->comm)[1];
	cpu->run = at;
}

/* Adds a wait in the queue, by who ran instead. */
static __always_inline void leave_queue(struct local *local, const struct trace_thread *thread,
					const struct task_struct *task, __u64 now, __u64 ns)
{
	struct trace_cpu *cpu = this_cpu();
	const struct trace_run *run = cpu ? who_ran(cpu, now - ns, now) : NULL;
	struct trace_key key = {};
	struct trace_site_slot *slot;
	struct site_ref ref;

	key.start_ns = thread->process_start_ns;
	key.tgid = thread->tgid;
	key.syscall = key.stack = -1;
	key.state = STATE_CPU;
	if (local->throttled) {
		key.target = TRACE_THROTTLED;
	} else if (run) {
		key.target = TRACE_TASK;
		key.ino = (__u64)run->tgid;
	}
	ref = find_site(&local->queue, &key, now);
	slot = site_at(ref.slot);
	if (ref.slot && slot && !slot->site.filled && lock_site(ref.slot)) {
		slot->site.filled = FILLED;
		bpf_probe_read_kernel(slot->site.comm, sizeof(slot->site.comm),
				      task->group_leader->comm);
		if (key.target == TRACE_TASK && run)
			__builtin_memcpy(slot->site.name, run->name, TRACE_COMM);
		end_write(&slot->version);
	}
	/* One that had begun before tracing did is booked as a whole. */
	if (!add_wait_at(ref, now, ns, local->arrived_ns ? booked_queue(local, task, ns) : ns,
			 NULL))
		count_lost_wait();
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
		local = local_of(task, 0);
		if (!local || !local->slot || local->slot == SLOT_TAKEN)
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
	if (state == STATE_IO)
		local->blkio_ns = task->delays ? task->delays->blkio_delay : 0;
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
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *slot;

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
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

/* What the kernel has booked of a kind that lies within others. */
static __always_inline __u64 booked_within(const struct task_struct *task, __u32 kind)
{
	const struct task_delay_info *delays = task->delays;

	return delays && kind == DELAY_RECLAIM ? delays->freepages_delay : 0;
}

static __always_inline int enter_within(__u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = local_of(task, 0);

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
		return 0;
	local->within_ns[kind == DELAY_COMPACT] = bpf_ktime_get_ns();
	if (kind == DELAY_RECLAIM)
		local->within_booked_ns = booked_within(task, kind);
	return 0;
}

/* The kernel books reclaim between the two tracepoints (mm/vmscan.c), compaction around them. */
static __always_inline int leave_within(void *context, __u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *thread;
	struct trace_site_slot *slot;
	struct trace_key key = {};
	struct seen_file seen = {};
	struct recent recent = {};
	__u64 now = bpf_ktime_get_ns(), ns, kind_ns;
	struct call call;

	if (!local || !local->slot || local->slot == SLOT_TAKEN ||
	    !local->within_ns[kind == DELAY_COMPACT])
		return 0;
	thread = thread_at(local->slot);
	if (!thread)
		return 0;
	ns = now - local->within_ns[kind == DELAY_COMPACT];
	local->within_ns[kind == DELAY_COMPACT] = 0;
	kind_ns = ns;
	if (kind == DELAY_RECLAIM && task->delays)
		kind_ns = booked_within(task, kind) - local->within_booked_ns;
	find_call(&call, task);
	if (call.class.target == CALL_FD)
		find_file(&seen, task, call.argument, false);
	key.start_ns = thread->thread.process_start_ns;
	key.tgid = thread->thread.tgid;
	key.syscall = call.number;
	key.stack = -1;
	key.state = STATE_RUN;
	key.within = (__u8)(1 + kind);
	put_target(&key, &call, &seen);
	find_site(&recent, &key, now);
	slot = site_at(recent.ref.slot);
	if (slot && slot->site.filled < FILLED)
		complete(recent.ref, task, &call, &seen,
			 (__s32)bpf_get_stackid(context, &stacks, 0), FILLED);
	if (!add_wait_at(recent.ref, now, ns, kind_ns, NULL))
		count_lost_wait();
	return 0;
}

/* Those that a kernel has are loaded. */
SEC("?tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(reclaim_begins)
{
	return enter_within(DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(reclaim_ends)
{
	return leave_within(ctx, DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(group_reclaim_begins)
{
	return enter_within(DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(group_reclaim_ends)
{
	return leave_within(ctx, DELAY_RECLAIM);
}

SEC("?tp_btf/mm_compaction_begin")
int BPF_PROG(compaction_begins)
{
	return enter_within(DELAY_COMPACT);
}

SEC("?tp_btf/mm_compaction_end")
int BPF_PROG(compaction_ends)
{
	return leave_within(ctx, DELAY_COMPACT);
}

/* ---- What interrupts a CPU ------------------------------------------------------------------- */

/* Sets what this CPU handles from now on; 0: no more. */
#define HANDLES(member, what) \
	do { \
		struct trace_cpu *cpu_ = this_cpu(); \
		if (cpu_) \
			cpu_->member = (what); \
		return 0; \
	} while (0)

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(interrupt_begins, int number, struct irqaction *action)
{
	HANDLES(interrupt, (__u64)action->name);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(interrupt_ends)
{
	HANDLES(interrupt, 0);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_begins, unsigned int vector)
{
	HANDLES(softirq, vector + 1);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_ends)
{
	HANDLES(softirq, 0);
}

/* x86; other machines' timers are handled as any interrupt. */
SEC("?tp_btf/local_timer_entry")
int BPF_PROG(timer_begins)
{
	HANDLES(timer, 1);
}

SEC("?tp_btf/local_timer_exit")
int BPF_PROG(timer_ends)
{
	HANDLES(timer, 0);
}

/* What one CPU asks of another: x86's two, and arm64's. */
#define IPI(name) \
	SEC("?tp_btf/" #name "_entry") \
	int BPF_PROG(name##_begins) \
	{ \
		HANDLES(ipi, 1); \
	} \
	SEC("?tp_btf/" #name "_exit") \
	int BPF_PROG(name##_ends) \
	{ \
		HANDLES(ipi, 0); \
	}

IPI(call_function)
IPI(call_function_single)
IPI(ipi)

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
			if (state == STATE_IO)
				local->blkio_ns = task->delays ? task->delays->blkio_delay : 0;
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
