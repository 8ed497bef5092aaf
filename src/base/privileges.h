/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capabilities that the program has: only those that it still needs. They are foreign when the
 * program has them from its file, and its caller does not: then they read counters, and nothing
 * that is named or asked for by the caller is done with them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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
 * privileges_wake(). Returns 0, -EPERM where the program is setuid or setgid, which it is not made
 * for, or another -errno.
 */
int privileges_begin(void);

/*
 * Gives up for good all capabilities that serve none of the uses, and puts the others in effect.
 * Programs that are started later get none by their files. Returns 0 or -errno.
 */
int privileges_keep(unsigned uses);

/* Foreign privileges rest while the program does what its caller may do: they are not in effect. */
void privileges_rest(void);

/* Puts them in effect again. */
void privileges_wake(void);

/* Gives up all foreign privileges in a child that becomes another program. 0 or -errno. */
int privileges_leave(void);
