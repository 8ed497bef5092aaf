// SPDX-License-Identifier: GPL-2.0-or-later
/* The configuration: written whole or not at all, read at the start, never lost. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Empties the line that is edited. */
#define CLEAR "\x15"

/* The configuration of the test. */
static const char *config_path(void)
{
	return scratch_path("stalltop/config");
}

/* The test's configuration is that text. */
static void write_config(const char *text)
{
	mkdir(scratch_path("stalltop"), 0755);
	scratch_file(config_path(), text);
}

/* Starts with the configuration, if there is one. */
static struct screen *start_with(const char *args, rlim_t limit)
{
	struct screen *s = screen_start(
		&(struct screen_how){ .rows = 30, .cols = 120, .args = args, .file_limit = limit });

	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_figures, NULL);
	return s;
}

/* The files in the configuration's folder. */
static int count_files(void)
{
	DIR *dir = opendir(scratch_path("stalltop"));
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n ? n - 2 : 0;
}

/* Whether the text has that line. */
static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, line, len) && strchr("\n", text[len]))
			return true;
	}
	return false;
}

/* W writes what was set by keys, and the next start has it. */
SCREEN_TEST(writes_and_reads)
{
	struct screen *s = start_with("-d 60", 0);
	const char *text;

	screen_type(s, "N");
	screen_await(s, table_descends, "PID");
	screen_type(s, "U");
	screen_await(s, table_has_unit, "(ms)");
	screen_type(s, "d");
	screen_settle(s);
	screen_type(s, CLEAR "7.5\r");
	screen_await_text(s, "7.50 s");
	screen_type(s, "W");
	screen_await_text(s, "stalltop/config: delay, sort, ");
	text = scratch_read(config_path());
	assert_non_null(text);
	assert_true(has_line(text, "delay = 7.5"));
	assert_true(has_line(text, "unit = ms"));
	assert_true(has_line(text, "sort = -pid") || has_line(text, "sort = pid"));
	assert_int_equal(count_files(), 1);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);

	s = start_with("", 0);
	screen_await(s, table_has_unit, "(ms)");
	screen_await(s, table_descends, "PID");
	/* options go before it */
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	s = start_with("-U count -s +pid", 0);
	screen_await(s, table_has_unit, "(#)");
	screen_await(s, table_ascends, "PID");
}

/* Names that are not known are kept, and named once. */
SCREEN_TEST(keeps_unknown_names)
{
	struct screen *s;
	const char *text;

	write_config("# of a later version\nsparkle = very much\nunit = count\n");
	s = start_with("", 0);
	screen_await_text(s, "sparkle");
	screen_await(s, table_has_unit, "(#)");
	screen_type(s, "U");
	screen_await(s, table_has_unit, "(ms/#)");
	screen_type(s, "W");
	screen_settle(s);
	text = scratch_read(config_path());
	assert_non_null(text);
	assert_true(has_line(text, "sparkle = very much"));
	assert_true(has_line(text, "unit = avg"));
	assert_false(has_line(text, "unit = count"));
}

/* Whether the configuration is there without a text. */
static bool config_lacks(struct screen *s, const void *text)
{
	const char *config = scratch_read(config_path());

	(void)s;
	return config && !strstr(config, text);
}

