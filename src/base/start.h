/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps of a process of ours when it begins. */
#pragma once

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
 * Makes a new process the program's servant: gives it a name, has it ignore the signals that are
 * meant for the program (it ends with the queue that it serves), closes all descriptors but the
 * standard ones and those of `keep`, and points the standard ones at nothing: a pipe to a reader
 * must end when the program does.
 */
void start_serving(const char *name, const int *keep, size_t n);

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
