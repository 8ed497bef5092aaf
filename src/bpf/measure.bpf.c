/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures waits that the kernel counts only where delay accounting is on, or books wrongly: of
 * each thread the time from leaving its CPU in uninterruptible sleep, or in I/O wait, to being
 * woken, and the time within reclaim and compaction. The walk over all tasks (snapshot.bpf.c) reads
 * the sums where they are. Compiled once for all kernels (CO-RE, see kernel_types.h); kernels
 * before 5.12 lack the storage of tasks that it needs.
 *
 * All else must cost next to nothing, as this runs at each switch and each wake-up. Where the
 * storage of tasks allocates from memory of its own (6.4 and later), a thread has it made at its
 * first wait; elsewhere when it is born: at a switch an allocation might wake up kswapd, and want
 * the lock that is held.
 *
 * A thread's sums have one writer at a time: whoever wakes it while it sleeps (under
 * task->pi_lock), else the thread itself. A wake-up may come before its switch has been seen
 * (kernel/sched/core.c:try_to_wake_up() waits for on_cpu after the tracepoint). Such a wait took no
 * time; its start time is left over, and ignored while the task is queued or on a CPU.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/kernel_types.h"
#include "bpf/measure_record.h"
#include "bpf/thread_end.bpf.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* include/linux/sched.h */
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_NOLOAD 0x400
#define PF_KTHREAD 0x00200000

/* A shorter wait may be rounding: a wake-up before its switch was seen ended nothing. */
#define LEAST_UNSEEN_NS 20000

struct measure_control control;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct measured_task);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MEASURED_ENDS);
	__type(key, __u32);
	__type(value, struct measured_end);
} ends SEC(".maps");

/* Set before the program is loaded: task storage may be allocated at a switch. */
const volatile bool make_late;

static __always_inline struct measured_task *measured_of(struct task_struct *task)
{
	return bpf_task_storage_get(&waits, task, NULL, 0);
}

static __always_inline struct measured_task *make_measured(struct task_struct *task)
{
	return MADE_STORAGE(&waits, task);
}

/* A thread's data at a switch or a wake-up: allocated only where that is safe. */
static __always_inline struct measured_task *need_measured(struct task_struct *task)
{
	return make_late ? make_measured(task) : measured_of(task);
}

/* True if that state is uninterruptible sleep, and not idle. */
static __always_inline bool is_blocked(__u32 state)
{
	return (state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
}

static __always_inline bool is_iowait(const struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static __always_inline void add(struct measured_sum *sum, __u64 ns)
{
	sum->ns += ns;
	sum->count++;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	if (!sum->min_ns || ns < sum->min_ns)
		sum->min_ns = ns;
}

/* Adds a wait of a thread. */
static __always_inline void add_wait(struct measured_task *measured, __u64 ns)
{
	if (!measured->iowait) {
		add(&measured->own[MEASURED_DWAIT], ns);
		return;
	}
	add(&measured->own[MEASURED_BLKIO], ns);
	if (measured->memory)
		add(&measured->own[MEASURED_THRASH], ns);
}

/* ---- A wait begins --------------------------------------------------------------------------- */

/*
 * Adds a wait whose end was missed, when the task sleeps the next time: the kernel may skip a
 * program (seen on 6.18 under load, at one of some thousand wake-ups). The time passed since it
 * began, minus time queued or run, is the wait, unless the task slept otherwise since.
 */
static __always_inline void add_unseen(struct measured_task *measured,
				       const struct task_struct *task, __u64 now)
{
	__u64 passed = now - measured->since_ns;
	__u64 other = task->sched_info.run_delay - measured->queued_ns + task->se.sum_exec_runtime -
		      measured->ran_ns;

	if (task->nvcsw == measured->switches + 1 && passed > other + LEAST_UNSEEN_NS)
		add_wait(measured, passed - other);
}

/* A task leaves its CPU in that state. */
static __always_inline void begin_wait(struct task_struct *task, __u32 state)
{
	struct measured_task *measured;
	bool iowait;
	__u64 now;

	if (!state)
		return;
	iowait = is_iowait(task);
	if (!iowait && !is_blocked(state))
		return;
	measured = need_measured(task);
	if (!measured)
		return;
	now = bpf_ktime_get_ns();
	if (measured->since_ns)
		add_unseen(measured, task, now);
	measured->iowait = iowait;
	measured->memory = iowait && is_thrashing(task);
	measured->switches = task->nvcsw;
	measured->queued_ns = task->sched_info.run_delay;
	measured->ran_ns = task->se.sum_exec_runtime;
	measured->since_ns = now;
	measured->woken_ns = 0;
}

/*
 * A task gets a CPU after an I/O wait that continued until it was queued: a deeply idle CPU takes
 * some 20 us to answer, and nobody waits for that CPU meanwhile. The scheduler accounts the queue
 * after the tracepoint, by the same reading of its clock
 * (kernel/sched/stats.h:sched_info_arrive()).
 */
static __always_inline void end_wait(struct task_struct *task)
{
	struct measured_task *measured = measured_of(task);
	__u64 clock, queued, now, extra;

	if (!measured || !measured->woken_ns)
		return;
	clock = BPF_CORE_READ(task, se.cfs_rq, rq, clock);
	queued = task->sched_info.last_queued;
	now = bpf_ktime_get_ns();
	extra = now - measured->woken_ns;
	measured->woken_ns = 0;
	if (!queued || clock < queued || clock - queued > extra)
		return;
	extra -= clock - queued;
	measured->own[MEASURED_BLKIO].ns += extra;
	if (measured->memory)
		measured->own[MEASURED_THRASH].ns += extra;
}

static __always_inline int measure_switch(bool preempted, struct task_struct *before,
					  struct task_struct *task, __u32 state)
{
	if (!preempted)
		begin_wait(before, state);
	/* The task itself subtracts that when it runs. */
	if (is_iowait(task))
		end_wait(task);
	return 0;
}

/* 5.18 and later */
SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_state, bool preempted, struct task_struct *before, struct task_struct *task,
	     unsigned int state)
{
	return measure_switch(preempted, before, task, state);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_plain, bool preempted, struct task_struct *before, struct task_struct *task)
{
	return measure_switch(preempted, before, task, state_of(before));
}

/* ---- A wait ends ----------------------------------------------------------------------------- */

/* True if the task is off its CPU and not queued: a sleeping one may be (delayed dequeue). */
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
	struct measured_task *measured;
	__u64 since, now;

	if (!is_blocked(state_of(task)) && !is_iowait(task))
		return 0;
	measured = measured_of(task);
	if (!measured || !measured->since_ns)
		return 0;
	since = measured->since_ns;
	measured->since_ns = 0;
	if (!is_off(task))
		return 0;
	now = bpf_ktime_get_ns();
	add_wait(measured, now - since);
	measured->woken_ns = measured->iowait ? now : 0;
	return 0;
}

