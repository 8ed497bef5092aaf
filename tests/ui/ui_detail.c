// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of one task: all that is known of it, live, until it ends. */
#include "tests/lib/crowd.h"
#include "tests/lib/reader.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The detail view is there: its figures, no table. */
static bool shows_detail(struct screen *s, const void *name)
{
	return screen_word_line(s, "total") >= 0 && screen_word_line(s, "run") >= 0 &&
	       screen_shows(s, name);
}

/* Starts and opens the detail view of the task of that name by the key. */
static struct screen *open_detail(int rows, const char *args, const char *name, const char *key)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = rows, .cols = 120, .args = args });

	screen_await(s, table_has_name, name);
	screen_await(s, table_has_figures, NULL);
	table_select(s, name);
	screen_type(s, key);
	screen_await(s, shows_detail, name);
	screen_settle(s);
	return s;
}

/* Enter and v open it, Esc leads back to the same selection. */
SCREEN_TEST(opens_and_closes)
{
	static const char *const keys[] = { "\r", "v" };

	crowd_sleeper("crowd-a");
	crowd_sleeper("crowd-b");
	crowd_sleeper("crowd-c");
	for (size_t i = 0; i < 2; i++) {
		struct screen *s = open_detail(40, "-d 60 -m ^crowd", "crowd-b", keys[i]);

		screen_check(s, !screen_shows(s, "crowd-a"));
		screen_type(s, "\x1b");
		screen_await(s, table_selects, "crowd-b");
		screen_check(s, table_has_name(s, "crowd-a"));
		/* Esc in the table does no harm */
		screen_type(s, "\x1b");
		screen_settle(s);
		screen_check(s, table_has_name(s, "crowd-b"));
	}
}

/* Also where nothing is kept to look back at. */
SCREEN_TEST(opens_without_history)
{
	struct screen *s;

	crowd_sleeper("crowd-a");
	s = open_detail(40, "-d 60 -m ^crowd --history 0", "crowd-a", "\r");
	screen_type(s, "\x1b");
	screen_await(s, table_selects, "crowd-a");
}

/* Count, total, average and maximum are those of the kernel. */
SCREEN_TEST(shows_totals)
{
	struct reader_record record;
	pid_t pid = crowd_spinner("crowd-spins", 0);
	const char *line, *text;
	struct screen *s;
	int head;

	if (geteuid())
		scratch_skip("needs root");
	if (reader_open())
		scratch_skip("no taskstats");
	crowd_spinner("crowd-other", 0);
	crowd_await_run(pid, 0.2);
	/* so that its totals stand still */
	crowd_stop(pid);
	assert_int_equal(reader_tgid(pid, &record), 0);
	reader_close();
	s = open_detail(60, "-d 0.3 -m ^crowd-spins", "crowd-spins", "\r");
	line = screen_line(s, screen_word_line_after(s, "cpu", screen_word_line(s, "cpu")));
	text = scratch_format(" %llu ", (unsigned long long)record.kind[0].count);
	if (!strstr(line, text))
		screen_fail(s, text, __FILE__, __LINE__);
	/* heads say which is which */
	for (head = screen_word_line_after(s, "cpu", screen_word_line(s, "cpu")) - 1; head >= 0;
	     head--)
		if (strcasestr(screen_line(s, head), "count"))
			break;
	screen_check(s, head >= 0);
	screen_check(s, strcasestr(screen_line(s, head), "total"));
	screen_check(s, strcasestr(screen_line(s, head), "average") ||
				strcasestr(screen_line(s, head), "avg"));
	screen_check(s, strcasestr(screen_line(s, head), "max"));
	screen_check(s, screen_shows(s, "interval"));
}

/* The characters of a sparkline in a line. */
static int sparks_in(struct screen *s, int row)
{
	int n = 0;

	for (int col = 0; col < screen_cols(s); col++) {
		uint32_t c = screen_char(s, row, col);

		n += c >= 0x2581 && c <= 0x2588;
	}
	return n;
}

/* The characters of a kind's sparkline, in whichever of its lines. */
static int sparks_of(struct screen *s, const char *kind)
{
	size_t len = strlen(kind);
	int n = 0;

	for (int row = 0; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		if (!strncmp(line, kind, len) && line[len] == ' ')
			n += sparks_in(s, row);
	}
	return n;
}

