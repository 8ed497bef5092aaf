// SPDX-License-Identifier: GPL-2.0-or-later
/* Themes: that all they show can be read, which one is taken, and what can be changed in one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "view/theme.h"

/* What WCAG 2 asks of text (level AA). */
#define CONTRAST 4.5

static const struct theme_choice nothing_chosen;

/* The theme of that name. */
static const struct theme *theme_of(const char *name)
{
	for (size_t i = 0; i < theme_table_n; i++)
		if (!strcmp(theme_table[i].name, name))
			return &theme_table[i];
	fail_msg("no theme %s", name);
	return NULL;
}

/* The choice of that theme, or of none. */
static struct theme_choice choice_of(const char *name)
{
	return (struct theme_choice){ .theme = strcmp(name, "auto") ? theme_of(name) : NULL };
}

/* 0xRRGGBB of a colour at a depth. */
static int seen(int colour, enum theme_depth depth)
{
	return depth == DEPTH_TRUE ? colour : theme_rgb(colour);
}

/* Known ratios: the extremes, and two that WCAG's own tools give. */
TEST(test_contrast)
{
	assert_float_equal(theme_contrast(0x000000, 0xffffff), 21, 0.001);
	assert_float_equal(theme_contrast(0xffffff, 0x000000), 21, 0.001);
	assert_float_equal(theme_contrast(0x123456, 0x123456), 1, 0.001);
	assert_float_equal(theme_contrast(0x767676, 0xffffff), 4.54, 0.01);
	assert_float_equal(theme_contrast(0xff0000, 0xffffff), 4.00, 0.01);
}

/* The 256 colours as xterm has them, at the seams of their parts. */
TEST(test_palette)
{
	assert_int_equal(theme_rgb(0), 0x000000);
	assert_int_equal(theme_rgb(15), 0xffffff);
	assert_int_equal(theme_rgb(16), 0x000000);
	assert_int_equal(theme_rgb(17), 0x00005f);
	assert_int_equal(theme_rgb(130), 0xaf5f00);
	assert_int_equal(theme_rgb(231), 0xffffff);
	assert_int_equal(theme_rgb(232), 0x080808);
	assert_int_equal(theme_rgb(255), 0xeeeeee);
}

/* Whether a look can be read on a background; where all is the terminal's own, it can. */
static void check_look(const struct theme *theme, enum style style, enum theme_depth depth,
		       int background)
{
	struct look look = theme_look(theme, &nothing_chosen, style, depth);
	double ratio;

	if (look.fg < 0 && look.bg < 0)
		return;
	/* Behind a colour of ours the terminal's own might be anything. */
	assert_true(look.fg >= 0);
	ratio = theme_contrast(seen(look.fg, depth),
			       look.bg >= 0 ? seen(look.bg, depth) : background);
	if (ratio < CONTRAST)
		fail_msg("%s: %s at depth %d on #%06x: %.2f", theme->name, style_table[style].name,
			 (int)depth, (unsigned)background, ratio);
}

/* Every style of every theme, at every depth, on every background that the theme is for. */
TEST(test_readable)
{
	for (size_t i = 0; i < theme_table_n; i++) {
		const struct theme *theme = &theme_table[i];

		assert_true(theme->nbackgrounds > 0);
		for (int style = 0; style < STYLES; style++) {
			for (size_t b = 0; b < theme->nbackgrounds; b++) {
				int bg = theme->backgrounds[b];

				check_look(theme, (enum style)style, DEPTH_TRUE, bg);
				check_look(theme, (enum style)style, DEPTH_256, bg);
			}
			/* Of 16 colours nobody knows what they look like elsewhere. */
			check_look(theme, (enum style)style, DEPTH_16, theme->backgrounds[0]);
		}
	}
}

/* Whether two looks are the same. */
static bool same(struct look a, struct look b)
{
	return a.weight == b.weight && a.fg == b.fg && a.bg == b.bg;
}

/* The three steps can be told apart, from each other and from what is usual, also selected. */
TEST(test_steps)
{
	static const enum style steps[][4] = {
		{ STYLE_NORMAL, STYLE_NOTICE, STYLE_WARM, STYLE_HOT },
		{ STYLE_SELECTED, STYLE_SELECTED_NOTICE, STYLE_SELECTED_WARM, STYLE_SELECTED_HOT },
	};
	static const enum theme_depth depths[] = { DEPTH_16, DEPTH_256, DEPTH_TRUE };

	for (size_t t = 0; t < theme_table_n; t++)
		for (size_t d = 0; d < ARRAY_SIZE(depths); d++)
			for (size_t s = 0; s < 2; s++)
				for (size_t i = 0; i < 3; i++) {
					const struct theme *theme = &theme_table[t];
					struct look low = theme_look(theme, &nothing_chosen,
								     steps[s][i], depths[d]);
					struct look high = theme_look(theme, &nothing_chosen,
								      steps[s][i + 1], depths[d]);

					/* What is alike has a mark. */
					if (same(low, high) &&
					    !(theme->mark && steps[s][i + 1] == steps[s][3]))
						fail_msg("%s: step %zu of %zu, depth %d",
							 theme->name, i, s, (int)depths[d]);
				}
}

