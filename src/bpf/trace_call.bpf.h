/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system call that a task is in, by its registers of entry. Part of trace.bpf.c. */
#pragma once

#include <linux/futex.h>

#include "bpf/trace_task.bpf.h"

/*
 * include/linux/sched.h: registers of io_uring's threads (5.12), and of others that work for a
 * process in the kernel (6.4), are meaningless.
 */
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define TS_COMPAT 0x2 /* arch/x86/include/asm/thread_info.h */
#define TIF_32BIT_ARM64 22 /* arch/arm64/include/asm/thread_info.h */
#define PIF_SYSCALL_S390 0 /* arch/s390/include/asm/ptrace.h */
#define CAUSE_SYSCALL_RISCV 8 /* arch/riscv/include/asm/csr.h: EXC_SYSCALL */
#define TRAP_SYSCALL_PPC 0xc00 /* arch/powerpc/include/asm/ptrace.h: trap_is_syscall() */
#define TRAP_SCV_PPC 0x3000

#define NO_CALL -1

/*
 * Machines with known registers (arch/NAME/include/asm/syscall.h: syscall_get_nr(),
 * syscall_get_arguments()), by a register that no other has.
 */
enum machine {
	MACHINE_UNKNOWN,
	MACHINE_X86,
	MACHINE_ARM64,
	MACHINE_S390,
	MACHINE_RISCV,
	MACHINE_PPC
};

static __always_inline enum machine machine_of_kernel(void)
{
	if (bpf_core_field_exists(((struct pt_regs *)0)->orig_ax))
		return MACHINE_X86;
	if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0))
		return MACHINE_ARM64;
	if (bpf_core_field_exists(((struct pt_regs___s390 *)0)->orig_gpr2))
		return MACHINE_S390;
	if (bpf_core_field_exists(((struct pt_regs___riscv *)0)->a7))
		return MACHINE_RISCV;
	if (bpf_core_field_exists(((struct pt_regs___ppc *)0)->orig_gpr3))
		return MACHINE_PPC;
	return MACHINE_UNKNOWN;
}

/* True if the kernel has a helper that returns the registers as a typed pointer (5.15). */
static __always_inline bool has_registers_helper(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs);
}

/* True if calls can be read on this machine. */
static __always_inline bool are_calls_known(void)
{
	enum machine machine = machine_of_kernel();

	return has_registers_helper() ? machine != MACHINE_UNKNOWN
				      : machine == MACHINE_X86 || machine == MACHINE_ARM64;
}

/* A word of kernel memory; 0 if unreadable. */
static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (const void *)address);
	return word;
}

/* Reads a register. direct: from the helper, so that it may be read directly. */
#define REGISTER(type, regs, member) \
	(direct ? (__u64)((const type *)(regs))->member \
		: word_at((__u64)(regs) + bpf_core_field_offset(type, member)))

/* True if a task is a 32-bit program in its call. Those of s390x, ppc64 have the same numbers. */
static __always_inline bool is_32bit(const struct task_struct *task, enum machine machine)
{
	if (machine == MACHINE_X86)
		return bpf_core_field_exists(task->thread_info.status) &&
		       task->thread_info.status & TS_COMPAT;
	return machine == MACHINE_ARM64 && task->thread_info.flags >> TIF_32BIT_ARM64 & 1;
}

/* The number of the call; NO_CALL: none, as in a page fault. */
static __always_inline __s32 number_of_call(const void *regs, enum machine machine, bool direct)
{
	__u64 trap;

	switch (machine) {
	case MACHINE_X86:
		return (__s32)(__u32)REGISTER(struct pt_regs, regs, orig_ax);
	case MACHINE_ARM64:
		return (__s32)(__u32)REGISTER(struct pt_regs___arm64, regs, syscallno);
	case MACHINE_S390:
		if (!(REGISTER(struct pt_regs___s390, regs, flags) >> PIF_SYSCALL_S390 & 1))
			return NO_CALL;
		return (__s32)(REGISTER(struct pt_regs___s390, regs, int_code) & 0xffff);
	case MACHINE_RISCV:
		if (REGISTER(struct pt_regs___riscv, regs, cause) != CAUSE_SYSCALL_RISCV)
			return NO_CALL;
		return (__s32)REGISTER(struct pt_regs___riscv, regs, a7);
	case MACHINE_PPC:
		trap = REGISTER(struct pt_regs___ppc, regs, trap) & ~0xfULL;
		if (trap != TRAP_SYSCALL_PPC && trap != TRAP_SCV_PPC)
			return NO_CALL;
		return (__s32)REGISTER(struct pt_regs___ppc, regs, gpr[0]);
	default:
		return NO_CALL;
	}
}

#define CHOOSE(i, type, regs, r0, r1, r2, r3, r4) \
	((i) == 0   ? REGISTER(type, regs, r0) \
	 : (i) == 1 ? REGISTER(type, regs, r1) \
	 : (i) == 2 ? REGISTER(type, regs, r2) \
	 : (i) == 3 ? REGISTER(type, regs, r3) \
		    : REGISTER(type, regs, r4))