/* The last intervals of all kinds together are drawn: at least so many. */
static bool has_sparks(struct screen *s, const void *arg)
{
	const int *wanted = arg;

	return sparks_of(s, "total") >= *wanted;
}

/* It is live: a spark an interval more, and the counts move. */
SCREEN_TEST(is_live)
{
	struct screen *s;
	const char *line;
	int three = 3, eight = 8;

	crowd_spinner("crowd-spins", 0);
	crowd_spinner("crowd-other", 0);
	s = open_detail(60, "-d 0.3 -m ^crowd-spins", "crowd-spins", "\r");
	screen_await(s, has_sparks, &three);
	line = screen_line(s, screen_word_line(s, "cpu"));
	screen_await(s, has_sparks, &eight);
	screen_check(s, strcmp(screen_line(s, screen_word_line(s, "cpu")), line) != 0);
	/* a kind that never was is not drawn as if it were */
	screen_check(s, sparks_of(s, "irq") == 0);
}

/* What the first cells of a line say, behind its name: of the interval, then of the whole life. */
struct cells {
	char count[16], total[16], avg[16], life[16], life_total[16];
};

/* Reads them; false when there are no such lines: those of the whole life come below. */
static bool read_cells(struct screen *s, const char *name, struct cells *cells)
{
	int row = screen_word_line(s, name), life = screen_word_line_after(s, name, row);

	return row >= 0 && life >= 0 &&
	       sscanf(screen_line(s, row), "%*s %15s %15s %15s", cells->count, cells->total,
		      cells->avg) == 3 &&
	       sscanf(screen_line(s, life), "%*s %15s %15s", cells->life, cells->life_total) == 2;
}

/* What happened comes first, on every screen: the history is beside the figures of the interval. */
SCREEN_TEST(shows_history_first)
{
	static const int sizes[][2] = { { 24, 80 }, { 40, 120 }, { 60, 200 } };
	int three = 3;
	struct screen *s;

	crowd_spinner("crowd-spins", 0);
	crowd_spinner("crowd-other", 0);
	s = open_detail(60, "-d 0.3 -m ^crowd-spins", "crowd-spins", "\r");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		screen_await_text(s, sizes[i][1] < 110
					     ? "of 38 intervals"
					     : "of 60 intervals, the newest at the right");
		screen_await(s, has_sparks, &three);
		screen_settle(s);
		screen_check(s, screen_find(s, "peak %", 0) == screen_word_line(s, "cpu") - 1);
		screen_check(s, sparks_in(s, screen_word_line(s, "cpu")) >= 3);
	}
}

/* All of an interval was waited, 0.4 s or more, and nothing booked; of both lines that count it. */
static bool waits_on(struct screen *s, const void *arg)
{
	struct cells dwait, total;

	(void)arg;
	return read_cells(s, "dwait", &dwait) && read_cells(s, "total", &total) &&
	       atof(dwait.total) >= 400 && atof(dwait.total) < 20000 && atof(total.total) >= 400 &&
	       !strcmp(dwait.count, "-") && !strcmp(dwait.avg, "-") && !strcmp(dwait.life, "-") &&
	       !strcmp(dwait.life_total, "-") && sparks_of(s, "dwait") >= 3 &&
	       sparks_of(s, "total") >= 3;
}

/* A wait that goes on is in the interval's figures, and it is said how long it lasts. */
SCREEN_TEST(shows_wait_going_on)
{
	static const char *const args[] = { "-d 0.5 -m ^crowd-hung --source taskstats",
					    "-d 0.5 -m ^crowd-hung --source procfs",
					    "-d 0.5 -m ^crowd-hung --source bpf",
					    "-d 0.5 -m ^crowd-hung --since-start" };

	crowd_hung("crowd-hung");
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		struct screen *s = open_detail(60, args[i], "crowd-hung", "\r");

		screen_await(s, waits_on, NULL);
		screen_check(s, screen_shows(s, "D uninterruptible sleep"));
		screen_check(s, screen_shows(s, "waiting "));
		screen_check(s, screen_shows(s, " for other than I/O (dwait)"));
		screen_check(s, screen_shows(s, "waited ms"));
		screen_check(s, screen_shows(s, "history: as waits go on"));
		screen_type(s, "q");
		screen_settle(s);
	}
}

