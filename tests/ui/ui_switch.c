// SPDX-License-Identifier: GPL-2.0-or-later
/* The key that switches delay accounting for the whole machine. */
#include "tests/lib/crowd.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define NOBODY 65534
#define DELAYACCT "/proc/sys/kernel/task_delayacct"

/* D switches delay accounting, when it is confirmed, and says that it stays. */
SCREEN_TEST(switches_delayacct)
{
	struct screen *s;
	const char *before = scratch_read(DELAYACCT);

	if (geteuid())
		scratch_skip("needs root");
	if (!before)
		scratch_skip("no delay accounting");
	assert_int_equal(guard_start(), 0);
	assert_int_equal(guard_switch(DELAYACCT, "1"), 0);
	crowd_sleeper("crowd-a");
	s = screen_start(&(struct screen_how){
		.rows = 30, .cols = 120, .args = "-d 0.3 --measure no -m ^crowd" });
	screen_await(s, table_has_figures, NULL);
	screen_check(s, !screen_shows(s, "delays not counted"));
	screen_type(s, "D");
	screen_settle(s);
	screen_type(s, "n");
	screen_settle(s);
	assert_string_equal(scratch_read(DELAYACCT), "1\n");
	screen_type(s, "D");
	screen_settle(s);
	screen_type(s, "y");
	screen_await_text(s, "delays not counted");
	assert_string_equal(scratch_read(DELAYACCT), "0\n");
	screen_await_text(s, "delay accounting is off");
	screen_type(s, "D");
	screen_settle(s);
	screen_type(s, "y");
	screen_await_no_text(s, "delays not counted");
	assert_string_equal(scratch_read(DELAYACCT), "1\n");
	guard_undo(0);
}

/* Who may not switch it is told so, and nothing is changed. */
SCREEN_TEST(tells_failed_switch)
{
	struct screen *s;
	const char *before = scratch_read(DELAYACCT), *last;

	if (geteuid())
		scratch_skip("needs root");
	if (!before)
		scratch_skip("no delay accounting");
	s = screen_start(&(struct screen_how){ .cols = 120, .uid = NOBODY, .args = "-d 60" });
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "D");
	screen_settle(s);
	screen_type(s, "y");
	screen_settle(s);
	assert_string_equal(scratch_read(DELAYACCT), before);
	last = screen_line(s, screen_rows(s) - 1);
	screen_check(s, strstr(last, "ermi") || strstr(last, "allowed") || strstr(last, "CAP_"));
}

/*
 * An answer that is typed while the source is opened anew, and nothing is there to be acted on,
 * comes to nothing. (Who may not switch anything can be told so at most.)
 */
SCREEN_TEST(survives_fast_answers)
{
	struct screen *s;

	if (geteuid())
		scratch_skip("needs root");
	if (!crowd_sleepers("crowd-many", screen_slowness() > 1 ? 1000 : 4000))
		scratch_skip("no room for 4000 tasks");
	s = screen_start(&(struct screen_how){ .cols = 120, .uid = NOBODY, .args = "-d 60" });
	screen_await(s, table_has_figures, NULL);
	for (int delay = 0; delay < 80; delay += 5) {
		screen_type(s, "HD");
		screen_pump(s, delay / 1000.0);
		screen_type(s, "y");
		screen_settle(s);
		screen_type(s, "\x1b");
		screen_await(s, table_has_rows, NULL);
		screen_settle(s);
	}
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Accounting that was switched on for the run is put back when a fault ends it. */
SCREEN_TEST(puts_it_back)
{
	const char *before = scratch_read(DELAYACCT);
	struct screen *s;

	if (geteuid())
		scratch_skip("needs root");
	if (!before)
		scratch_skip("no delay accounting");
	assert_int_equal(guard_start(), 0);
	assert_int_equal(guard_switch(DELAYACCT, "0"), 0);
	s = screen_start(&(struct screen_how){ .args = "-d 60 --enable-delayacct" });
	screen_await(s, table_has_rows, NULL);
	assert_string_equal(scratch_read(DELAYACCT), "1\n");
	kill(screen_pid(s), SIGSEGV);
	assert_int_not_equal(screen_end(s, 10), 0);
	assert_string_equal(scratch_read(DELAYACCT), "0\n");
	screen_check_restored(s);
	guard_undo(0);
}
