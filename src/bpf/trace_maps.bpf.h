/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts that the programs of a trace share: constants of the kernel, maps, and how slots are
 * written. Part of trace.bpf.c.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/trace_record.h"

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define TASK_RTLOCK_WAIT 0x1000
#define TASK_FROZEN 0x8000
#define PF_KTHREAD 0x200000

#define S_IFMT 0xf000
#define S_IFSOCK 0xc000
#define S_IFIFO 0x1000
#define ANON_INODE_FS_MAGIC 0x09041934 /* include/uapi/linux/magic.h */

/* A major number that no device has (they end at 511), as s_dev has it. */
#define NO_DEVICE 0xfff00000

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10

/* enum syscall_target of kernel/syscalls.h */
enum {
	CALL_NOTHING,
	CALL_FD,
	CALL_PATH,
	CALL_FUTEX,
	CALL_CHILD,
	CALL_PATH_AT,
	CALL_POLL,
	CALL_SELECT,
	CALL_LOCK
};

#define POLLED 16 /* descriptors of poll() are looked at, at most */
#define SELECTED 1024 /* of select() */
#define SELECT_SETS 3

/* The looks, of some 20 ns each, that a waiter gives a site that another CPU writes. */
#define PATIENCE 64

/* How much of a site is set: a thread that another task looks at has no stack to keep. */
enum { FILLED_BUT_STACK = 1, FILLED };

#define COMPONENTS 12 /* of a path are read at most */

/* Set before the program is loaded. */
const volatile __u32 thread_room, site_room; /* powers of two */
const volatile bool blocked_stacks;
const volatile bool states_alone; /* no sites: neither targets, nor wakers, nor links */
const volatile __u32 stack_size; /* of a task in the kernel, where that is used */
const volatile bool weak_order; /* stores of this machine may overtake each other */
const volatile struct trace_class classes[TRACE_CALLS];
/*
 * Calls by the number of a 32-bit program's: 1 + the 64-bit one's; 0: none; TRACE_SOCKETCALL: the
 * first argument says which it is, the second where its arguments are.
 */
const volatile __u16 natives[TRACE_CALLS], socket_calls[TRACE_SOCKET_CALLS];

struct trace_control control;

#define MAPPED_ARRAY(name, what) \
	struct { \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1); \
		__type(key, __u32); \
		__type(value, what); \
	} name SEC(".maps")

MAPPED_ARRAY(threads, struct trace_thread_slot);
MAPPED_ARRAY(sites, struct trace_site_slot);
/* By the slot of the site, whose version is theirs, too. */
MAPPED_ARRAY(links_of_sites, struct trace_links);
MAPPED_ARRAY(cpus, struct trace_cpu);
/* Slots; of 64 bits, as the elements of an array are at least that far apart. */
MAPPED_ARRAY(free_threads, __u64);
MAPPED_ARRAY(free_sites, __u64);
/* Two lists each, of thread_room and site_room. */
MAPPED_ARRAY(changed_threads, __u64);
MAPPED_ARRAY(changed_sites, __u64);

/* The slot of a site; the generation tells whether the site is still there. */
struct site_ref {
	__u32 slot, generation;
};

/* The same as one number, which functions return and take. */
struct site_word {
	union {
		struct site_ref ref;
		__u64 word;
	};
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct trace_key);
	__type(value, struct site_ref);
} places SEC(".maps");

/* Processes with threads that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACE_ROOMLESS);
	__type(key, struct trace_process);
	__type(value, struct trace_roomless);
} roomless SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TRACE_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

/* The buffer of a path; each component is read after those that are there. */
struct text {
	char bytes[2 * TRACE_NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text);
} texts SEC(".maps");

/* The site of a thread's last wait of a sort, so that the next one of the same finds it. */
struct recent {
	struct trace_key key;
	struct site_ref ref;
};

/* Whether a thread found no room: counted for its process, which sleep.key names, or for none. */
enum lost { NOT_LOST, LOST, LOST_NAMELESS };

/*
 * Earlier activities of a thread, of one kind and in one segment of its time: a segment ends when
 * the thread wakes another, or is woken by one. Its parts fill it.
 */
struct thread_past {
	__u64 ns : 48; /* 0: none */
	__u64 generation : 16; /* of the site, its low bits */
	__u32 site : 27; /* that it waited in, 0: none */
	__u32 first : 1; /* of its segment */
	__u32 state : 4; /* enum wait_state */
	__u32 begin, end; /* moments */
} __attribute__((packed, aligned(4)));