/* Its argument i: 0 to 4. */
static __always_inline __u64 argument_of(const void *regs, enum machine machine, bool foreign,
					 bool direct, __u32 i)
{
	switch (machine) {
	case MACHINE_X86:
		if (foreign)
			return (__u32)CHOOSE(i, struct pt_regs, regs, bx, cx, dx, si, di);
		return CHOOSE(i, struct pt_regs, regs, di, si, dx, r10, r8);
	case MACHINE_ARM64:
		return CHOOSE(i, struct pt_regs___arm64, regs, orig_x0, regs[1], regs[2], regs[3],
			      regs[4]);
	case MACHINE_S390:
		return CHOOSE(i, struct pt_regs___s390, regs, orig_gpr2, gprs[3], gprs[4], gprs[5],
			      gprs[6]);
	case MACHINE_RISCV:
		return CHOOSE(i, struct pt_regs___riscv, regs, orig_a0, a1, a2, a3, a4);
	case MACHINE_PPC:
		return CHOOSE(i, struct pt_regs___ppc, regs, orig_gpr3, gpr[4], gpr[5], gpr[6],
			      gpr[7]);
	default:
		return 0;
	}
}

/* The system call that a sleeping task is in and its arguments. */
struct call {
	__s32 number; /* of the equivalent 64-bit call; NO_CALL: none */
	struct trace_class class;
	bool worker; /* a kernel thread with the memory of a program, like io_uring's */
	__u64 argument; /* the argument that the class names */
	__u32 files; /* files it polls, if counted */
	__u64 packed; /* of socketcall(): address of its arguments; 0: another call */
};

/* Converts a 32-bit program's call to the equivalent 64-bit call. */
static __always_inline void to_native(struct call *call, const void *regs, enum machine machine,
				      bool direct)
{
	__u32 number = (__u32)call->number, which;

	call->number = NO_CALL;
	if (number >= TRACE_CALLS)
		return;
	if (natives[number] != TRACE_SOCKETCALL) {
		call->number = (__s32)natives[number] - 1;
		return;
	}
	which = (__u32)argument_of(regs, machine, true, direct, 0);
	if (which < TRACE_SOCKET_CALLS)
		call->number = (__s32)socket_calls[which] - 1;
	call->packed = argument_of(regs, machine, true, direct, 1);
}

/* True if futex() waits for a lock: kernel/procwait.h:futex_is_lock(). */
static __always_inline bool is_lock(const void *regs, enum machine machine, bool foreign,
				    bool direct)
{
	__u32 operation = (__u32)argument_of(regs, machine, foreign, direct, 1) & FUTEX_CMD_MASK;
	__u32 value = (__u32)argument_of(regs, machine, foreign, direct, 2);
	__u32 owner = value & FUTEX_TID_MASK;

	if (operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2, 5.14 */)
		return true;
	return operation == FUTEX_WAIT &&
	       (value == 2 || (value & FUTEX_WAITERS && owner && owner <= 1u << 22));
}

/* True if fcntl() waits for a lock: F_SETLKW, F_SETLKW64, F_OFD_SETLKW. */
static __always_inline bool is_lock_of_file(__u64 command)
{
	return (__u32)command == 7 || (__u32)command == 14 || (__u32)command == 38;
}

/* Reads the call from the registers. foreign: of a 32-bit program. */
static __always_inline void read_call(struct call *call, const void *regs, enum machine machine,
				      bool foreign, bool direct)
{
	struct trace_cpu *cpu;
	__u32 number;

	call->number = number_of_call(regs, machine, direct);
	if (foreign)
		to_native(call, regs, machine, direct);
	number = (__u32)call->number;
	if (number >= TRACE_CALLS)
		return;
	call->class.state = classes[number].state;
	if (call->packed)
		return;
	call->class.target = classes[number].target;
	if (call->class.target != CALL_NOTHING)
		call->argument =
			argument_of(regs, machine, foreign, direct, classes[number].argument);
	if (call->class.target == CALL_FUTEX && call->class.state == STATE_LOCK &&
	    !is_lock(regs, machine, foreign, direct))
		call->class.state = STATE_PARK;
	if (call->class.target == CALL_LOCK) {
		call->class.target = CALL_FD;
		if (!is_lock_of_file(argument_of(regs, machine, foreign, direct, 1)))
			call->class.state = STATE_OTHER;
	}
	if (call->class.target != CALL_POLL && call->class.target != CALL_SELECT)
		return;
	/* The number of descriptors that poll() or the sets of select() contain. */
	cpu = this_cpu();
	if (!cpu)
		return;
	cpu->polled[0] = argument_of(regs, machine, foreign, direct, 1);
	cpu->polled[1] = argument_of(regs, machine, foreign, direct, 2);
	cpu->polled[2] = argument_of(regs, machine, foreign, direct, 3);
}

/*
 * The same without the helper: registers end the stack of a task on x86-64 and arm64
 * (task_pt_regs()), if it has the usual size. That is verified by the registers' state after
 * leaving a program: the selector of its code is __USER_CS or __USER32_CS, arm64 came from its
 * exception level 0.
 */
