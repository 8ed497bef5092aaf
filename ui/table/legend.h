/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meaning of the letters in the bar of states, in a line above its table. */
#pragma once

#include "ui/state/ui.h"

/* The lines that it wants. */
int legend_lines(struct ui *ui, int lines);

/* Draws it: each letter as in the bar, then its state, in words where there is room for them. */
void legend_draw(struct ui *ui, int line, int lines);
