/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks that put things back when a signal ends the program at once: a fault of its own, or any
 * other signal that is not handled. Process-wide, as signal handlers are.
 */
#ifndef STALLTOP_BASE_CRASH_H
#define STALLTOP_BASE_CRASH_H

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

#endif
