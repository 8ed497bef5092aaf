/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: their names, and the waits of threads that sleep in them. */
#pragma once

#include <stdbool.h>

#include "data/wait_state_table.h"

/* The meaning of a call's first arguments. trace_maps.bpf.h has these numbers, too. */
enum syscall_target {
	SYSCALL_NOTHING,
	SYSCALL_FD, /* argument `argument` is a descriptor */
	SYSCALL_PATH, /* it is a path in the caller's memory */
	SYSCALL_FUTEX, /* it is a futex's address */
	SYSCALL_CHILD, /* it is a pid of a child, -1 for any; waitid: see wait_target.c */
	SYSCALL_PATH_AT, /* it is a path, relative to the descriptor before it */
	SYSCALL_POLL, /* it is a list of descriptors, and the next one their number */
	SYSCALL_SELECT, /* it is the number of descriptors in the three sets that follow */
	SYSCALL_LOCK, /* it is a descriptor; the next one says whether it is locked */
	SYSCALL_SIGNAL, /* nothing, and it waits for signals */
	SYSCALL_VFORK, /* nothing, and it may wait for the child that it creates */
};

struct syscall_class {
	/*
	 * The state of a thread that sleeps interruptibly in it; STATE_OTHER if the descriptor
	 * decides (sockets, pipes and so on).
	 */
	enum wait_state state;
	enum syscall_target target;
	unsigned argument;
};

/* Cache of requested names. */
struct syscall_names;

struct syscall_names *syscall_names_open(void);

/* The name of a system call of this machine's native architecture; NULL: unknown. */
const char *syscall_name(struct syscall_names *names, int number);

void syscall_names_close(struct syscall_names *names);

/* The state and target of a call; unknown calls have state other and no target. */
struct syscall_class syscall_classify(int number);

/* The result of syscall_native() for socketcall(). */
#define SYSCALL_SOCKETCALL -2

/*
 * The number of the 64-bit call equivalent to a 32-bit program's call on this machine (i386's on
 * x86-64, arm's on arm64), with the same arguments. -1: none, or the machine has no such programs;
 * SYSCALL_SOCKETCALL: its first argument selects the call, and the second is the address of the
 * arguments, as words of 32 bits.
 */
int syscall_native(int number);

/* The call that socketcall() selects by its first argument (linux/net.h: SYS_); -1: none. */
int syscall_of_socketcall(unsigned which);

/* True if it waits for completions of requests: of io_uring, or of AIO. */
bool syscall_completes(int number);

/* One more than the largest number that has a class of its own. */
int syscall_limit(void);
