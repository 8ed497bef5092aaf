// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking back on the screen, at what it kept itself and at a recording. */
#include "tests/lib/ask.h"
#include "tests/lib/crowd.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OURS "-d 0.2 -m ^crowd- "

/* Whether a text has what an expression says. */
static bool has(const char *text, const char *expression)
{
	regex_t regex;
	bool found;

	assert_int_equal(regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB), 0);
	found = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return found;
}

/* The title is that of the past; of the present; has what an expression says. */
static bool is_past(struct screen *s, const void *arg)
{
	(void)arg;
	return has(screen_line(s, 0), "^stalltop [0-9]{2}:[0-9]{2}:[0-9]{2}  -[0-9.]+ s");
}

static bool is_present(struct screen *s, const void *arg)
{
	(void)arg;
	return has(screen_line(s, 0), "^stalltop [0-9]{2}:[0-9]{2}:[0-9]{2} up ");
}

static bool title_has(struct screen *s, const void *expression)
{
	return has(screen_line(s, 0), expression);
}

/* How far back the title says that it is, in seconds; negative: it does not say so. */
static double ago(struct screen *s)
{
	const char *at = strstr(screen_line(s, 0), "  -");
	double seconds;

	return at && sscanf(at, "  -%lf s", &seconds) == 1 ? seconds : -1;
}

/* It is at least so many seconds back. */
static bool is_ago(struct screen *s, const void *seconds)
{
	return ago(s) >= *(const double *)seconds;
}

/* There are so many cells in the timeline. */
static bool has_timeline(struct screen *s, const void *cells)
{
	int line = screen_word_line(s, "waited");
	int n = 0;

	if (line < 1 || strncmp(screen_line(s, line - 1), "pressure ", 9) != 0 ||
	    strncmp(screen_line(s, line), "waited ", 7) != 0)
		return false;
	for (int col = 9; col < screen_cols(s); col++) {
		uint32_t c = screen_char(s, line, col);

		if (c < 0x2581 || c > 0x2588)
			break;
		n++;
	}
	return n >= *(const int *)cells;
}

/* Whether the timeline says where the present was left. */
static bool has_mark(struct screen *s, int line)
{
	for (int col = 9; col < screen_cols(s); col++)
		if (screen_char(s, line, col) == '|')
			return true;
	return false;
}

/* Goes back until a row of that name is there; it must be. */
static void find_back(struct screen *s, const char *name)
{
	for (unsigned i = 0; i < 200 && !table_has_name(s, name); i++) {
		screen_type(s, "[");
		screen_settle(s);
	}
	screen_check(s, table_has_name(s, name));
}

/* Whether a cell stands out by its background. */
static bool is_marked(struct screen *s, int line, int col)
{
	struct screen_look look = screen_look(s, line, col);

	return look.reverse || look.bg != -1;
}

/* A task that was there for a moment, when nobody looked, is found by looking back. */
SCREEN_TEST(finds_what_was_missed)
{
	const int five = 5, one = 1;
	struct screen_look look;
	struct screen *s;
	struct table t;
	pid_t pid;
	int col, line;

	crowd_sleeper("crowd-stays");
	pid = crowd_spinner("crowd-incident", 0);
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 30, .cols = 120 });
	screen_await(s, table_has_name, "crowd-incident");
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 2);
	scratch_kill(pid);
	screen_await(s, table_lacks_name, "crowd-incident");
	screen_check(s, is_present(s, NULL));
	screen_check(s, !has_timeline(s, &one));
	screen_pump(s, 1);
	find_back(s, "crowd-incident");
	screen_await(s, is_past, NULL);
	screen_check(s, table_has_name(s, "crowd-stays"));
	screen_check(s, has_timeline(s, &five));
	/* It says so loudly. */
	col = (int)strcspn(screen_line(s, 0), ":");
	look = screen_look(s, 0, col);
	screen_check(s, look.bold || look.reverse || look.fg != -1);
	/* The timeline's cursor. */
	line = screen_word_line(s, "waited");
	col = 9;
	while (col < 110 && !is_marked(s, line, col))
		col++;
	screen_check(s, is_marked(s, line, col));
	screen_check(s, is_marked(s, line - 1, col));
	/* It ran then: some samples before the one in which it ended. */
	for (unsigned i = 0; i < 4; i++)
		screen_type(s, "[");
	screen_settle(s);
	table_must(s, &t);
	line = table_find_name(s, &t, "crowd-incident");
	screen_check(s, line >= 0 && table_number(s, &t, line, "RUN") > 1);
	/* Esc leaves pages, and not the past. */
	screen_type(s, "\x1b");
	screen_await_text(s, "still in the past");
	screen_type(s, "B");
	screen_await_text(s, "empty: the present");
	screen_type(s, "\r");
	screen_await(s, is_present, NULL);
	screen_check(s, !table_has_name(s, "crowd-incident"));
	screen_check(s, !has_timeline(s, &one));
	/* With a key the timeline is there in the present, too. */
	screen_type(s, "m");
	screen_await(s, has_timeline, &five);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* What is looked at stays while sampling goes on; nothing is done to tasks of the past. */
