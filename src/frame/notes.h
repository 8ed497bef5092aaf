/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for what degrades a frame: one row for each note. */
#pragma once

#include "base/util.h"
#include "frame/frame.h"

/*
 * `text` is one line: what is missing, and why. Remedies are in view/remedies.h.
 */
struct note_row {
	const char *id;
	const char *text;
	enum note_rank {
		NOTE_EVENT, /* has just happened */
		NOTE_LASTING, /* true for long, of the machine or of the user */
		NOTE_ON_REQUEST, /* lasts, and cannot be changed here: shown only on request (n) */
		NOTE_MINOR, /* changes no figure that is shown: told if asked */
	} rank;
};

extern const struct note_row note_table[NOTE_IDS];

/* The note that says why taskstats is not asked, made from the -errno. */
struct note note_of_refusal(int error);

/* Notes which files of the whole system cannot be read, and why. */
void note_system(struct frame_info *info);

/* Orders notes by their rank; those of one rank stay as they came. */
void notes_sort(struct frame_info *info);

/* The number of sorted notes that are shown by default: events, and lasting ones with a remedy. */
size_t notes_default_count(const struct frame_info *info);

/* Why a recording has ended, by its -errno: as strerror(), or better words. */
const char *record_failure(int err);

/*
 * Appends a text about a note: %v is its value, {one|many} depends on it, %e is its error in
 * brackets.
 */
void note_append_text(struct buf *out, const char *text, const struct note *note);

/* Appends the note's own text. */
void note_append(struct buf *out, const struct note *note);
