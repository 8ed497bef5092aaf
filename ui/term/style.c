/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/style.h"

#include <ncurses.h>
#include <stdlib.h>

#include "data/delay.h"
#include "data/wait_state.h"

/* From this number of colours on they are no numbers, but 0xRRGGBB. */
#define COLOURS_TRUE 0x1000000

static const enum style state_styles[WAIT_STATES] = {
	[STATE_RUN] = STYLE_BAR_RUN,   [STATE_CPU] = STYLE_BAR_CPU,
	[STATE_IO] = STYLE_BAR_IO,     [STATE_DWAIT] = STYLE_BAR_DWAIT,
	[STATE_LOCK] = STYLE_BAR_LOCK, [STATE_NET] = STYLE_BAR_PEER,
	[STATE_PIPE] = STYLE_BAR_PEER, [STATE_POLL] = STYLE_DIM,
	[STATE_TIMER] = STYLE_DIM,     [STATE_CHILD] = STYLE_DIM,
	[STATE_STOP] = STYLE_DIM,      [STATE_OTHER] = STYLE_DIM,
	[STATE_PARK] = STYLE_DIM,
};

static const enum style kind_styles[WAIT_KINDS] = {
	[DELAY_CPU] = STYLE_CPU,       [DELAY_BLKIO] = STYLE_IO,
	[DELAY_SWAPIN] = STYLE_MEMORY, [DELAY_RECLAIM] = STYLE_MEMORY,
	[DELAY_THRASH] = STYLE_MEMORY, [DELAY_COMPACT] = STYLE_MEMORY,
	[DELAY_WPCOPY] = STYLE_MEMORY, [DELAY_IRQ] = STYLE_CPU,
	[WAIT_DWAIT] = STYLE_BLOCKED,
};

enum style style_of_kind(unsigned kind)
{
	return kind_styles[kind];
}

enum style style_of_state(char letter)
{
	for (unsigned state = 0; state < WAIT_STATES; state++)
		if (wait_state_table[state].letter == letter)
			return state_styles[state];
	/* Of delays, memory. */
	return letter == 'm' ? STYLE_BAR_LOCK : STYLE_NORMAL;
}

/* The colours of this terminal. */
static enum theme_depth find_depth(void)
{
	if (!has_colors() || start_color() == ERR || use_default_colors() == ERR ||
	    COLOR_PAIRS <= STYLES)
		return DEPTH_NONE;
	if (COLORS >= COLOURS_TRUE)
		return DEPTH_TRUE;
	return COLORS >= 256 ? DEPTH_256 : DEPTH_16;
}

/* Translates a weight to ncurses' attributes. */
static attr_t attributes_of(unsigned weight)
{
	static const attr_t bits[] = { A_BOLD, A_DIM, A_UNDERLINE, A_REVERSE };
	attr_t attributes = 0;

	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (weight & 1u << i)
			attributes |= bits[i];
	return attributes;
}

/* Maps a bright colour to 8 colours, where bold makes it bright. */
static int fit_colour(int colour, attr_t *attributes)
{
	if (COLORS > 8 || colour < 8)
		return colour;
	*attributes |= A_BOLD;
	return colour - 8;
}

bool style_set_up(struct styles *styles, const struct theme_choice *choice, int background)
{
	const struct theme_terminal terminal = { .depth = find_depth(),
						 .type = getenv("TERM"),
						 .background = getenv("COLORFGBG"),
						 .no_color = getenv("NO_COLOR"),
						 .answered = background >= 0,
						 .rgb = background };
	const struct theme *theme = theme_for(choice, &terminal);

	*styles = (struct styles){ .mark = theme->mark };
	for (unsigned style = 0; style < STYLES; style++) {
		struct look look = theme_look(theme, choice, (enum style)style, terminal.depth);
		attr_t attributes = attributes_of(look.weight);
		int pair = (int)style + 1;

		look.fg = fit_colour(look.fg, &attributes);
		if (COLORS <= 8 && look.bg >= 8)
			look.bg -= 8;
		if (theme->colours && (look.fg >= 0 || look.bg >= 0) &&
		    init_extended_pair(pair, look.fg, look.bg) != ERR) {
			attributes |= (attr_t)COLOR_PAIR(pair);
			if (look.bg >= 0)
				styles->backgrounds |= UINT32_C(1) << pair;
		}
		styles->attributes[style] = (int)attributes;
	}
	return background < 0 && theme_asks(choice, &terminal);
}