/* A broken one is reported by its line, does no harm, and is not overwritten unasked. */
SCREEN_TEST(reports_broken_lines)
{
	static const char broken[] = "unit = count\ndelay = sometimes\nsort = nothing\n";
	struct screen *s;

	write_config(broken);
	s = start_with("", 0);
	screen_check(s, screen_shows(s, "config"));
	screen_check(s, screen_shows(s, "line 2") || screen_shows(s, ":2:") ||
				screen_shows(s, "config:2"));
	screen_type(s, "W");
	screen_settle(s);
	assert_string_equal(scratch_read(config_path()), broken);
	screen_type(s, "n");
	screen_settle(s);
	assert_string_equal(scratch_read(config_path()), broken);
	screen_type(s, "W");
	screen_settle(s);
	screen_type(s, "y");
	screen_await(s, config_lacks, "sometimes");
	screen_settle(s);
	assert_int_equal(count_files(), 1);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Lines of no sense at all, too long ones, bytes of no text. */
SCREEN_TEST(survives_garbage)
{
	static const char *const texts[] = { "\x1b[31mboo\n", "=\n==\n = \n", "unit\n",
					     "unit = \xff\xfe\n", "\n\n\n#\n" };
	char *long_line = calloc(100001, 1);

	assert_non_null(long_line);
	memset(long_line, 'x', 100000);
	for (size_t i = 0; i <= sizeof(texts) / sizeof(texts[0]); i++) {
		const char *output;
		struct screen *s;
		size_t len;

		write_config(i < sizeof(texts) / sizeof(texts[0]) ? texts[i]
								  : scratch_keep(long_line));
		s = start_with("-d 60", 0);
		output = screen_output(s, &len);
		screen_check(s, !memmem(output, len, "\x1b[31mboo", 8));
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
		screen_check_restored(s);
	}
}

/* What cannot be written whole leaves the old one, and nothing beside it. */
SCREEN_TEST(writes_whole_or_not)
{
	const char *old;
	struct screen *s;
	char *remarks = calloc(1, 120001);

	assert_non_null(remarks);
	/* what is kept makes it longer than files may get */
	for (size_t i = 0; i < 2000; i++)
		memcpy(remarks + i * 60,
		       "# a remark that somebody made, and that has to be kept here\n", 60);
	old = scratch_format("unit = count\n%s", scratch_keep(remarks));
	write_config(old);
	s = start_with("-d 60", 65536);
	screen_type(s, "U");
	screen_await(s, table_has_unit, "(ms/#)");
	screen_type(s, "W");
	screen_settle(s);
	assert_string_equal(scratch_read(config_path()), old);
	assert_int_equal(count_files(), 1);
	/* it is said, and why */
	screen_check(s, screen_shows(s, "File too large"));
}

/* It is another file that takes the old one's place, with the same rights to it. */
SCREEN_TEST(replaces_file)
{
	struct stat before, after;
	struct screen *s;

	write_config("unit = count\n");
	assert_int_equal(chmod(config_path(), 0600), 0);
	assert_int_equal(stat(config_path(), &before), 0);
	s = start_with("-d 60", 0);
	screen_type(s, "W");
	screen_await_text(s, "stalltop/config");
	assert_int_equal(stat(config_path(), &after), 0);
	screen_check(s, before.st_ino != after.st_ino);
	screen_check(s, (after.st_mode & 077) == 0);
}

/* A folder that cannot be made is an error to be told, not an end. */
SCREEN_TEST(tells_missing_folder)
{
	struct screen *s;

	scratch_file(scratch_path("stalltop"), "in the way\n");
	s = start_with("-d 60", 0);
	screen_type(s, "W");
	screen_settle(s);
	screen_check(s, screen_shows(s, "Not a directory") || screen_shows(s, "File exists") ||
				screen_shows(s, "annot"));
	screen_check(s, table_has_rows(s, NULL));
	assert_string_equal(scratch_read(scratch_path("stalltop")), "in the way\n");
}

/* Batch mode does as if there were none, broken or not. */
SCREEN_TEST(batch_ignores_it)
{
	struct screen *s;

	write_config("unit = count\ndelay = sometimes\nsort = pid\n");
	s = screen_start(
		&(struct screen_how){ .rows = 50, .cols = 120, .args = "-b -n 1 -d 0.2 -r 3" });
	assert_int_equal(screen_end(s, 5), 0);
	screen_check(s, screen_shows(s, "(%)"));
	screen_check(s, !screen_shows(s, "sometimes"));
	screen_check(s, !screen_shows(s, "config"));
}
