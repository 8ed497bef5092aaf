/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/screen.h"

/*
 * Goldens: screens as they are to be, cell by cell, as text files tests/ui/golden/NAME.txt. First
 * come the lines; below a line of dashes the looks: for each line that has other than plain cells
 * its number from 0, and for each run of these the columns and the look: FOREGROUND/BACKGROUND by
 * number, - for the terminal's own, then b for bold, r for reverse, u for underlined, i for italic.
 */

/*
 * Waits until the screen is the golden of that name, or fails with the lines that differ. With
 * GENERATE in the environment it writes the golden, of the screen when it has come to rest.
 */
#define golden_check(s, name) golden_check_at(s, name, __FILE__, __LINE__)
void golden_check_at(struct screen *s, const char *name, const char *file, int line);
