/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remedies: what helps against waiting, and where something is missing that is to be measured, for
 * columns, findings, notes, --doctor, help and manual; and of these the one that is checked to
 * apply to a finding, as a command where it is one.
 *
 * The kernel's own account of them: delay-accounting.rst (a task's CPU priority, its I/O priority,
 * its limit of memory), cgroup-v2.rst, and vm.rst of admin-guide/sysctl.
 */
#pragma once

#include "frame/notes.h"
#include "view/chain.h"
#include "view/finding.h"

/* Whether a remedy helps against what was found. */
enum remedy_applies { REMEDY_HELPS, REMEDY_HELPS_NOT, REMEDY_MAY_HELP };

struct remedy_case;

struct remedy {
	const char *means; /* what is set or done: "nice" */
	const char *how; /* what that does, and when it is the right one */
	/* NULL: nothing is known of it. Where it helps it has put the words for that case. */
	enum remedy_applies (*check)(struct remedy_case *of);
	/* Keys that do it on the screen. What has these and no check is for the screen alone. */
	const char *keys;
};

/* The remedies for a subject, up to one without `means`, the first choice first. */
const struct remedy *remedies_of(enum remedy_subject subject);

/* Appends how a remedy works, with its keys. */
void remedy_append(struct buf *out, const struct remedy *remedy);

/* What to do about a note, as a text for note_append_text(); NULL: nothing can be done. */
const char *remedy_of_note(enum note_id id);

/* Appends a note with what to do about it. */
void remedy_append_note(struct buf *out, const struct note *note);

/* Settings of the machine, and of who runs the program, that have no note. */
enum remedy_setting {
	SETTING_PROC,
	SETTING_LOCKDOWN,
	SETTING_PIDS, /* a PID namespace of its own */
	SETTING_USERS, /* a user namespace of its own */
	SETTING_CGROUPS,
	SETTING_UNIFIED, /* cgroups of version 2 */
	SETTING_GROUP_PSI, /* a group's pressure */
	SETTING_CLOCK,
	SETTING_TERM,
	SETTING_LOCALE,
	REMEDY_SETTINGS
};

const char *remedy_of_setting(enum remedy_setting setting);

/*
 * Appends what to do against a finding in a frame: `means` is a command, a file or a task, and
 * `how` what that does. Both are raw bytes. chain: of the finding's waits; NULL: not traced.
 * finding: NULL: of the chain alone. Nothing is appended where nothing is known to help, or may
 * help against a finding that warns of something.
 */
void remedies_put(struct buf *means, struct buf *how, const struct frame *frame,
		  const struct finding *finding, const struct chain *chain);
