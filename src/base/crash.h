/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is put back when a signal ends the program on the spot: a fault of its own, or any other
 * that nobody waits for. Process-wide, as signal handlers are.
 */
#ifndef STALLTOP_BASE_CRASH_H
#define STALLTOP_BASE_CRASH_H

enum crash_hook { CRASH_TERMINAL, CRASH_SYSCTL, CRASH_HOOKS };

/*
 * Has the hooks called, in their order, before a signal ends the program as it would have done
 * without (exit by that signal, core dump). Signals that are ignored stay so. Whoever handles a
 * signal by himself later takes it out.
 */
void crash_catch(void);

/*
 * Sets what is done, NULL for nothing. It runs in a signal handler: it may use what
 * signal-safety(7) lists, and `arg` must hold whenever the signal comes.
 */
void crash_set_hook(enum crash_hook which, void (*hook)(void *arg), void *arg);

#endif
