/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The themes. Every text has a contrast of 4.5 at least (test_theme): on its own background, else
 * on those that the theme is made for. The steps of urgency are the same in all: a tint, orange or
 * dark red, and the strongest red. What must be read on black and on white leaves six of 256
 * colours, so that high figures have a background of their own there.
 */
#include "config.h"

#include "view/theme.h"

#include "base/util.h"

/* clang-format off */
const struct style_row style_table[STYLES] = {
	[STYLE_NORMAL] = { "normal", STYLE_SELECTED },
	[STYLE_DIM] = { "dim", STYLE_SELECTED_DIM },
	[STYLE_BOLD] = { "bold", STYLE_SELECTED },
	[STYLE_LABEL] = { "label", STYLE_SELECTED },
	[STYLE_NOTICE] = { "notice", STYLE_SELECTED_NOTICE },
	[STYLE_WARM] = { "warm", STYLE_SELECTED_WARM },
	[STYLE_HOT] = { "hot", STYLE_SELECTED_HOT },
	[STYLE_HEAD] = { "head", STYLE_HEAD },
	[STYLE_HEAD_SORT] = { "head-sort", STYLE_HEAD_SORT },
	[STYLE_SELECTED] = { "selected", STYLE_SELECTED },
	[STYLE_SELECTED_DIM] = { "selected-dim", STYLE_SELECTED_DIM },
	[STYLE_SELECTED_NOTICE] = { "selected-notice", STYLE_SELECTED_NOTICE },
	[STYLE_SELECTED_WARM] = { "selected-warm", STYLE_SELECTED_WARM },
	[STYLE_SELECTED_HOT] = { "selected-hot", STYLE_SELECTED_HOT },
	[STYLE_SUM] = { "sum", STYLE_SELECTED },
	[STYLE_NOTE] = { "note", STYLE_SELECTED_WARM },
	[STYLE_MESSAGE] = { "message", STYLE_SELECTED },
	[STYLE_ERROR] = { "error", STYLE_ERROR },
	[STYLE_KEY] = { "key", STYLE_SELECTED },
	/* A bar keeps its own backgrounds. */
	[STYLE_BAR_RUN] = { "bar-run", STYLE_BAR_RUN },
	[STYLE_BAR_CPU] = { "bar-cpu", STYLE_BAR_CPU },
	[STYLE_BAR_IO] = { "bar-io", STYLE_BAR_IO },
	[STYLE_BAR_DWAIT] = { "bar-dwait", STYLE_BAR_DWAIT },
	[STYLE_BAR_LOCK] = { "bar-lock", STYLE_BAR_LOCK },
	[STYLE_BAR_PEER] = { "bar-peer", STYLE_BAR_PEER },
};

#define OWN COLOUR_OWN
#define BOLD THEME_BOLD
#define WHITE 0xffffff
#define LIGHT 0xeeeeee
#define NAVY 0x000087

/* Looks in 16 colours. */
enum { BLACK_16, RED_16, GREEN_16, YELLOW_16, BLUE_16, MAGENTA_16, CYAN_16, WHITE_16,
       BRIGHT_16 = 8 };

/* Bars are the same on every background, as they have their own. */
#define BARS_MANY \
	[STYLE_BAR_RUN] = { 0, WHITE, 0x008700 }, \
	[STYLE_BAR_CPU] = { 0, WHITE, 0xaf5f00 }, \
	[STYLE_BAR_IO] = { 0, WHITE, 0xd70000 }, \
	[STYLE_BAR_DWAIT] = { 0, WHITE, 0x870087 }, \
	[STYLE_BAR_LOCK] = { 0, WHITE, 0x005faf }, \
	[STYLE_BAR_PEER] = { 0, WHITE, 0x005f5f }
#define BARS_FEW \
	[STYLE_BAR_RUN] = { 0, BLACK_16, GREEN_16 }, \
	[STYLE_BAR_CPU] = { 0, BLACK_16, YELLOW_16 }, \
	[STYLE_BAR_IO] = { 0, WHITE_16, RED_16 }, \
	[STYLE_BAR_DWAIT] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_BAR_LOCK] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_BAR_PEER] = { 0, BLACK_16, CYAN_16 }

/* Heads, and what must not be missed. */
#define FRAME_MANY \
	[STYLE_HEAD] = { 0, WHITE, 0x005f87 }, \
	[STYLE_HEAD_SORT] = { BOLD, WHITE, 0xaf5f00 }, \
	[STYLE_ERROR] = { BOLD, WHITE, 0xd70000 }
