/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line with the gravest finding, and the page that it opens. */
#pragma once

#include "ui/state/ui.h"

/*
 * Makes the findings of what the table shows, where its rows were made anew; after what it shows of
 * them was read.
 */
void finding_take(struct ui *ui);

/* Draws the line: a part of the header. */
void finding_draw(struct ui *ui, int line, int lines);

/* Opens what the line means: a task's or a group's detail, or the sites that it waits in. */
unsigned finding_open(struct ui *ui, int arg);
