/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few fields of the kernel's types and the functions that the programs in the kernel use. The
 * offset of each field is filled in when a program is loaded (CO-RE), so only the names and types
 * of fields matter here.
 *
 * Numbers are unsigned, as libbpf lets only those have another size in the kernel than here (its
 * types change: on_rq is a byte since 7.2); tests/check_kernel_types.sh holds that.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>

#include "data/delay_table.h"

#define TASK_COMM 16

struct pid_namespace;

/* Read whole, as it never changed: each type whose fields are relocated takes time to load. */
struct upid {
	__u32 nr;
	struct pid_namespace *ns;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct sched_ext_entity {
	__u32 flags;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long max_run_delay, min_run_delay; /* 6.14 and later */
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct rq {
	__u64 clock;
};

struct cfs_rq {
	struct rq *rq;
	__u32 throttle_count;
};

struct sched_entity {
	unsigned char on_rq;
	unsigned char sched_delayed; /* 6.12 and later */
	struct cfs_rq *cfs_rq;
	__u64 exec_start;
	__u64 sum_exec_runtime, prev_sum_exec_runtime;
};

struct rt_rq {
	__u32 rt_throttled;
};

struct sched_rt_entity {
	struct sched_rt_entity *parent; /* with CONFIG_RT_GROUP_SCHED, as the next */
	struct rt_rq *rt_rq;
};

struct sched_dl_entity {
	unsigned int dl_throttled : 1;
	unsigned int dl_yielded : 1; /* 4.6 and later */
};

/* irq since 6.4, wpcopy since 6.0, compact since 5.17; max and min since 6.14. */
#define DELAY_FIELDS(NAME, kernel, ...) \
	__u64 kernel##_delay, kernel##_delay_max, kernel##_delay_min; \
	__u32 kernel##_count;
struct task_delay_info {
	__u64 blkio_start;
	DELAY_STORED(DELAY_FIELDS)
};
#undef DELAY_FIELDS

#define DELAY_FIELDS(NAME, kernel, ...) \
	__u64 kernel##_count, kernel##_delay_total, kernel##_delay_max, kernel##_delay_min;
struct taskstats {
	DELAY_TABLE(DELAY_FIELDS)
	__u64 cpu_run_virtual_total;
};
#undef DELAY_FIELDS

typedef struct {
	__u32 counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	__u32 nr_threads;
	__u64 utime, stime, cutime, cstime;
	struct taskstats *stats;
	/* The task that execs, and will be the leader: 5.17 and later; before. */
	struct task_struct *group_exec_task, *group_exit_task;
};

struct dentry;

struct qstr {
	const unsigned char *name;
};

struct super_block {
	__u32 s_dev; /* major << 20 | minor */
	unsigned long s_magic;
	struct dentry *s_root;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	struct hlist_head i_dentry;
};

struct address_space {
	struct inode *host;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	union {
		struct hlist_node d_alias;
	} d_u;
};

/* The type as of 7.2, where the union has no name. */
struct dentry___flat {
	struct hlist_node d_alias;
};

struct path___kernel {
	struct dentry *dentry;
};

/* The part after ___ distinguishes names of own types from the kernel's. */
struct file___kernel {
	struct inode *f_inode;
	struct path___kernel f_path;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file___kernel **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	__u8 bytes[16];
};

/* All numbers but skc_num are in network order. */
struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	__u32 len;
	struct sockaddr_un name[1];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 */
};

/* x86's; bx, cx, dx, si, di are the arguments of 32-bit programs. */
struct pt_regs {
	unsigned long bx, cx, dx, si, di, r8, r10;
	unsigned long orig_ax, ip, sp, bp;
	unsigned short cs;
};

struct pt_regs___arm64 {
	__u64 regs[31];
	__u64 orig_x0, pstate;
	__u32 syscallno;
};

struct pt_regs___s390 {
	unsigned long gprs[16];
	unsigned long orig_gpr2;
	__u32 int_code;
	unsigned long flags;
};

struct pt_regs___riscv {
	unsigned long a1, a2, a3, a4, a7;
	unsigned long cause;
	unsigned long orig_a0;
};

struct pt_regs___ppc {
	unsigned long gpr[32];
	unsigned long orig_gpr3, trap;
};

struct irqaction {
	const char *name;
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	unsigned int __state; /* 5.14 and later */
	unsigned long state; /* before */
	unsigned int flags;
	__u32 on_cpu, on_rq; /* bytes since 7.2 */
	__u32 prio;
	_Bool throttled; /* 6.18 and later */
	struct sched_entity se;
	struct sched_rt_entity rt;
	struct sched_dl_entity dl;
	struct sched_ext_entity scx; /* 6.12 and later */
	struct sched_info sched_info;
	__u32 exit_state;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1; /* with CONFIG_PSI */
	unsigned int frozen : 1; /* by cgroup v2, 5.2 and later */
	__u32 pid, tgid;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	__u64 utime, stime;
	__u64 start_time;
	unsigned long min_flt, maj_flt;
	unsigned long nvcsw;
	const struct cred *real_cred;
	char comm[TASK_COMM];
	struct signal_struct *signal;
	struct css_set *cgroups;
	__u64 self_exec_id; /* 32 bits before 5.7 */
	struct task_delay_info *delays;
	struct files_struct *files;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* The scheduler's state of a task (TASK_ bits); 0: it runs or is runnable. */
static __always_inline __u32 state_of(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)task->state;
}

/*
 * True if the task is in a memory stall: in a section that pressure counts as one, whether delays
 * are accounted or not. Never if pressure is not tracked (psi=0).
 */
static __always_inline bool in_memory_stall(const struct task_struct *task)
{
	return bpf_core_field_exists(task->in_memstall) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_memstall);
}

/* include/linux/sched.h: it frees or compacts memory, see memalloc_noreclaim_save() */
#define PF_MEMALLOC 0x00000800

/* True if the task is in reclaim or compaction for an allocation. */
static __always_inline bool in_reclaim(const struct task_struct *task)
{
	return task->flags & PF_MEMALLOC;
}

/* True if an I/O wait of the task is one for memory, outside of reclaim. */
static __always_inline bool is_thrashing(const struct task_struct *task)
{
	return in_memory_stall(task) && !in_reclaim(task);
}

/* Kernels before 6.7 have no such iterator; the program that needs it is not loaded there. */
enum { ALL_PROCESSES, ALL_THREADS, THREADS_OF_PROCESS };

struct bpf_iter_task {
	__u64 opaque[3];
} __attribute__((aligned(8)));

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