#define FRAME_FEW \
	[STYLE_HEAD] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_HEAD_SORT] = { 0, BLACK_16, CYAN_16 }, \
	[STYLE_ERROR] = { BOLD, WHITE_16, RED_16 }

/* The selected row, where it is dark. */
#define SELECTED_DARK_MANY \
	[STYLE_SELECTED] = { 0, LIGHT, NAVY }, \
	[STYLE_SELECTED_DIM] = { 0, 0x9e9e9e, NAVY }, \
	[STYLE_SELECTED_NOTICE] = { 0, 0xd7d787, NAVY }, \
	[STYLE_SELECTED_WARM] = { 0, 0xffaf5f, NAVY }
#define SELECTED_DARK_FEW \
	[STYLE_SELECTED] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_SELECTED_DIM] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_SELECTED_NOTICE] = { 0, YELLOW_16, BLUE_16 }, \
	[STYLE_SELECTED_WARM] = { BOLD, YELLOW_16, BLUE_16 }, \
	[STYLE_SELECTED_HOT] = { BOLD, WHITE_16, RED_16 }

/* Styles with weight and the terminal's own colours, whatever they are. */
#define PLAIN \
	[STYLE_NORMAL] = { 0, OWN, OWN }, \
	[STYLE_BOLD] = { BOLD, OWN, OWN }, \
	[STYLE_SUM] = { BOLD, OWN, OWN }, \
	[STYLE_MESSAGE] = { BOLD, OWN, OWN }
#define PLAIN_FEW \
	PLAIN, \
	[STYLE_DIM] = { THEME_DIM, OWN, OWN }, \
	[STYLE_LABEL] = { 0, OWN, OWN }, \
	[STYLE_KEY] = { BOLD, OWN, OWN }

/* Without colours: by weight, and a mark before the highest figures. */
#define MONO \
	PLAIN_FEW, \
	[STYLE_NOTICE] = { BOLD, OWN, OWN }, \
	[STYLE_WARM] = { BOLD | THEME_UNDERLINE, OWN, OWN }, \
	[STYLE_HOT] = { BOLD | THEME_UNDERLINE, OWN, OWN }, \
	[STYLE_HEAD] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_HEAD_SORT] = { BOLD | THEME_UNDERLINE, OWN, OWN }, \
	[STYLE_SELECTED] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_SELECTED_DIM] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_SELECTED_NOTICE] = { THEME_REVERSE | BOLD, OWN, OWN }, \
	[STYLE_SELECTED_WARM] = { THEME_REVERSE | BOLD | THEME_UNDERLINE, OWN, OWN }, \
	[STYLE_SELECTED_HOT] = { THEME_REVERSE | BOLD | THEME_UNDERLINE, OWN, OWN }, \
	[STYLE_NOTE] = { BOLD, OWN, OWN }, \
	[STYLE_ERROR] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_BAR_RUN] = { 0, OWN, OWN }, \
	[STYLE_BAR_CPU] = { 0, OWN, OWN }, \
	[STYLE_BAR_IO] = { 0, OWN, OWN }, \
	[STYLE_BAR_DWAIT] = { 0, OWN, OWN }, \
	[STYLE_BAR_LOCK] = { 0, OWN, OWN }, \
	[STYLE_BAR_PEER] = { 0, OWN, OWN }

