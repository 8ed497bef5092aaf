/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/style.h"

#include <ncurses.h>
#include <stdlib.h>

#include "data/wait_state.h"

/*
 * The attributes of a style. The colours used of 256 can be told apart on dark and on light
 * backgrounds; of the 16, yellow, white and cyan are not. -1 is the terminal's own colour.
 */
struct look {
	attr_t weight; /* with a colour of 256 */
	short fg256, bg256;
	attr_t weight16;
	short fg16, bg16;
	attr_t mono; /* without colours */
};

static const struct look looks[STYLES] = {
	[STYLE_NORMAL] = { 0, -1, -1, 0, -1, -1, 0 },
	[STYLE_DIM] = { 0, 245, -1, A_DIM, -1, -1, A_DIM },
	[STYLE_BOLD] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_LABEL] = { 0, 31, -1, 0, -1, -1, 0 },
	[STYLE_WARM] = { 0, 130, -1, 0, COLOR_MAGENTA, -1, A_BOLD },
	[STYLE_HOT] = { A_BOLD, 160, -1, A_BOLD, COLOR_RED, -1, A_BOLD | A_UNDERLINE },
	[STYLE_HEAD] = { 0, 231, 24, 0, COLOR_WHITE, COLOR_BLUE, A_REVERSE },
	[STYLE_HEAD_SORT] = { A_BOLD, 231, 130, A_BOLD, COLOR_WHITE, COLOR_MAGENTA,
			      A_BOLD | A_UNDERLINE },
	[STYLE_SELECTED] = { A_REVERSE, -1, -1, A_REVERSE, -1, -1, A_REVERSE },
	[STYLE_SELECTED_HOT] = { A_REVERSE | A_BOLD, -1, -1, A_REVERSE | A_BOLD, -1, -1,
				 A_REVERSE | A_BOLD },
	[STYLE_SUM] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_NOTE] = { 0, 130, -1, 0, COLOR_MAGENTA, -1, A_BOLD },
	[STYLE_MESSAGE] = { A_BOLD, -1, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_ERROR] = { A_BOLD, 231, 160, A_BOLD, COLOR_WHITE, COLOR_RED, A_REVERSE },
	[STYLE_KEY] = { A_BOLD, 31, -1, A_BOLD, -1, -1, A_BOLD },
	[STYLE_BAR_RUN] = { 0, 231, 28, 0, COLOR_BLACK, COLOR_GREEN, 0 },
	[STYLE_BAR_CPU] = { 0, 231, 130, 0, COLOR_BLACK, COLOR_YELLOW, 0 },
	[STYLE_BAR_IO] = { 0, 231, 160, 0, COLOR_WHITE, COLOR_RED, 0 },
	[STYLE_BAR_BLOCK] = { 0, 231, 90, 0, COLOR_WHITE, COLOR_MAGENTA, 0 },
	[STYLE_BAR_LOCK] = { 0, 231, 24, 0, COLOR_WHITE, COLOR_BLUE, 0 },
	[STYLE_BAR_PEER] = { 0, 231, 31, 0, COLOR_BLACK, COLOR_CYAN, 0 },
};

static const enum style state_styles[WAIT_STATES] = {
	[STATE_RUN] = STYLE_BAR_RUN,   [STATE_CPU] = STYLE_BAR_CPU,
	[STATE_IO] = STYLE_BAR_IO,     [STATE_BLOCK] = STYLE_BAR_BLOCK,
	[STATE_LOCK] = STYLE_BAR_LOCK, [STATE_NET] = STYLE_BAR_PEER,
	[STATE_PIPE] = STYLE_BAR_PEER, [STATE_POLL] = STYLE_DIM,
	[STATE_TIMER] = STYLE_DIM,     [STATE_CHILD] = STYLE_DIM,
	[STATE_STOP] = STYLE_DIM,      [STATE_OTHER] = STYLE_DIM,
};

enum style style_of_state(char letter)
{
	for (unsigned state = 0; state < WAIT_STATES; state++)
		if (wait_state_table[state].letter == letter)
			return state_styles[state];
	return STYLE_NORMAL;
}

unsigned style_set_up(int attributes[STYLES])
{
	unsigned backgrounds = 0;
	const char *no_color = getenv("NO_COLOR");
	bool colour = has_colors() && !(no_color && *no_color) && start_color() != ERR &&
		      use_default_colors() != ERR && COLOR_PAIRS > STYLES;

	for (unsigned style = 0; style < STYLES; style++) {
		const struct look *look = &looks[style];
		bool many = COLORS >= 256;
		short fg = many ? look->fg256 : look->fg16, bg = many ? look->bg256 : look->bg16;
		attr_t attribute = many ? look->weight : look->weight16;

		if (!colour)
			attribute = look->mono;
		else if ((fg >= 0 || bg >= 0) && init_pair((short)(style + 1), fg, bg) != ERR)
			attribute |= (attr_t)COLOR_PAIR(style + 1);
		if (colour && bg >= 0)
			backgrounds |= 1U << (style + 1);
		attributes[style] = (int)attribute;
	}
	return backgrounds;
}
