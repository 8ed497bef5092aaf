/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data shared by trace.bpf.c, which runs in the kernel at each context switch, and trace.c,
 * which reads it. Includes nothing but the kernel's types and tables, as trace.bpf.c is compiled
 * for another machine.
 */
#ifndef STALLTOP_BPF_TRACE_RECORD_H
#define STALLTOP_BPF_TRACE_RECORD_H

#include <linux/types.h>

#include "data/wait_state_table.h"

#define TRACE_COMM 16
#define TRACE_NAME 128
#define TRACE_BUCKETS 32
#define TRACE_WAKERS 4

/* The sorts of targets. */
enum trace_target {
	TRACE_NOTHING,
	TRACE_FILE, /* dev, ino, mode; name has the path within its mount, as far as it was read */
	TRACE_SOCKET, /* ino of the socket's file, and the addresses */
	TRACE_FUTEX, /* word */
	TRACE_CHILD, /* pid, -1: any */
	TRACE_TASK, /* for cpu: the process that ran instead (pid, name) */
	TRACE_THROTTLED, /* for cpu: the group's quota is used up */
};

/* What tells sites apart. Padding must be zero. */
struct trace_key {
	__u64 start_ns; /* of the process */
	__u64 ino; /* of a file or socket; the address of a futex; the pid of a child or task */
	__u32 dev;
	__s32 tgid; /* in the reader's namespace */
	__s32 syscall; /* number; -1: none (a page fault, a kernel thread) */
	__s32 stack; /* id of the kernel stack where that tells sites apart (io, block); -1: not */
	__u8 state; /* enum wait_state */
	__u8 target; /* enum trace_target */
	__u8 within; /* 0, or 1 + the delay kind of a site that lies within others (reclaim,
			compact) */
	__u8 unused[5];
};

struct trace_waker {
	__s32 tgid; /* 0: an interrupt */
	__u32 count;
	__u64 ns;
	char name[TRACE_COMM]; /* of the process's leader or of the interrupt */
};

/* A site's totals since it was made. */
struct trace_site {
	struct trace_key key;
	__u64 generation; /* of the slot: it grows when the slot is used for another site */
	__u64 count, ns, max_ns;
	__u64 kind_ns; /* what the kernel booked for these waits (blkio, cpu); else as ns */
	__u64 last_ns; /* CLOCK_MONOTONIC, when it changed last */
	__u32 buckets[TRACE_BUCKETS];
	struct trace_waker wakers[TRACE_WAKERS];
	/* From its first wait: */
	__s32 stack; /* id in the stack map, negative: none */
	__s32 fd; /* the descriptor, -1: none */
	__u32 mode; /* of a file: S_IFMT */
	__u16 family, port, peer_port; /* of a socket; in host order */
	__u8 protocol, unused;
	__u8 address[16], peer[16];
	char name[TRACE_NAME]; /* of a file: components from the last one on, each ended by NUL; of
				  a unix socket: its path; for cpu the process that ran */
	char comm[TRACE_COMM]; /* of the process's leader */
};

/* A thread's totals since it was first seen. ns[state] lacks what passed since since_ns. */
struct trace_thread {
	__u64 ns[WAIT_STATES];
	__u64 since_ns; /* CLOCK_MONOTONIC: in this state since then */
	__u64 born_ns; /* CLOCK_MONOTONIC: counted from then on */
	__u64 start_ns, process_start_ns;
	__s32 pid, tgid; /* in the reader's namespace */
	__u32 site; /* index of the site that it waits in, 0: none */
	__u32 generation; /* of that site, its low bits */
	__u8 state;
	__u8 ended; /* it is gone: ns is complete up to since_ns, and the slot will be used again */
	__u8 attached; /* its wait was in progress when tracing began */
	__u8 unused[5];
};

#endif
