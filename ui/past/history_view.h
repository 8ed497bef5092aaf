/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking back: the screen shows a past sample, which it kept itself or reads from a recording,
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

/* Draws it from that line on, with the sample that is shown marked. */
void timeline_draw(struct ui *ui, int line);

/* Shows a frame in all views: of the present, or a sample of the past. */
void history_show(struct ui *ui, const struct frame *frame);

/* Goes by that many samples, back or forth; beyond the last is the present. */
void history_step(struct ui *ui, int by);

/* Goes by a time. */
void history_by_ns(struct ui *ui, int64_t ns);

/* Goes to a time as replay_time() takes it. False: it is none. */
bool history_to(struct ui *ui, const char *text);

/* Shows the present again. */
void history_present(struct ui *ui);

/* Begins to show a recording, at its first sample. 0 or -errno. */
int history_begin(struct ui *ui);

/* Plays on or stands still. */
void history_play(struct ui *ui, bool on);

/* When the next sample is due; UINT64_MAX: none is. */
uint64_t history_due_ns(const struct ui *ui);

/* Shows the next sample of a playback. */
void history_play_on(struct ui *ui);

/*
 * Keeps and records the last frame, if that has not been done, with the groups that are shown of
 * it: to be called when it was drawn.
 */
void history_add(struct ui *ui);

/* Appends the time of day that is shown, and how far back it is. */
void history_append_time(const struct ui *ui, struct buf *out);

/* Appends how far back it is, and whether it plays: "-35 s". */
void history_append(const struct ui *ui, struct buf *out);
