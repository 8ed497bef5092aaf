/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A screen that only shows: by option, and by the administrator's configuration, which stays. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

/* The program under test. */
static const char *program(void)
{
	return getenv("STALLTOP") ? getenv("STALLTOP") : "./stalltop";
}

/* A program that starts ours on a machine whose administrator has that configuration. */
static const char *with_system(const char *text)
{
	const char *etc = scratch_path("etc");
	const char *path = scratch_path("start");

	if (geteuid())
		scratch_skip("needs root");
	assert_int_equal(
		system(scratch_format("mkdir -p %s/stalltop && cp -a /etc/passwd /etc/group "
				      "/etc/nsswitch.conf %s",
				      etc, etc)),
		0);
	scratch_file(scratch_format("%s/stalltop/config", etc), text);
	scratch_file(path,
		     scratch_format("#!/bin/sh\nexec unshare -m /bin/sh -c 'mount --bind %s /etc "
				    "&& exec %s \"$@\"' sh \"$@\"\n",
				    etc, program()));
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* The user's configuration. */
static const char *config_path(void)
{
	return scratch_path("stalltop/config");
}

/* All keys that act say that they may not, and none asks for anything. */
static void check_refused(struct screen *s)
{
	static const char *const keys[][2] = {
		{ "k", "signal" },	     { "r", "renice" },
		{ "D", "delayacct" },	     { "W", "save" },
		{ "A", "save-preset" },	     { "\033[18~", "nice-less" },
		{ "\033[19~", "nice-more" }, { "\033[20~", "signal" },
	};

	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_figures, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *said = scratch_format("not allowed (--readonly): %s", keys[i][1]);

		screen_type(s, keys[i][0]);
		screen_await_at(s, screen_has, said, said, __FILE__, __LINE__);
		/* What would confirm it. */
		screen_type(s, "\ry");
		screen_type(s, "\033");
		screen_settle(s);
	}
}

/* By the option: the keys do nothing, and neither footer nor help has them. */
SCREEN_TEST(option)
{
	struct screen *s = screen_start(
		&(struct screen_how){ .rows = 40, .cols = 200, .args = "-d 60 --readonly" });

	check_refused(s);
	screen_check(s, !screen_shows(s, "k signal"));
	screen_type(s, "h");
	screen_await_text(s, "Sorting");
	for (int i = 0; i < 5; i++) {
		screen_check(s, !screen_shows(s, "send a signal"));
		screen_check(s, !screen_shows(s, "write the current settings"));
		screen_key(s, VTERM_KEY_PAGEDOWN);
		screen_settle(s);
	}
	screen_type(s, "qq");
	assert_int_equal(screen_end(s, 5), 0);
	assert_int_not_equal(access(config_path(), F_OK), 0);
}

/* By the administrator, whom the user's configuration does not overrule. */
SCREEN_TEST(administrator)
{
	const char *start = with_system("# all\nreadonly = yes\nsort = -run\n");
	struct screen *s;

	mkdir(scratch_path("stalltop"), 0755);
	scratch_file(config_path(), "readonly = no\nunit = ms\n");
	s = screen_start(&(struct screen_how){ .rows = 40,
					       .cols = 200,
					       .program = "/bin/sh",
					       .args = scratch_format("%s -d 60", start) });
	check_refused(s);
	/* Both are read, the user's after the other. */
	screen_await(s, table_has_unit, "(ms)");
	screen_await(s, table_descends, "RUN");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	assert_string_equal(scratch_read(config_path()), "readonly = no\nunit = ms\n");
}

/* What cannot be understood forbids. */
SCREEN_TEST(unclear)
{
	const char *start = with_system("readonly = perhaps\n");
	struct screen *s;

	s = screen_start(&(struct screen_how){ .rows = 40,
					       .cols = 200,
					       .program = "/bin/sh",
					       .args = scratch_format("%s -d 60", start) });
	screen_await_text(s, "readonly does not take 'perhaps'");
	check_refused(s);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* No option switches anything either, in no mode. */
SCREEN_TEST(switching)
{
	const char *start = with_system("readonly = yes\n");
	const char *said = scratch_path("said");

	assert_int_equal(
		system(scratch_format("%s -b -n 1 -d 0.1 --enable-delayacct >%s 2>&1; "
				      "test $? = 2 && grep -q 'not allowed with --readonly' %s",
				      start, said, said)),
		0);
	assert_int_equal(
		system(scratch_format("%s --enable-delayacct -- true >%s 2>&1; test $? = 2", start,
				      said)),
		0);
	assert_int_equal(system(scratch_format("%s -b -n 1 -d 0.1 >%s 2>&1", start, said)), 0);
}
