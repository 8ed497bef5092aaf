/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table, as text: the same on the screen and in batch mode. */
#ifndef STALLTOP_HEADLINE_H
#define STALLTOP_HEADLINE_H

#include <stdint.h>

#include "buf.h"
#include "column.h"

/* Time of day, uptime, load, interval, source, unit. interval_ns: while there is none yet. */
void headline_title(struct buf *out, const struct view *view, uint64_t interval_ns);

/* Tasks, CPU states, memory, own cost. */
void headline_tasks(struct buf *out, const struct view *view);

/* Head of the pressure block. */
void headline_pressure_head(struct buf *out);

/* One resource's pressure; nothing, and false, where it has no file. */
bool headline_pressure(struct buf *out, const struct view *view, enum psi_resource resource);

/* Some avg10 of each resource in one line. */
void headline_pressure_short(struct buf *out, const struct view *view);

/* Stall time in the interval in percent, from the file's total. */
struct value pressure_now(const struct view *view, enum psi_resource resource, bool full);

#endif