/* Without colours there are none. */
TEST(test_mono)
{
	const struct theme *mono = theme_of("mono");

	assert_false(mono->colours);
	assert_true(mono->mark);
	for (int style = 0; style < STYLES; style++) {
		struct look look = theme_look(mono, &nothing_chosen, (enum style)style, DEPTH_TRUE);

		assert_int_equal(look.fg, COLOUR_OWN);
		assert_int_equal(look.bg, COLOUR_OWN);
	}
}

/* Styles are named once each, and stay in the selected row once they are there. */
TEST(test_names)
{
	for (int a = 0; a < STYLES; a++) {
		enum style selected = style_table[a].selected;

		assert_non_null(style_table[a].name);
		assert_int_equal(style_table[selected].selected, selected);
		for (int b = 0; b < a; b++)
			assert_string_not_equal(style_table[a].name, style_table[b].name);
	}
}

/* The theme that is taken for a terminal: what was chosen, else what its environment says. */
TEST(test_for_terminal)
{
	static const struct {
		const char *chosen;
		struct theme_terminal terminal;
		const char *theme;
	} cases[] = {
		{ "auto", { DEPTH_256, "xterm-256color", NULL, NULL, false, 0 }, "any" },
		{ "auto", { DEPTH_256, "rxvt", "15;0", NULL, false, 0 }, "dark" },
		{ "auto", { DEPTH_256, "rxvt", "15;default;0", NULL, false, 0 }, "dark" },
		{ "auto", { DEPTH_256, "rxvt", "0;15", NULL, false, 0 }, "light" },
		{ "auto", { DEPTH_256, "rxvt", "0;7", NULL, false, 0 }, "light" },
		{ "auto", { DEPTH_256, "rxvt", "0;default", NULL, false, 0 }, "any" },
		{ "auto", { DEPTH_256, "rxvt", "0;99", NULL, false, 0 }, "any" },
		{ "auto", { DEPTH_256, "rxvt", "", NULL, false, 0 }, "any" },
		{ "auto", { DEPTH_16, "linux", NULL, NULL, false, 0 }, "dark" },
		{ "auto", { DEPTH_256, "rxvt", "15;0", "1", false, 0 }, "mono" },
		{ "auto", { DEPTH_256, "rxvt", "15;0", "", false, 0 }, "dark" },
		{ "auto", { DEPTH_NONE, "vt100", NULL, NULL, false, 0 }, "mono" },
		{ "light", { DEPTH_256, "rxvt", "15;0", NULL, false, 0 }, "light" },
		/* What the terminal says, where its environment does not. */
		{ "auto", { DEPTH_256, "xterm", NULL, NULL, true, 0x000000 }, "dark" },
		{ "auto", { DEPTH_256, "xterm", NULL, NULL, true, 0x002b36 }, "dark" },
		{ "auto", { DEPTH_256, "xterm", NULL, NULL, true, 0x2e3440 }, "dark" },
		{ "auto", { DEPTH_256, "xterm", NULL, NULL, true, 0xfdf6e3 }, "light" },
		{ "auto", { DEPTH_256, "xterm", "15;default", NULL, true, 0xffffff }, "light" },
		{ "auto", { DEPTH_256, "xterm", "15;0", NULL, true, 0xffffff }, "dark" },
		{ "any", { DEPTH_256, "xterm", NULL, NULL, true, 0xffffff }, "any" },
		{ "auto", { DEPTH_256, "xterm", NULL, "1", true, 0xffffff }, "mono" },
		/* Who asks for colours gets them. */
		{ "dark", { DEPTH_256, "rxvt", NULL, "1", false, 0 }, "dark" },
		{ "dark", { DEPTH_NONE, "vt100", NULL, NULL, false, 0 }, "mono" },
		{ "mono", { DEPTH_TRUE, "xterm-direct", NULL, NULL, false, 0 }, "mono" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct theme_choice choice = choice_of(cases[i].chosen);

		assert_string_equal(theme_for(&choice, &cases[i].terminal)->name, cases[i].theme);
	}
}

/* A changed style, at every depth. */
TEST(test_change)
{
	static const struct {
		const char *text;
		enum style style;
		struct look few, many256, direct;
	} cases[] = {
		{ "hot: bold #ff5f5f",
		  STYLE_HOT,
		  { THEME_BOLD, 9, -1 },
		  { THEME_BOLD, 203, -1 },
		  { THEME_BOLD, 0xff5f5f, -1 } },
		{ "selected: black on 153",
		  STYLE_SELECTED,
		  { 0, 0, 7 },
		  { 0, 16, 153 },
		  { 0, 0x000000, 0xafd7ff } },
		{ "bar-io : underline,dim default on red",
		  STYLE_BAR_IO,
		  { THEME_UNDERLINE | THEME_DIM, -1, 1 },
		  { THEME_UNDERLINE | THEME_DIM, -1, 160 },
		  { THEME_UNDERLINE | THEME_DIM, -1, 0xcd0000 } },
		{ "note:", STYLE_NOTE, { 0, -1, -1 }, { 0, -1, -1 }, { 0, -1, -1 } },
		{ "key: 12", STYLE_KEY, { 0, 12, -1 }, { 0, 63, -1 }, { 0, 0x5c5cff, -1 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct theme *dark = theme_of("dark"), *mono = theme_of("mono");
		struct theme_choice choice = { 0 };
		struct buf why = { 0 };
		enum style style = cases[i].style;

		assert_true(theme_change(&choice, cases[i].text, &why));
		assert_true(same(theme_look(dark, &choice, style, DEPTH_16), cases[i].few));
		assert_true(same(theme_look(dark, &choice, style, DEPTH_256), cases[i].many256));
		assert_true(same(theme_look(dark, &choice, style, DEPTH_TRUE), cases[i].direct));
		/* Others stay, and where there are no colours there are none. */
		assert_true(same(theme_look(dark, &choice, STYLE_WARM, DEPTH_TRUE),
				 dark->many[STYLE_WARM]));
		assert_true(same(theme_look(mono, &choice, style, DEPTH_256), mono->many[style]));
		buf_free(&why);
	}
}

/* What is no change of a style. */
TEST(test_bad_change)
{
	static const char *const texts[] = {
		"",
		"hot",
		"hot bold",
		"hottest: red",
		": red",
		"hot: 256",
		"hot: -1",
		"hot: #ff5f5",
		"hot: #ff5f5f0",
		"hot: #-f5f5f",
		"hot: on on red",
		"hot: reddish",
		"hot: 0x10",
		"hot: 1 2 on #",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct theme_choice choice = { 0 };
		struct buf why = { 0 };

		if (theme_change(&choice, texts[i], &why))
			fail_msg("taken: %s", texts[i]);
		assert_non_null(strstr(buf_cstr(&why), "STYLE: bold"));
		assert_non_null(strstr(buf_cstr(&why), "bar-peer"));
		buf_free(&why);
	}
}

/* What a terminal may answer. */
TEST(test_answer)
{
	static const struct {
		const char *text;
		int rgb;
	} cases[] = {
		{ "rgb:0000/2b2b/3636", 0x002b36 },
		{ "rgb:FFFF/ffff/Ffff", 0xffffff },
		{ "rgb:f/0/8", 0xff0088 },
		{ "rgb:ff/00/80", 0xff0080 },
		{ "rgba:0000/0000/0000/8000", 0 },
		{ "rgb:fff/000/7ff", 0xff007f },
		{ "", -1 },
		{ "rgb:", -1 },
		{ "rgb:00/00", -1 },
		{ "rgb:00/00/", -1 },
		{ "rgb:00000/00/00", -1 },
		{ "rgb:g/0/0", -1 },
		{ "rgb:-1/0/0", -1 },
		{ "rgb:0/0/0x", -1 },
		{ "white", -1 },
		{ "rgb:0/0/ 1", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (theme_answer(cases[i].text, strlen(cases[i].text)) != cases[i].rgb)
			fail_msg("%s", cases[i].text);
}

/* Who is asked: who may answer, where that makes a difference. */
TEST(test_asks)
{
	static const struct {
		const char *chosen;
		struct theme_terminal terminal;
		bool asks;
	} cases[] = {
		{ "auto", { DEPTH_256, "xterm-256color", NULL, NULL, false, 0 }, true },
		{ "auto", { DEPTH_16, "rxvt", "15;default", NULL, false, 0 }, true },
		{ "auto", { DEPTH_TRUE, "tmux-direct", "", "", false, 0 }, true },
		{ "dark", { DEPTH_256, "xterm-256color", NULL, NULL, false, 0 }, false },
		{ "auto", { DEPTH_256, "xterm-256color", "15;0", NULL, false, 0 }, false },
		{ "auto", { DEPTH_256, "xterm-256color", NULL, "1", false, 0 }, false },
		{ "auto", { DEPTH_NONE, "xterm-mono", NULL, NULL, false, 0 }, false },
		{ "auto", { DEPTH_16, "linux", NULL, NULL, false, 0 }, false },
		{ "auto", { DEPTH_256, "screen-256color", NULL, NULL, false, 0 }, false },
		{ "auto", { DEPTH_16, "vt220-color", NULL, NULL, false, 0 }, false },
		{ "auto", { DEPTH_16, NULL, NULL, NULL, false, 0 }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct theme_choice choice = choice_of(cases[i].chosen);

		if (theme_asks(&choice, &cases[i].terminal) != cases[i].asks)
			fail_msg("case %zu", i);
	}
}
