/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline: pressure, and what all tasks waited, over the past that can be looked at. */
#pragma once

#include "ui/state/ui.h"

/* The lines that it takes. */
#define TIMELINE_LINES 2

/* Whether it is to be shown. */
bool timeline_wanted(const struct ui *ui);

/* Draws it from that line on, with the moment that is shown marked. */
void timeline_draw(struct ui *ui, int line);
