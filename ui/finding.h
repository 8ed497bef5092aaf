/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line with the gravest finding, and the page that it opens. */
#pragma once

#include "ui/state/ui.h"

/*
 * Makes the findings of what the table shows, where its rows were made anew; after what it shows of
 * them was read.
 */
void finding_take(struct ui *ui);

/* The row that the gravest is about; NULL: none. */
const struct row *finding_row(const struct ui *ui);

/*
 * The lines that findings want: two for a while after one was too long for one, so that the rows do
 * not jump; one for each where all are shown.
 */
int finding_lines(const struct ui *ui);

/* Draws the gravest in one line or two, or all: a part of the header. */
void finding_draw(struct ui *ui, int line, int lines);

/*
 * Opens what the line means: a task's or a group's detail, or the sites that it waits in; of one
 * that is about no task the sites of all.
 */
unsigned finding_open(struct ui *ui, int arg);
