/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/theme.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The first of the 256 colours of the 6 x 6 x 6 cube, and the first of its greys. */
#define CUBE 16
#define GREYS 232

/* The 16 colours of xterm: other terminals may differ. */
static const int colours_16[16] = {
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

static const char *const colour_names[] = { "black", "red",	"green", "yellow",
					    "blue",  "magenta", "cyan",	 "white" };

int theme_rgb(int number)
{
	static const int levels[] = { 0, 0x5f, 0x87, 0xaf, 0xd7, 0xff };

	if (number < CUBE)
		return colours_16[number];
	if (number >= GREYS)
		return (8 + 10 * (number - GREYS)) * 0x010101;
	number -= CUBE;
	return levels[number / 36] << 16 | levels[number / 6 % 6] << 8 | levels[number % 6];
}

/* The distance of two colours. */
static int colour_distance(int a, int b)
{
	int sum = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		int by = (a >> shift & 0xff) - (b >> shift & 0xff);

		sum += by * by;
	}
	return sum;
}

/* The nearest of some of the 256 colours. */
static int nearest(int rgb, int from, int to)
{
	int best = from;

	for (int number = from; number < to; number++)
		if (colour_distance(rgb, theme_rgb(number)) < colour_distance(rgb, theme_rgb(best)))
			best = number;
	return best;
}

