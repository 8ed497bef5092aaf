/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of threads: their sites, and their wakers. Part of trace.bpf.c. */
#pragma once

#include "bpf/trace_stack.bpf.h"

/* ---- A wait begins --------------------------------------------------------------------------- */

/* Facts from a descriptor about a thread that sleeps on it. */
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

/*
 * Reads a bit field of a task. Directly if the verifier knows the task: a helper's call costs 15
 * ns.
 */
#define BIT_OF(task, member, fast) \
	((fast) ? BPF_CORE_READ_BITFIELD(task, member) \
		: BPF_CORE_READ_BITFIELD_PROBED(task, member))

/* The state that a task sleeps in, from the scheduler's. */
static __always_inline __u32 sleep_of(const struct task_struct *task, __u32 bits,
				      const struct call *call, const struct seen_file *seen,
				      bool fast)
{
	__u32 state = STATE_OTHER;

	if (bits & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return STATE_STOP;
	if (bits & TASK_INTERRUPTIBLE) {
		/*
		 * kernel/signal.c:do_freezer_trap(). vfork() has the bit, too, but sleeps
		 * uninterruptibly (kernel/fork.c:wait_for_vfork_done()).
		 */
		if (bpf_core_field_exists(task->frozen) && BIT_OF(task, frozen, fast))
			return STATE_STOP;
		state = call->class.state;
		if (state == STATE_OTHER && call->class.target == CALL_FD)
			state = state_by_file(seen);
		if (state != STATE_OTHER)
			return state;
	}
	if (BIT_OF(task, in_iowait, fast))
		return STATE_IO;
	if ((bits & TASK_UNINTERRUPTIBLE && !(bits & TASK_NOLOAD)) || bits & TASK_RTLOCK_WAIT)
		return STATE_DWAIT;
	return state;
}

/* Stores the target of the wait in its key. */
static __always_inline void put_target(struct wait *wait)
{
	struct trace_key *key = &wait->key;
	const struct call *call = &wait->call;
	const struct seen_file *seen = &wait->seen;

	if (call->class.target == CALL_FD && seen->file) {
		key->target = (seen->mode & S_IFMT) == S_IFSOCK ? TRACE_SOCKET : TRACE_FILE;
		key->ino = seen->ino;
		/* Those without a file system share one inode: each descriptor is distinguished. */
		key->dev = seen->anonymous ? NO_DEVICE | (__u32)call->argument : seen->dev;
	} else if (call->class.target == CALL_FUTEX &&
		   (key->state == STATE_LOCK || key->state == STATE_PARK)) {
		key->target = TRACE_FUTEX;
		key->ino = call->argument;
	} else if (call->files > 1) {
		key->target = TRACE_POLLED;
		key->ino = call->files;
	} else if (call->class.target == CALL_CHILD && key->state == STATE_CHILD) {
		key->target = TRACE_CHILD;
		key->ino = (__u64)(__s64)(__s32)call->argument;
	}
}

/*
 * Reads where a task is now: the system call, and its target. current: the task is the current one,
 * whose memory can be read.
 */
static __always_inline void look_at(struct wait *wait, const struct trace_thread *thread,
				    struct task_struct *task, bool fast, bool current)
{
	find_call(&wait->call, task);
	if (current) {
		find_packed(&wait->call);
		if (wait->call.class.target == CALL_POLL)
			find_polled(&wait->call);
		else if (wait->call.class.target == CALL_SELECT)
			find_selected(&wait->call);
	}
	if (wait->call.class.target == CALL_FD)
		find_file(&wait->seen, task, wait->call.argument, fast);
	wait->key.start_ns = thread->process_start_ns;
	wait->key.tgid = thread->tgid;
	wait->key.syscall = wait->call.number;
	wait->key.stack = -1;
	wait->task = task;
}

/* Reads where a sleeping task is, and finds its state. */
static __always_inline void look_at_sleep(struct wait *wait, const struct trace_thread *thread,
					  struct task_struct *task, __u32 bits, bool fast,
					  bool current)
{
	look_at(wait, thread, task, fast, current);
	wait->key.state = (__u8)sleep_of(task, bits, &wait->call, &wait->seen, fast);
	/* A stopped task does not wait for the target of its call. */
	if (wait->key.state != STATE_STOP)
		put_target(wait);
	else if (!(bits & (TASK_STOPPED | TASK_TRACED)))
		wait->key.target = TRACE_FROZEN;
}

/* Adds the file of an io wait outside any call, such as the current task's page fault. */
static __always_inline void look_at_fault(struct wait *wait, const struct thread_storage *local,
					  const struct task_struct *task)
{
	if (wait->call.number != NO_CALL || !local->fault_inode || local->faults != faults_of(task))
		return;
	wait->fault_inode = local->fault_inode;
	read_inode_at(&wait->seen, wait->fault_inode);
	wait->key.target = TRACE_FILE;
	wait->key.ino = wait->seen.ino;
	wait->key.dev = wait->seen.dev;
}

/* Completes a new site (struct site_word). */
__noinline int complete(__u64 word, const struct wait *wait, __s32 stack, __u32 filled)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot);

	if (!wait || !slot || !lock_site(slot, ref.slot))
		return 0;
	if ((__u32)slot->site.generation == ref.generation) {
		if (!slot->site.filled)
			describe(&slot->site, ref.slot, wait);
		slot->site.filled = (__u8)filled;
		slot->site.stack = stack;
		list_site(slot, ref.slot);
	}
	end_write(&slot->version);
	return 0;
}

