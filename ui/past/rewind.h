/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking back: the screen shows a past moment, which it kept itself or reads from a recording,
 * while sampling goes on underneath.
 */
#pragma once

#include "ui/state/ui.h"

/* The timeline: pressure, what all tasks waited, and marks of findings, over the past that can be
 * looked at. */

/* The lines that it takes. */
#define TIMELINE_LINES 3

/* Whether it is to be shown. */
bool timeline_wanted(const struct ui *ui);

/* Draws it from that line on, with the moment that is shown marked. */
void timeline_draw(struct ui *ui, int line);

/* Shows a frame in all views: of the present, or a moment of the past. */
void rewind_show(struct ui *ui, const struct frame *frame);

/* Goes by that many moments, back or forth; beyond the last is the present. */
void rewind_step(struct ui *ui, int by);

/* Goes by a time. */
void rewind_by_ns(struct ui *ui, int64_t ns);

/* Goes to a time as replay_time() takes it. False: it is none. */
bool rewind_to(struct ui *ui, const char *text);

/* Shows the present again. */
void rewind_present(struct ui *ui);

/* Begins to show a recording, at its first moment. 0 or -errno. */
int rewind_begin(struct ui *ui);

/* Plays on or stands still. */
void rewind_play(struct ui *ui, bool on);

/* When the next moment is due; UINT64_MAX: none is. */
uint64_t rewind_due_ns(const struct ui *ui);

/* Shows the next moment of a playback. */
void rewind_play_on(struct ui *ui);

/*
 * Keeps and records the last frame, if that has not been done, with the groups that are shown of
 * it: to be called when it was drawn.
 */
void rewind_keep(struct ui *ui);

/* Appends the time of day that is shown, and how far back it is. */
void rewind_append_time(const struct ui *ui, struct buf *out);

/* Appends how far back it is, and whether it plays: "-35 s". */
void rewind_append(const struct ui *ui, struct buf *out);