/* A page scrolls to the next line with a text, and from its end back to the first. */
SCREEN_TEST(finds_lines)
{
	struct screen *s;

	crowd_spinner("crowd-spins", 0);
	s = open_detail(24, "-d 60 -m ^crowd-spins", "crowd-spins", "\r");
	screen_check(s, !screen_shows(s, "ac_majflt"));
	screen_type(s, "/^ac_m[a-z]*flt\r");
	screen_await_text(s, "ac_minflt");
	screen_check(s, screen_word_line(s, "ac_minflt") == 1);
	screen_type(s, "&");
	screen_settle(s);
	screen_check(s, screen_word_line(s, "ac_majflt") == 1);
	screen_type(s, "&");
	screen_settle(s);
	screen_check(s, screen_word_line(s, "ac_minflt") == 1);
	screen_type(s, "/no such line\r");
	screen_await_text(s, "not found: no such line");
	screen_check(s, screen_word_line(s, "ac_minflt") == 1);
	screen_type(s, "h/reclaim:\r");
	screen_await_text(s, "stalltop: help");
}

/* What the kernel booked, which is nothing, was chosen. */
SCREEN_TEST(shows_booked)
{
	struct cells total;
	struct screen *s;
	int three = 3;

	crowd_hung("crowd-books");
	s = open_detail(60, "-d 0.3 -m ^crowd-books --booked -s wait", "crowd-books", "\r");
	screen_await(s, has_sparks, &three);
	screen_check(s, read_cells(s, "total", &total) && !strcmp(total.total, "0.000"));
	screen_check(s, screen_word_line(s, "dwait") < 0);
	screen_check(s, strstr(screen_line(s, screen_word_line(s, "unknown:")), ", dwait"));
	screen_check(s, screen_shows(s, "booked ms") && !screen_shows(s, "waited ms"));
	/* what it waits for is told all the same */
	screen_check(s, screen_shows(s, " for other than I/O (dwait)"));
}

/* The worst of a group is the one that has waited longest, whatever was booked. */
static bool names_worst(struct screen *s, const void *arg)
{
	const char *text = "waited most in the interval: ";
	int row = screen_word_line(s, "worst");
	const char *at = row >= 0 ? strstr(screen_line(s, row), text) : NULL;

	return at && strstr(screen_line(s, row), scratch_format("%d (", *(const pid_t *)arg)) &&
	       atof(at + strlen(text)) >= 400;
}

/* So in the detail of a group, which has the sums of what was waited. */
SCREEN_TEST(shows_wait_of_group)
{
	struct screen *s;
	pid_t pid;

	crowd_sleeper("crowd-worst");
	pid = crowd_hung("crowd-worst");
	s = open_detail(60, "-d 0.5 -g command -m ^crowd-worst", "crowd-worst", "v");
	screen_await(s, names_worst, &pid);
	screen_await(s, waits_on, NULL);
}

/* All that the record says, with units, and its threads; what does not fit is scrolled to. */
SCREEN_TEST(shows_everything)
{
	static const char *const fields[] = { "nvcsw", "hiwater_rss", "read_bytes" };
	pid_t pid = crowd_threads("crowd-team", "crowd-thread");
	struct screen *s = open_detail(24, "-d 60 -m ^crowd", "crowd-team", "\r");
	bool seen[4] = { false };

	screen_check(s, screen_shows(s, scratch_format("%d", (int)pid)));
	for (int page = 0; page < 12; page++) {
		for (size_t i = 0; i < 3; i++)
			seen[i] |= screen_shows(s, fields[i]);
		seen[3] |= screen_shows(s, "crowd-thread");
		screen_key(s, VTERM_KEY_PAGEDOWN);
		screen_settle(s);
	}
	for (size_t i = 0; i < 4; i++)
		screen_check(s, seen[i]);
	/* and back to its beginning */
	screen_key(s, VTERM_KEY_HOME);
	screen_await(s, shows_detail, "crowd-team");
}

