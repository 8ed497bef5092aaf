/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for conditions that degrade a frame: one row per note. */
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
		NOTE_EVENT, /* a recent event */
		NOTE_LASTING, /* a lasting condition of the machine or the user */
		NOTE_ON_REQUEST, /* a lasting condition without a remedy: shown only on request
				  * (n) */
		NOTE_MINOR, /* affects no displayed figure: shown on request */
	} rank;
};

extern const struct note_row note_table[NOTE_IDS];

/* The note that explains why taskstats is not used, from the -errno. */
struct note note_of_refusal(int error);

/* Notes which system-wide files cannot be read, and why. */
void note_system(struct frame_info *info);

/* Orders notes by rank; those of one rank keep their order. */
void notes_sort(struct frame_info *info);

/* Number of sorted notes shown by default: events, and lasting conditions with a remedy. */
size_t notes_default_count(const struct frame_info *info);

/* Why a recording ended, by its -errno: as strerror(), or better words. */
const char *record_failure(int err);

/*
 * Appends a text about a note: %v is its value, {one|many} depends on it, %e is its error in
 * brackets.
 */
void note_append_text(struct buf *out, const char *text, const struct note *note);

/* Appends the note's own text. */
void note_append(struct buf *out, const struct note *note);
