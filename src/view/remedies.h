/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remedies: what helps against waiting, and against missing measurements, for columns, findings,
 * notes, --doctor, help and manual; and of these the one that is checked to apply to a finding, as
 * a command where it is one.
 *
 * The kernel's own account of them: delay-accounting.rst (a task's CPU priority, its I/O priority,
 * its memory limit), cgroup-v2.rst, and vm.rst of admin-guide/sysctl.
 */
#pragma once

#include "frame/notes.h"
#include "view/chain.h"
#include "view/finding.h"

/* Whether a remedy helps in a case. */
enum remedy_applies { REMEDY_HELPS, REMEDY_HELPS_NOT, REMEDY_MAY_HELP };

struct remedy_case;

struct remedy {
	const char *means; /* what to set or do: "nice" */
	const char *how; /* its effect, and when it is the right one */
	/* NULL: no check is known. If it helps it has printed the words for that case. */
	enum remedy_applies (*check)(struct remedy_case *of);
	/* Keys that do it on the screen. A remedy with keys and no check is for the screen only. */
	const char *keys;
};

/* The remedies for a subject, up to one without `means`, first choice first. */
const struct remedy *remedies_of(enum remedy_subject subject);

/* Appends how a remedy works, with its keys. */
void remedy_append(struct buf *out, const struct remedy *remedy);

/* The remedy for a note, as a text for note_append_text(); NULL: there is none. */
const char *remedy_of_note(enum note_id id);

/* Appends a note with its remedy. */
void remedy_append_note(struct buf *out, const struct note *note);

/* Settings of the machine, and of the calling user, that have no note. */
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
 * Appends the remedy for a finding in a frame: `means` is a command, a file or a task, and `how`
 * its effect. Both are raw bytes. chain: of the finding's waits; NULL: not traced. finding: NULL:
 * for the chain only. Nothing is appended if nothing is known to help, or may help against a
 * finding that is a warning.
 */
void remedies_put(struct buf *means, struct buf *how, const struct frame *frame,
		  const struct finding *finding, const struct chain *chain);