SCREEN_TEST(stays_and_is_safe)
{
	const double far = 2;
	struct screen *s;
	double was;
	char *time;
	pid_t pid;
	int line;

	pid = crowd_sleeper("crowd-stays");
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 30, .cols = 120 });
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 1);
	screen_type(s, "[[");
	screen_await(s, is_past, NULL);
	time = scratch_keep(strndup(screen_line(s, 0), 17));
	/* The present moves away, and what was found stays where it was found. */
	was = ago(s);
	screen_check(s, was > 0);
	screen_pump(s, far);
	screen_check(s, !strncmp(screen_line(s, 0), time, 17));
	screen_check(s, ago(s) >= was && ago(s) <= was);
	line = screen_word_line(s, "waited");
	screen_check(s, line > 0 && has_mark(s, line - 1));
	screen_type(s, "k");
	screen_await_text(s, "not in the past");
	screen_type(s, "r");
	screen_await_text(s, "not in the past");
	screen_type(s, "H");
	screen_await_text(s, "not in the past");
	assert_int_equal(kill(pid, 0), 0);
	/* All the way forward is the present. */
	for (unsigned i = 0; i < 300 && !is_present(s, NULL); i++) {
		screen_type(s, "]]]]]]]]");
		screen_settle(s);
	}
	screen_check(s, is_present(s, NULL));
	screen_type(s, "k");
	screen_await_text(s, "signal to");
	screen_type(s, "\x1b");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Groups, the tree, units, the detail and what is written are of the past sample. */
