/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Own processes: start, capabilities and confinement. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
 * child can be waited for. Signals ignored on purpose stay ignored: SIGHUP (nohup), and the
 * terminal's signals (background jobs of a shell).
 */
void start_take_signals(void);

/*
 * Turns a new process into a helper: names it, ignores the signals that are meant for the program
 * (the helper ends with the queue that it serves), closes all descriptors but the standard ones and
 * those of `keep`, and redirects the standard ones to /dev/null: a pipe to a reader must end when
 * the program does.
 */
void process_become_helper(const char *name, const int *keep, size_t n);

/*
 * Starts a program, found in PATH unless it has a slash, without input; its errors are dropped. Its
 * pid, or -1; *output then receives what it prints, and the caller closes it.
 */
pid_t process_start(char *const *arguments, char *const *environment, int *output);

/*
 * Locks present and future memory, where the limit allows any amount: else allocations could fail.
 * 0 or -errno. Not inherited by children.
 */
int start_lock_memory(void);

/*
 * Hooks that clean up when a signal ends the program at once: a fault of its own, or any other
 * unhandled signal. Process-wide, as signal handlers are.
 */

enum crash_hook { CRASH_TERMINAL, CRASH_SYSCTL, CRASH_HOOKS };

/*
 * Makes fatal signals call the hooks first, in their order. The program then ends as it would have
 * without them (exit by that signal, core dump). Ignored signals stay ignored. A handler set later
 * for a signal replaces this.
 */
void crash_catch(void);

/*
 * Sets a hook, NULL for none. It runs in a signal handler: it may use what signal-safety(7) lists,
 * and `arg` must be valid whenever the signal comes.
 */
void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg);

/*
 * Capabilities of the program: only those still needed. They are foreign when the program has them
 * from its file, and its caller does not: then they only read counters, and never act on names or
 * requests of the caller.
 */

/* Uses of capabilities, a bit each. */
enum privilege_use {
	PRIVILEGE_COUNTERS = 1 << 0, /* the counters of all tasks */
	PRIVILEGE_PROGRAMS = 1 << 1, /* loading programs into the kernel, and reading their maps */
	PRIVILEGE_LOOK = 1 << 2, /* wait targets, stacks and storage bytes of other users' tasks */
	PRIVILEGE_PRESSURE = 1 << 3, /* arming triggers with windows of any length */
	PRIVILEGE_SWITCH = 1 << 4, /* delay accounting */
	PRIVILEGE_ACT = 1 << 5, /* signals, nice values */
	PRIVILEGE_FILES = 1 << 6, /* files that are opened later */
	PRIVILEGE_MEMORY = 1 << 7, /* locked memory, which grows at run time */
	PRIVILEGE_ALL = (1 << 8) - 1
};

/* A capability and its uses; the manual lists it as well. */
struct privilege_row {
	int capability;
	const char *name;
	unsigned uses; /* PRIVILEGE_ bits */
	unsigned foreign; /* uses for which it is kept if foreign */
};

extern const struct privilege_row privilege_table[];
extern const size_t privilege_table_n;

/* True if the program has privileges that its caller lacks. */
bool privileges_foreign(void);

/*
 * Starts: drops foreign privileges without a use here; suspends the others until
 * privileges_resume(). Returns 0, -EPERM if the program is setuid or setgid, which it is not made
 * for, or another -errno.
 */
int privileges_begin(void);

/*
 * Drops for good all capabilities that serve none of the uses, and makes the others effective.
 * Programs started later get none by their files. Returns 0 or -errno.
 */
int privileges_keep(unsigned uses);

/* Makes foreign privileges ineffective while the program acts for its caller. */
void privileges_suspend(void);

/* Makes them effective again. */
void privileges_resume(void);

/* Drops all foreign privileges in a child that becomes another program. 0 or -errno. */
int privileges_leave(void);

/* Permanent limits of this process, in case an attacker takes it over. */

/*
 * Permits only the system calls needed to answer on open descriptors, and no executable memory.
 * Calls that open files or ask for more fail with EPERM; those never made by accident (starting
 * programs, reaching other processes, sockets of its own) end the process by SIGSYS. 0, also where
 * the kernel does not support this, or -errno.
 */

int confine_calls(void);

/* As confine_calls(), but also permits opening files for reading. */
int confine_reading(void);

/*
 * Permits writing only to the folder and below, including creating and removing files there. Open
 * descriptors are not affected. 0, also where the kernel does not support this, or -errno.
 */
int confine_writes(const char *folder);
