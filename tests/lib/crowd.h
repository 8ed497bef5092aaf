/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Tasks to be looked at: children of the test, gone with it. Names: see scratch_ours(). */

/* Sleeps for ever under a name, which may hold any bytes. */
pid_t crowd_sleeper(const char *name);
/* The same with a second thread of another name. */
pid_t crowd_threads(const char *name, const char *thread);
/* In uninterruptible sleep without I/O for ever: it waits in vfork() for a child that sleeps. */
pid_t crowd_hung(const char *name);
/* Sleeps for ever with a command line. */
pid_t crowd_command(const char *const argv[]);
/* Spins on a CPU, by a number that means it in this test only: two on one wait for each other. */
pid_t crowd_spinner(const char *name, int cpu);
/* Sleeps for ever with a child of another name, which spins or sleeps. */
pid_t crowd_family(const char *name, const char *child, bool spins);
/* Waits until it has run for so long, on whatever CPU; and stops it, until it stands still. */
void crowd_await_run(pid_t pid, double seconds);
void crowd_stop(pid_t pid);
/* Two that spin on one CPU, one of them nicer, and one that copies pages and sleeps. */
void crowd_waiters(void);

/*
 * Why there is no crowd of 10000. Forked from a process under address sanitizer each of
 * them has that one's shadow to copy: that takes minutes.
 */
#ifdef __SANITIZE_ADDRESS__
#define CROWD_NO_ROOM "10000 tasks are too many under sanitizers"
#else
#define CROWD_NO_ROOM "no room for 10000 tasks"
#endif

/*
 * So many sleepers, children of one process whose pid is given; 0 when the
 * machine has no room for them.
 */
pid_t crowd_sleepers(const char *name, int n);