SCREEN_TEST(all_views_are_past)
{
	const char *path = scratch_path("moment.text");
	struct screen *s;
	struct table t;
	pid_t pid;

	pid = crowd_family("crowd-parent", "crowd-child", false);
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 40, .cols = 159 });
	screen_await(s, table_has_name, "crowd-child");
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 1.5);
	scratch_kill(pid);
	screen_await(s, table_lacks_name, "crowd-parent");
	find_back(s, "crowd-parent");
	screen_type(s, "[");
	screen_settle(s);
	screen_type(s, "V");
	screen_await(s, table_has_name, "crowd-parent");
	screen_type(s, "U");
	screen_await(s, table_has_unit, "(ms)");
	screen_check(s, is_past(s, NULL));
	screen_type(s, "V");
	screen_settle(s);
	screen_type(s, "g");
	screen_await(s, title_has, "by user");
	table_must(s, &t);
	screen_check(s, table_head(&t, "N") != NULL && is_past(s, NULL));
	for (unsigned i = 0; i < 6 && title_has(s, " by "); i++) {
		screen_type(s, "g");
		screen_settle(s);
	}
	/* Threads are not of this past: the cycle goes back to processes. */
	screen_await(s, table_has_name, "crowd-parent");
	screen_type(s, "\r");
	screen_await_text(s, "Delays");
	screen_check(s, has(screen_line(s, 0), "-[0-9.]+ s *$"));
	screen_type(s, "[");
	screen_settle(s);
	screen_check(s, has(screen_line(s, 0), "-[0-9.]+ s *$"));
	screen_check(s, screen_shows(s, "the history has no threads"));
	screen_type(s, "\x1b");
	screen_await(s, is_past, NULL);
	screen_type(s, "E");
	screen_await_text(s, "write this view");
	screen_type(s, path);
	screen_type(s, "\r");
	screen_await_text(s, "written:");
	assert_non_null(scratch_read(path));
	screen_check(s, strstr(scratch_read(path), scratch_ours("crowd-parent")) != NULL);
	screen_check(s, has(scratch_read(path), "^stalltop [0-9:]+ +-[0-9.]+ s"));
	/* Never over a file that is there. */
	screen_type(s, "E");
	screen_await_text(s, "write this view");
	screen_type(s, path);
	screen_type(s, "\r");
	screen_await_text(s, "File exists");
	screen_type(s, "B");
	screen_await_text(s, "empty: the present");
	screen_type(s, "\r");
	screen_await(s, is_present, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Times are gone to; steps by a minute go as far as there is anything. */
SCREEN_TEST(goes_to_times)
{
	const double two = 1.5;
	struct screen *s;

	crowd_sleeper("crowd-stays");
	s = screen_start(&(struct screen_how){ .args = OURS, .rows = 24, .cols = 100 });
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 3);
	screen_type(s, "B");
	screen_await_text(s, "go to a time");
	screen_type(s, "soon\r");
	screen_await_text(s, "or -3m");
	screen_type(s, "\x7f\x7f\x7f\x7f-2s\r");
	screen_await(s, is_past, NULL);
	screen_await(s, is_ago, &two);
	screen_type(s, "}");
	screen_await(s, is_present, NULL);
	screen_type(s, "{");
	screen_await(s, is_past, NULL);
	screen_check(s, screen_shows(s, "no earlier history"));
	/* From there it plays up to the present. */
	screen_type(s, "((");
	screen_await(s, title_has, "playing 1/4x");
	screen_type(s, "))))))");
	screen_await(s, is_present, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* The trend has cells of what was waited, from the start on. */
SCREEN_TEST(has_a_trend)
{
	struct screen *s;
	struct table t;
	const struct table_head *head;
	int line, high = 0;

	crowd_spinner("crowd-one", 0);
	crowd_spinner("crowd-two", 0);
	s = screen_start(&(struct screen_how){ .args = OURS "-F +trend", .rows = 24, .cols = 140 });
	screen_await(s, table_has_head, "TREND");
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 4);
	table_must(s, &t);
	head = table_head(&t, "TREND");
	line = table_find_name(s, &t, "crowd-one");
	screen_check(s, line >= 0 && head);
	/*
	 * Two on one CPU wait half of the time each: few cells are low, as a wait that has not
	 * ended is not booked yet.
	 */
	for (int col = head->start; col < head->start + 10; col++)
		high += screen_char(s, line, col) >= 0x2582 && screen_char(s, line, col) <= 0x2588;
	screen_check(s, high >= 8);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Where nothing is kept, that is said, and nothing else happens. */
SCREEN_TEST(nothing_is_kept)
{
	struct screen *s;

	s = screen_start(&(struct screen_how){ .args = "-d 0.2 --history 0" });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "[");
	screen_await_text(s, "--history 0");
	screen_check(s, is_present(s, NULL));
	screen_type(s, "m{B");
	screen_type(s, "-1m\r");
	screen_settle(s);
	screen_check(s, is_present(s, NULL));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* The size is bounded, and told in the log. */
SCREEN_TEST(tells_its_size)
{
	const char *log = scratch_path("log"), *text, *at;
	struct screen *s;
	unsigned long kb = 0;

	s = screen_start(&(struct screen_how){
		.args = scratch_format("-d 0.05 --history 4M --debug-log %s", log) });
	screen_await(s, table_has_figures, NULL);
	screen_pump(s, 4);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	text = scratch_read(log);
	assert_non_null(text);
	at = strstr(text, "history: ");
	screen_check(s, at != NULL);
	while (at) {
		assert_int_equal(sscanf(at, "history: %*u moments, %lu kB", &kb), 1);
		screen_check(s, kb > 0 && kb <= 4096);
		at = strstr(at + 1, "history: ");
	}
}

/* The second that the title shows. */
static char *second_of(struct screen *s)
{
	return scratch_keep(strndup(screen_line(s, 0), 17));
}

/* Nothing of the present is beside what was recorded: the pids are those of others now. */
static void check_nothing_live(struct screen *s)
{
	const struct table_head *head;
	struct table t;

	table_must(s, &t);
	head = table_head(&t, "SYSCALL");
	screen_check(s, head && t.first <= t.last);
	/* The recording has that call of some rows, and none other. */
	for (int line = t.first; line <= t.last; line++)
		screen_check(s, screen_char(s, line, head->start) == '-' ||
					!strncmp(screen_line(s, line) + head->start, "fsync ", 6));
}

/* A configuration that has rows of threads, or of users. */
static const char *configured(const char *by)
{
	const char *home = scratch_folder(), *folder = scratch_format("%s/stalltop", home);
	FILE *file;

	mkdir(folder, 0700);
	file = fopen(scratch_format("%s/config", folder), "we");
	assert_non_null(file);
	fprintf(file, "group-by = %s\n", by);
	fclose(file);
	return home;
}

/* How rows were saved to be is no reason not to show a recording, which has others. */
SCREEN_TEST(plays_what_was_recorded)
{
	const char *path = scratch_path("made.db");
	struct screen *s;

	assert_int_equal(play_record(path, 21, 100), 0);
	s = screen_start(&(struct screen_how){ .args = scratch_format("-R %s", path),
					       .config_home = configured("thread"),
					       .cols = 130,
					       .rows = 24 });
	screen_await(s, title_has, "replay");
	screen_await_text(s, "rows are processes, as they were recorded");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "q");
	screen_check(s, screen_end(s, 10) == 0);
	/* What is asked for cannot be. */
	s = screen_start(&(struct screen_how){ .args = scratch_format("-H -R %s", path) });
	screen_await_text(s, "drop -H");
	screen_check(s, screen_end(s, 10) == 1);
}

/* A recording is played, stopped, stepped and jumped in by the same keys. */
SCREEN_TEST(plays_a_recording)
{
	const char *path = scratch_path("made.db");
	struct screen *s;
	char *first, *later;

	assert_int_equal(play_record(path, 21, 100), 0);
	s = screen_start(&(struct screen_how){
		.args = scratch_format("-R %s -F +syscall", path), .rows = 24, .cols = 130 });
	screen_await(s, title_has, "replay");
	screen_await(s, table_has_figures, NULL);
	check_nothing_live(s);
	screen_type(s, "p");
	screen_await(s, title_has, "replay, stopped");
	for (unsigned i = 0; i < 100 && !screen_shows(s, "begins here"); i++) {
		screen_type(s, "[");
		screen_settle(s);
	}
	screen_check(s, screen_shows(s, "the recording begins here"));
	first = second_of(s);
	/* The samples are half a second apart. */
	for (unsigned i = 0; i < 4; i++)
		screen_type(s, "]");
	screen_settle(s);
	later = second_of(s);
	screen_check(s, strcmp(first, later) < 0);
	screen_type(s, "[[[[");
	screen_settle(s);
	screen_check(s, !strcmp(first, second_of(s)));
	screen_type(s, "))");
	screen_await(s, title_has, "replay, playing 4x");
	screen_type(s, "(");
	screen_await(s, title_has, "replay, playing 2x");
	screen_type(s, "p");
	screen_await(s, title_has, "replay, stopped");
	screen_type(s, "k");
	screen_await_text(s, "not possible in a recording");
	screen_type(s, "B");
	screen_await_text(s, "go to a time");
	screen_type(s, "-3s\r");
	screen_settle(s);
	screen_check(s, strcmp(later, second_of(s)) < 0);
	screen_type(s, "}");
	screen_settle(s);
	screen_type(s, "]");
	screen_await_text(s, "the recording ends here");
	screen_type(s, "\x1b");
	screen_settle(s);
	screen_check(s, title_has(s, "replay, stopped"));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* The first sample is shown at once, and not when the next is due: those of the demo are 3 s apart.
 */
SCREEN_TEST(shows_first_sample)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .args = "-R demo", .rows = 24, .cols = 130 });

	screen_check(s, screen_wait_until(s, 2 * screen_slowness(), table_has_figures, NULL));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* What cannot be read is said, and the sample that is shown stays; others can be gone to. */
