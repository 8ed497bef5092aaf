/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How texts look on the screen: themes, and what the configuration changes in one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

/* The kinds of texts: one row each in style_table. */
enum style {
	STYLE_NORMAL,
	STYLE_DIM, /* zeros, unknown values, units: less prominent */
	STYLE_BOLD,
	STYLE_LABEL, /* names of figures, titles of sections */
	/* Figures by their share of a CPU's time, in three steps. */
	STYLE_NOTICE,
	STYLE_WARM,
	STYLE_HOT,
	/* Delays by their kind, from the second step on; the highest of a column is hot. */
	STYLE_CPU,
	STYLE_IO,
	STYLE_MEMORY,
	STYLE_BLOCKED,
	STYLE_HEAD, /* the bar of headings */
	STYLE_HEAD_SORT, /* the sort column in it */
	/* The selected row: its usual cells, and those in other styles. */
	STYLE_SELECTED,
	STYLE_SELECTED_DIM,
	STYLE_SELECTED_NOTICE,
	STYLE_SELECTED_WARM,
	STYLE_SELECTED_HOT,
	STYLE_SUM,
	STYLE_NOTE, /* a missing figure, and why */
	STYLE_MESSAGE, /* the result of a key */
	STYLE_ERROR,
	STYLE_KEY, /* a key's name in the footer and in help */
	/* States in a bar; those of the idle are dim. */
	STYLE_BAR_RUN,
	STYLE_BAR_CPU,
	STYLE_BAR_IO,
	STYLE_BAR_DWAIT,
	STYLE_BAR_LOCK,
	STYLE_BAR_PEER, /* sockets and pipes */
	STYLES
};

struct style_row {
	const char *name; /* name in the configuration */
	enum style selected; /* how it looks in the selected row */
};

extern const struct style_row style_table[STYLES];

/* The weights of a text: bits. */
enum { THEME_BOLD = 1, THEME_DIM = 2, THEME_UNDERLINE = 4, THEME_REVERSE = 8 };

/* A colour of the terminal's own. */
#define COLOUR_OWN (-1)

/* The look of a style on a terminal with a certain number of colours. */
struct look {
	unsigned weight; /* THEME_ bits */
	int fg, bg; /* 0xRRGGBB, or a number of 16 colours; COLOUR_OWN */
};

/* The colours of a terminal. */
enum theme_depth { DEPTH_NONE, DEPTH_16, DEPTH_256, DEPTH_TRUE };

#define THEME_BACKGROUNDS 4

struct theme {
	const char *name, *help;
	bool colours; /* false: it looks the same at every depth */
	char mark; /* before the highest figures; 0: none */
	int backgrounds[THEME_BACKGROUNDS]; /* the backgrounds it is made for; with 16 colours the
					     * first */
	size_t nbackgrounds;
	struct look many[STYLES]; /* with 256 colours or more */
	struct look few[STYLES]; /* with 16 */
};

extern const struct theme theme_table[];
extern const size_t theme_table_n;

/* The settings of the configuration. Zero-initialised: none. */
struct theme_choice {
	const struct theme *theme; /* NULL: by the terminal */
	struct theme_change {
		bool set;
		struct look many, few;
	} changes[STYLES];
};

/*
 * Parses a change of a style, "STYLE: WEIGHT... COLOUR on COLOUR", each part of it optional. False,
 * with the valid words appended to `why`.
 */
bool theme_change(struct theme_choice *choice, const char *text, struct buf *why);

/* Facts about a terminal. Texts may be NULL. */
struct theme_terminal {
	enum theme_depth depth;
	const char *type; /* TERM */
	const char
		*background; /* COLORFGBG: the numbers of its colours, the last the background's */
	const char *no_color; /* NO_COLOR: not empty, then colours are used only on request */
	bool answered; /* the terminal was asked for its background, and answered: */
	int rgb; /* 0xRRGGBB */
};

/* True if the theme depends on the background, and such a terminal can be asked for it. */
bool theme_asks(const struct theme_choice *choice, const struct theme_terminal *terminal);

/*
 * The request for a terminal's background, and the beginning of the answer (xterm's OSC 11),
 * followed by a colour as X names them, and the end of the sequence.
 */
#define THEME_QUESTION "\033]11;?\033\\"
#define THEME_ANSWER "\033]11;"

/* 0xRRGGBB of such a colour: "rgb:RRRR/GGGG/BBBB", each with one to four digits; -1: malformed. */
int theme_answer(const char *text, size_t len);

/* The theme for that terminal. */
const struct theme *theme_for(const struct theme_choice *choice,
			      const struct theme_terminal *terminal);

/*
 * The look of a style at that depth: its colours are numbers of the terminal's, with DEPTH_TRUE
 * 0xRRGGBB.
 */
struct look theme_look(const struct theme *theme, const struct theme_choice *choice,
		       enum style style, enum theme_depth depth);

/* 0xRRGGBB of one of 256 colours, as most terminals have them. */
int theme_rgb(int number);

/* The contrast ratio of two colours, 0xRRGGBB, from 1 to 21 (WCAG 2). */
double theme_contrast(int a, int b);
