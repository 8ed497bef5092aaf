/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

/*
 * What the tests change on the machine and how it is put back: a list of undoings,
 * last one first. A guard process of its own does what is left of them when the
 * test program ends in whatever way, being killed included.
 */

enum undo {
	UNDO_WRITE, /* text into a file */
	UNDO_SHARED, /* the same by the last of several: see guard_switch() */
	UNDO_UNLINK,
	UNDO_TREE, /* a folder and all in it, but for what is mounted there */
	UNDO_CGROUP, /* kill what is in it, remove it */
	UNDO_SWAPOFF,
	UNDO_THAW, /* a mounted file system that may be frozen */
	UNDO_UMOUNT,
	UNDO_KILL, /* a child; kept from the guard: it dies with the test */
};

/*
 * One program at a time may change the machine: waits for the others, then starts the guard.
 * Programs that run with TEST_BESIDE in their environment wait for those without it only: they
 * may change nothing but what is their own, or by guard_switch().
 * 0, or -errno (-ETIMEDOUT when the others don't end).
 */
int guard_start(void);

/*
 * Writes into a file in which all programs that run now want the same text, and has it put back:
 * at the end of this one, or of the last. 0, or -errno.
 */
int guard_switch(const char *path, const char *text);

/* The list's length now, for guard_undo(). */
unsigned int guard_mark(void);

/* To be done later; call it before the change itself where that can be. */
void guard_push(enum undo what, const char *path, const char *text);
void guard_push_child(pid_t pid);

/* A child that was waited for elsewhere must not be killed: its pid is free. */
void guard_forget_child(pid_t pid);

/* Undoes all that was pushed since the mark. */
void guard_undo(unsigned int mark);

/* A small file's text without its newline; 0, or -errno. */
int read_text(const char *path, char *text, size_t size);

/* The whole text into a file, in one write; 0, or -errno. */
int write_text(const char *path, const char *text);
