/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line with the worst finding, and the page that it opens. */
#pragma once

#include "ui/state/ui.h"

/*
 * Makes the findings of the table's contents, if its rows were remade; call after the shown rows'
 * data was read.
 */
void finding_take(struct ui *ui);

/* The row of the worst finding; NULL: none. */
const struct row *finding_row(const struct ui *ui);

/*
 * The lines that findings want: two for a while after one was too long for one, so that the rows do
 * not jump; one for each if all are shown.
 */
int finding_lines(const struct ui *ui);

/* Draws the worst in one line or two, or all: a part of the header. */
void finding_draw(struct ui *ui, int line, int lines);

/*
 * Opens the subject of the line: a task's or a group's detail, or the sites that it waits in; for a
 * finding without a task the sites of all.
 */
unsigned finding_open(struct ui *ui, int arg);