/* The column where a text begins in a line, or -1. The screen's characters, not bytes. */
static int column_of(struct screen *s, int row, const char *text)
{
	for (int col = 0; row >= 0 && col < screen_cols(s); col++) {
		size_t n = 0;

		while (text[n] && screen_char(s, row, col + (int)n) == (uint32_t)text[n])
			n++;
		if (!text[n])
			return col;
	}
	return -1;
}

/* The threads' heads are in sight. */
static bool shows_heads(struct screen *s, const void *arg)
{
	(void)arg;
	return screen_find(s, "TID ", 0) >= 0;
}

/* Threads are drawn as the table is: the bar of heads, its mark, and what a screen has room for. */
SCREEN_TEST(draws_threads_as_table)
{
	struct screen_look bar, head, sorted;
	struct screen *s;
	int row, col;

	crowd_threads("crowd-team", "crowd-thread");
	s = screen_start(&(struct screen_how){
		.rows = 60, .cols = 120, .args = "-d 60 -m ^crowd -s total" });
	screen_await(s, table_has_name, "crowd-team");
	screen_await(s, table_has_figures, NULL);
	row = screen_find(s, "TOTAL", 0);
	screen_check(s, row >= 0);
	bar = screen_look(s, row, column_of(s, row, "PID"));
	sorted = screen_look(s, row, column_of(s, row, "TOTAL"));
	table_select(s, "crowd-team");
	screen_type(s, "\r");
	screen_await(s, shows_heads, NULL);
	row = screen_find(s, "TID ", 0);
	head = screen_look(s, row, column_of(s, row, "TID"));
	screen_check(s, head.bg == bar.bg && head.fg == bar.fg && head.bg != -1);
	/* no digit sorts here */
	col = column_of(s, row, " TOTAL");
	screen_check(s, col >= 0);
	head = screen_look(s, row, col + 1);
	screen_check(s, head.bg == sorted.bg && head.bg != bar.bg);
	screen_check(s, screen_char(s, row, col + 6) == 0x25BC);
	/* a narrow screen has fewer columns, none of them cut, and the names still */
	screen_resize(s, 60, 40);
	screen_pump(s, 0.4);
	for (int page = 0; page < 3 && screen_find(s, "TID ", 0) < 0; page++) {
		screen_key(s, VTERM_KEY_PAGEDOWN);
		screen_settle(s);
	}
	row = screen_find(s, "TID ", 0);
	screen_check(s, row >= 0 && column_of(s, row, "COMMAND") > 0);
	screen_check(s, !strchr(screen_line(s, row), '>') && !strchr(screen_line(s, row), '+'));
}

/* The view says that the task has ended. */
static bool tells_end(struct screen *s, const void *arg)
{
	(void)arg;
	return screen_shows(s, "ended") || screen_shows(s, "exited") || screen_shows(s, "gone");
}

/* It stays on its task, whoever takes its place in the table, and says when it ended. */
SCREEN_TEST(stays_on_its_task)
{
	pid_t pid = crowd_sleeper("crowd-b"), later;
	struct screen *s = open_detail(40, "-d 0.2 -m ^crowd -s -pid", "crowd-b", "\r");

	later = crowd_sleeper("crowd-new");
	screen_pump(s, 0.7);
	screen_check(s, shows_detail(s, "crowd-b"));
	screen_check(s, !screen_shows(s, "crowd-new"));
	screen_check(s, !tells_end(s, NULL));
	scratch_kill(pid);
	screen_await(s, tells_end, NULL);
	screen_pump(s, 0.7);
	/* what is known of it stays */
	screen_check(s, shows_detail(s, "crowd-b"));
	screen_check(s, tells_end(s, NULL));
	screen_type(s, "\x1b");
	screen_await(s, table_has_name, "crowd-new");
	screen_await(s, table_lacks_name, "crowd-b");
	scratch_kill(later);
}

