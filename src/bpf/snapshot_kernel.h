/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few fields of the kernel's types and the functions that snapshot.bpf.c uses. The offset of
 * each field is filled in when the program is loaded (CO-RE), so only the names and types of fields
 * matter here.
 */
#ifndef STALLTOP_BPF_SNAPSHOT_KERNEL_H
#define STALLTOP_BPF_SNAPSHOT_KERNEL_H

#include "bpf/snapshot_record.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

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

struct sched_entity {
	unsigned char on_rq;
	__u64 exec_start;
	__u64 sum_exec_runtime, prev_sum_exec_runtime;
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

struct signal_struct {
	int nr_threads;
	__u64 utime, stime, cutime, cstime;
	struct taskstats *stats;
};

struct task_struct {
	unsigned int __state; /* 5.14 and later */
	int on_cpu, on_rq, prio;
	struct sched_entity se;
	struct sched_ext_entity scx; /* 6.12 and later */
	struct sched_info sched_info;
	int exit_state, exit_signal;
	unsigned int in_iowait : 1;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	__u64 utime, stime;
	__u64 start_time;
	const struct cred *real_cred;
	char comm[SNAPSHOT_COMM];
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct task_delay_info *delays;
};

struct task_struct___old {
	long state;
};

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

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

#endif
