/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample: the absolute counters of all tasks at one time, each with the time it
 * was read and a mask of what is valid. Sources write samples, frame.c compares two.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "data/delay.h"
#include "data/system.h"
#include "data/wait_state.h"
#include "data/wait_state_table.h"

/* The current wait of a task: its system call, that call's target, and where in the kernel. */

#define WAITING_ARGS 6

/*
 * The wait of one thread: that of a process in state D for longest, else the blocked one (struct
 * task_hang), else the leader. Texts are raw bytes with a NUL after them; empty: unknown. tid 0: it
 * does not wait, or that is unknown.
 */
struct task_waiting {
	uint64_t of_ns; /* read_ns of the task's element at the reading */
	pid_t tid;
	enum wait_state state; /* WAIT_STATES: unknown */
	enum wait_class class;
	int number; /* of the system call; -1: none, or unknown */
	uint64_t args[WAITING_ARGS];
	const char *syscall; /* its name, or "page fault"; NULL: unknown */
	uint64_t futex; /* the address of the futex it waits for; 0: none */
	struct buf on; /* a path, a peer, a pipe, a child ... */
	struct buf where; /* kernel function */
	struct buf stack; /* functions, innermost first, one per line: NEED_STACK */
};

/* Names of workqueue threads are longer than the 15 bytes of a task's comm (proc_task_name, 64). */
#define TASK_COMM_MAX 64

/* Bytes transferred to and from storage (/proc/PID/io). */
struct task_io {
	uint64_t read, written, cancelled;
};

/*
 * The position of a task in everything that is sorted by process and, within it, by thread: the
 * order of procfs. The only comparison of (tgid, pid).
 */
static inline uint64_t task_order(pid_t tgid, pid_t pid)
{
	return (uint64_t)(uint32_t)tgid << 32 | (uint32_t)pid;
}

/* The identity of a task. A pid alone is not enough: pids are reused. */
struct task_key {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC, as exact as the source has it */
};

/* Maximum difference of one start between two sources; no pid is reused within that time. */
#define SAME_START_NS (200 * NSEC_PER_MSEC)

/* True if two starts, perhaps from different sources, may be those of one task with this pid. */
static inline bool task_same_start(uint64_t a, uint64_t b)
{
	return a <= b + SAME_START_NS && b <= a + SAME_START_NS;
}

/* Time that the process gained by reaping children; maintained by account.c. */
struct task_reaped {
	bool known; /* children_ns was read, or the process is too young to have any */
	bool due; /* children_ns may have grown */
	bool booked; /* the process itself was reaped, and is accounted to its reaper */
	unsigned ended; /* children that exited since the balance was even */
	uint64_t children_ns; /* run time of reaped children, whole lives */
	int64_t balance_ns; /* growth of children_ns minus what these children's rows have shown */
	int64_t credited_ns; /* the part of the balance recovered so far */
	int64_t orphans_ns; /* the balance's share of orphans, perhaps reaped by another ancestor */
};

/*
 * A wait neither for a CPU nor in state D, but in a call that blocks (see syscall_hangs()): the
 * longest among a process's threads.
 */
struct task_hang {
	pid_t tid; /* 0: none */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	pid_t on; /* the process it waits for, which is stopped or frozen; 0: unknown */
	uint32_t locked; /* threads that have waited for locks for several samples; 0: unknown */
};

/* What stops a task that was asked about, besides its state. */
struct task_stop {
	bool frozen; /* by its cgroup */
	pid_t tracer; /* the debugger that stopped it; 0: unknown, or not stopped by one */
	char tracer_comm[TASK_COMM_MAX + 1]; /* raw bytes */
};

/*
 * I/O pressure of the machine, or of a group, between two readings: how long a task or several of
 * its tasks waited for I/O, and the time that passed. passed_ns 0: unknown.
 */
struct io_pressure {
	uint64_t stalled_ns, passed_ns;
	uint64_t until_ns; /* CLOCK_MONOTONIC: the second reading */
};

/* A cgroup that limits a task. */
struct limiting_group {
	char *name; /* raw bytes; NULL: unknown */
	unsigned version; /* of the hierarchy that it is in; 0: unknown */
};

/* What decides how a task shares CPUs with the one that ran instead. */
enum cpu_sharing {
	SHARING_UNKNOWN,
	SHARING_NICE, /* their nice values */
	SHARING_SESSION, /* those of their sessions (kernel.sched_autogroup_enabled) */
	SHARING_GROUP, /* the weights of their groups */
	CPU_SHARINGS
};

