/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking back: the screen shows a past sample, from its own history or a recording, while sampling
 * continues.
 */
#pragma once

#include "ui/state/ui.h"

/*
 * The timeline: pressure, the waits of all tasks, and marks of findings, over the available
 * history.
 */

/* The lines that it takes. */
#define TIMELINE_LINES 3

/* True if it is to be shown. */
bool timeline_wanted(const struct ui *ui);

/* Draws it from that line on, with the shown sample marked. */
void timeline_draw(struct ui *ui, int line);

/* Shows a frame in all views: of the present, or a sample of the past. */
void history_show(struct ui *ui, const struct frame *frame);

/* Moves by that many samples, back or forward; beyond the last is the present. */
void history_step(struct ui *ui, int by);

/* Moves by a time. */
void history_by_ns(struct ui *ui, int64_t ns);

/* Moves to a time as replay_time() parses it. False: invalid. */
bool history_to(struct ui *ui, const char *text);

/* Shows the present again. */
void history_present(struct ui *ui);

/* Starts showing a recording, at its first sample. 0 or -errno. */
int history_begin(struct ui *ui);

/* Continues or pauses. */
void history_play(struct ui *ui, bool on);

/* When the next sample is due; UINT64_MAX: none is. */
uint64_t history_due_ns(const struct ui *ui);

/* Shows the next sample of a playback. */
void history_play_on(struct ui *ui);

/*
 * Stores and records the last frame, if not done yet, with the groups shown of it: call after it
 * was drawn.
 */
void history_add(struct ui *ui);

/* Appends the time of day shown, and how far back it is. */
void history_append_time(const struct ui *ui, struct buf *out);

/* Appends how far back it is, and whether it plays: "-35 s". */
void history_append(const struct ui *ui, struct buf *out);
