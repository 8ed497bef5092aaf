/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks of waits, in the processes that were chosen: taken when a thread goes to sleep, and
 * counted when its wait ends, with that of the waker if it is chosen, too. Part of trace.bpf.c.
 *
 * Few libraries are built with frame pointers: the C library, in which most calls are made, is
 * not. So a frame is left by a rule, which the reader finds for its address in the program's
 * unwind tables (kernel/user_symbols.h). What is found without rules, by frame pointers, only says
 * for which addresses rules are wanted: `sure` says how many addresses are right.
 */
#pragma once

#include "bpf/trace_thread.bpf.h"

/* Set before the program is loaded: maximum number of stacks; 0: none is taken. */
const volatile __u32 user_stack_room;

#define USER_MAP(sort, name, key_type, value_type) \
	struct { \
		__uint(type, BPF_MAP_TYPE_##sort); \
		__uint(max_entries, 1); \
		__type(key, key_type); \
		__type(value, value_type); \
	} name SEC(".maps")

USER_MAP(HASH, chosen, struct trace_chosen, __u32);
/* Those of exited processes are evicted. */
USER_MAP(LRU_HASH, user_rules, struct trace_rule_key, struct frame_rule);
USER_MAP(HASH, user_stacks, __u64, struct trace_user_stack);
USER_MAP(HASH, stack_sums, struct trace_stack_key, struct trace_stack_sum);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_user_stack);
} user_stack_made SEC(".maps");

/* True if stacks of a thread's process are wanted. */
static __always_inline bool is_chosen(const struct thread_storage *local,
				      const struct task_struct *task)
{
	struct trace_chosen key = {};

	if (control.chosen_pids) {
		key.tgid = local->thread.tgid;
		if (bpf_map_lookup_elem(&chosen, &key))
			return true;
		key.tgid = 0;
	}
	if (!control.chosen_names)
		return false;
	BPF_CORE_READ_STR_INTO(&key.name, task, group_leader, comm);
	return bpf_map_lookup_elem(&chosen, &key);
}

/* The registers of a frame. */
struct user_frame {
	__u64 ip, sp, bp;
};

static __always_inline __u64 user_word(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (const void *)address);
	return word;
}

/*
 * Moves to the caller's frame by the frame's rule, or by its frame pointer. Returns whether by a
 * rule.
 */
static __always_inline bool leave_frame(const struct trace_rule_key *key, struct user_frame *frame)
{
	const struct frame_rule *rule = bpf_map_lookup_elem(&user_rules, key);
	__u64 base = frame->bp + 16, bp = frame->bp;

	if (rule) {
		if (rule->base == RULE_LAST) {
			frame->ip = 0;
			return true;
		}
		base = (rule->base == RULE_SP ? frame->sp : bp) + (__u64)(__s64)rule->cfa;
		if (rule->bp)
			bp = user_word(base + (__u64)(__s64)rule->bp);
	} else {
		bp = user_word(bp);
	}
	/* Stacks grow downwards: else it is no frame, or the read failed. */
	frame->ip = base > frame->sp ? user_word(base - 8) : 0;
	frame->sp = base;
	frame->bp = bp;
	return rule && frame->ip;
}

/* Stores the addresses of a stack, innermost first, from the frame on. Returns a hash, never 0. */
__noinline __u64 walk_user_stack(struct user_frame *frame, const struct trace_rule_key *of)
{
	struct trace_rule_key key;
	struct trace_user_stack *stack;
	__u32 zero = 0, n = 0, sure = 1;
	__u64 hash;

	stack = bpf_map_lookup_elem(&user_stack_made, &zero);
	if (!frame || !of || !stack)
		return 0;
	key = *of;
	hash = key.start_ns ^ key.exec;
	for (__u32 i = 0; i < USER_FRAMES; i++) {
		stack->addresses[i] = key.ip = frame->ip;
		/* Guesses may differ each time. */
		if (sure > i) {
			hash = (hash ^ key.ip) * 0x9e3779b97f4a7c15ULL;
			hash ^= hash >> 29;
		}
		n = i + 1;
		if (leave_frame(&key, frame) && sure == n)
			sure++;
		if (!frame->ip)
			break;
	}
	/* There was no room for the rest. */
	if (frame->ip && sure > n)
		sure = n;
	stack->start_ns = key.start_ns;
	stack->tgid = key.tgid;
	stack->exec = key.exec;
	stack->n = n;
	stack->sure = sure;
	return ((hash + (sure > n)) & ~TRACE_STACK_OF_WAKER) ?: 1;
}

