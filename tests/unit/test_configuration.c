/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration: what its lines set, what is kept, and that it is written whole. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/configuration.h"
#include "base/pattern.h"
#include "base/util.h"
#include "tests/lib/standard.h"
#include "view/site_lines.h"

/* A text applied to defaults. */
struct applied {
	char text[2048];
	struct options options;
	struct configuration_faults faults;
};

/* Applies a text. */
static void apply(struct applied *applied, const char *text)
{
	options_default(&applied->options);
	applied->faults = (struct configuration_faults){ 0 };
	strcpy(applied->text, text);
	configuration_apply(applied->text, strlen(text), &applied->options, &applied->faults);
}

/* The same, of a recording on the screen. */
static void apply_to_replay(struct applied *applied, const char *text)
{
	options_default(&applied->options);
	applied->options.mode = MODE_REPLAY;
	applied->faults = (struct configuration_faults){ 0 };
	strcpy(applied->text, text);
	configuration_apply(applied->text, strlen(text), &applied->options, &applied->faults);
}

/* Frees what applying took. */
static void drop(struct applied *applied)
{
	options_free(&applied->options);
	configuration_faults_free(&applied->faults);
}

/* Asserts how a text is written anew. */
static void assert_rewritten(const char *text, const struct view_config *view, const char *expected)
{
	struct buf out = { 0 };

	configuration_rewrite(text, strlen(text), view, NULL, &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
}

/* Every line that is known sets its option. */
TEST(test_good)
{
	struct applied applied;
	const struct options *options = &applied.options;

	apply(&applied, "# mine\n\n delay=0.5\r\nsort = +pid\nfields = pid,cpu,comm\nunit\t=\tms\n"
			"threads = on\nactive = true\nrows = 7\nuser = 0,12\nmatch = a=b # c\n"
			"over = 2.5\nno-exits = 1\nsource = procfs\ncommand-line = yes\n"
			"hide-exited = yes\ntree = yes\nfold-header = yes");
	assert_int_equal(applied.faults.broken, 0);
	assert_int_equal(applied.faults.unknown.len, 0);
	assert_int_equal(options->view.interval_ns, NSEC_PER_SEC / 2);
	assert_string_equal(options->view.query.sort->id, "pid");
	assert_false(options->view.query.descending);
	assert_string_equal(options->view.fields, "pid,cpu,comm");
	assert_int_equal(options->view.unit, UNIT_MS);
	assert_true(options->view.group_by == GROUP_THREAD && options->view.query.active);
	assert_false(options->sampler.exits);
	assert_int_equal(options->view.query.rows, 7);
	assert_int_equal(options->view.query.nusers, 2);
	assert_int_equal(options->view.query.users[1], 12);
	assert_string_equal(options->pattern, "a=b # c");
	assert_true(options->view.query.over_ms > 2.4 && options->view.query.over_ms < 2.6);
	assert_string_equal(options->sampler.source, "procfs");
	assert_true(options->view.command_line && options->view.query.no_exited);
	assert_true(options->view.tree && options->view.fold_header);
	drop(&applied);
}

/* No, and an empty text, set nothing. */
TEST(test_nothing)
{
	struct applied applied;
	struct options standard;

	options_default(&standard);
	apply(&applied, "active = no\nthreads = off\ntree = false\nno-exits = 0\n");
	assert_int_equal(applied.faults.broken, 0);
	assert_memory_equal(&applied.options, &standard, sizeof(standard));
	drop(&applied);
	apply(&applied, "");
	assert_memory_equal(&applied.options, &standard, sizeof(standard));
	drop(&applied);
}

/* What does not go with what the command line asks for is checked, and sets nothing. */
TEST(test_other_mode)
{
	struct applied applied;
	const struct options *options = &applied.options;

	apply_to_replay(&applied, "when = cpu some 1s/2s\nenable-delayacct = yes\ndelay = 3\n");
	assert_int_equal(applied.faults.broken, 0);
	assert_int_equal(options->watch.nspecs, 0);
	assert_false(options->enable_delayacct);
	assert_true(options->view.interval_ns == 3 * NSEC_PER_SEC);
	drop(&applied);
	apply_to_replay(&applied, "when = pressure\n");
	assert_int_equal(applied.faults.broken, 1);
	drop(&applied);
}

/* Broken lines are counted, the first is named, and none sets anything. */
TEST(test_broken)
{
	static const char *const texts[][2] = {
		{ "delay = 1\nnonsense\ndelay = x\n", "line 2: it is not NAME = VALUE" },
		{ "= 3\n", "line 1: it is not NAME = VALUE" },
		{ "de lay = 3\n", "line 1: it is not NAME = VALUE" },
		{ "\n#\ndelay = 0\n",
		  "line 3: delay does not take '0'; allowed: seconds from 0.05 to 86400" },
		{ "active = maybe", "line 1: active does not take 'maybe'; allowed: yes, no" },
		{ "unit =", "line 1: unit does not take ''; allowed: percent, ms, count, avg, max, "
			    "total" },
		{ "fields = list\n",
		  "line 1: fields does not take 'list'; allowed: field ids separated by commas" },
		{ "tree = \x1b[31m", "line 1: tree does not take '\\x1b[31m'; allowed: yes, no" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct applied applied;

		apply(&applied, texts[i][0]);
		assert_string_equal(buf_cstr(&applied.faults.why), texts[i][1]);
		assert_int_equal(applied.faults.broken, i ? 1 : 2);
		assert_int_equal(applied.options.view.interval_ns, (i ? 2 : 1) * NSEC_PER_SEC);
		assert_null(applied.options.view.fields);
		assert_false(applied.options.list_fields);
		drop(&applied);
	}
}

/* A value that is broken half-way takes nothing from the lines before it. */
TEST(test_half_broken)
{
	struct applied applied;

	apply(&applied, "match = good\nmatch = (\nuser = 0\nuser = 3,no-such-user-here\n"
			"sort = pid\nsort = nothing\nfields = comm\nfields = comm,what\n");
	assert_int_equal(applied.faults.broken, 4);
	assert_string_equal(applied.options.pattern, "good");
	assert_true(pattern_matches(applied.options.match, "a good one"));
	assert_int_equal(applied.options.view.query.nusers, 1);
	assert_string_equal(applied.options.view.query.sort->id, "pid");
	assert_string_equal(applied.options.view.fields, "comm");
	drop(&applied);
}

/* Unknown names, and options that a file cannot hold, are named once each. */
TEST(test_unknown)
{
	struct applied applied;

	apply(&applied, "hue = red\nbatch = yes\nhue = blue\nhues = 3\npid = 1\ncol = 1\n");
	assert_int_equal(applied.faults.broken, 0);
	assert_string_equal(buf_cstr(&applied.faults.unknown), "hue, batch, hues, pid, col");
	assert_false(applied.options.batch);
	assert_null(applied.options.sampler.pids);
	drop(&applied);
	apply(&applied, "iterations = 3\nformat = csv\ndebug-log = x\nhelp = yes\nversion = yes\n");
	assert_int_equal(applied.faults.broken, 0);
	assert_string_equal(buf_cstr(&applied.faults.unknown),
			    "iterations, format, debug-log, help, version");
	assert_int_equal(applied.options.view.iterations, 0);
	assert_ptr_equal(applied.options.format, &out_text);
	assert_false(applied.options.debug_log || applied.options.help || applied.options.version);
	drop(&applied);
}

/* The command line replaces what the file said. */
TEST(test_overridden)
{
	char *argv[] = { (char *)"stalltop", (char *)"-d", (char *)"3",	      (char *)"-u",
			 (char *)"5,6",	     (char *)"-g", (char *)"process", NULL };
	struct applied applied;
	struct buf why = { 0 };

	apply(&applied, "delay = 1\nuser = 0,1,2\nthreads = yes\nunit = ms\n");
	assert_int_equal(options_override(&applied.options, 7, argv, &why), 0);
	assert_int_equal(applied.options.view.interval_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(applied.options.view.query.nusers, 2);
	assert_int_equal(applied.options.view.query.users[0], 5);
	assert_int_equal(applied.options.view.query.users[1], 6);
	assert_int_equal(applied.options.view.group_by, GROUP_PROCESS);
	assert_int_equal(applied.options.view.unit, UNIT_MS);
	assert_int_equal(options_override(&applied.options, 1, argv, &why), 0);
	assert_int_equal(applied.options.view.query.nusers, 2);
	drop(&applied);
	buf_free(&why);
}

/* Into an empty file all is written; what is written sets the same. */
TEST(test_rewrite_empty)
{
	struct options options;
	struct applied applied;
	struct buf out = { 0 };

	options_default(&options);
	assert_rewritten("", &options.view,
			 "delay = 2\nsort = -total\nunit = percent\n" STANDARD_REST);
	options.view.interval_ns = 50 * NSEC_PER_MSEC;
	options.view.query.sort = column_by_id("comm", 4);
	options.view.query.descending = false;
	view_set_fields(&options.view, "+irq");
	view_set_site_fields(&options.view, "state,time,on");
	options.view.sites.sort = column_in(&site_columns, "on", 2);
	options.view.unit = UNIT_AVG;
	options.view.group_by = GROUP_THREAD;
	options.view.query.active = options.view.command_line = options.view.query.no_exited = true;
	options.view.tree = options.view.fold_header = true;
	options.paced = options.grouped = true;
	configuration_rewrite("", 0, &options.view, NULL, &out);
	apply(&applied, buf_cstr(&out));
	assert_int_equal(applied.options.view.interval_ns, options.view.interval_ns);
	assert_string_equal(applied.options.view.fields, "+irq");
	free(applied.options.view.fields);
	applied.options.view.fields = options.view.fields;
	options.given = applied.options.given;
	assert_string_equal(applied.options.view.sites.fields, "state,time,on");
	free(applied.options.view.sites.fields);
	applied.options.view.sites.fields = options.view.sites.fields;
	assert_memory_equal(&applied.options, &options, sizeof(options));
	drop(&applied);
	buf_free(&out);
}

/* Comments, order, blanks and what is not known stay; values change in their place. */
TEST(test_rewrite_keeps)
{
	struct options options;

	options_default(&options);
	assert_rewritten("# top\n\n  unit\t= ms\nfuture = 1,2\n\n#unit = avg\nrows = 9\n"
			 "delay=1\nfields = pid\nunit = avg\nthreads = yes\nsort = x\nmatch = a",
			 &options.view,
			 "# top\n\nfuture = 1,2\n\n#unit = avg\nrows = 9\nmatch = a\n"
			 "delay = 2\nsort = -total\nunit = percent\n" STANDARD_REST);
}

/* Presets of one's own: as many as there are lines. Another preset's fields are not the default. */
TEST(test_presets)
{
	static const char text[] =
		"preset = mine: fields=pid,comm, sort=+pid\npreset = b: sort=run\n"
		"fields = pid,total,comm\n";
	struct applied applied;
	struct view_config *view = &applied.options.view;

	apply(&applied, text);
	assert_int_equal(applied.faults.broken, 0);
	assert_int_equal(applied.faults.unknown.len, 0);
	assert_string_equal(view->fields, "pid,total,comm");
	assert_null(view_preset(view)->fields);
	view_next_preset(view, -1);
	assert_string_equal(view_preset(view)->name, "b");
	view_next_preset(view, -1);
	assert_string_equal(view_preset(view)->name, "mine");
	assert_string_equal(view->fields, "pid,comm");
	assert_rewritten(text, view,
			 "preset = mine: fields=pid,comm, sort=+pid\npreset = b: sort=run\n"
			 "delay = 2\nsort = -total\nfields = pid,total,comm\nunit = "
			 "percent\n" STANDARD_REST);
	drop(&applied);
	apply(&applied, "preset = mine: fields=pid,nothing\n");
	assert_int_equal(applied.faults.broken, 1);
	assert_non_null(strstr(buf_cstr(&applied.faults.why), "no field: nothing"));
	drop(&applied);
}

/* The theme, and what is changed in it: both stay where a key writes the file. */
TEST(test_colours)
{
	static const char text[] = "theme = dark\ncolour = hot: bold red\ncolour = dim: 250\n";
	struct applied applied;
	struct theme_choice *theme = &applied.options.view.theme;

	apply(&applied, text);
	assert_int_equal(applied.faults.broken, 0);
	assert_string_equal(theme->theme->name, "dark");
	assert_true(theme->changes[STYLE_HOT].set);
	assert_int_equal(theme->changes[STYLE_HOT].few.fg, 1);
	assert_true(theme->changes[STYLE_DIM].set);
	assert_false(theme->changes[STYLE_WARM].set);
	assert_rewritten(text, &applied.options.view,
			 "theme = dark\ncolour = hot: bold red\ncolour = dim: 250\n"
			 "delay = 2\nsort = -total\nunit = percent\n" STANDARD_REST);
	drop(&applied);
	apply(&applied, "theme = solarized\ncolour = hot: reddish\ntheme = light\n");
	assert_int_equal(applied.faults.broken, 2);
	assert_non_null(strstr(buf_cstr(&applied.faults.why), "auto, dark, light"));
	assert_string_equal(theme->theme->name, "light");
	drop(&applied);
}

/* Asserts the text of a configuration that a preset was put into. */
static void assert_put(const char *text, const char *preset, const char *expected)
{
	struct presets presets = { 0 };
	struct buf out = { 0 }, why = { 0 };

	assert_true(presets_add(&presets, preset, &why));
	configuration_rewrite(text, strlen(text), NULL, &presets.list[presets.n - 1], &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
	buf_free(&why);
	presets_free(&presets);
}

/* A preset is put in the place of its name, else at the end; all else stays. */
TEST(test_put_preset)
{
	assert_put("", "a: sort=-pid", "preset = a: sort=-pid\n");
	assert_put("unit = ms\npreset=b: sort=-pid\n# a: no\nwhat = ever\nunit", "a: sort=+pid",
		   "unit = ms\npreset=b: sort=-pid\n# a: no\nwhat = ever\n# unit\n"
		   "preset = a: sort=+pid\n");
	assert_put("preset = a: sort=-pid\npreset = ab: sort=-run\n preset =a : sort=-cpu\n"
		   "unit = ms\n",
		   "a: fields=pid,comm, sort=-total",
		   "preset = a: fields=pid,comm, sort=-total\npreset = ab: sort=-run\n"
		   "unit = ms\n");
}

/* Broken lines become comments, so that nothing is lost and nothing is broken. */
TEST(test_rewrite_broken)
{
	struct options options;

	options_default(&options);
	assert_rewritten("what is this\nrows = none\ndelay = soon\n", &options.view,
			 "# what is this\n# rows = none\ndelay = 2\nsort = -total\nunit = "
			 "percent\n" STANDARD_REST);
}