/* Why a task waits, collected for the most delayed ones. */
struct task_evidence {
	/*
	 * Percent of the interval for which a quota throttled its group, over all CPUs; below 0:
	 * unknown.
	 */
	double throttled;
	double quota; /* CPUs that the quota grants; 0: none, or unknown */
	enum cpu_budget budget; /* the kind of that quota */
	uint64_t memory_limit, memory_used; /* of its group, in bytes; limit 0: none */
	char *io_limits; /* of its group: "8:0 rbps=1048576 wiops=10, 8:16 ..."; NULL: none */
	bool pinned; /* it may not run on all CPUs */
	pid_t rival; /* the task that used most CPU on its allowed CPUs; 0: unknown */
	enum cpu_sharing sharing; /* with that one */
	/* kB/s to and from storage since the previous sample; below 0: unknown. */
	double writes, reads;
	struct limiting_group cpu_group, memory_group, io_group; /* the groups with the limits */
	struct limiting_group weighed_group; /* those whose weights decide how it shares CPUs with
					      * the rival */
};

/* Data read of an element besides its counters. Most elements have none. */
struct task_extra {
	uint32_t place; /* of the element in its sample */
	struct task_waiting *waiting; /* NULL: not read */
	struct task_hang hang;
	struct task_stop *held; /* NULL: not read */
	struct task_evidence *evidence; /* NULL: not searched for */
	struct io_pressure io; /* of the group that all its threads were in, if that limits it */
};

/* When a text was read, by taskinfo's clock: last (0: never), first with its present contents. */
struct task_text_read {
	uint32_t last, first;
};

/*
 * Facts about a task besides its counters. Each task has one object for as long as a sample holds
 * it; sources keep the identity current, taskinfo the fields that are read on demand.
 */
struct task {
	unsigned refs;
	uint32_t cpu; /* the last CPU that it ran on, plus 1; 0: unknown */
	uint16_t info; /* taskinfo's: NEED_INFO bits that were tried */
	uint16_t stale; /* taskinfo's: those of them that may have changed since, as it ran */
	uint16_t other; /* NEED_INFO fields that the source saw change */
	uint16_t renamed; /* number of times that one of its texts was set, or read from a
			   * recording */
	struct task_text_read command_read, cgroup_read; /* taskinfo's */
	struct task_key key;
	uint64_t latest_ns; /* CLOCK_MONOTONIC: the task cannot have started later */
	/* The start by the source's own clock: identifies a task between samples. */
	uint64_t start_lo, start_hi;
	pid_t tgid, ppid;
	uid_t uid; /* real */
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
	bool accounted; /* delays other than cpu were accounted for it: for itself, not for its
			 * threads */
	bool fresh; /* ran, or is new, since taskinfo looked: the fields below may be stale */
	bool mixed; /* exit_merge's: aggregates tasks of several parents, and ppid is the reaper */
	uint64_t cgroup_id; /* of the unified hierarchy; 0: unknown */
	/* Changes with exec, and with the cgroup in any hierarchy; 0: unknown. */
	uint64_t exec, groups;
	struct task_reaped reaped;
	struct counters
		*dropped; /* impossible delays that the kernel accounted; resolve.c's. NULL: none */
	/* Set by exit_merge.c for a task whose exit record came: */
	uint32_t status; /* as wait(2) gives it */
	pid_t reaper; /* of a task no longer in the sample: the nearest living ancestor; 0: none */
	char *ended; /* how it ended, in words; NULL: nothing special */
	/* Set by taskinfo, too: raw bytes, NULL where not read (see info) or not readable. */
	char *command;
	char *user, *cgroup; /* shared texts, set by the functions below */
	/* The container's name as users know it: NAMESPACE/POD, and the container. Plain ASCII. */
	char *pod, *container;
};

/* Waits that are visible while in progress. The kernel accounts all other kinds when they end. */
enum wait_seen { SEEN_CPU, SEEN_BLKIO, SEEN_DWAIT, WAITS_SEEN };

/* Threads in such waits, each in one of them. All zero: none. */
struct task_waits {
	uint64_t first_ns; /* CLOCK_MONOTONIC: when the longest of them began */
	uint64_t began_ns[WAITS_SEEN]; /* their starts, added up modulo 2^64 */
	uint32_t threads[WAITS_SEEN];
	/*
	 * Waits of SEEN_DWAIT, which the kernel does not account: time since the previous sample,
	 * added up.
	 */
	uint64_t dwait_ns;
	/* The thread in state D for longest, and since when; 0: none. */
	pid_t tid;
	uint64_t tid_ns;
};

