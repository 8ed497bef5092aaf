/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --doctor: the figures available with this kernel, its settings and this user, those that are not,
 * and the remedy. All facts are gathered first; each is checked by a row of a table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"
#include "frame/frame.h"

#define DOCTOR_WORD 66

/* Facts about the machine and the user. Texts are the kernel's, "" if unknown. */
struct doctor_facts {
	char release[DOCTOR_WORD], machine[DOCTOR_WORD]; /* uname(2) */
	unsigned uid;
	int error; /* -errno: no sample could be taken; 0: the members below are of one with
		    * everything on */
	char source[16]; /* that was chosen */
	int taskstats_version; /* 0: no records */
	bool measured, counted; /* waits are measured; the kernel accounts delays */
	struct note notes[NOTES_MAX]; /* of the sample */
	size_t nnotes;
	int bpf, measure; /* -errno: the source, or measuring, is unavailable */
	unsigned hierarchy; /* the version of the cgroup hierarchy; 0: none */
	bool group_pressure; /* groups have pressure files */
	int waiting; /* -errno: other users' tasks' waits cannot be read */
	bool guest_pids, guest_users; /* in a pid or user namespace that is not the initial one */
	char lockdown[DOCTOR_WORD]; /* none, integrity, confidentiality */
	char clock[DOCTOR_WORD]; /* the clock source */
	bool utf8; /* the locale's character set is */
	const char *terminal; /* TERM; NULL: not set */
	bool terminal_known; /* ncurses knows it, and how it moves the cursor */
};

/* Gathers the facts of this machine; the sample takes a fifth of a second. */
void doctor_look(struct doctor_facts *facts, struct proc *proc, bool utf8);

/* Appends the page: text, or one line of JSON. Returns whether everything can be shown. */
bool doctor_write(struct buf *out, const struct doctor_facts *facts, bool json);
