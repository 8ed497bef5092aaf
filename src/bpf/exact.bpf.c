/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the waits that the kernel books wrongly or not at all: of each thread the time from
 * leaving its CPU in uninterruptible sleep, or in I/O wait, to being woken. The walk over all tasks
 * (snapshot.bpf.c) reads the sums where they are. Compiled once for all kernels (CO-RE, see
 * kernel_types.h); kernels before 5.12 lack the storage of tasks that it needs.
 *
 * All else must cost next to nothing, as this runs at each switch and each wake-up. Where the
 * storage of tasks allocates from memory of its own (6.4 and later), a thread has it made at its
 * first wait; elsewhere when it is born: at a switch an allocation might wake up kswapd, and want
 * the lock that is held.
 *
 * Whoever wakes a thread writes its sums (under task->pi_lock). A wake-up may come before the
 * switch that it answers has been seen (kernel/sched/core.c:try_to_wake_up() waits for on_cpu after
 * the tracepoint): such a wait lasted for no time, and what is then left of its beginning is told
 * by the task's being queued or on a CPU.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/exact_record.h"
#include "bpf/kernel_types.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* include/linux/sched.h */
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_NOLOAD 0x400

/* A shorter wait may be rounding: a wake-up that came before the switch was seen ended nothing. */
#define LEAST_UNSEEN_NS 20000

struct exact_control control;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct exact_task);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EXACT_ENDED);
	__type(key, __u32);
	__type(value, struct exact_ended);
} ended SEC(".maps");

/* Set before the program is loaded: storage may be made at a switch. */
const volatile bool make_late;

static __always_inline struct exact_task *exact_of(struct task_struct *task)
{
	return bpf_task_storage_get(&waits, task, NULL, 0);
}