/* Linear intensity, from 0 to 1, of a colour component from 0 to 255. */
static double linear(int part)
{
	double share = part / 255.0;

	return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

/* The luminance of a colour. */
static double luminance(int rgb)
{
	return 0.2126 * linear(rgb >> 16 & 0xff) + 0.7152 * linear(rgb >> 8 & 0xff) +
	       0.0722 * linear(rgb & 0xff);
}

double theme_contrast(int a, int b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* Parses a colour: a name, a number of 256, #RRGGBB, or default. False: none of these. */
static bool parse_colour(const char *word, int *rgb, int *of_16)
{
	bool exact = *word == '#';
	char *end;
	long number;

	for (int i = 0; i < (int)ARRAY_SIZE(colour_names); i++) {
		if (strcmp(word, colour_names[i]) != 0)
			continue;
		*of_16 = i;
		*rgb = theme_rgb(i);
		return true;
	}
	*rgb = *of_16 = COLOUR_OWN;
	if (!strcmp(word, "default"))
		return true;
	word += exact;
	/* strtol() takes blanks and signs. */
	if (!*word || strspn(word, "0123456789abcdefABCDEF") != strlen(word))
		return false;
	number = strtol(word, &end, exact ? 16 : 10);
	if (*end || number < 0 || (exact ? strlen(word) != 6 : number > 255))
		return false;
	*rgb = exact ? (int)number : theme_rgb((int)number);
	*of_16 = !exact && number < CUBE ? (int)number : nearest(*rgb, 0, CUBE);
	return true;
}

/* The bit of a weight, or 0. */
static unsigned parse_weight(const char *word)
{
	static const struct {
		const char *word;
		unsigned bit;
	} weights[] = { { "bold", THEME_BOLD },
			{ "dim", THEME_DIM },
			{ "underline", THEME_UNDERLINE },
			{ "reverse", THEME_REVERSE } };

	for (size_t i = 0; i < ARRAY_SIZE(weights); i++)
		if (!strcmp(word, weights[i].word))
			return weights[i].bit;
	return 0;
}

/* Takes the words of a look off a text, which is modified. False: an invalid one. */
static bool parse_look(char *text, struct theme_change *change)
{
	struct look many = { 0, COLOUR_OWN, COLOUR_OWN }, few = many;
	bool behind = false;
	char *word;

	while ((word = strsep(&text, ", "))) {
		unsigned weight = parse_weight(word);

		if (!*word)
			continue;
		many.weight |= weight;
		few.weight |= weight;
		if (weight)
			continue;
		if (!strcmp(word, "on") && !behind)
			behind = true;
		else if (!parse_colour(word, behind ? &many.bg : &many.fg,
				       behind ? &few.bg : &few.fg))
			return false;
	}
	*change = (struct theme_change){ .set = true, .many = many, .few = few };
	return true;
}

/* The style of that name; STYLES: there is none. */
static enum style find_style(const char *name, size_t len)
{
	enum style style = STYLE_NORMAL;

	while (style < STYLES && (strlen(style_table[style].name) != len ||
				  memcmp(style_table[style].name, name, len)))
		style++;
	return style;
}

bool theme_change(struct theme_choice *choice, const char *text, struct buf *why)
{
	size_t len = strcspn(text, ": ");
	const char *rest = text + len + strspn(text + len, " ");
	enum style style = find_style(text, len);
	char *words = xstrdup(*rest == ':' ? rest + 1 : "");
	bool ok = style < STYLES && *rest == ':' && parse_look(words, &choice->changes[style]);

	free(words);
	if (ok)
		return true;
	buf_puts(why, "STYLE: bold dim underline reverse COLOUR on COLOUR, each part optional; "
		      "COLOUR: default");
	for (size_t i = 0; i < ARRAY_SIZE(colour_names); i++)
		buf_printf(why, ", %s", colour_names[i]);
	buf_puts(why, ", 0 to 255, #RRGGBB; STYLE:");
	for (size_t i = 0; i < STYLES; i++)
		buf_printf(why, "%s %s", i ? "," : "", style_table[i].name);
	return false;
}

/* The theme of that name. */
static const struct theme *named(const char *name)
{
	const struct theme *theme = theme_table;

	while (strcmp(theme->name, name) != 0)
		theme++;
	return theme;
}

/* True if the environment specifies the background, as a number of 16 colours. */
static bool tells_number(const struct theme_terminal *terminal, long *number)
{
	const char *last = terminal->background ? strrchr(terminal->background, ';') : NULL;
	char *end;

	if (!last || last[1] < '0' || last[1] > '9')
		return false;
	*number = strtol(last + 1, &end, 10);
	return !*end && *number < CUBE;
}

/* The name of the theme for a background that the terminal, or its environment, reports. */
static const char *by_background(const struct theme_terminal *terminal)
{
	long number;

	/* The console of Linux is black. */
	if (terminal->type && !strcmp(terminal->type, "linux"))
		return "dark";
	if (tells_number(terminal, &number))
		return number == 7 || number == 15 ? "light" : "dark";
	if (!terminal->answered)
		return "any";
	return theme_contrast(terminal->rgb, 0xffffff) > theme_contrast(terminal->rgb, 0) ? "dark"
											  : "light";
}

bool theme_asks(const struct theme_choice *choice, const struct theme_terminal *terminal)
{
	/* Terminals that answer, or read such a sequence to its end: others would display it. */
	static const char *const types[] = { "xterm", "rxvt",	 "tmux",   "foot",    "alacritty",
					     "kitty", "konsole", "gnome",  "vte",     "wezterm",
					     "st-",   "contour", "mintty", "ghostty", "mlterm" };
	long number;

	if (choice->theme || terminal->depth == DEPTH_NONE || !terminal->type ||
	    (terminal->no_color && *terminal->no_color) || tells_number(terminal, &number))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strncmp(terminal->type, types[i], strlen(types[i])))
			return true;
	return false;
}

int theme_answer(const char *text, size_t len)
{
	static const char *const spaces[] = { "rgb:", "rgba:" };
	int rgb = 0;
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(spaces) && !at; i++)
		if (len > strlen(spaces[i]) && !memcmp(text, spaces[i], strlen(spaces[i])))
			at = strlen(spaces[i]);
	for (int part = 0; part < 3; part++, at++) {
		int value = 0, most = 0;

		for (; at < len && isxdigit((unsigned char)text[at]) && most < 0xffff; at++) {
			char digit[] = { text[at], '\0' };

			value = value << 4 | (int)strtol(digit, NULL, 16);
			most = most << 4 | 0xf;
		}
		if (!most || (part < 2 && (at == len || text[at] != '/')))
			return -1;
		rgb = rgb << 8 | (value * 0xff + most / 2) / most;
	}
	return at > len || text[at - 1] == '/' ? rgb : -1;
}

