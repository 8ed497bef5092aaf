/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H

#include <sys/types.h>

/*
 * What the tests change on the machine and how it is put back: a list of undoings,
 * last one first. A guard process of its own does what is left of them when the
 * test program ends in whatever way, being killed included.
 */

enum undo {
	UNDO_WRITE,		/* text into a file */
	UNDO_UNLINK,
	UNDO_CGROUP,		/* kill what is in it, remove it */
	UNDO_SWAPOFF,
	UNDO_KILL,		/* a child; kept from the guard: it dies with the test */
};

/*
 * One program at a time may change the machine: waits for the others, then
 * starts the guard. 0, or -errno (-ETIMEDOUT when the others don't end).
 */
int guard_start(void);

/* The list's length now, for guard_undo(). */
unsigned int guard_mark(void);

/* To be done later; call it before the change itself where that can be. */
void guard_push(enum undo what, const char *path, const char *text);
void guard_push_child(pid_t pid);

/* A child that was waited for elsewhere must not be killed: its pid is free. */
void guard_forget_child(pid_t pid);

/* Undoes all that was pushed since the mark. */
void guard_undo(unsigned int mark);

/* The whole text into a file, in one write; 0, or -errno. */
int write_text(const char *path, const char *text);

#endif
