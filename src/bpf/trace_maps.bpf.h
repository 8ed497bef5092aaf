/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the programs of a trace: kernel constants, maps, and access to slots. Part of
 * trace.bpf.c.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/thread_end.bpf.h"
#include "bpf/trace_local.bpf.h"
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

/* A major number that no device has (they end at 511), as in s_dev. */
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

#define POLLED 16 /* maximum descriptors read of poll() */
#define SELECTED 1024 /* of select() */
#define SELECT_SETS 3

/* Attempts, of some 20 ns each, to read a site that another CPU writes. */
#define PATIENCE 64

/* How completely a site is filled in: a thread visited by another task has no stack to store. */
enum { FILLED_BUT_STACK = 1, FILLED };

#define COMPONENTS 12 /* bytes read of a path */

/* Set before the program is loaded. */
const volatile __u32 site_room; /* a power of two */
const volatile bool blocked_stacks;
const volatile bool states_alone; /* no sites: neither targets, nor wakers, nor links */
const volatile __u32 stack_size; /* size of a task's kernel stack, where used */
const volatile bool weak_order; /* stores of this machine may be reordered */
const volatile struct trace_class classes[TRACE_CALLS];
/*
 * By the number of a 32-bit program's call: 1 + the 64-bit one's; 0: none; TRACE_SOCKETCALL: the
 * first argument selects the call, the second is the address of its arguments.
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

MAPPED_ARRAY(sites, struct trace_site_slot);
/* By the slot of the site, which has their version, too. */
MAPPED_ARRAY(links_of_sites, struct trace_links);
MAPPED_ARRAY(cpus, struct trace_cpu);
/* Slots; of 64 bits, as the elements of an array are at least that far apart. */
MAPPED_ARRAY(free_sites, __u64);
/* Two lists, of site_room. */
MAPPED_ARRAY(changed_sites, __u64);

/* The same as one number, for arguments and results of functions. */
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

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TRACE_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

/* The buffer of a path; components are appended one by one. */
struct text {
	char bytes[2 * TRACE_NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text);
} texts SEC(".maps");

/* The last ends of threads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TRACE_ENDS);
	__type(key, __u32);
	__type(value, struct trace_end);
} ends SEC(".maps");

static __always_inline struct trace_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct trace_site_slot *site_at(__u32 slot)
{
	return bpf_map_lookup_elem(&sites, &slot);
}

static __always_inline struct thread_storage *storage_of(struct task_struct *task, __u64 how)
{
	return bpf_task_storage_get(&locals, task, NULL, how);
}

/* Makes the compiler keep a value in its register, as the verifier knows its bounds only there. */
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

/* Puts a site being written on the epoch's list, once. */
static __always_inline void list_site(struct trace_site_slot *slot, __u32 at)
{
	__u32 epoch = *(volatile __u32 *)&control.epoch, i;
	__u64 *element;

	if (slot->epoch == epoch)
		return;
	slot->epoch = epoch;
	i = __sync_fetch_and_add(&control.changed[epoch & 1].sites, 1);
	if (i >= site_room)
		return;
	i += (epoch & 1) * site_room;
	element = bpf_map_lookup_elem(&changed_sites, &i);
	if (element)
		*(volatile __u64 *)element = at;
}

/* Takes a free slot; 0: none. */
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
