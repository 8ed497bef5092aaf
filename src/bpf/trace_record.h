/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data shared by trace.bpf.c, which runs in the kernel at each context switch, and trace.c, which
 * reads it. Includes nothing but the kernel's types and tables, as trace.bpf.c is compiled for
 * another machine.
 */
#pragma once

#include <linux/types.h>

#include "bpf/thread_end.h"
#include "data/frame_rule.h"
#include "data/wait_state_table.h"

#define TRACE_COMM 16
#define TRACE_NAME 128
#define TRACE_BUCKETS 32
#define TRACE_WAKERS 4
#define TRACE_LINKS 12
#define TRACE_RULES 16384 /* for frames of user stacks */
#define TRACE_CHOSEN 256 /* maximum number of processes chosen by pid or name */
#define TRACE_FRAMES 32 /* of a stack */
#define TRACE_ENDS 4096 /* ends of threads stored until they are read: a power of two */

#define TRACE_CALLS 512 /* system calls that may have a class of their own */
#define TRACE_SOCKET_CALLS 21 /* calls that socketcall() can make, from 1 on */
#define TRACE_SOCKETCALL 0xffff /* replaces the number of the equivalent 64-bit call */

/* The kinds of targets. */
enum trace_target {
	TRACE_NOTHING,
	TRACE_FILE, /* dev, ino, mode (also of pipes); name has the path within its file system, as
		     * far as it was read */
	TRACE_SOCKET, /* ino of the socket's file, and the addresses */
	TRACE_FUTEX, /* word */
	TRACE_CHILD, /* pid, -1: any */
	TRACE_TASK, /* for cpu: the process that ran instead (pid, name) */
	TRACE_POLLED, /* so many files (ino) */
	TRACE_THROTTLED, /* for cpu: by an enum cpu_budget (ino) */
	TRACE_FROZEN, /* for stop: by its cgroup */
};

/* The key of a site. Padding must be zero. */
struct trace_key {
	__u64 start_ns; /* of the process */
	__u64 ino; /* of a file or socket; the address of a futex; the pid of a child or task; a
		      number of files; a budget */
	__u32 dev;
	__s32 tgid; /* in the reader's namespace */
	__s32 syscall; /* number; -1: none (a page fault, a kernel thread) */
	__s32 stack; /* id of the kernel stack if it distinguishes sites (io, dwait, workers of
		      * io_uring); -1: it does not */
	__u8 state; /* enum wait_state */
	__u8 target; /* enum trace_target */
	__u8 within; /* 0, or 1 + the delay kind of a site whose time is part of others (reclaim,
		      * compact) */
	__u8 unused[5];
};

/*
 * Relation of a futex/eventfd waker: unknown; has waited there itself (lock passed around); was
 * woken by a requester.
 */
enum trace_relation { RELATION_NONE, WAKER_SAME_LOCK, WAKER_REQUESTED, RELATIONS };

struct trace_waker {
	__s32 tgid; /* 0: an interrupt */
	__u32 count;
	__u64 ns;
	char name[TRACE_COMM]; /* of the process's leader or of the interrupt */
};

/* A site's totals since its creation. */
struct trace_site {
	struct trace_key key;
	__u64 generation; /* of the slot: incremented when the slot is reused for another site */
	__u64 count, ns, max_ns;
	__u64 booked_ns; /* accounted by the kernel of waits for a CPU */
	__u64 last_ns; /* CLOCK_MONOTONIC, of its latest change */
	__u32 buckets[TRACE_BUCKETS];
	struct trace_waker wakers[TRACE_WAKERS];
	__u32 relations[RELATIONS]; /* relation of the tasks that ended its waits: of a futex or of
				     * events */
	/* From its first wait: */
	__s32 stack; /* id in the stack map, negative: none */
	__s32 fd; /* the descriptor, -1: none */
	__u32 mode; /* of a file: S_IFMT */
	__u16 family, port, peer_port; /* of a socket; in host order */
	__u8 protocol;
	__u8 filled; /* not 0: the members after `wakers` are set */
	__u8 here; /* of a socket: its data comes from this machine */
	__u8 address[16], peer[16];
	char name[TRACE_NAME]; /* of a file: components from the last one on, each ended by NUL; of
				  a unix socket: its path; for cpu the process that ran */
	char comm[TRACE_COMM]; /* of the process's leader */
};

/* A link of a chain: what a waker's thread did while others waited in a site for its wake-up. */
struct trace_link {
	__u64 ns;
	__s32 tgid; /* the waker's process; 0: the end of the list */
	__u32 site; /* the site that the waker waited in: index, 0: none, or dropped for lack of
		     * room */
	__u32 generation; /* of that site, its low bits */
	__u8 state; /* enum wait_state; WAIT_STATES: unknown, as it was too long ago */
	__u8 unused;
	__u16 epoch; /* in which it last grew, its low bits */
};

/* The links of a site since its creation: those with most time. */
struct trace_links {
	struct trace_link all[TRACE_LINKS];
	__u32 full; /* the last epoch in which a new one found all of them in use */
	__u32 unused;
};

/*
 * A thread's time by state since it was first seen. ns[state] excludes the time since since_ns: the
 * sum of ns is since_ns - born_ns exactly.
 */
struct trace_thread {
	__u64 ns[WAIT_STATES];
	__u64 since_ns; /* CLOCK_MONOTONIC: in this state since then */
	__u64 born_ns; /* CLOCK_MONOTONIC: counted from then on */
	__u64 process_start_ns;
	__s32 tgid; /* in the reader's namespace */
	__u32 site; /* index of the site that it waits in, 0: none */
	__u32 generation; /* of that site, its low bits */
	__u8 state; /* WAIT_STATES: it has exited */
	__u8 attached; /* its wait was in progress when tracing began */
	__u8 hidden; /* it was hidden for long, and will be again */
	__u8 unused;
};

