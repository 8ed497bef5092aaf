/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk over all tasks, in the kernel: one run writes a record of each into an array that
 * snapshot.c has mapped. Compiled for BPF, once for all kernels: the few fields of the
 * kernel's types that are used are declared here, and libbpf fills in their offsets when the
 * program is loaded (CO-RE). A field that the kernel lacks is not in `kinds` or `ranges`.
 *
 * The figures are those of taskstats: a process is the sum that the kernel keeps of its ended
 * threads (signal->stats) and of the threads that have not exited
 * (kernel/taskstats.c:fill_stats_for_tgid, kernel/delayacct.c:delayacct_add_tsk).
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/snapshot_record.h"
#include "bpf/trace_local.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define TASK_RUNNING 0
#define TASK_UNINTERRUPTIBLE 2
#define TASK_NOLOAD 0x400
#define MAX_RT_PRIO 100
#define SCX_TASK_STATE_MASK 0x300
#define ALL_KINDS ((1u << DELAY_KINDS) - 1)

struct snapshot_control control;

/* Sizes are set before the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snapshot_entry);
} entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snapshot_record);
} records SEC(".maps");

/*
 * The previous walk's state of a task, by pid modulo the size. A task still in that state has not
 * changed, as a task cannot run without its run time growing. Others may change a sleeping task:
 * its parent exits and leaves it to another, a process moves it to another cgroup, or one thread
 * renames another (in a process the run time shows that).
 */
struct remembered {
	__u64 task, parent, run_ns;
	__u64 cgroups; /* if control.cgroups is set */
	__u64 comm[SNAPSHOT_COMM / 8]; /* of threads */
	__u32 threads;
	__u8 settled; /* not running or queued */
	__u8 fair; /* of the scheduler's fair class, as most are */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct remembered);
} memory SEC(".maps");

/* Bits of the measured kinds, as in measure_kinds(); 0: none. Set before the program is loaded. */
const volatile __u32 measured_kinds;
/* A thread without storage has not waited since. */
const volatile bool makes_late;

/* The maps of measure.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct measured_task);
} waits SEC(".maps");

/* Threads are traced: trace_local.bpf.h has the maps. Set before the program is loaded. */
const volatile bool traced;

/* Time of the visited task by state; of a process's leader including its exited threads. */
struct {
	__u64 ns[WAIT_STATES]; /* up to since_ns */
	__u64 since_ns; /* it is in this state since then: */
	__u32 state; /* WAIT_STATES: in none, as it exits */
	__u32 known;
} spent;

/*
 * Measured figures of the visited task. Only the loops over tasks can request them: only there does
 * the verifier trust the task.
 */
struct {
	struct measured_sum
		own[MEASURED]; /* with waits in progress, but none of io_uring in state S */
	struct measured_sum ended[MEASURED]; /* those of exited threads */
	__u64 since_ns; /* of its wait in progress; 0: none, or it began before its first sample */
	__u32 known;
	__u32 waits; /* it, or a thread visited since, is waiting now */
} measured;

/*
 * The task being visited. Functions that the verifier is to check separately, once and not in each
 * turn of the loops (loading took seconds before), cannot take a task as argument; they read it
 * from here.
 */
__u64 subject;

/* Reads the numbers of a struct pid in the reader's namespace, at that namespace's level. */
static __always_inline long read_upid(struct upid *upid, const struct pid *pid)
{
	return bpf_probe_read_kernel(upid, sizeof(*upid),
				     (const char *)&pid->numbers +
					     control.reader.level * sizeof(*upid));
}

/* The number of a struct pid in the reader's namespace; 0: not in it. */
static __always_inline int number_in(const struct pid *pid)
{
	struct upid upid;
	__u32 level = 0;

	if (!pid || bpf_core_read(&level, sizeof(level), &pid->level) ||
	    level < control.reader.level)
		return 0;
	if (read_upid(&upid, pid) || (__u64)upid.ns != control.reader.ns)
		return 0;
	return upid.nr;
}

/* The number of a task in the reader's namespace. */
static __always_inline int number_of(const struct task_struct *task)
{
	/* Before 6.2 nothing may be added to a pointer that the verifier knows the type of. */
	return control.reader.level ? number_in(BPF_CORE_READ(task, thread_pid)) : (int)task->pid;
}

