// SPDX-License-Identifier: GPL-2.0-or-later
/* Presets: what they show, what stays with each, and those of the configuration. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a text is the title's first words behind the program's name. */
static bool is_titled(struct screen *s, const void *arg)
{
	const char *line = screen_line(s, 0), *words = arg;

	return !strncmp(line, "stalltop ", 9) && !strncmp(line + 9, words, strlen(words));
}

/* Starts among tasks that wait for CPUs, and one that hangs. */
static struct screen *start(int rows, int cols, const char *args)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = rows, .cols = cols, .args = args });

	screen_await(s, table_has_rows, NULL);
	return s;
}

/* Those that hang, and no others, by the age of their wait. */
SCREEN_TEST(shows_hangs)
{
	pid_t pid = crowd_hung("crowd-hung"), later;
	struct screen *s;
	struct table t;

	crowd_sleeper("crowd-idle");
	later = crowd_hung("crowd-later");
	s = start(24, 80, "-d 1 -m ^crowd");
	screen_await(s, table_has_name, "crowd-idle");
	screen_type(s, "\t");
	screen_await(s, is_titled, "preset hangs");
	screen_await(s, table_lacks_name, "crowd-idle");
	screen_await(s, table_has_name, "crowd-later");
	screen_await(s, table_descends, "WAIT");
	table_must(s, &t);
	screen_check(s, table_find_pid(s, &t, pid) == t.first);
	screen_check(s, *table_cell(s, &t, t.first, "S") == 'D');
	screen_check(s, table_number(s, &t, t.first, "WAIT") >= 0);
	/* one ends, then the other, and that nothing hangs is said */
	scratch_kill(pid);
	screen_await(s, table_lacks_name, "crowd-hung");
	scratch_kill(later);
	screen_await_text(s, "no matching task is hung");
	/* Shift-Tab goes back */
	screen_type(s, "\033[Z");
	screen_await(s, table_has_name, "crowd-idle");
	screen_await(s, table_descends, "TOTAL");
	screen_check(s, !screen_shows(s, "preset"));
}

/* All of them, on screens of several sizes: the names are in sight, sorted by what they are for. */
SCREEN_TEST(goes_through_all)
{
	static const char *const names[][2] = { { "cpu", "CPU" },
						{ "io", "BLKIO" },
						{ "memory", "MEM" } };
	static const int sizes[][2] = { { 24, 80 }, { 10, 40 }, { 50, 200 } };

	crowd_waiters();
	crowd_sleeper("crowd-idle");
	for (unsigned size = 0; size < 3; size++) {
		struct screen *s = start(sizes[size][0], sizes[size][1], "-d 1 -m ^crowd");

		screen_type(s, "\t\t");
		for (unsigned i = 0; i < 3; i++) {
			const char *title = scratch_format("preset %s", names[i][0]);

			screen_await(s, is_titled, title);
			screen_await(s, table_descends, names[i][1]);
			screen_await(s, table_has_head, "COMMAND");
			screen_type(s, "\t");
		}
		/* after states all lead back to the default view */
		screen_await(s, is_titled, "preset states");
		screen_type(s, "\t");
		screen_await_no_text(s, "stalltop preset");
		screen_await(s, table_descends, "TOTAL");
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}

/* Fields that are chosen, and the order, stay with their preset; -F and -s are the default view's.
 */
SCREEN_TEST(keeps_changes)
{
	struct screen *s;

	crowd_sleeper("crowd-idle");
	crowd_sleeper("crowd-more");
	s = start(24, 80, "-d 60 -m ^crowd -F pid,uid,elap,total,comm -s -pid");
	screen_await(s, table_descends, "PID");
	screen_type(s, "\t\tN");
	screen_await(s, is_titled, "preset cpu");
	screen_await(s, table_has_head, "CPU");
	screen_await(s, table_descends, "PID");
	/* the third field, the state, is left out */
	screen_type(s, "f");
	screen_await_text(s, "fields:");
	screen_key(s, VTERM_KEY_DOWN);
	screen_key(s, VTERM_KEY_DOWN);
	screen_type(s, " q");
	screen_await(s, table_lacks_head, "S");
	screen_type(s, "\033[Z\033[Z");
	screen_await(s, table_has_head, "ELAP");
	screen_await(s, table_descends, "PID");
	screen_type(s, "\t\t");
	screen_await(s, is_titled, "preset cpu");
	screen_await(s, table_lacks_head, "S");
	screen_await(s, table_has_head, "CPU");
	/* and its own are back at a key */
	screen_type(s, "f=q");
	screen_await(s, table_has_head, "S");
	screen_await(s, table_has_head, "CPU");
}

/* Those of the configuration come last; W writes the default view's fields, not theirs. */
SCREEN_TEST(reads_own)
{
	const char *path = scratch_path("stalltop/config");
	struct screen *s;
	const char *text;

	crowd_sleeper("crowd-idle");
	mkdir(scratch_path("stalltop"), 0755);
	scratch_file(path, "preset = mine: fields=pid,elap,comm, sort=-elap\n"
			   "fields = pid,total,comm\n");
	s = screen_start(&(struct screen_how){ .args = "-d 60 -m ^crowd" });
	screen_await(s, table_has_rows, NULL);
	screen_type(s, "\033[Z");
	screen_await(s, is_titled, "preset mine");
	screen_await(s, table_has_head, "ELAP");
	screen_check(s, !table_has_head(s, "TOTAL"));
	screen_type(s, "W");
	screen_await_text(s, "written");
	text = scratch_read(path);
	screen_check(s, strstr(text, "preset = mine: fields=pid,elap,comm, sort=-elap\n"));
	screen_check(s, strstr(text, "\nfields = pid,total,comm\n"));
	screen_check(s, strstr(text, "\nsort = -total\n"));
}
