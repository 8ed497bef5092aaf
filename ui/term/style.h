/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The styles of texts on this terminal, and the limits from which figures are highlighted. */
#pragma once

#include <stdint.h>

#include "view/theme.h"

/* The styles in ncurses' form. */
struct styles {
	int attributes[STYLES];
	uint32_t backgrounds; /* bits of the colour pairs that have a background */
	char mark; /* before the highest figures; 0: none */
};

/* Shares of the interval in percent: less than SHARE_SHOWN is shown as 0. */
#define SHARE_SHOWN 0.05
#define SHARE_NOTICE 2.0
#define SHARE_WARM 10.0
#define SHARE_HOT 50.0

/* Single waits in ms. */
#define WAIT_NOTICE 2.0
#define WAIT_WARM 10.0
#define WAIT_HOT 100.0

/* The style of a share of the interval. */
static inline enum style style_of_share(double share)
{
	return share >= SHARE_HOT      ? STYLE_HOT
	       : share >= SHARE_WARM   ? STYLE_WARM
	       : share >= SHARE_NOTICE ? STYLE_NOTICE
				       : STYLE_NORMAL;
}

/* The style of a single wait, in ms. */
static inline enum style style_of_wait(double ms)
{
	return ms >= WAIT_HOT	   ? STYLE_HOT
	       : ms >= WAIT_WARM   ? STYLE_WARM
	       : ms >= WAIT_NOTICE ? STYLE_NOTICE
				   : STYLE_NORMAL;
}

/* The same in a graph: its cells have no background of their own, so that their height shows. */
static inline enum style style_of_graph(const struct styles *styles, double share)
{
	enum style style = share < SHARE_SHOWN ? STYLE_DIM : style_of_share(share);

	while (style > STYLE_NOTICE && style <= STYLE_HOT && styles->backgrounds >> (style + 1) & 1)
		style--;
	return style;
}

/* A style in the selected row: it keeps its colour. */
static inline enum style style_selected(enum style style)
{
	return style_table[style].selected;
}

/* The style of a high delay of a kind (WAIT_KINDS). */
enum style style_of_kind(unsigned kind);

/* The style of a state's letter in a bar. */
enum style style_of_state(char letter);

/*
 * Fills in all styles, as the terminal supports them and as configured. ncurses must be started.
 * background: 0xRRGGBB of the terminal; below 0: unknown. Returns whether it is worth asking the
 * terminal for that.
 */
bool style_set_up(struct styles *styles, const struct theme_choice *choice, int background);