/*
 * The number of the leader of a task's group. Read by a helper: the verifier checks pointers read
 * from a task differently from those of an iterator, so they cannot share code.
 */
static __always_inline int number_of_leader(const struct task_struct *of)
{
	const struct task_struct *leader = NULL;
	const struct pid *pid = NULL;
	int number = 0;

	bpf_core_read(&leader, sizeof(leader), &of->group_leader);
	if (!control.reader.level) {
		bpf_core_read(&number, sizeof(number), &leader->pid);
		return number;
	}
	bpf_core_read(&pid, sizeof(pid), &leader->thread_pid);
	return number_in(pid);
}

/* Finds the reader and its clocks. By helpers: bpf_get_current_task_btf() is of 5.11. */
static __always_inline void start_reading(void)
{
	const struct task_struct *self = (const struct task_struct *)bpf_get_current_task();
	const struct pid *pid = BPF_CORE_READ(self, thread_pid);
	struct upid upid = {};

	control.begin_ns = control.reader.at_ns = bpf_ktime_get_ns();
	control.reader.level = pid ? BPF_CORE_READ(pid, level) : 0;
	if (control.reader.level)
		read_upid(&upid, pid);
	control.reader.ns = (__u64)upid.ns;
	/* The reader arrived on its CPU then, and has run since: as of the last tick. */
	control.reader.now_ns = BPF_CORE_READ(self, sched_info.last_arrival);
	if (BPF_CORE_READ(self, prio) >= MAX_RT_PRIO)
		control.reader.now_ns += BPF_CORE_READ(self, se.sum_exec_runtime) -
					 BPF_CORE_READ(self, se.prev_sum_exec_runtime);
	control.reader.exec_ns = BPF_CORE_READ(self, se.exec_start);
}

/* Advances the reader's clocks where the kernel may do other work between two tasks. */
static __always_inline void go_on_reading(void)
{
	__u64 now = bpf_ktime_get_ns(), passed = now - control.reader.at_ns;

	control.reader.at_ns = now;
	control.reader.now_ns += passed;
	control.reader.exec_ns += passed;
}

static __always_inline __u64 since(__u64 then, __u64 now)
{
	return now > then ? now - then : 0;
}

/*
 * The time that a task has slept. The task clock (exec_start) differs between CPUs where time is
 * stolen, so the time counts from when the task came to run, by the scheduler's clock, plus its run
 * time since then. Real-time tasks do not record the latter: the task clock is used for them.
 */
static __always_inline __u64 slept(const struct task_struct *task)
{
	__u64 arrived = since(task->sched_info.last_arrival, control.reader.now_ns), ns;

	if (task->prio >= MAX_RT_PRIO)
		return since(task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime, arrived);
	ns = since(task->se.exec_start, control.reader.exec_ns);
	return ns < arrived ? ns : arrived;
}

/* True if the task may be of sched_ext's class, which keeps no sums of sleep. */
static __always_inline bool may_be_scx(const struct task_struct *task)
{
	return bpf_core_field_exists(task->scx) && task->scx.flags & SCX_TASK_STATE_MASK;
}

/* True if the task is queued to run. A sleeping one may be for a while (delayed dequeue). */
static __always_inline bool is_queued(const struct task_struct *task)
{
	if (!task->on_rq)
		return false;
	return !bpf_core_field_exists(task->se.sched_delayed) || !task->se.sched_delayed;
}

static __always_inline bool in_state_d(const struct task_struct *task)
{
	__u32 state = state_of(task);

	return state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD);
}

