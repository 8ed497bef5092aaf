/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of ours: how they begin, their capabilities, and what they can do no more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes variables by which libraries read files of the user's choice, or print secrets: for a
 * program with more privileges than its caller. To be called before any library reads its
 * environment.
 */
void start_drop_environment(char **environment);

/*
 * Opens descriptors 0 to 2 where they are closed: else the next file that is opened becomes
 * standard output. Reading and writing fail on them as on closed ones.
 */
void start_take_descriptors(void);

/*
 * Resets signals that the parent ignored or blocked to their defaults: with SIGCHLD ignored no
 * child can be waited for. What is ignored on purpose stays ignored: SIGHUP (nohup), and the
 * terminal's signals (background jobs of a shell).
 */
void start_take_signals(void);

/*
 * Makes a new process the program's servant: gives it a name, has it ignore the signals that are
 * meant for the program (it ends with the queue that it serves), closes all descriptors but the
 * standard ones and those of `keep`, and points the standard ones at nothing: a pipe to a reader
 * must end when the program does.
 */
void process_become_helper(const char *name, const int *keep, size_t n);

/*
 * Locks present and future memory, where the limit allows any amount: else allocations could fail.
 * 0 or -errno. Not inherited by children.
 */
int start_lock_memory(void);

/*
 * Hooks that put things back when a signal ends the program at once: a fault of its own, or any
 * other signal that is not handled. Process-wide, as signal handlers are.
 */

enum crash_hook { CRASH_TERMINAL, CRASH_SYSCTL, CRASH_HOOKS };

/*
 * Makes a signal that ends the program call the hooks first, in their order. The program then ends
 * as it would have without them (exit by that signal, core dump). Ignored signals stay ignored. A
 * handler that is set later for a signal replaces this.
 */
void crash_catch(void);

/*
 * Sets a hook, NULL for none. It runs in a signal handler: it may use what signal-safety(7) lists,
 * and `arg` must be valid whenever the signal comes.
 */
void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg);

/*
 * The capabilities that the program has: only those that it still needs. They are foreign when the
 * program has them from its file, and its caller does not: then they read counters, and nothing
 * that is named or asked for by the caller is done with them.
 */

/* Uses of capabilities, a bit each. */
enum privilege_use {
	PRIVILEGE_COUNTERS = 1 << 0, /* the counters of all tasks */
	PRIVILEGE_PROGRAMS = 1 << 1, /* loading programs into the kernel, and reading their maps */
	PRIVILEGE_LOOK = 1 << 2, /* what others' tasks wait on, their stacks and storage bytes */
	PRIVILEGE_PRESSURE = 1 << 3, /* arming triggers with windows of any length */
	PRIVILEGE_SWITCH = 1 << 4, /* delay accounting */
	PRIVILEGE_ACT = 1 << 5, /* signals, nice values */
	PRIVILEGE_FILES = 1 << 6, /* files that are still to be opened */
	PRIVILEGE_MEMORY = 1 << 7, /* memory that is locked, which goes on being taken */
	PRIVILEGE_ALL = (1 << 8) - 1
};

/* A capability and its uses, for the manual as well. */
struct privilege_row {
	int capability;
	const char *name;
	unsigned uses; /* PRIVILEGE_ bits */
	unsigned foreign; /* the uses for which it is kept where it is foreign */
};

extern const struct privilege_row privilege_table[];
extern const size_t privilege_table_n;

/* Whether the program has privileges that its caller has not. */
bool privileges_foreign(void);

/*
 * Begins: gives up foreign privileges that serve none of our uses; the others rest until
 * privileges_resume(). Returns 0, -EPERM where the program is setuid or setgid, which it is not
 * made for, or another -errno.
 */
int privileges_begin(void);

/*
 * Gives up for good all capabilities that serve none of the uses, and puts the others in effect.
 * Programs that are started later get none by their files. Returns 0 or -errno.
 */
int privileges_keep(unsigned uses);

/* Foreign privileges rest while the program does what its caller may do: they are not in effect. */
void privileges_suspend(void);

/* Puts them in effect again. */
void privileges_resume(void);

/* Gives up all foreign privileges in a child that becomes another program. 0 or -errno. */
int privileges_leave(void);

/* Limits of this process, for good, in case an attacker takes it over. */

/*
 * Leaves the system calls that answering on open descriptors takes, and memory that is not run.
 * Calls that open or ask for more fail with EPERM; those that no program makes by accident
 * (starting programs, reaching other processes, sockets of its own) end the process by SIGSYS. 0,
 * also where this is not to be had, or -errno.
 */

int confine_calls(void);

/* Does the same, but leaves opening files to read them. */
int confine_reading(void);

/*
 * Leaves only the folder, with what is below, to be written to, also to make and remove files
 * there. Descriptors that are open stay as they are. 0, also where this is not to
 * be had, or -errno.
 */
int confine_writes(const char *folder);
