// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes pictures of the screen: runs the program on terminals of several sizes beside some loads,
 * goes through its views, and writes what each shows as SVG.
 *   picture [-l] [-b] FOLDER [VIEW-COLSxROWS...]
 * -l: on a light background; -b: and what other monitors show of the same, where they are
 * installed. By default all views in all sizes, as FOLDER/VIEW-COLSxROWS.svg.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/svg.h"
#include "tests/lib/table.h"
#include "tests/ui/picture_stage.h"

/* Until averages and trends are those of the loads. */
#define SETTLE 26.0
#define SLICE 0.05

static const struct size {
	int cols, rows;
} sizes[] = { { 80, 24 }, { 120, 40 }, { 200, 60 } };

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* The views, in the order that the program is led through them. */
static const struct view {
	const char *name, *title;
	const char *select; /* the row of this name is clicked first */
	const char *open, *leave; /* keys */
	double wait; /* until it has what it shows, in seconds */
	const char *head; /* a word that it has */
} views[] = {
	{ "main", "what every task waits for", NULL, "", "", 0, "COMMAND" },
	{ "past", "a moment of the past", NULL, "[[[", "B\r", 1, "COMMAND" },
	{ "detail", "all about one process", "mailserver", "\r", "\x1b", 5, "Delays" },
	{ "sites", "what the tasks wait on", "mailserver", "w", "\x1b", 7, "SYSCALL" },
	{ "states", "where the time goes", NULL, "\x1b[Z", "\t", 7, "STATES" },
	{ "groups", "what the cgroups wait for", NULL, "gggg", "g", 9, "GROUP" },
};

/* Other monitors, with options that show the same. */
static const struct {
	const char *name, *program, *args;
} others[] = {
	{ "htop", "/usr/bin/htop", "" },
	{ "btop", "/usr/bin/btop", "--utf-force" },
	{ "atop", "/usr/bin/atop", "2" },
	{ "iotop", "/usr/sbin/iotop-c", "" },
};

#define N_OTHERS (sizeof(others) / sizeof(others[0]))

/* What is wanted. */
struct wanted {
	const struct svg_theme *theme;
	const char *folder;
	char *const *names; /* none: all */
	bool beside;
};

/* The name of a picture. */
static const char *picture_name(const char *view, const struct size *size)
{
	return scratch_format("%s-%dx%d", view, size->cols, size->rows);
}

static bool is_wanted(const struct wanted *w, const char *name)
{
	char *const *names = w->names;

	while (*names && strcmp(*names, name))
		names++;
	return !*w->names || *names;
}

/* Lets time pass for all screens. */
static void pump(struct screen *const *screens, size_t n, double seconds)
{
	double until = screen_now() + seconds;

	do
		for (size_t i = 0; i < n; i++)
			screen_pump(screens[i], SLICE / (double)n);
	while (screen_now() < until);
}

/* Writes what a screen shows. 0 or -1, and has said why. */
static int take(struct screen *s, const char *name, const char *title, const struct wanted *w)
{
	const char *path = scratch_format("%s/%s.svg", w->folder, name);
	int err;

	if (!is_wanted(w, name))
		return 0;
	if (screen_has_ended(s, NULL)) {
		fprintf(stderr, "picture: %s: the program has ended\n", name);
		return -1;
	}
	err = svg_write(s, w->theme, title, path);
	if (err) {
		fprintf(stderr, "picture: %s: %s\n", path, strerror(-err));
		return -1;
	}
	puts(path);
	fflush(stdout);
	return 0;
}

/* Selects the row of that name, where there is one. */
static void select_row(struct screen *s, const char *name)
{
	struct table t;
	int row = table_read(s, &t) ? table_find_name(s, &t, name) : -1;

	if (row < 0)
		fprintf(stderr, "picture: no row of %s\n", name);
	else
		screen_click(s, row, 4, 1);
	screen_settle(s);
}

/* Goes through the views on all screens. */
static int take_views(struct screen *const *screens, const struct wanted *w)
{
	int err = 0;

	for (const struct view *v = views; v < views + sizeof(views) / sizeof(views[0]); v++) {
		for (size_t i = 0; i < N_SIZES; i++) {
			if (v->select)
				select_row(screens[i], v->select);
			screen_type(screens[i], v->open);
			screen_settle(screens[i]);
		}
		pump(screens, N_SIZES, v->wait);
		for (size_t i = 0; i < N_SIZES; i++) {
			screen_settle(screens[i]);
			if (!screen_shows(screens[i], v->head)) {
				fprintf(stderr, "picture: no %s in the view %s\n", v->head,
					v->name);
				err = -1;
			}
			err |= take(screens[i], picture_name(v->name, &sizes[i]),
				    scratch_format("stalltop: %s", v->title), w);
			screen_type(screens[i], v->leave);
			screen_settle(screens[i]);
		}
		/* Who has been left without figures of its own gets some. */
		pump(screens, N_SIZES, 1);
	}
	return err;
}

/* Starts a program in each size, on terminals that say what they are like. */
static void start(const char *program, const char *args, const struct wanted *w,
		  struct screen **screens)
{
	const char *const colours[] = { w->theme == &svg_light ? "COLORFGBG=0;15"
							       : "COLORFGBG=15;0",
					"COLORTERM=truecolor", NULL };

	for (size_t i = 0; i < N_SIZES; i++)
		screens[i] = screen_start(&(struct screen_how){ .rows = sizes[i].rows,
								.cols = sizes[i].cols,
								.program = program,
								.args = args,
								.env = colours });
}

/* What other monitors show. */
static int take_others(const struct wanted *w)
{
	struct screen *screens[N_SIZES];
	int err = 0;

	for (size_t n = 0; n < N_OTHERS; n++) {
		if (access(others[n].program, X_OK))
			continue;
		start(others[n].program, others[n].args, w, screens);
		pump(screens, N_SIZES, 9);
		for (size_t i = 0; i < N_SIZES; i++) {
			err |= take(screens[i], picture_name(others[n].name, &sizes[i]),
				    others[n].name, w);
			screen_type(screens[i], "q");
		}
		pump(screens, N_SIZES, 1);
	}
	return err;
}

/* Starts the loads, and takes the pictures. */
static int take_all(const struct wanted *w)
{
	struct screen *screens[N_SIZES];
	int err;

	err = stage_open();
	if (err) {
		fprintf(stderr, "picture: %s\n", strerror(-err));
		return -1;
	}
	stage_start();
	stage_freeze(true);
	start(NULL, "--cgroup=" STAGE_GROUP, w, screens);
	pump(screens, N_SIZES, SETTLE);
	err = take_views(screens, w);
	for (size_t i = 0; i < N_SIZES; i++)
		screen_type(screens[i], "q");
	pump(screens, N_SIZES, 1);
	return w->beside ? take_others(w) | err : err;
}

int main(int argc, char **argv)
{
	struct wanted w = { .theme = &svg_dark };
	int c, err;

	while ((c = getopt(argc, argv, "lb")) != -1) {
		if (c == 'l')
			w.theme = &svg_light;
		else if (c == 'b')
			w.beside = true;
		else
			optind = argc;
	}
	if (optind >= argc) {
		fputs("usage: picture [-l] [-b] FOLDER [VIEW-COLSxROWS...]\n", stderr);
		return 2;
	}
	w.folder = argv[optind];
	w.names = argv + optind + 1;
	screen_setup(NULL);
	err = take_all(&w);
	screen_teardown(NULL);
	guard_undo(0);
	return err ? 1 : 0;
}