/* The activity of a task right now. */
struct task_now {
	char state; /* as in /proc/PID/stat; 0: unknown, as is its wait */
	bool exact; /* the start of waits is known; else they began before they were first seen */
	uint32_t measured; /* kinds that were measured, not accounted: DELAY_BIT()s and
			    * VALID_DWAIT */
	bool measured_late; /* only since its first sample: its earlier life is unknown */
	uint32_t threads; /* living ones; 0: unknown */
	struct task_waits waits;
};

/*
 * Adds a thread that has waited since since_ns, as read at read_ns; the previous reading was at
 * before_ns, 0 for none (CLOCK_MONOTONIC).
 */
void waits_add(struct task_waits *waits, enum wait_seen kind, uint64_t since_ns, uint64_t read_ns,
	       uint64_t before_ns);

/* Records which thread was added, if it is in state D. */
void waits_of_thread(struct task_waits *waits, enum wait_seen kind, pid_t tid, uint64_t since_ns);

/* Updates waits that have all lasted since the previous reading. */
void waits_go_on(struct task_waits *waits, uint64_t read_ns, uint64_t before_ns);

/* Number of threads waiting in state D or (all) for a CPU, too. */
static inline uint32_t waits_in_d(const struct task_waits *waits)
{
	return waits->threads[SEEN_BLKIO] + waits->threads[SEEN_DWAIT];
}

static inline uint32_t waits_all(const struct task_waits *waits)
{
	return waits->threads[SEEN_CPU] + waits_in_d(waits);
}

/* Time that the waits in progress of a kind had lasted at that time, added up. */
static inline uint64_t waits_progress(const struct task_waits *waits, enum wait_seen kind,
				      uint64_t at_ns)
{
	return waits->threads[kind] * at_ns - waits->began_ns[kind];
}

/* How a task has spent its time since its threads were first traced. Shared, so read-only. */
struct task_times {
	unsigned refs;
	uint64_t at_ns; /* CLOCK_MONOTONIC: up to then */
	struct wait_states states;
	uint32_t in[WAIT_STATES]; /* threads in each state, which stay there while unchanged */
};

/* Times of children that were reaped. */
struct task_children {
	uint64_t user_ns, system_ns;
};

/*
 * A task in a sample: its counters since its start, and when they were read (CLOCK_MONOTONIC).
 * Samples may share an unchanged element: then it is read-only, see sample_own().
 */
struct task_raw {
	struct task *task; /* the element holds a reference */
	pid_t tgid, pid; /* copied from the task for the merge, which compares them */
	pid_t was; /* its id in the previous sample if exec changed it; -1: it was not there */
	bool single; /* the counters are one thread's, from the task's start on */
	bool exited; /* from its exit record: these are its last counters */
	uint64_t read_ns; /* may be older for unchanged elements of a source that sets marks */
	struct counters counters;
	struct task_now now;
	struct task_times *times; /* a reference; NULL: not all of its threads are traced */
	struct task_children children; /* if VALID_CHILDREN is set */
	uint64_t ran_ns; /* set by frame.c: it ran after this, not after the next reading */
};

/* Data read per task only when needed (and so may be missing). */
#define NEED_RECORD 0x01u /* struct task_record */
#define NEED_STAT 0x02u /* children's times, from stat */
#define NEED_IO 0x04u /* storage bytes, from io */
#define NEED_COMMAND 0x08u /* the command line */
#define NEED_CGROUP 0x10u /* the cgroup path */
#define NEED_ACCOUNT 0x40u /* the account of exited children: struct account */
#define NEED_IDENTITY 0x20u /* identities, even if already known */
#define NEED_RANGE 0x80u /* struct task_record, of which only max and min are needed */
#define NEED_LIFE 0x100u /* the sum over all rows of their counters since start */
#define NEED_WAITING 0x200u /* struct task_waiting; only of rows asked for one by one \ */
#define NEED_STACK 0x400u /* the stack in it, too */
#define NEED_CPU 0x800u /* the CPU that it ran on last */
#define NEED_HANGS 0x1000u /* struct task_hang */
#define NEED_EVIDENCE 0x4000u /* what explains the most delayed tasks */
#define NEED_ACTIVE \
	0x8000u /* the command line of tasks that were active since they were first read */