/* ---- Reclaim and compaction ----------------------------------------------------------------- */

static __always_inline int enter_section(enum measured_section section)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct measured_task *measured;

	/* Compaction is kcompactd's own work: it waits for nothing. */
	if (section == SECTION_COMPACT && task->flags & PF_KTHREAD)
		return 0;
	measured = need_measured(task);
	if (measured)
		measured->section_ns[section] = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int leave_section(enum measured_section section, enum measured kind)
{
	struct measured_task *measured = measured_of(bpf_get_current_task_btf());
	__u64 since;

	if (!measured || !measured->section_ns[section])
		return 0;
	since = measured->section_ns[section];
	measured->section_ns[section] = 0;
	add(&measured->own[kind], bpf_ktime_get_ns() - since);
	return 0;
}

/* Only the programs whose hooks the kernel has are loaded. */
#define SECTION(name, kind) \
	SEC("?tp_btf/" #name "_begin") \
	int BPF_PROG(name##_begins) \
	{ \
		return enter_section(SECTION_##kind); \
	} \
	SEC("?tp_btf/" #name "_end") \
	int BPF_PROG(name##_ends) \
	{ \
		return leave_section(SECTION_##kind, MEASURED_##kind); \
	}

SECTION(mm_vmscan_direct_reclaim, RECLAIM)
SECTION(mm_vmscan_memcg_reclaim, RECLAIM)
SECTION(mm_compaction, COMPACT)

/* ---- Threads come and go --------------------------------------------------------------------- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	make_measured(child);
	return 0;
}

/*
 * Moves a sum of a thread that ends, so that no reader finds it twice. Others may do the same
 * concurrently; which of two longest waits is kept is undefined.
 */
static __always_inline void move_sum(struct measured_sum *to, struct measured_sum *from)
{
	__sync_fetch_and_add(&to->ns, from->ns);
	__sync_fetch_and_add(&to->count, from->count);
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	if (from->min_ns && (!to->min_ns || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	*from = (struct measured_sum){ 0 };
}

/* Moves the sums of a thread that ends to its process's. */
static __always_inline void move_sums(struct task_struct *task, struct measured_task *measured)
{
	struct task_struct *keeps = keeper_of(task);
	struct measured_task *keeper = keeps ? need_measured(keeps) : NULL;

	if (!keeper)
		return;
#pragma clang loop unroll(full)
	for (unsigned i = 0; i < MEASURED; i++) {
		if (measured->own[i].count)
			move_sum(&keeper->ended[i], &measured->own[i]);
		if (keeper != measured && measured->ended[i].count)
			move_sum(&keeper->ended[i], &measured->ended[i]);
	}
}

static __always_inline void put_delay_sum(struct measured_delay *delay,
					  const struct measured_sum *sum)
{
	__u64 us = sum->max_ns / 1000;

	delay->ns += sum->ns;
	delay->count += (__u32)sum->count;
	if (us > delay->max_us)
		delay->max_us = us > (__u32)-1 ? (__u32)-1 : (__u32)us;
}

static __always_inline void put_own(struct measured_end *end, const struct measured_task *measured)
{
#pragma clang loop unroll(full)
	for (unsigned i = 0; i < MEASURED; i++) {
		end->own[i] = (struct measured_delay){ 0 };
		if (measured)
			put_delay_sum(&end->own[i], &measured->own[i]);
	}
}

static __always_inline void put_process(struct measured_end *end,
					const struct measured_task *leader)
{
#pragma clang loop unroll(full)
	for (unsigned i = 0; i < MEASURED; i++) {
		end->process[i] = (struct measured_delay){ 0 };
		if (!leader)
			continue;
		put_delay_sum(&end->process[i], &leader->own[i]);
		put_delay_sum(&end->process[i], &leader->ended[i]);
	}
}

/* Stores the final figures of a thread, and of its process if it is the last thread. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(exited, struct task_struct *task)
{
	struct measured_task *measured = measured_of(task), *leader;
	bool last = is_last(task);
	struct measured_end *end;
	__u64 number;
	__u32 at;

	leader = measured_of(task->group_leader);
	/* A task without waits and accounted delays needs no correction, nor does its process. */
	if (!measured && !(last && leader))
		return 0;
	number = __sync_fetch_and_add(&control.ends, 1);
	at = number & (MEASURED_ENDS - 1);
	end = bpf_map_lookup_elem(&ends, &at);
	if (!end)
		return 0;
	put_end(&end->end, task);
	put_own(end, measured);
	if (measured && !(last && measured == leader)) {
		move_sums(task, measured);
		leader = measured_of(task->group_leader);
	}
	put_process(end, leader);
	__sync_lock_test_and_set(&end->end.sequence, number + 1);
	return 0;
}

/* ---- What was booked before ------------------------------------------------------------------ */

static __always_inline void begin_with(struct measured_sum *sum, __u64 ns, __u64 count, __u64 max,
				       __u64 min)
{
	sum->ns += ns;
	sum->count += count;
	if (max > sum->max_ns)
		sum->max_ns = max;
	if (min && (!sum->min_ns || min < sum->min_ns))
		sum->min_ns = min;
}

/* Adds accounted delays of a thread, or of exited ones: fields that a kernel lacks are 0. */
#define ADD_BOOKED(sum, from, kernel, total) \
	begin_with(sum, bpf_core_field_exists((from)->total) ? (from)->total : 0, \
		   bpf_core_field_exists((from)->kernel##_count) ? (from)->kernel##_count : 0, \
		   bpf_core_field_exists((from)->kernel##_delay_max) ? (from)->kernel##_delay_max \
								     : 0, \
		   bpf_core_field_exists((from)->kernel##_delay_min) ? (from)->kernel##_delay_min \
								     : 0)
#define ADD_STORED(NAME, kernel) \
	ADD_BOOKED(&measured->own[MEASURED_##NAME], delays, kernel, kernel##_delay);
#define ADD_TOTAL(NAME, kernel) \
	ADD_BOOKED(&measured->ended[MEASURED_##NAME], stats, kernel, kernel##_delay_total);

/* Called for each thread before waits are watched: its figures begin with the accounted ones. */
SEC("iter/task")
int begin_with_booked(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct measured_task *measured;
	const struct task_delay_info *delays;
	const struct taskstats *stats;

	if (!task)
		return 0;
	delays = task->delays;
	stats = task->pid == task->tgid ? task->signal->stats : NULL;
	/* Most sleep, with nothing accounted: their storage is allocated at their first wait. */
	if (make_late && !delays && !stats && !is_blocked(state_of(task)) && !is_iowait(task))
		return 0;
	measured = make_measured(task);
	if (!measured)
		return 0;
	if (delays) {
		MEASURED_DELAYS(ADD_STORED)
	}
	if (stats) {
		MEASURED_DELAYS(ADD_TOTAL)
	}
	return 0;
}
