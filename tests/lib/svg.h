/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/screen.h"

/* The terminal's own colours, 0xRRGGBB, and its first sixteen. */
struct svg_theme {
	int ink, paper;
	int basic[16];
};

extern const struct svg_theme svg_dark, svg_light;

/*
 * Writes what a screen shows as SVG: text that can be selected, a line in one piece. 0 or -errno.
 */
int svg_write(struct screen *s, const struct svg_theme *theme, const char *title, const char *path);
