/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data of traced threads in BPF task storage, and its maps: written by trace.bpf.c, and read by the
 * walk (snapshot.bpf.c).
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/trace_record.h"

/* A site slot; another generation: the slot was reused for another site. */
struct site_ref {
	__u32 slot, generation;
};

/* The site of a thread's last wait of a kind, so that the next one of the same kind finds it. */
struct recent {
	struct trace_key key;
	struct site_ref ref;
};

/*
 * Earlier activities of a thread, of one kind and in one segment of its time: a segment ends when
 * the thread wakes another, or is woken by one. Its parts cover it.
 */
struct past_activity {
	__u64 ns : 48; /* 0: none */
	__u64 generation : 16; /* of the site, its low bits */
	__u32 site : 27; /* that it waited in, 0: none */
	__u32 first : 1; /* of its segment */
	__u32 state : 4; /* enum wait_state */
	__u32 begin, end; /* moments */
} __attribute__((packed, aligned(4)));

/*
 * Whether a thread is present; it is leaving when its times were added to its process's, and gone
 * when it has exited, or is outside the reader's namespace.
 */
enum presence { UNREGISTERED, REGISTERING, PRESENT, LEAVING, GONE };

/* A moment: the time in units of 2^MOMENT_SHIFT ns, modulo 2^32: 73 minutes. */
#define MOMENT_SHIFT 10

#define ACTIVITIES 11

/* The data of a thread. */
struct thread_storage {
	struct trace_thread thread;
	__u32 version; /* odd while a CPU writes `thread` */
	__u32 presence; /* enum presence */
	__u8 throttled : 3; /* 1 + enum cpu_budget: what throttles it; 0: it just waits for
			     * others */
	__u8 fresh : 1; /* the segment has no part yet */
	__u8 past; /* the index of the latest of the activities */
	__u64 arrived_ns; /* when it was last switched in, or born; 0: not seen yet */
	__u64 run_delay_ns; /* queue time accounted before the wait */
	__u64 run_ns; /* its run time when it was switched in */
	struct recent sleep, queue;
	__u64 fault_inode; /* address of the inode of the file of its last page fault */
	__u64 faults; /* number of faults then; unchanged while that one lasts */
	__u64 within_ns[2]; /* when reclaim, compaction began; 0: not in it */
	__u64 segment_ns; /* when the segment began; 0: none */
	__u64 bound_ns; /* the end of the segment; 0: not ended */
	struct past_activity activities[ACTIVITIES];
	__u16 asked; /* last woken by a task, not by its own work's completion */
	__u16 woken; /* 1 + the state in which it was woken, until it gets a CPU; 0: not woken */
	__u64 user_stack; /* id of the stack with which it fell asleep; 0: none */
};

/* Its element has 64 bytes of overhead: a pointer, and the allocator's (8). */
_Static_assert(sizeof(struct thread_storage) <= 1024 - 80, "room of an allocation");

/* The times of a process's exited threads, stored with its leader. */
struct ended_times {
	__u64 ns[WAIT_STATES];
	__u32 partial; /* some of them were not traced */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_storage);
} locals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ended_times);
} ended_of SEC(".maps");
