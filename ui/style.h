/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The styles of texts, and the limits from which figures are highlighted: the same in all views. */
#ifndef STALLTOP_UI_STYLE_H
#define STALLTOP_UI_STYLE_H

/* The kinds of texts; style.c has their attributes with 256, 16 and no colours. */
enum style {
	STYLE_NORMAL,
	STYLE_DIM, /* zeros, unknown values, units: less prominent */
	STYLE_BOLD,
	STYLE_LABEL, /* names of figures, titles of sections */
	STYLE_WARM, /* a value to notice */
	STYLE_HOT, /* a high value */
	STYLE_HEAD, /* the bar of headings */
	STYLE_HEAD_SORT, /* the sort column in it */
	STYLE_SELECTED, /* the selected row */
	STYLE_SELECTED_HOT, /* warm and hot values in that row */
	STYLE_SUM,
	STYLE_NOTE, /* something missing, and why */
	STYLE_MESSAGE, /* the result of a key */
	STYLE_ERROR,
	STYLE_KEY, /* a key's name in the footer and in help */
	/* States in a bar; those of the idle are dim. */
	STYLE_BAR_RUN,
	STYLE_BAR_CPU,
	STYLE_BAR_IO,
	STYLE_BAR_BLOCK,
	STYLE_BAR_LOCK,
	STYLE_BAR_PEER, /* sockets and pipes */
	STYLES
};

/* Shares of the interval in percent: less than SHARE_SHOWN is shown as 0.0. */
#define SHARE_SHOWN 0.05
#define SHARE_WARM 10.0
#define SHARE_HOT 50.0

/* Single waits in ms. */
#define WAIT_WARM 10.0
#define WAIT_HOT 100.0

/* The style of a figure that is highlighted from `warm` on, and more strongly from `hot` on. */
static inline enum style style_of(double figure, double warm, double hot)
{
	return figure >= hot ? STYLE_HOT : figure >= warm ? STYLE_WARM : STYLE_NORMAL;
}

/* The style of a state's letter in a bar. */
enum style style_of_state(char letter);

/*
 * Fills in ncurses' attributes of all styles, as far as the terminal supports them and NO_COLOR
 * (no-color.org) allows. Returns bits of the colour pairs that have a background. ncurses must be
 * started.
 */
unsigned style_set_up(int attributes[STYLES]);

#endif
