// SPDX-License-Identifier: GPL-2.0-or-later
/* The iterator over all processes with nothing done to any: the least that a walk can cost. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* A declaration alone libbpf does not take for the kernel's. */
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct bpf_iter_task {
	__u64 opaque[3];
} __attribute__((aligned(8)));

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

__u64 met;

SEC("syscall")
int empty(void *context)
{
	struct bpf_iter_task it;

	(void)context;
	met = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, 0);
	while (bpf_iter_task_next(&it))
		met++;
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}