const struct theme theme_table[] = {
	{ .name = "dark",
	  .help = "for dark backgrounds",
	  .colours = true,
	  .backgrounds = { 0x000000, 0x1e1e1e, 0x300a24, 0x002b36 },
	  .nbackgrounds = 4,
	  .many = {
		PLAIN, BARS_MANY, FRAME_MANY, SELECTED_DARK_MANY,
		[STYLE_SELECTED_HOT] = { BOLD, 0xff5f5f, NAVY },
		[STYLE_DIM] = { 0, 0x949494, OWN },
		[STYLE_LABEL] = { 0, 0x5fafd7, OWN },
		[STYLE_NOTICE] = { 0, 0xd7d787, OWN },
		[STYLE_WARM] = { 0, 0xffaf5f, OWN },
		[STYLE_HOT] = { BOLD, 0xff5f5f, OWN },
		[STYLE_NOTE] = { 0, 0xffaf5f, OWN },
		[STYLE_KEY] = { BOLD, 0x5fafd7, OWN },
	  },
	  .few = {
		PLAIN_FEW, BARS_FEW, FRAME_FEW, SELECTED_DARK_FEW,
		[STYLE_NOTICE] = { 0, YELLOW_16, OWN },
		[STYLE_WARM] = { BOLD, YELLOW_16, OWN },
		[STYLE_HOT] = { BOLD, BRIGHT_16 | RED_16, OWN },
		[STYLE_NOTE] = { 0, YELLOW_16, OWN },
	  } },
	{ .name = "light",
	  .help = "for light backgrounds",
	  .colours = true,
	  .backgrounds = { 0xffffff, 0xfdf6e3, 0xeeeeee },
	  .nbackgrounds = 3,
	  .many = {
		PLAIN, BARS_MANY, FRAME_MANY,
		[STYLE_SELECTED] = { 0, 0x000000, 0xd7ffff },
		[STYLE_SELECTED_DIM] = { 0, 0x626262, 0xd7ffff },
		[STYLE_SELECTED_NOTICE] = { 0, 0x875f00, 0xd7ffff },
		[STYLE_SELECTED_WARM] = { 0, 0xaf0000, 0xd7ffff },
		[STYLE_SELECTED_HOT] = { BOLD, WHITE, 0xd70000 },
		[STYLE_DIM] = { 0, 0x626262, OWN },
		[STYLE_LABEL] = { 0, 0x005f87, OWN },
		[STYLE_NOTICE] = { 0, 0x875f00, OWN },
		[STYLE_WARM] = { 0, 0xaf0000, OWN },
		[STYLE_HOT] = { BOLD, WHITE, 0xd70000 },
		[STYLE_NOTE] = { 0, 0x875f00, OWN },
		[STYLE_KEY] = { BOLD, 0x005f87, OWN },
	  },
	  .few = {
		PLAIN_FEW, BARS_FEW, FRAME_FEW,
		[STYLE_SELECTED] = { 0, BLACK_16, CYAN_16 },
		[STYLE_SELECTED_DIM] = { 0, BLACK_16, CYAN_16 },
		[STYLE_SELECTED_NOTICE] = { THEME_UNDERLINE, BLACK_16, CYAN_16 },
		[STYLE_SELECTED_WARM] = { 0, BLACK_16, YELLOW_16 },
		[STYLE_SELECTED_HOT] = { BOLD, WHITE_16, RED_16 },
		[STYLE_NOTICE] = { BOLD, OWN, OWN },
		[STYLE_WARM] = { 0, BLACK_16, YELLOW_16 },
		[STYLE_HOT] = { BOLD, WHITE_16, RED_16 },
		[STYLE_NOTE] = { BOLD, OWN, OWN },
	  } },
	{ .name = "any",
	  .help = "for backgrounds that may be dark or light",
	  .colours = true,
	  .backgrounds = { 0x000000, 0xffffff },
	  .nbackgrounds = 2,
	  .many = {
		PLAIN, BARS_MANY, FRAME_MANY, SELECTED_DARK_MANY,
		[STYLE_SELECTED_HOT] = { BOLD, WHITE, 0xd70000 },
		[STYLE_DIM] = { 0, 0x767676, OWN },
		[STYLE_LABEL] = { 0, 0x00875f, OWN },
		[STYLE_NOTICE] = { 0, 0xaf5f5f, OWN },
		[STYLE_WARM] = { 0, 0x000000, 0xffaf5f },
		[STYLE_HOT] = { BOLD, WHITE, 0xd70000 },
		[STYLE_NOTE] = { 0, 0xaf5f5f, OWN },
		[STYLE_KEY] = { BOLD, 0x00875f, OWN },
	  },
	  .few = {
		PLAIN_FEW, BARS_FEW, FRAME_FEW, SELECTED_DARK_FEW,
		[STYLE_NOTICE] = { BOLD, OWN, OWN },
		[STYLE_WARM] = { 0, BLACK_16, YELLOW_16 },
		[STYLE_HOT] = { BOLD, WHITE_16, RED_16 },
		[STYLE_NOTE] = { BOLD, OWN, OWN },
	  } },
	{ .name = "mono",
	  .help = "without colours: by weight and marks",
	  .mark = '*',
	  .backgrounds = { 0x000000, 0xffffff },
	  .nbackgrounds = 2,
	  .many = { MONO },
	  .few = { MONO } },
};
/* clang-format on */

const size_t theme_table_n = ARRAY_SIZE(theme_table);