const struct theme *theme_for(const struct theme_choice *choice,
			      const struct theme_terminal *terminal)
{
	bool refused = terminal->no_color && *terminal->no_color;

	if (terminal->depth == DEPTH_NONE)
		return named("mono");
	if (choice->theme)
		return choice->theme;
	return named(refused ? "mono" : by_background(terminal));
}

/* A colour at a depth. */
static int at_depth(int colour, enum theme_depth depth)
{
	return depth == DEPTH_256 && colour >= 0 ? nearest(colour, CUBE, 256) : colour;
}

struct look theme_look(const struct theme *theme, const struct theme_choice *choice,
		       enum style style, enum theme_depth depth)
{
	const struct theme_change *change = &choice->changes[style];
	bool few = depth <= DEPTH_16;
	struct look look = few ? theme->few[style] : theme->many[style];

	/* Changed colours have no effect if no colours are wanted. */
	if (change->set && theme->colours)
		look = few ? change->few : change->many;
	if (few)
		return look;
	look.fg = at_depth(look.fg, depth);
	look.bg = at_depth(look.bg, depth);
	return look;
}

/*
 * The themes. Every text has a contrast of at least 4.5 (test_theme): on its own background, else
 * on those that the theme is made for. Figures are coloured digits: shares of resources in three
 * steps, delays by their kind, and the highest in the strongest red; the requirement to be readable
 * on black and on white leaves five of 256 colours, of which magenta is closest. Backgrounds are
 * for headings and the selection.
 */

/* clang-format off */
const struct style_row style_table[STYLES] = {
	[STYLE_NORMAL] = { "normal", STYLE_SELECTED },
	[STYLE_DIM] = { "dim", STYLE_SELECTED_DIM },
	[STYLE_BOLD] = { "bold", STYLE_SELECTED },
	[STYLE_LABEL] = { "label", STYLE_SELECTED },
	[STYLE_NOTICE] = { "notice", STYLE_SELECTED_NOTICE },
	[STYLE_WARM] = { "warm", STYLE_SELECTED_WARM },
	[STYLE_HOT] = { "hot", STYLE_SELECTED_HOT },
	[STYLE_CPU] = { "cpu", STYLE_SELECTED_NOTICE },
	[STYLE_IO] = { "io", STYLE_SELECTED_NOTICE },
	[STYLE_MEMORY] = { "memory", STYLE_SELECTED_NOTICE },
	[STYLE_BLOCKED] = { "blocked", STYLE_SELECTED_NOTICE },
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
	[STYLE_BAR_RUN] = { "bar-run", STYLE_SELECTED_NOTICE },
	[STYLE_BAR_CPU] = { "bar-cpu", STYLE_SELECTED_NOTICE },
	[STYLE_BAR_IO] = { "bar-io", STYLE_SELECTED_NOTICE },
	[STYLE_BAR_DWAIT] = { "bar-dwait", STYLE_SELECTED_NOTICE },
	[STYLE_BAR_LOCK] = { "bar-lock", STYLE_SELECTED_NOTICE },
	[STYLE_BAR_PEER] = { "bar-peer", STYLE_SELECTED_NOTICE },
};

#define OWN COLOUR_OWN
#define BOLD THEME_BOLD
#define WHITE 0xffffff
#define LIGHT 0xeeeeee
#define NAVY 0x000087

/* Looks in 16 colours. */
enum { BLACK_16, RED_16, GREEN_16, YELLOW_16, BLUE_16, MAGENTA_16, CYAN_16, WHITE_16,
       BRIGHT_16 = 8 };