/* True if stacks can be taken: the registers of x86-64 are readable, by a helper of 5.15. */
static __always_inline bool takes_user_stacks(void)
{
	return machine_of_kernel() == MACHINE_X86 && has_registers_helper();
}

/* True if the stack of a task's waits is to be taken. */
static __always_inline bool has_user_stack(const struct thread_storage *local,
					   const struct task_struct *task)
{
	return takes_user_stacks() && !(task->flags & PF_KTHREAD) && !is_32bit(task, MACHINE_X86) &&
	       is_chosen(local, task);
}

/* Stores the registers of a sleeping task whose stack was not taken. */
static __always_inline void put_registers(struct trace_waiter *waiter,
					  const struct thread_storage *local,
					  struct task_struct *task)
{
	const struct pt_regs *regs;

	if (!has_user_stack(local, task))
		return;
	regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	waiter->ip = regs->ip;
	waiter->sp = regs->sp;
	waiter->bp = regs->bp;
}

/* Takes the stack of the current task, which is about to sleep, or wakes another. */
static __always_inline void take_user_stack(struct thread_storage *local, struct task_struct *task)
{
	const struct pt_regs *regs;
	struct user_frame frame;
	struct trace_rule_key key = {};
	const struct trace_user_stack *made;
	__u32 zero = 0;
	__u64 hash;

	local->user_stack = 0;
	if (!has_user_stack(local, task))
		return;
	regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	frame.ip = key.ip = regs->ip;
	frame.sp = regs->sp;
	frame.bp = regs->bp;
	key.start_ns = local->thread.process_start_ns;
	key.tgid = local->thread.tgid;
	key.exec = (__u32)task->self_exec_id;
	hash = walk_user_stack(&frame, &key);
	made = bpf_map_lookup_elem(&user_stack_made, &zero);
	if (!hash || !made)
		return;
	if (!bpf_map_lookup_elem(&user_stacks, &hash) &&
	    bpf_map_update_elem(&user_stacks, &hash, made, BPF_ANY))
		__sync_fetch_and_add(&control.lost_stacks, 1);
	else
		local->user_stack = hash;
}

/* Adds a wait that ended in a site (struct site_word) to a stack. */
__noinline int add_to_stack(__u64 word, __u64 stack, __u64 ns)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_stack_key key = { ref.slot, ref.generation, stack };
	struct trace_stack_sum *sum = bpf_map_lookup_elem(&stack_sums, &key), none = {};

	if (!sum) {
		bpf_map_update_elem(&stack_sums, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&stack_sums, &key);
	}
	if (!sum) {
		__sync_fetch_and_add(&control.lost_stacks, 1);
		return 0;
	}
	__sync_fetch_and_add(&sum->ns, ns);
	__sync_fetch_and_add(&sum->count, 1);
	return 0;
}

/* Adds a wait that the current task ends to its stack; own: of that task; NULL: unknown. */
static __always_inline void add_waker_stack(__u64 word, const struct thread_storage *local,
					    struct thread_storage *own, __u64 now)
{
	__u64 ns = now > local->thread.since_ns ? now - local->thread.since_ns : 0;

	if (!user_stack_room || !local->user_stack || !own || ns < control.stacks_over_ns)
		return;
	/* Its last wait was not left yet, as its end was missed: that needs the stack there is. */
	if (own->thread.state != STATE_RUN)
		return;
	take_user_stack(own, bpf_get_current_task_btf());
	if (own->user_stack)
		add_to_stack(word, own->user_stack | TRACE_STACK_OF_WAKER, ns);
}