#define NEED_LATEST 0x1000000u /* current texts, where they may have changed */
#define NEED_LIMITS 0x2000000u /* limits of its groups, in struct task_evidence; of shown rows */
#define NEED_ENDED_IO 0x2000u /* storage bytes of exited tasks: known from nowhere else */
/* Needs read of shown rows, not of all tasks with the sample. */
#define NEED_SHOWN (NEED_WAITING | NEED_STACK)
/* Needed where groups are cgroups: one bit for each part of struct cgroup_sample. */
#define NEED_GROUP_SHIFT 16
#define NEED_GROUP(part) (1u << (NEED_GROUP_SHIFT + (part)))
#define NEED_GROUP_PRESSURE 0x0f0000u
#define NEED_GROUP_PARTS 0x7f0000u
#define NEED_PROC (NEED_STAT | NEED_IO)
#define NEED_INFO (NEED_COMMAND | NEED_CGROUP | NEED_CPU)

/* Values from /proc: the valid flags are false where it could not be read. */
struct task_proc {
	bool children_valid, io_valid;
	struct task_children children;
	struct task_io io;
	/*
	 * Whether the bytes include those of ended threads and of reaped children, as in
	 * /proc/PID/io (kernel/exit.c); else they are the task's own alone.
	 */
	bool io_whole;
};

/* Number of samples kept, and how far back a sample may be compared. */
#define SAMPLES 3
#define SAMPLE_AGES (SAMPLES + 1)

/* Marks that a source may set per element. */
#define MARK_UNCHANGED 0x1u /* as in the previous sample, but for the times of reading */
#define MARK_UNACCOUNTED 0x2u /* the kernel does not account its delays */
#define MARK_WAITS 0x4u /* in a wait that is visible in progress: read_ns is of this sample */

/* Sorted by task_order(). records and procs are parallel to raw, and NULL unless needed. */
struct sample {
	uint64_t begin_ns; /* CLOCK_MONOTONIC before listing: a task created later is new */
	uint64_t end_ns;
	uint64_t real_ns; /* CLOCK_REALTIME at begin_ns */
	struct system_sample system;
	struct task_raw **raw; /* elements, followed by some spare ones, or NULL */
	struct task_extra **extras; /* by place */
	size_t nextras, extras_cap;
	bool hangs_read; /* the extras include all hung tasks */
	struct task_record *records;
	struct task_proc *procs;
	size_t n, cap;
	size_t left; /* exited tasks, after the n living ones */
	size_t unread; /* tasks that exist but could not be read */
	int unread_error; /* the -errno of one of them; 0: unknown */
	uint8_t *marks; /* MARK_ bits of the n living ones, or NULL: see sample_has_marks() */
	/*
	 * If the source sets marks: how many of the first elements are the same tasks as at their
	 * places one, two and three samples before. Unchanged ones among them can be skipped. New
	 * tasks have high ids, so most changes come after these elements.
	 */
	size_t stable[SAMPLE_AGES];
	uint64_t pass; /* the source's number of the sample; 0: none */
	unsigned have; /* NEED_RECORD and NEED_PROC bits whose array is filled */
};

/* Creates a task with one reference; its start is exact until the source says otherwise. */
struct task *task_new(struct task_key key, pid_t tgid);

/* Takes a reference and returns the task. */
static inline struct task *task_ref(struct task *task)
{
	task->refs++;
	return task;
}

/* Drops a reference; frees the task with the last. NULL is allowed. */
void task_unref(struct task *task);

/* Set the path of a task's group, and its user: shared texts, whose references pass to the task. */
void task_set_cgroup(struct task *task, char *path);
void task_set_user(struct task *task, char *user);

/*
 * Copies a raw name of at most len bytes, up to its first NUL. A changed name may mean another
 * program.
 */
void task_set_comm(struct task *task, const char *comm, size_t len);

/* The element's position in the order of its sample. */
static inline uint64_t raw_order(const struct task_raw *raw)
{
	return task_order(raw->tgid, raw->pid);
}

/* Empties the sample and drops its references; its memory is kept for the next. */
void sample_reset(struct sample *sample);

/* A new empty element outside any sample, with one reference; the caller sets its task. */
struct task_raw *task_raw_new(void);

/* Take and drop a reference to an element; the last one frees it. NULL is allowed. */
struct task_raw *task_raw_ref(struct task_raw *raw);
void task_raw_unref(struct task_raw *raw);

/* Sets how an element's task spent its time: a copy; NULL: unknown. */
void task_raw_set_times(struct task_raw *raw, const struct task_times *times);