__noinline int read_call_of_stack(struct call *call, __u64 stack, __u32 foreign)
{
	const bool direct = false;
	enum machine machine = machine_of_kernel();
	const void *regs;
	__u16 selector;

	if (!call || !stack)
		return 0;
	regs = (const void *)(stack + stack_size - bpf_core_type_size(struct pt_regs));
	if (machine == MACHINE_X86) {
		selector = (__u16)REGISTER(struct pt_regs, regs, cs);
		if (selector != 0x33 && selector != 0x23)
			return 0;
	} else if (REGISTER(struct pt_regs___arm64, regs, pstate) & 0xf) {
		return 0;
	}
	read_call(call, regs, machine, foreign, direct);
	return 0;
}

/* Finds the system call of a task. Kernel threads make none. */
static __always_inline void find_call(struct call *call, struct task_struct *task)
{
	enum machine machine = machine_of_kernel();
	bool foreign;

	call->number = NO_CALL;
	call->class.state = STATE_OTHER;
	call->class.target = CALL_NOTHING;
	call->argument = call->packed = 0;
	call->files = 0;
	call->worker = task->flags & (PF_IO_WORKER | PF_USER_WORKER);
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER) || !are_calls_known())
		return;
	foreign = is_32bit(task, machine);
	if (has_registers_helper())
		read_call(call, (const void *)bpf_task_pt_regs(task), machine, foreign, true);
	else
		read_call_of_stack(call, (__u64)BPF_CORE_READ(task, stack), foreign);
}

/* Reads the descriptor from user memory if it is there (current task only). */
static __always_inline void find_packed(struct call *call)
{
	__u32 fd;

	if (!call->packed || bpf_probe_read_user(&fd, sizeof(fd), (const void *)call->packed))
		return;
	call->class.target = CALL_FD;
	call->argument = fd;
}

/*
 * Counts the descriptors of a call. The loops below have no branches but their ends, as the
 * verifier would follow each: the descriptors are added up, and the sum is the descriptor if there
 * is only one.
 */
static __always_inline void put_polled(struct call *call, __u32 files, __u64 fd)
{
	call->files = files;
	if (files == 1) {
		call->class.target = CALL_FD;
		call->argument = fd;
	}
}

/* Counts the files of poll(), unless they are many. */
__noinline int find_polled(struct call *call)
{
	/* include/uapi/asm-generic/poll.h */
	struct polled {
		__s32 fd;
		__s16 events, revents;
	} * polled;
	__u32 zero = 0, n, there, files = 0;
	__u64 fd = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	const struct trace_cpu *cpu = this_cpu();
	__u64 wanted;

	if (!call || !text || !cpu)
		return 0;
	wanted = *(const volatile __u64 *)&cpu->polled[0];
	n = (__u32)wanted;
	if (wanted > POLLED || n > POLLED ||
	    bpf_probe_read_user(text->bytes, n * sizeof(*polled), (const void *)call->argument))
		return 0;
	polled = (struct polled *)text->bytes;
	for (__u32 i = 0; i < POLLED && i < n; i++) {
		/* Negative ones are left out. */
		there = ~(__u32)polled[i].fd >> 31;
		files += there;
		fd += there * (__u64)(__u32)polled[i].fd;
	}
	put_polled(call, files, fd);
	return 0;
}

static __always_inline __u32 bits_of(__u64 word)
{
	return (__u32)__builtin_popcountll(word);
}

/* Adds a set of select() to another. Returns whether it could be read. */
__noinline int add_set(__u64 address, __u32 words)
{
	__u32 zero = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	__u64 *all, *set;

	if (!address)
		return 1;
	if (!text || words > SELECTED / 64)
		return 0;
	all = (__u64 *)text->bytes;
	set = all + SELECTED / 64;
	if (bpf_probe_read_user(set, words * 8, (const void *)address))
		return 0;
	for (__u32 i = 0; i < SELECTED / 64 && i < words; i++)
		all[i] |= set[i];
	return 1;
}

/* Counts the same for select(), whose sets stay unchanged until it returns. */
__noinline int find_selected(struct call *call)
{
	__u32 zero = 0, last, end, words, files = 0, here;
	__u64 fd = 0, *all;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	const struct trace_cpu *cpu = this_cpu();

	/* The kernel uses the lower 32 bits. */
	if (!call || !text || !cpu || !(__u32)call->argument || (__u32)call->argument > SELECTED)
		return 0;
	last = (__u32)call->argument - 1;
	words = last / 64 + 1;
	all = (__u64 *)text->bytes;
	__builtin_memset(all, 0, SELECTED / 8);
	for (int i = 0; i < SELECT_SETS; i++)
		if (!add_set(cpu->polled[i], words))
			return 0;
	end = last / 64;
	KEEP(end);
	all[end & (SELECTED / 64 - 1)] &= ~0ULL >> (63 - (last & 63));
	for (__u32 i = 0; i < SELECTED / 64 && i < words; i++) {
		here = bits_of(all[i]);
		files += here;
		fd += (__u64)here * (i * 64 + bits_of((all[i] & -all[i]) - 1));
	}
	put_polled(call, files, fd);
	return 0;
}