static __always_inline bool in_io_wait(const struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

/* Time that a task has been in state D, by the kernel's own time stamps. */
static __always_inline __u64 guessed_wait(const struct task_struct *task, bool iowait)
{
	const struct task_delay_info *delays = task->delays;
	__u64 ns = slept(task), bound;

	if (!iowait || !delays || !delays->blkio_start)
		return ns;
	/* Even in I/O wait the stamp may be from an earlier one. */
	ns = since(delays->blkio_start, control.reader.now_ns);
	bound = since(task->sched_info.last_arrival, control.reader.now_ns);
	return ns < bound ? ns : bound;
}

/* Adds a wait in progress to the finished ones of its kind. */
static __always_inline void go_on_in(enum measured kind, __u64 since_ns, __u64 now)
{
	if (!since_ns)
		return;
	measured.waits = 1;
	measured.own[kind].ns += since(since_ns, now);
}

/*
 * Finds when a wait in progress began. One that began before waits were watched is shown until it
 * ends, and counts then.
 */
static __always_inline void look_at_wait(struct task_struct *task, struct measured_task *found)
{
	/* A wait that ends meanwhile is missed until the next time, and not counted twice. */
	barrier();
	measured.since_ns = *(volatile const __u64 *)&found->since_ns;
	if (measured.since_ns || !in_state_d(task) || is_queued(task) || task->on_cpu)
		return;
	found->iowait = in_io_wait(task);
	found->memory = found->iowait && is_thrashing(task);
	measured.since_ns = bpf_ktime_get_ns() - guessed_wait(task, found->iowait);
	*(volatile __u64 *)&found->since_ns = measured.since_ns;
}

/* Reads the measured figures of a task. */
static __always_inline void look_up(struct task_struct *task)
{
	struct measured_task *found;
	__u64 now;

	if (!measured_kinds)
		return;
	found = bpf_task_storage_get(&waits, task, NULL, 0);
	measured.known = found || makes_late;
	if (!found) {
		__builtin_memset(&measured.own, 0, sizeof(measured.own));
		__builtin_memset(&measured.ended, 0, sizeof(measured.ended));
		measured.since_ns = 0;
		return;
	}
	__builtin_memcpy(&measured.own, found->own, sizeof(measured.own));
	/* Only leaders have them. */
	if (task->pid == task->tgid)
		__builtin_memcpy(&measured.ended, found->ended, sizeof(measured.ended));
	look_at_wait(task, found);
	now = bpf_ktime_get_ns();
	if (in_state_d(task) && !is_queued(task) && !task->on_cpu) {
		go_on_in(found->iowait ? MEASURED_BLKIO : MEASURED_DWAIT, measured.since_ns, now);
		if (found->memory)
			go_on_in(MEASURED_THRASH, measured.since_ns, now);
	}
	/* The kernel may have skipped the program at a section's end. */
	if (in_reclaim(task)) {
		go_on_in(MEASURED_RECLAIM, found->section_ns[SECTION_RECLAIM], now);
		go_on_in(MEASURED_COMPACT, found->section_ns[SECTION_COMPACT], now);
	}
}

/* Number of attempts to read a thread's times while they are written. */
#define PATIENCE 8

/*
 * Copies the times of a thread. Returns whether they are known. On a machine with reordered loads a
 * wait may be counted twice or not at all, until the thread is read again.
 */
static __always_inline bool copy_times(const struct thread_storage *local)
{
	for (int i = 0; i < PATIENCE; i++) {
		__u32 version = *(volatile __u32 *)&local->version;

		if (version & 1)
			continue;
		barrier();
		__builtin_memcpy(spent.ns, local->thread.ns, sizeof(spent.ns));
		spent.since_ns = local->thread.since_ns;
		spent.state = local->thread.state;
		barrier();
		if (*(volatile __u32 *)&local->version == version)
			return !local->thread.hidden;
	}
	return false;
}

/* Reads a task's time by state. */
static __always_inline void look_at_times(struct task_struct *task)
{
	const struct ended_times *ended = NULL;
	const struct thread_storage *local;

	if (!traced)
		return;
	__builtin_memset(spent.ns, 0, sizeof(spent.ns));
	spent.state = WAIT_STATES;
	local = bpf_task_storage_get(&locals, task, NULL, 0);
	if (local && (local->presence == GONE || (local->presence == LEAVING && !control.threads)))
		spent.known = 1;
	else
		spent.known = local && local->presence >= PRESENT && copy_times(local);
	if (!control.threads && task->pid == task->tgid)
		ended = bpf_task_storage_get(&ended_of, task, NULL, 0);
	if (!ended)
		return;
	for (int i = 0; i < WAIT_STATES; i++)
		spent.ns[i] += ended->ns[i];
	if (ended->partial)
		spent.known = 0;
}

/* Replaces the kernel's accounted delay of a kind by the measured one. */
#define PUT_MEASURED(NAME, ...) \
	if (measured_kinds & 1u << DELAY_##NAME) \
		put_sum(record, DELAY_##NAME, &sums[MEASURED_##NAME]);

static __always_inline void put_sum(struct snapshot_record *record, enum delay_kind kind,
				    const struct measured_sum *sum)
{
	record->delay[kind].ns = sum->ns;
	record->delay[kind].max = sum->max_ns;
	record->delay[kind].min = sum->min_ns;
	record->count[kind] = (__u32)sum->count;
}

static __always_inline void put_sums(struct snapshot_record *record,
				     const struct measured_sum *sums)
{
	MEASURED_DELAYS(PUT_MEASURED)
	record->dwait_ns = sums[MEASURED_DWAIT].ns;
	record->measured = measured_kinds;
	record->kinds |= measured_kinds & ALL_KINDS;
	record->ranges |= measured_kinds & ALL_KINDS;
}

/*
 * Time that the task has waited in a measured wait in progress; 0: not measured. A task just
 * leaving its CPU may still have the start of an earlier one.
 */
static __always_inline __u64 measured_wait(const struct task_struct *task)
{
	return measured_kinds && measured.known && measured.since_ns && !task->on_cpu
		       ? since(measured.since_ns, bpf_ktime_get_ns())
		       : 0;
}

/* Stores what a thread waits for, and for how long so far. */
static __always_inline void put_wait(struct snapshot_record *record, const struct task_struct *task)
{
	__u32 wait = SNAPSHOT_NO_WAIT;
	__u64 queued = task->sched_info.last_queued, ns = 0;

	if (is_queued(task)) {
		if (!task->on_cpu && queued) {
			wait = SNAPSHOT_WAIT_CPU;
			ns = since(queued, control.reader.now_ns);
		}
	} else if (in_state_d(task)) {
		/* blkio_start is never cleared: it is meaningful in I/O wait only. */
		wait = in_io_wait(task) ? SNAPSHOT_WAIT_IO : SNAPSHOT_WAIT_D;
		ns = measured_wait(task);
		if (!ns)
			ns = guessed_wait(task, wait == SNAPSHOT_WAIT_IO);
	}
	record->waited_ns = ns;
	record->wait = wait;
}

/*
 * Stores a kind's figures: a thread's (kernel_delay), or exited threads' (kernel_delay_total). A
 * field that the kernel lacks is 0 and not among the known kinds. No sums: each comparison doubles
 * the paths that the verifier checks.
 */
#define PUT(record, NAME, from, kernel, total) \
	do { \
		struct snapshot_delay *delay_ = &(record)->delay[DELAY_##NAME]; \
		bool range_ = bpf_core_field_exists((from)->kernel##_delay_max); \
		bool there_ = bpf_core_field_exists((from)->total); \
		delay_->ns = there_ ? (from)->total : 0; \
		delay_->max = range_ ? (from)->kernel##_delay_max : 0; \
		delay_->min = range_ ? (from)->kernel##_delay_min : 0; \
		(record)->count[DELAY_##NAME] = there_ ? (__u32)(from)->kernel##_count : 0; \
	} while (0);
#define PUT_STORED(NAME, kernel, ...) PUT(record, NAME, delays, kernel, kernel##_delay)
#define PUT_ENDED(NAME, kernel, ...) PUT(record, NAME, stats, kernel, kernel##_delay_total)

/* The bit of a kind that this kernel stores, or of which it stores max and min. */
#define STORED_BIT(NAME, field) \
	(bpf_core_field_exists(((struct task_delay_info *)0)->field) ? 1u << DELAY_##NAME : 0)
#define KIND_BIT(NAME, kernel, ...) | STORED_BIT(NAME, kernel##_delay)
#define RANGE_BIT(NAME, kernel, ...) | STORED_BIT(NAME, kernel##_delay_max)

static __always_inline __u32 known_kinds(void)
{
	return 0 DELAY_STORED(KIND_BIT);
}

static __always_inline __u32 known_ranges(void)
{
	return 0 DELAY_STORED(RANGE_BIT);
}

/* Stores a task's time by state up to the time of the record. */
static __always_inline void put_times(struct snapshot_record *record)
{
	__u32 state = spent.state;

	record->times_known = 0;
	if (!traced)
		return;
	record->times_known = spent.known;
	record->in = state;
	__builtin_memcpy(record->state_ns, spent.ns, sizeof(record->state_ns));
	if (state < WAIT_STATES)
		record->state_ns[state] += since(spent.since_ns, record->read_ns);
}

/* Stores a thread's own figures. */
static __always_inline void put_thread(struct snapshot_record *record,
				       const struct task_struct *task)
{
	const struct task_delay_info *delays = task->delays;
	struct snapshot_delay *cpu = &record->delay[DELAY_CPU];
	bool range = bpf_core_field_exists(task->sched_info.max_run_delay);

	record->start_ns = task->start_time;
	record->read_ns = bpf_ktime_get_ns();
	record->run_ns = task->se.sum_exec_runtime;
	record->user_ns = task->utime;
	record->system_ns = task->stime;
	record->count[DELAY_CPU] = (__u32)task->sched_info.pcount;
	cpu->ns = task->sched_info.run_delay;
	cpu->max = range ? task->sched_info.max_run_delay : 0;
	cpu->min = range ? task->sched_info.min_run_delay : 0;
	put_wait(record, task);
	put_times(record);
	/* A thread without storage for its delays started before they were accounted. */
	record->kinds = 1u << DELAY_CPU | (delays ? known_kinds() : 0);
	record->ranges = (range ? 1u << DELAY_CPU : 0) | known_ranges();
	DELAY_STORED(PUT_STORED)
	record->measured = 0;
	if (measured_kinds && measured.known)
		put_sums(record, measured.own);
}

/* Stores the figures of the process's exited threads. */
static __always_inline void put_ended(struct snapshot_record *record, int tgid,
				      const struct signal_struct *signal)
{
	const struct taskstats *stats = signal->stats;

	record->start_ns = record->read_ns = record->waited_ns = 0;
	record->wait = SNAPSHOT_NO_WAIT;
	record->measured = 0;
	record->times_known = 0;
	record->pid = record->tgid = tgid;
	record->user_ns = signal->utime;
	record->system_ns = signal->stime;
	record->run_ns = stats->cpu_run_virtual_total;
	record->kinds = 1u << DELAY_CPU | known_kinds();
	record->ranges = 0;
	DELAY_TABLE(PUT_ENDED)
	if (measured_kinds && measured.known)
		put_sums(record, measured.ended);
}

/* Stores the task's identity. */
static __always_inline void put_identity(struct snapshot_record *record, struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;

	record->tgid = number_of_leader(task);
	record->ppid = number_of_leader(task->real_parent);
	record->uid = task->real_cred->uid.val;
	record->state = state_of(task);
	record->exit_state = (__u32)task->exit_state;
	record->threads = (__u32)signal->nr_threads;
	record->children_user_ns = signal->cutime;
	record->children_system_ns = signal->cstime;
	record->cgroup = task->cgroups->dfl_cgrp->kn->id;
	record->groups = (__u64)task->cgroups;
	record->exec = bpf_core_field_exists(task->self_exec_id) ? task->self_exec_id : 0;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
}

/* The next record; counted even if there is no room for it, then NULL. */
static __always_inline struct snapshot_record *next_record(enum snapshot_part part)
{
	__u32 at = control.records++;
	struct snapshot_record *record = bpf_map_lookup_elem(&records, &at);

	if (record)
		record->part = part;
	return record;
}

/* Adds a task's entry; record: the number of its first record, 0 for none. */
static __always_inline void put_entry(int pid, __u32 record)
{
	__u32 at = control.entries++;
	struct snapshot_entry *entry = bpf_map_lookup_elem(&entries, &at);

	if (!entry)
		return;
	entry->pid = pid;
	entry->record = record;
}

/* The memory slot of a task. */
static __always_inline struct remembered *memory_of(int pid)
{
	__u32 at = (__u32)pid & control.mask;

	return bpf_map_lookup_elem(&memory, &at);
}

/*
 * True if a process's only task is unchanged since the previous walk. Most are, so this reads as
 * few cache lines as possible: sched_entity's on_rq is next to the run time. A single task that
 * does not run creates no threads.
 */
static __always_inline bool sleeps_on(const struct task_struct *task, const struct remembered *was)
{
	if (was->task != (__u64)task || was->threads != 1 || !was->settled || control.whole ||
	    was->run_ns != task->se.sum_exec_runtime || was->parent != (__u64)task->real_parent)
		return false;
	if (was->fair ? task->se.on_rq : task->on_rq)
		return false;
	if (control.cgroups && was->cgroups != (__u64)task->cgroups)
		return false;
	return !control.threads || (was->comm[0] == ((const __u64 *)task->comm)[0] &&
				    was->comm[1] == ((const __u64 *)task->comm)[1]);
}

/* True if a process of several threads is unchanged since the previous walk. */
static __always_inline bool sleep_on(const struct task_struct *leader, const struct remembered *was,
				     __u64 run_ns, __u32 threads, __u32 settled)
{
	return settled && was->settled && was->task == (__u64)leader && was->run_ns == run_ns &&
	       was->threads == threads && was->parent == (__u64)leader->real_parent &&
	       (!control.cgroups || was->cgroups == (__u64)leader->cgroups) && !control.whole;
}

/* Stores the present state of a task. */
static __always_inline void remember(struct remembered *was, const struct task_struct *task,
				     __u64 run_ns, __u32 threads, __u32 settled)
{
	was->task = (__u64)task;
	was->parent = (__u64)task->real_parent;
	was->run_ns = run_ns;
	was->cgroups = (__u64)task->cgroups;
	was->comm[0] = ((const __u64 *)task->comm)[0];
	was->comm[1] = ((const __u64 *)task->comm)[1];
	was->threads = threads;
	was->settled = settled;
	was->fair = task->prio >= MAX_RT_PRIO && !may_be_scx(task);
}

/* Writes a thread's record. */
static __always_inline void write_thread(struct task_struct *task, int pid, enum snapshot_part part)
{
	struct snapshot_record *record = next_record(part);

	if (!record)
		return;
	put_thread(record, task);
	record->pid = pid;
	if (part == SNAPSHOT_FIRST)
		put_identity(record, task);
}

/* Writes the record of exited threads, if there were any. */
static __always_inline void write_ended(const struct signal_struct *signal, int tgid)
{
	struct snapshot_record *record;

	if (!signal->stats)
		return;
	record = next_record(SNAPSHOT_ENDED);
	if (record)
		put_ended(record, tgid, signal);
}

/* The subject; the verifier knows only its type, so reads are checked at run time. */
static __always_inline struct task_struct *the_subject(void)
{
	return bpf_rdonly_cast((const void *)subject, bpf_core_type_id_kernel(struct task_struct));
}

/*
 * The subject's number in the reader's namespace, or 0. Reads as little as possible: helpers that
 * read cost half as much as the walk.
 */
static __always_inline int number_of_subject(const struct task_struct *task)
{
	const struct pid *pid = task->thread_pid;
	const struct upid *upid;

	if (!control.reader.level)
		return (int)task->pid;
	if (!pid || pid->level < control.reader.level)
		return 0;
	upid = bpf_rdonly_cast((const char *)&pid->numbers + control.reader.level * sizeof(*upid),
			       bpf_core_type_id_kernel(struct upid));
	return (__u64)upid->ns == control.reader.ns ? upid->nr : 0;
}

/* Number of threads of the subject's process. */
__noinline __u32 threads_of_subject(void)
{
	return (__u32)the_subject()->signal->nr_threads;
}

/* Writes the subject as one thread of a process. */
__noinline int write_part(void)
{
	struct task_struct *task = the_subject();

	write_thread(task, number_of_subject(task), SNAPSHOT_THREAD);
	return 0;
}

/*
 * Adds an entry for the subject, a thread or the leader of a process with that total run time, and
 * writes its records if it changed. Returns whether they were written.
 */
__noinline int visit(__u64 run_ns, __u32 threads, __u32 settled)
{
	struct task_struct *task = the_subject();
	int pid = number_of_subject(task);
	struct remembered *was = memory_of(pid);

	if (!pid || !was)
		return 0;
	if (threads > 1 && sleep_on(task, was, run_ns, threads, settled)) {
		put_entry(pid, 0);
		return 0;
	}
	/* A measured wait in progress must be read again next time. */
	remember(was, task, run_ns, threads, settled && !measured.waits);
	put_entry(pid, control.records + 1);
	write_thread(task, pid, SNAPSHOT_FIRST);
	if (!control.threads)
		write_ended(task->signal, pid);
	return 1;
}

/* Makes the next walk read the subject, a process, again. */
__noinline int look_again(void)
{
	struct remembered *was = memory_of(number_of_subject(the_subject()));

	if (was)
		was->settled = 0;
	return 0;
}

/* Adds an entry for the subject if it is unchanged since the previous walk. Returns whether. */
__noinline int pass_over(void)
{
	struct task_struct *task = the_subject();
	int pid = number_of_subject(task);
	struct remembered *was = memory_of(pid);

	if (!pid || !was || !sleeps_on(task, was))
		return 0;
	put_entry(pid, 0);
	return 1;
}

/* Run time of all threads, and whether none of them runs. */
struct sum {
	__u64 run_ns;
	__u32 settled;
};

/*
 * Adds up the threads of a process. The iterator requires a reference, though no task is freed
 * within a section of RCU.
 */
static __always_inline void add_up_threads(struct task_struct *leader, struct sum *sum)
{
	struct task_struct *task, *held = bpf_task_acquire(leader);
	struct bpf_iter_task it;

	if (!held)
		return;
	sum->run_ns = 0;
	bpf_iter_task_new(&it, held, THREADS_OF_PROCESS);
	while ((task = bpf_iter_task_next(&it))) {
		sum->run_ns += task->se.sum_exec_runtime;
		sum->settled &= !task->on_rq;
	}
	bpf_iter_task_destroy(&it);
	bpf_task_release(held);
}

/* Writes the threads of a process except its leader. Records whether one waits. */
static __always_inline void write_threads(struct task_struct *leader)
{
	struct task_struct *task, *held = bpf_task_acquire(leader);
	struct bpf_iter_task it;

	if (!held)
		return;
	bpf_iter_task_new(&it, held, THREADS_OF_PROCESS);
	while ((task = bpf_iter_task_next(&it))) {
		/* An exiting thread is counted with the exited threads. */
		if (task->pid == leader->pid || task->exit_state)
			continue;
		subject = (__u64)task;
		look_up(task);
		look_at_times(task);
		write_part();
	}
	bpf_iter_task_destroy(&it);
	bpf_task_release(held);
}

/* Visits a process. */
static __always_inline void visit_process(struct task_struct *leader)
{
	struct sum sum = { 0, 0 };
	__u32 threads;

	subject = (__u64)leader;
	if (pass_over())
		return;
	measured.waits = 0;
	look_up(leader);
	look_at_times(leader);
	sum.settled = !leader->on_rq;
	threads = threads_of_subject();
	if (threads > 1)
		add_up_threads(leader, &sum);
	else
		sum.run_ns = leader->se.sum_exec_runtime;
	if (!visit(sum.run_ns, threads, sum.settled) || threads == 1)
		return;
	write_threads(leader);
	if (measured.waits) {
		subject = (__u64)leader;
		look_again();
	}
}

/* Walks over all tasks in one run, in one section of RCU (6.7 and later). */
SEC("?syscall")
int walk(void *context)
{
	struct bpf_iter_task it;
	struct task_struct *task;

	(void)context;
	start_reading();
	control.entries = control.records = 0;
	bpf_rcu_read_lock();
	if (control.threads) {
		bpf_iter_task_new(&it, NULL, ALL_THREADS);
		while ((task = bpf_iter_task_next(&it))) {
			subject = (__u64)task;
			if (pass_over())
				continue;
			measured.waits = 0;
			look_up(task);
			look_at_times(task);
			visit(task->se.sum_exec_runtime, 1, !task->on_rq);
		}
		bpf_iter_task_destroy(&it);
	} else {
		bpf_iter_task_new(&it, NULL, ALL_PROCESSES);
		while ((task = bpf_iter_task_next(&it)))
			visit_process(task);
		bpf_iter_task_destroy(&it);
	}
	bpf_rcu_read_unlock();
	control.end_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Called for each thread, ordered by number, on older kernels: writes a record for each; snapshot.c
 * adds them up. The leader's record is followed by that of the exited threads.
 */
SEC("?iter/task")
int each(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	int pid;

	if (!task) {
		control.end_ns = bpf_ktime_get_ns();
		return 0;
	}
	if (control.begin_ns)
		go_on_reading();
	else
		start_reading();
	pid = number_of(task);
	if (!pid)
		return 0;
	put_entry(pid, control.records + 1);
	look_up(task);
	look_at_times(task);
	write_thread(task, pid, SNAPSHOT_FIRST);
	if (!control.threads && task == task->group_leader)
		write_ended(task->signal, pid);
	return 0;
}