/*
 * A thread that waits in a site, or that runs or waits for a CPU. The site may become known only at
 * the next reading, or may have been freed (another generation).
 */
struct trace_waiter {
	__u64 since_ns; /* CLOCK_MONOTONIC: in this state since then */
	__s32 pid, tgid; /* in the reader's namespace */
	__u32 site, generation; /* as in struct trace_thread */
	__u8 state, attached;
	__u8 stacked; /* the members below are set */
	__u8 unused[5];
	__u64 user_stack; /* its id; 0: none was taken */
	/* Of a thread whose stack is wanted but was not taken when it fell asleep; ip 0: not so. */
	__u64 ip, sp, bp;
};

/* Size without the members below, which most lack. */
#define TRACE_WAITER_LEAST __builtin_offsetof(struct trace_waiter, user_stack)

/* Processes whose user stacks are taken: by pid (in the reader's namespace) or by name. */
struct trace_chosen {
	char name[TRACE_COMM]; /* of the leader, padded with NUL; all NUL: by pid */
	__s32 tgid; /* 0: by name */
};

/* A user stack; its id is a hash of it. */
struct trace_user_stack {
	__u64 start_ns; /* of the process */
	__s32 tgid; /* in the reader's namespace */
	__u32 exec; /* its self_exec_id: increases at exec */
	/*
	 * The number of addresses, and of the right ones: others are guesses. One more: all are
	 * right, and the last has no caller.
	 */
	__u32 n, sure;
	__u64 addresses[USER_FRAMES]; /* innermost first */
};

/* How to unwind a frame, by an address in it. */
struct trace_rule_key {
	__u64 start_ns, ip;
	__s32 tgid;
	__u32 exec;
};

/* In a key below: it is the stack with which the waker ended the wait. No id has it. */
#define TRACE_STACK_OF_WAKER (1ULL << 63)

/* The waits in a site with one user stack. */
struct trace_stack_key {
	__u32 site, generation; /* as in struct trace_thread */
	__u64 stack; /* its id */
};

struct trace_stack_sum {
	__u64 ns, count; /* of waits that have ended */
};

/* A hash of a name, which ends with a NUL or at its size; never 0. */
static __inline__ __u32 trace_name_hash(const char *name)
{
	__u32 hash = 1;

	for (int i = 0; i < TRACE_COMM && name[i]; i++)
		hash = hash * 31 + (unsigned char)name[i];
	return hash ? hash : 1;
}

/*
 * The slot as the program stores it. `version` is odd while a CPU writes it; `epoch` is the one in
 * which it was put on the list of changed ones.
 */
struct trace_site_slot {
	struct trace_site site;
	__u32 version, epoch;
};

/* Facts about a system call and a thread that sleeps in it (kernel/syscalls.h). */
struct trace_class {
	__u8 state, target, argument;
};

/* A queue of free slots: the reader adds at the tail, the program takes from the head. */
struct trace_ring {
	__u32 head, tail;
} __attribute__((aligned(64)));

/* A process that ran on a CPU, until the next one did. */
struct trace_run {
	__u64 since_ns; /* 0: none */
	__s32 tgid; /* 0: idle, or outside the reader's namespace */
	__u32 unused;
	char name[TRACE_COMM];
};

#define TRACE_RUNS 8 /* a power of two */

/* Time by state of a thread, and of its process's exited threads. */
struct trace_end {
	struct thread_end end;
	__u64 own[WAIT_STATES], process[WAIT_STATES];
	__u32 own_known, process_known; /* all of that time was traced */
	__s32 tgid; /* in the reader's namespace */
	__u32 name; /* trace_name_hash() of its leader's name */
};

/* Counts of a CPU, its current interrupt, and the tasks that ran on it. */
struct trace_cpu {
	__u64 switches, lost_waits;
	__u64 interrupt; /* address of the name of the current interrupt; 0: none */
	__u32 softirq; /* its vector, + 1 */
	__u32 timer; /* in the interrupt of the CPU's own timer */
	__u32 ipi; /* in that of another CPU */
	__u32 spare; /* a site's slot that was taken but not used */
	/* Further arguments of the current call: BPF stacks are small. */
	__u64 polled[3];
	__u32 run; /* the latest of the runs, modulo TRACE_RUNS */
	struct trace_run runs[TRACE_RUNS];
} __attribute__((aligned(64)));

/* The sites that changed in the present epoch or the previous one, by the epoch's lowest bit. */
struct trace_changed {
	__u32 sites;
} __attribute__((aligned(64)));

/* The reader's requests to the program. */
struct trace_control {
	__u32 epoch; /* from 1 */
	__u32 walking; /* the existing threads are being added */
	__u32 walked; /* they were added */
	__u64 reader_ns; /* the reader's pid namespace: pids are of it */
	__u32 reader_level; /* 0: the initial namespace */
	__u32 calls; /* the system calls of tasks can be read on this machine */
	__u32 user_stacks; /* user stacks can be taken on it */
	struct trace_changed changed[2];
	struct trace_ring free_sites;
	__u64 ends; /* number of ends written */
	__u32 chosen_pids, chosen_names; /* some of the chosen processes are such */
	__u64 stacks_over_ns; /* shorter waits are not added to stacks */
	__u64 lost_stacks; /* stacks or their waits that found no room */
};