/* Removes all elements from the n-th on; the sample must have no exited ones. */
void sample_truncate(struct sample *sample, size_t n);

/* Appends an element without counters. Not after sample_extend(). */
struct task_raw *sample_add(struct sample *sample, pid_t tgid, pid_t pid);

/* Appends an element of another sample, shared by both from then on. Not after sample_extend(). */
void sample_add_shared(struct sample *sample, struct task_raw *raw);

/* Replaces the element i by one of another sample, which both share. */
void sample_share(struct sample *sample, size_t i, struct task_raw *raw);

/* Makes the element i the sample's own: copies it if it is shared. Returns it. */
struct task_raw *sample_own(struct sample *sample, size_t i);

/* Replaces the element i by an own one of the same task, without counters. Returns it. */
struct task_raw *sample_renew(struct sample *sample, size_t i);

/* Finds the data of the element at a place besides its counters; NULL: none. */
struct task_extra *sample_extra(const struct sample *sample, size_t place);

/* The extra of an element, created if there is none. Valid until the sample is reset. */
struct task_extra *sample_add_extra(struct sample *sample, size_t place);

/* A copy of evidence, including its texts. */
struct task_evidence *evidence_copy(const struct task_evidence *evidence);

/* Frees evidence; NULL is allowed. */
void evidence_free(struct task_evidence *evidence);

/* Frees all extras. */
void sample_drop_extras(struct sample *sample);

/* Appends n empty elements of exited tasks after the living ones. Call once, and last. */
void sample_add_exited(struct sample *sample, size_t n);

/* Counts a task that could not be read; error: the -errno. */
void sample_count_unread(struct sample *sample, int error);

/* Removes the exited elements again. */
void sample_remove_exited(struct sample *sample);

/* Makes room for a mark per element; the marks of the first n stay. */
void sample_mark(struct sample *sample, size_t n);

/* Marks the element i as different from what its source returned; returns it, to be modified. */
struct task_raw *sample_touch(struct sample *sample, size_t i);

/* True if the source has set marks for the element: it sets marks, and the task lives. */
static inline bool sample_has_marks(const struct sample *sample, size_t i)
{
	return sample->marks && i < sample->n;
}

/* True if nothing happened to the element: it is unchanged, and in no wait in progress. */
static inline bool sample_idle(const struct sample *sample, size_t i)
{
	return sample_has_marks(sample, i) &&
	       (sample->marks[i] & (MARK_UNCHANGED | MARK_WAITS)) == MARK_UNCHANGED;
}

/*
 * Skip most elements at little cost: the first from i on that is not unchanged, or not idle; the
 * number of all if there is none.
 */
size_t sample_next_changed(const struct sample *sample, size_t i);
size_t sample_next_busy(const struct sample *sample, size_t i);

/* Number of tasks whose delays the kernel does not account, according to the source. */
size_t sample_count_unaccounted(const struct sample *sample);

/* True if according to the source the kernel does not account the task's delays. */
static inline bool sample_unaccounted(const struct sample *sample, size_t i)
{
	return sample_has_marks(sample, i) && sample->marks[i] & MARK_UNACCOUNTED;
}

/*
 * The last time at which the counters of an element were true: an unchanged element may have been
 * read long before, and still is as it was. For an exited task: its exit.
 */
static inline uint64_t sample_read_ns(const struct sample *sample, const struct task_raw *raw)
{
	return raw->exited || raw->read_ns > sample->begin_ns ? raw->read_ns : sample->begin_ns;
}

/* Number of leading elements that are the same tasks as in the sample of that age. */
static inline size_t sample_stable(const struct sample *sample, unsigned age)
{
	return sample->stable[age];
}

/* Makes room for the data that `needs` names, zeroed, parallel to the present elements. */
void sample_extend(struct sample *sample, unsigned needs);

/* Removes the elements without a task (it exited while the sample was taken), keeping the order. */
void sample_compact(struct sample *sample);

/* Finds the place of a living thread's element (or, if pid is tgid, of a process's). */
#define NO_PLACE SIZE_MAX
size_t sample_place(const struct sample *sample, pid_t tgid, pid_t pid);

/* The place of an element in the sample, exited ones included; NO_PLACE: not in it. */
size_t sample_index(const struct sample *sample, const struct task_raw *raw);

/* Finds that element, or NULL. */
struct task_raw *sample_find(const struct sample *sample, pid_t tgid, pid_t pid);

/* Frees all memory. */
void sample_free(struct sample *sample);