/* Bars: letters in the colours of delays by kind, and further ones. */
#define BARS_MANY(run, cpu, io, dwait, lock, peer) \
	[STYLE_BAR_RUN] = { 0, run, OWN }, \
	[STYLE_BAR_CPU] = { 0, cpu, OWN }, \
	[STYLE_BAR_IO] = { 0, io, OWN }, \
	[STYLE_BAR_DWAIT] = { 0, dwait, OWN }, \
	[STYLE_BAR_LOCK] = { 0, lock, OWN }, \
	[STYLE_BAR_PEER] = { 0, peer, OWN }
#define BARS_FEW \
	[STYLE_BAR_RUN] = { 0, BLACK_16, GREEN_16 }, \
	[STYLE_BAR_CPU] = { 0, BLACK_16, YELLOW_16 }, \
	[STYLE_BAR_IO] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_BAR_DWAIT] = { THEME_REVERSE, OWN, OWN }, \
	[STYLE_BAR_LOCK] = { 0, BLACK_16, BRIGHT_16 | MAGENTA_16 }, \
	[STYLE_BAR_PEER] = { 0, BLACK_16, CYAN_16 }

/* Headings, and important messages. */
#define FRAME_MANY \
	[STYLE_HEAD] = { 0, WHITE, 0x005f87 }, \
	[STYLE_HEAD_SORT] = { BOLD, WHITE, 0xaf5f00 }, \
	[STYLE_ERROR] = { BOLD, WHITE, 0xd70000 }
#define FRAME_FEW \
	[STYLE_HEAD] = { 0, WHITE_16, BLUE_16 }, \
	[STYLE_HEAD_SORT] = { 0, BLACK_16, CYAN_16 }, \
	[STYLE_ERROR] = { BOLD, WHITE_16, RED_16 }

/* The selected row, on dark backgrounds. */
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

/* Kinds of delays when there are too few colours. */
#define KINDS_PLAIN \
	[STYLE_CPU] = { BOLD, OWN, OWN }, \
	[STYLE_IO] = { BOLD, OWN, OWN }, \
	[STYLE_MEMORY] = { BOLD, OWN, OWN }, \
	[STYLE_BLOCKED] = { BOLD, OWN, OWN }