/* Of a task that another user owns the source says little: unknown is not zero. */
SCREEN_TEST(tells_unknown)
{
	struct screen *s;
	const char *line;

	if (geteuid())
		scratch_skip("needs root");
	crowd_sleeper("crowd-a");
	s = screen_start(&(struct screen_how){
		.rows = 40, .cols = 120, .uid = 65534, .args = "-d 60 -m ^crowd-a$" });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "\r");
	screen_await(s, shows_detail, "crowd-a");
	screen_settle(s);
	line = screen_line(s, screen_word_line(s, "unknown:"));
	screen_check(s, strstr(line, "reclaim"));
}

/* How often a text is in another. */
static int times_in(const char *text, const char *wanted)
{
	int n = 0;

	for (text = strstr(text, wanted); text; text = strstr(text + 1, wanted))
		n++;
	return n;
}

/* Its threads are read with each sample, without a sampler that begins anew. */
SCREEN_TEST(reads_beside)
{
	const char *log = scratch_path("log");
	const char *text;
	struct screen *s;

	crowd_threads("crowd-team", "crowd-thread");
	s = open_detail(40, scratch_format("-d 0.2 -m ^crowd --debug-log %s", log), "crowd-team",
			"\r");
	screen_pump(s, 1);
	text = scratch_read(log);
	assert_non_null(text);
	assert_int_equal(times_in(text, " tick 1: "), 1);
	assert_int_equal(times_in(text, " tick 2: "), 1);
	screen_check(s, times_in(text, " threads of 1 processes: 2 rows") >= 3);
}

/* Small terminals show its beginning, any resize is survived. */
SCREEN_TEST(fits_any_size)
{
	static const int sizes[][2] = { { 10, 40 }, { 60, 200 }, { 3, 10 }, { 1, 1 }, { 24, 80 } };
	struct screen *s;

	crowd_threads("crowd-team", "crowd-thread");
	s = open_detail(24, "-d 0.1 -m ^crowd", "crowd-team", "\r");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		screen_settle(s);
		screen_key(s, VTERM_KEY_END);
		screen_settle(s);
		screen_key(s, VTERM_KEY_HOME);
	}
	screen_await(s, shows_detail, "crowd-team");
	screen_type(s, "q");
	screen_settle(s);
	if (screen_in_alt(s))
		screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	screen_check_restored(s);
}

/* Whether the part about the wait names the call and the stack down to the way into the kernel. */
static bool shows_waits_for(struct screen *s, const void *arg)
{
	int part = screen_find(s, "Waits for", 0);

	(void)arg;
	return part >= 0 && screen_find(s, "system call vfork(", part) > part &&
	       screen_find(s, "where ", part) > part && screen_find(s, "stack ", part) > part &&
	       screen_find(s, "last on CPU", part) > part;
}

/* What a task waits for: where it sleeps at the top, the call and the stack in a part of their own.
 */
SCREEN_TEST(shows_what_for)
{
	struct screen *s;
	int part;

	if (geteuid())
		scratch_skip("needs root");
	crowd_hung("crowd-hung");
	s = open_detail(66, "-d 0.2 -m ^crowd-hung", "crowd-hung", "\r");
	screen_await(s, shows_waits_for, NULL);
	screen_check(s, screen_shows(s, "sleeps in "));
	part = screen_find(s, "Waits for", 0);
	screen_check(s, screen_find(s, "state dwait", part) > part);
	screen_check(s, screen_find(s, "Delays", 0) < part);
	screen_check(s, screen_find(s, "Record", 0) > part);
}

/* A long command line has all its lines, to its end. */
SCREEN_TEST(shows_long_command)
{
	static char zeros[6000];
	const char *const argv[] = { "crowd-long", zeros, "987654321", "987654321", NULL };
	struct screen *s;

	memset(zeros, '0', sizeof(zeros) - 2);
	zeros[sizeof(zeros) - 2] = '1';
	crowd_command(argv);
	s = open_detail(24, "-d 60 -m ^crowd-long", "sleep", "\r");
	screen_check(s, !screen_shows(s, "987654321"));
	for (unsigned i = 0; i < 20 && !screen_shows(s, "987654321"); i++) {
		screen_key(s, VTERM_KEY_PAGEDOWN);
		screen_settle(s);
	}
	screen_check(s, screen_shows(s, "987654321"));
}