SCREEN_TEST(stays_where_it_was)
{
	const char *path = scratch_path("half.db");
	struct screen *s;
	char *shown;

	assert_int_equal(play_record(path, 21, 100), 0);
	ask_change(path, "UPDATE block SET data = zeroblob(length(data)) WHERE first > 1");
	s = screen_start(&(struct screen_how){
		.args = scratch_format("-R %s -g user", path), .rows = 24, .cols = 130 });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "}");
	screen_await_text(s, "cannot read this sample");
	shown = second_of(s);
	for (unsigned i = 0; i < 4; i++) {
		screen_type(s, "}");
		screen_settle(s);
		screen_check(s, !strcmp(shown, second_of(s)));
	}
	screen_type(s, "]]][");
	screen_settle(s);
	screen_check(s, strcmp(shown, second_of(s)) != 0);
	screen_check(s, table_has_figures(s, NULL));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* A time that the clock showed twice is gone to where it was last, and said to have been there
 * before. */
SCREEN_TEST(goes_to_time_met_twice)
{
	const char *path = scratch_path("twice.db");
	struct play_machine machine = { .seed = 21 };
	struct play_writer writer = { 0 };
	struct screen *s;

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL,
					    i < 80 ? 0 : -3 * (int64_t)NSEC_PER_SEC),
				 0);
	play_end_file(&writer);
	play_free(&machine);
	s = screen_start(&(struct screen_how){
		.args = scratch_format("-R %s", path), .rows = 24, .cols = 130 });
	screen_await(s, title_has, "replay");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "p");
	screen_await(s, title_has, "replay, stopped");
	screen_type(s, "}");
	screen_settle(s);
	screen_type(s, "B-8s\r");
	screen_await_text(s, "that time occurs twice");
	screen_type(s, "B-2s\r");
	screen_await_no_text(s, "that time occurs twice");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* What is no recording, or has nothing in that time, is refused before the screen. */
SCREEN_TEST(refuses_what_is_none)
{
	const char *none = scratch_file("none.db", "no recording\n");
	struct screen *s;

	s = screen_start(&(struct screen_how){ .args = scratch_format("-R %s", none) });
	assert_int_equal(screen_end(s, 5), 1);
	screen_check(s, screen_shows(s, "none.db"));
	s = screen_start(&(struct screen_how){ .args = "--history soon" });
	assert_int_equal(screen_end(s, 5), 2);
	screen_check(s, screen_shows(s, "15m"));
}