/* Styles by weight and the terminal's own colours, whatever they are. */
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
	KINDS_PLAIN, \
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
		PLAIN, BARS_MANY(0x87d787, 0xd7d787, 0x87afff, 0xffaf5f, 0xd7afff, 0x87d7d7), FRAME_MANY, SELECTED_DARK_MANY,
		[STYLE_SELECTED_HOT] = { BOLD, 0xff5f5f, NAVY },
		[STYLE_DIM] = { 0, 0x949494, OWN },
		[STYLE_LABEL] = { 0, 0x5fafd7, OWN },
		[STYLE_NOTICE] = { 0, 0xd7d787, OWN },
		[STYLE_WARM] = { 0, 0xffaf5f, OWN },
		[STYLE_HOT] = { BOLD, 0xff5f5f, OWN },
		[STYLE_CPU] = { 0, 0xd7d787, OWN },
		[STYLE_IO] = { 0, 0x87afff, OWN },
		[STYLE_MEMORY] = { 0, 0xd7afff, OWN },
		[STYLE_BLOCKED] = { 0, 0xffaf5f, OWN },
		[STYLE_NOTE] = { 0, 0xffaf5f, OWN },
		[STYLE_KEY] = { BOLD, 0x5fafd7, OWN },
	  },
	  .few = {
		PLAIN_FEW, BARS_FEW, FRAME_FEW, SELECTED_DARK_FEW,
		[STYLE_NOTICE] = { 0, YELLOW_16, OWN },
		[STYLE_WARM] = { BOLD, YELLOW_16, OWN },
		[STYLE_HOT] = { BOLD, BRIGHT_16 | RED_16, OWN },
		[STYLE_CPU] = { 0, YELLOW_16, OWN },
		[STYLE_IO] = { 0, CYAN_16, OWN },
		[STYLE_MEMORY] = { 0, BRIGHT_16 | MAGENTA_16, OWN },
		[STYLE_BLOCKED] = { 0, GREEN_16, OWN },
		[STYLE_NOTE] = { 0, YELLOW_16, OWN },
	  } },
	{ .name = "light",
	  .help = "for light backgrounds",
	  .colours = true,
	  .backgrounds = { 0xffffff, 0xfdf6e3, 0xeeeeee },
	  .nbackgrounds = 3,
	  .many = {
		PLAIN, BARS_MANY(0x005f00, 0x875f00, 0x005faf, 0xaf0000, 0x870087, 0x005f5f), FRAME_MANY,
		[STYLE_SELECTED] = { 0, 0x000000, 0xd7ffff },
		[STYLE_SELECTED_DIM] = { 0, 0x626262, 0xd7ffff },
		[STYLE_SELECTED_NOTICE] = { 0, 0x875f00, 0xd7ffff },
		[STYLE_SELECTED_WARM] = { 0, 0xaf0000, 0xd7ffff },
		[STYLE_SELECTED_HOT] = { BOLD, 0xd70000, 0xd7ffff },
		[STYLE_DIM] = { 0, 0x626262, OWN },
		[STYLE_LABEL] = { 0, 0x005f87, OWN },
		[STYLE_NOTICE] = { 0, 0x875f00, OWN },
		[STYLE_WARM] = { 0, 0xaf0000, OWN },
		[STYLE_HOT] = { BOLD, 0xd70000, OWN },
		[STYLE_CPU] = { 0, 0x875f00, OWN },
		[STYLE_IO] = { 0, 0x005faf, OWN },
		[STYLE_MEMORY] = { 0, 0x870087, OWN },
		[STYLE_BLOCKED] = { 0, 0x005f00, OWN },
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
		[STYLE_WARM] = { 0, RED_16, OWN },
		[STYLE_HOT] = { BOLD, RED_16, OWN },
		KINDS_PLAIN,
		[STYLE_NOTE] = { BOLD, OWN, OWN },
	  } },
	{ .name = "any",
	  .help = "for backgrounds that may be dark or light",
	  .colours = true,
	  .backgrounds = { 0x000000, 0xffffff },
	  .nbackgrounds = 2,
	  .many = {
		PLAIN, BARS_MANY(0x00875f, 0xaf5f5f, 0x5f5fff, 0xd700af, 0x875fd7, 0x00875f), FRAME_MANY, SELECTED_DARK_MANY,
		[STYLE_SELECTED_HOT] = { BOLD, 0xff5f5f, NAVY },
		[STYLE_DIM] = { 0, 0x767676, OWN },
		[STYLE_LABEL] = { 0, 0x00875f, OWN },
		[STYLE_NOTICE] = { 0, 0xaf5f5f, OWN },
		[STYLE_WARM] = { 0, 0xd700af, OWN },
		[STYLE_HOT] = { BOLD, 0xd700af, OWN },
		[STYLE_CPU] = { 0, 0xaf5f5f, OWN },
		[STYLE_IO] = { 0, 0x5f5fff, OWN },
		[STYLE_MEMORY] = { 0, 0x875fd7, OWN },
		[STYLE_BLOCKED] = { 0, 0x00875f, OWN },
		[STYLE_NOTE] = { 0, 0xaf5f5f, OWN },
		[STYLE_KEY] = { BOLD, 0x00875f, OWN },
	  },
	  .few = {
		PLAIN_FEW, BARS_FEW, FRAME_FEW, SELECTED_DARK_FEW,
		[STYLE_NOTICE] = { BOLD, OWN, OWN },
		[STYLE_WARM] = { 0, BLACK_16, YELLOW_16 },
		[STYLE_HOT] = { BOLD, WHITE_16, RED_16 },
		KINDS_PLAIN,
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