/* A moment: the time in units of 2^MOMENT_SHIFT ns, modulo 2^32: 73 minutes. */
#define MOMENT_SHIFT 10

/* As many as fit into what the kernel allocates for a struct local, 512 bytes with its own. */
#define PASTS 11

/* Facts about a thread besides its slot. */
struct local {
	__u32 slot; /* 0: none; SLOT_TAKEN: is being made */
	__u8 lost; /* enum lost */
	__u8 gone; /* it ended, or the reader cannot see it */
	__u8 throttled : 3; /* 1 + enum cpu_budget: what keeps it queued; 0: others that run */
	__u8 fresh : 1; /* the segment has no part yet */
	__u8 past; /* the index of the latest of the pasts */
	__u64 arrived_ns; /* when it was switched in last, or born; 0: before it was seen */
	__u64 blkio_ns; /* booked before the wait */
	__u64 run_delay_ns; /* the same for queues */
	__u64 run_ns; /* its run time when it was switched in */
	struct site_ref io; /* the site of a wait of io, to be booked when it is switched in */
	__u64 io_ns; /* and how long that wait was */
	struct recent sleep, queue;
	__u64 fault_inode; /* address of the inode of the file that a page fault was on last */
	__u64 faults; /* how many there were then; it stays so while that one lasts */
	__u64 within_ns[2]; /* when reclaim, compaction began; 0: not in it */
	__u64 within_booked_ns;
	__u64 segment_ns; /* when the segment began; 0: there is none */
	__u64 bound_ns; /* when it ends; 0: it goes on */
	struct thread_past pasts[PASTS];
	__u16 asked; /* a task woke it last, its own work aside */
	__u16 woken; /* 1 + the state that it was woken in, until it gets a CPU; 0: it was not */
};

/* Its element has 64 bytes before it, a pointer, and what the allocator adds (8). */
_Static_assert(sizeof(struct local) <= 512 - 80, "room of an allocation");

#define SLOT_TAKEN 0xffffffff

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct local);
} locals SEC(".maps");

static __always_inline struct trace_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct trace_thread_slot *thread_at(__u32 slot)
{
	return bpf_map_lookup_elem(&threads, &slot);
}

static __always_inline struct trace_site_slot *site_at(__u32 slot)
{
	return bpf_map_lookup_elem(&sites, &slot);
}

static __always_inline struct local *local_of(struct task_struct *task, __u64 how)
{
	return bpf_task_storage_get(&locals, task, NULL, how);
}

/* Has the compiler keep a value in its register, as the verifier knows its bounds there only. */
#define KEEP(value) asm volatile("" : "+r"(value))

/* ---- Slots: versions, lists of what changed, free ones ------------------------------------- */

/* Begins to write what one CPU writes at a time. A full barrier: the epoch is read after it. */
static __always_inline void begin_write(__u32 *version)
{
	__sync_lock_test_and_set(version, *version + 1);
}

static __always_inline void end_write(__u32 *version)
{
	barrier();
	if (weak_order)
		__sync_lock_test_and_set(version, *version + 1);
	else
		*(volatile __u32 *)version = *version + 1;
}

/* Puts a slot that is being written on the epoch's list, once. */
#define LIST(part, slot_, at) \
	do { \
		__u32 epoch_ = *(volatile __u32 *)&control.epoch, i_; \
		__u64 *element_; \
		if ((slot_)->epoch == epoch_) \
			break; \
		(slot_)->epoch = epoch_; \
		i_ = __sync_fetch_and_add(&control.changed[epoch_ & 1].part##s, 1); \
		if (i_ >= part##_room) \
			break; \
		i_ += (epoch_ & 1) * part##_room; \
		element_ = bpf_map_lookup_elem(&changed_##part##s, &i_); \
		if (element_) \
			*(volatile __u64 *)element_ = (at); \
	} while (0)

/* Takes a free slot; 0: there is none. */
static __always_inline __u32 take_free(struct trace_ring *ring, void *map, __u32 room)
{
	for (int i = 0; i < 8; i++) {
		__u32 head = *(volatile __u32 *)&ring->head, tail = *(volatile __u32 *)&ring->tail;
		__u32 at = head & (room - 1), taken;
		__u64 *slot;

		if (head == tail)
			return 0;
		slot = bpf_map_lookup_elem(map, &at);
		if (!slot)
			return 0;
		taken = (__u32) * (volatile __u64 *)slot;
		if (__sync_val_compare_and_swap(&ring->head, head, head + 1) == head)
			return taken;
	}
	return 0;
}