/*
 * Finds the site of a wait. context: NULL if the task is not the current one, so that its stack
 * cannot be stored.
 */
static __always_inline void enter_site(void *context, struct thread_storage *local,
				       struct wait *wait, __u64 now)
{
	struct trace_site_slot *slot;
	struct site_word word;
	__u8 filled = context ? FILLED : FILLED_BUT_STACK, state = wait->key.state;
	__s32 stack = -1;

	/* Kernel workers make no system calls; only the stack distinguishes idle from busy. */
	if (context && blocked_stacks &&
	    (state == STATE_IO || state == STATE_DWAIT || wait->call.worker)) {
		stack = (__s32)bpf_get_stackid(context, &stacks, 0);
		wait->key.stack = stack < 0 ? -1 : stack;
	}
	find_site(&local->sleep, &wait->key, now);
	word.ref = local->sleep.ref;
	slot = site_at(word.ref.slot);
	if (word.ref.slot && slot && slot->site.filled < filled) {
		if (context && stack < 0)
			stack = (__s32)bpf_get_stackid(context, &stacks, 0);
		complete(word.word, wait, stack, filled);
	}
}

/* ---- A wait ends ----------------------------------------------------------------------------- */

/* The names of softirqs (include/linux/interrupt.h). */
static const char softirq_names[][TRACE_COMM] = {
	"hi",	    "timer",   "net_tx", "net_rx",  "block",
	"irq_poll", "tasklet", "sched",	 "hrtimer", "rcu",
};
#define SOFTIRQS (sizeof(softirq_names) / sizeof(softirq_names[0]))

/*
 * Stores the waker: the interrupt being handled on this CPU, else the running task. Data for a
 * socket from this machine is delivered in a softirq of its sender.
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
		waker->tgid = control.reader_level ? pid_of_current_leader() : leader->pid;
		waker->words[0] = ((const __u64 *)leader->comm)[0];
		waker->words[1] = ((const __u64 *)leader->comm)[1];
	}
}

/* Ends the wait of a sleeping thread, in its site. waker: the running task; NULL: it was missed. */
static __always_inline void leave_site(struct thread_storage *local, __u64 now,
				       const struct waker *waker)
{
	struct site_word word = { .ref = { local->thread.site, local->thread.generation } };
	__u64 ns = now > local->thread.since_ns ? now - local->thread.since_ns : 0;

	if (!add_wait_at(word.ref, now, ns, 0, waker)) {
		/* The site was freed while it was waited in. */
		find_other_site(&local->sleep, &local->sleep.key, now);
		word.ref = local->sleep.ref;
		if (!add_wait_at(word.ref, now, ns, 0, waker)) {
			count_lost_wait();
			return;
		}
	}
	if (user_stack_room && local->user_stack && ns >= control.stacks_over_ns)
		add_to_stack(word.word, local->user_stack, ns);
}