static __always_inline struct exact_task *make_exact(struct task_struct *task)
{
	return bpf_task_storage_get(&waits, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The same at a switch or a wake-up. */
static __always_inline struct exact_task *need_exact(struct task_struct *task)
{
	return make_late ? make_exact(task) : exact_of(task);
}

/* Whether a task in that state is in uninterruptible sleep, and not idle. */
static __always_inline bool is_blocked(__u32 state)
{
	return (state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
}

static __always_inline bool is_iowait(const struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* Adds a wait to a sum that one writes at a time. */
static __always_inline void add(struct exact_sum *sum, __u64 ns)
{
	sum->ns += ns;
	sum->count++;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	if (!sum->min_ns || ns < sum->min_ns)
		sum->min_ns = ns;
}

/* The same where several may: that two longest waits end in the same instant is left to chance. */
static __always_inline void add_shared(struct exact_sum *sum, __u64 ns)
{
	__sync_fetch_and_add(&sum->ns, ns);
	__sync_fetch_and_add(&sum->count, 1);
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	if (!sum->min_ns || ns < sum->min_ns)
		sum->min_ns = ns;
}

/* Adds a wait of a thread. */
static __always_inline void add_measured(struct exact_task *exact, struct task_struct *task,
					 bool iowait, __u64 ns)
{
	struct exact_task *process;

	add(iowait ? &exact->io : &exact->dwait, ns);
	/* A thread that has left its process may have outlived the leader. */
	if (task->pid == task->tgid || task->exit_state)
		return;
	process = need_exact(task->group_leader);
	if (process)
		add_shared(iowait ? &process->others_io : &process->others_dwait, ns);
}

/* ---- A wait begins --------------------------------------------------------------------------- */

/*
 * Adds a wait whose end went unseen, when the task sleeps the next time: the kernel may leave a
 * program out (seen on 6.18 under load, at one of some thousand wake-ups). What passed since it
 * began and was not queued or run is the wait, unless the task slept otherwise since.
 */
static __always_inline void add_unseen(struct exact_task *exact, struct task_struct *task,
				       __u64 now)
{
	__u64 passed = now - exact->since_ns;
	__u64 other = task->sched_info.run_delay - exact->queued_ns + task->se.sum_exec_runtime -
		      exact->ran_ns;

	if (task->nvcsw == exact->switches + 1 && passed > other + LEAST_UNSEEN_NS)
		add_measured(exact, task, exact->iowait, passed - other);
}

/* A task leaves its CPU in that state. */
static __always_inline int begin_wait(struct task_struct *task, __u32 state)
{
	struct exact_task *exact;
	bool iowait;
	__u64 now;

	if (!state)
		return 0;
	iowait = is_iowait(task);
	if (!iowait && !is_blocked(state))
		return 0;
	exact = need_exact(task);
	if (!exact)
		return 0;
	now = bpf_ktime_get_ns();
	if (exact->since_ns)
		add_unseen(exact, task, now);
	exact->iowait = iowait;
	exact->switches = task->nvcsw;
	exact->queued_ns = task->sched_info.run_delay;
	exact->ran_ns = task->se.sum_exec_runtime;
	exact->since_ns = now;
	return 0;
}

/* 5.18 and later */
SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_state, bool preempted, struct task_struct *before, struct task_struct *task,
	     unsigned int state)
{
	return preempted ? 0 : begin_wait(before, state);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_plain, bool preempted, struct task_struct *before, struct task_struct *task)
{
	return preempted ? 0 : begin_wait(before, state_of(before));
}

/* ---- A wait ends ----------------------------------------------------------------------------- */

/* Whether the task is off its CPU, and not queued: one that sleeps may be (delayed dequeue). */
static __always_inline bool is_off(const struct task_struct *task)
{
	if (task->on_cpu)
		return false;
	if (!task->on_rq)
		return true;
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct exact_task *exact;
	__u64 since, ns;
	bool iowait;

	if (!is_blocked(state_of(task)) && !is_iowait(task))
		return 0;
	exact = exact_of(task);
	if (!exact || !exact->since_ns)
		return 0;
	since = exact->since_ns;
	iowait = exact->iowait;
	exact->since_ns = 0;
	if (!is_off(task))
		return 0;
	ns = bpf_ktime_get_ns() - since;
	add_measured(exact, task, iowait, ns);
	return 0;
}

/* ---- Threads come and go --------------------------------------------------------------------- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	make_exact(child);
	return 0;
}

/* Puts the figures of a process: those of its leader, and of the others. */
static __always_inline void put_process(struct exact_ended *end, struct task_struct *leader)
{
	const struct exact_task *exact = exact_of(leader);

	end->process_start_ns = leader->start_time;
	if (!exact)
		return;
	end->process_io_ns = exact->io.ns + exact->others_io.ns;
	end->process_io_count = exact->io.count + exact->others_io.count;
	end->process_dwait_ns = exact->dwait.ns + exact->others_dwait.ns;
}

/* Keeps the last figures of a thread, and of its process if it is the last of that. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(exited, struct task_struct *task)
{
	struct exact_task *exact = exact_of(task);
	struct exact_ended *end;
	__u64 number;
	__u32 at;

	/* A task without waits and bookings needs no correction. */
	if (!exact)
		return 0;
	number = __sync_fetch_and_add(&control.ended, 1);
	at = number & (EXACT_ENDED - 1);
	end = bpf_map_lookup_elem(&ended, &at);
	if (!end)
		return 0;
	*(volatile __u64 *)&end->sequence = 0;
	end->start_ns = task->start_time;
	end->pid = (__s32)task->pid;
	end->tgid = (__s32)task->tgid;
	end->io_ns = exact->io.ns;
	end->io_count = exact->io.count;
	end->dwait_ns = exact->dwait.ns;
	end->process_io_ns = end->process_io_count = 0;
	end->process_dwait_ns = 0;
	end->last = task->signal->live.counter == 0;
	put_process(end, task->group_leader);
	__sync_lock_test_and_set(&end->sequence, number + 1);
	return 0;
}

/* Adds what was booked so far. */
static __always_inline void begin_with(struct exact_sum *sum, __u64 ns, __u64 count, __u64 max,
				       __u64 min)
{
	sum->ns += ns;
	sum->count += count;
	if (max > sum->max_ns)
		sum->max_ns = max;
	if (min && (!sum->min_ns || min < sum->min_ns))
		sum->min_ns = min;
}

/* The blkio that was booked for a thread, or for ended ones: fields that a kernel lacks are 0. */
#define ADD_BOOKED(sum, from, total) \
	begin_with(sum, (from)->total, (from)->blkio_count, \
		   bpf_core_field_exists((from)->blkio_delay_max) ? (from)->blkio_delay_max : 0, \
		   bpf_core_field_exists((from)->blkio_delay_min) ? (from)->blkio_delay_min : 0)

/*
 * Called for each thread before waits are watched: its figures begin with what the kernel booked.
 */
SEC("iter/task")
int meet(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct exact_task *exact, *process;
	const struct task_delay_info *delays;
	const struct taskstats *stats;

	if (!task)
		return 0;
	exact = make_exact(task);
	if (!exact)
		return 0;
	delays = task->delays;
	if (delays)
		ADD_BOOKED(&exact->io, delays, blkio_delay);
	if (task->pid == task->tgid) {
		stats = task->signal->stats;
		if (stats)
			ADD_BOOKED(&exact->others_io, stats, blkio_delay_total);
		return 0;
	}
	/* An exiting thread is among the ended ones already. */
	if (task->exit_state || !delays)
		return 0;
	process = make_exact(task->group_leader);
	if (process)
		ADD_BOOKED(&process->others_io, delays, blkio_delay);
	return 0;
}
