// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that says in words what somebody suffers from, and what it opens by a key and a click.
 */
#include "tests/lib/e2e.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/frozen.h"

/* Starts the screen with some processes. */
static struct screen *start_screen(pid_t pid, int rows, const char *args)
{
	struct screen *s = screen_start(&(struct screen_how){
		.rows = rows, .cols = 80, .args = e2e_format("-d 1 -p %d %s", (int)pid, args) });

	/* From the page of the only process to the table. */
	screen_await_text(s, "Delays");
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
	return s;
}

/* Starts a load in the test's folder; what it said behind "ready". */
static const char *start_load(const char *mode, const char *folder, pid_t *pid)
{
	*pid = e2e_load(NULL, "load_wait %s %s", mode, folder);
	assert_true(*pid > 0);
	return e2e_load_line();
}

/* Loads of the machine, and a screen. */
static int set_up(void **state)
{
	return e2e_setup(state) || screen_setup(state);
}

static int tear_down(void **state)
{
	int err = screen_teardown(state);

	return e2e_teardown(state) || err;
}

#define FINDINGS_TEST(name) E2E_TEST_WITH(name, set_up, tear_down)

/* A writer to a frozen file system: the line names it, the call and the reason, with no key. */
FINDINGS_TEST(names_hang)
{
	char mounted[512];
	struct screen *s;
	pid_t pid;
	int line;

	e2e_need(frozen_mount(e2e_folder(), mounted, sizeof(mounted)), "no loop devices");
	start_load("write", mounted, &pid);
	assert_int_equal(frozen_freeze(mounted), 0);
	e2e_await_hang(pid);
	s = start_screen(pid, 24, "");
	screen_await_text(s, "1 task hung: load_wait ");
	screen_await_text(s, "/written (frozen)");
	line = screen_find(s, "1 task hung", 0);
	/* Between the pressure and the table. */
	screen_check(s, line > screen_find(s, "io   ", 0) && line < screen_find(s, "PID", 0));
	screen_check(s, screen_look(s, line, 0).bold);
	screen_type(s, "!");
	screen_await_text(s, e2e_format("process %d load_wait", (int)pid));
	screen_await_text(s, "sleeps in percpu_rwsem_wait");
	screen_type(s, "\033");
	screen_await_text(s, "1 task hung");
	screen_click(s, screen_find(s, "1 task hung", 0), 10, 1);
	screen_await_text(s, e2e_format("process %d load_wait", (int)pid));
	screen_type(s, "\033");
	screen_await_text(s, "1 task hung");
	/* It ends with the hang. */
	assert_int_equal(frozen_thaw(mounted), 0);
	screen_await_no_text(s, "1 task hung");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	e2e_kill(pid);
}

/* The selected row is that of the pid. */
static bool is_selected(struct screen *s, const void *arg)
{
	const pid_t *pid = arg;
	struct table t;
	int line;

	if (!table_read(s, &t))
		return false;
	line = table_selected(s, &t);
	return line >= 0 && (pid_t)table_number(s, &t, line, "PID") == *pid;
}

/* The row that it is about is selected, until another one is. */
FINDINGS_TEST(selects_row)
{
	pid_t pid, own = getpid();
	char mounted[512];
	struct screen *s;

	e2e_need(frozen_mount(e2e_folder(), mounted, sizeof(mounted)), "no loop devices");
	start_load("write", mounted, &pid);
	assert_int_equal(frozen_freeze(mounted), 0);
	e2e_await_hang(pid);
	s = screen_start(&(struct screen_how){
		.rows = 24,
		.cols = 80,
		.args = e2e_format("-d 1 -s +pid -p %d,%d", (int)own, (int)pid) });
	screen_await_text(s, "1 task hung: load_wait ");
	screen_await(s, is_selected, &pid);
	screen_key(s, VTERM_KEY_HOME);
	screen_await(s, is_selected, &own);
	e2e_sleep(2);
	screen_await(s, is_selected, &own);
	screen_type(s, "\033");
	screen_await(s, is_selected, &pid);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	assert_int_equal(frozen_thaw(mounted), 0);
	e2e_kill(pid);
}

/* While waits are traced the sites are opened. */
FINDINGS_TEST(opens_sites)
{
	struct screen *s;
	pid_t pid, reader;

	e2e_require_bpf();
	reader = atoi(start_load("fuse", e2e_folder(), &pid));
	e2e_await_sleep(reader);
	s = start_screen(reader, 24, "--trace");
	screen_await_text(s, "file server not responding");
	/* That is known before it is traced. */
	e2e_sleep(2);
	screen_type(s, "!");
	screen_await_text(s, "/silent-file");
	screen_await_text(s, "SYSCALL");
	screen_type(s, "q");
	screen_await_text(s, "file server not responding");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* In the preset of hangs, which reads calls, who is kept waiting in one is named. */
FINDINGS_TEST(names_kept)
{
	pid_t pid, reader;
	struct screen *s;
	int a, b;

	assert_int_equal(sscanf(start_load("deaf", ".", &pid), "%d %d", &a, &b), 2);
	reader = a;
	e2e_await_sleep(reader);
	s = start_screen(reader, 24, "");
	screen_type(s, "\t");
	screen_await_text(s, "1 task blocked: load_wait ");
	screen_await_text(s, "in recvfrom on tcp 127.0.0.1:");
	/* It stays while a filter hides its row, which is said, also while no sample comes. */
	screen_type(s, "p/wait_nobody\r");
	screen_await_text(s, "(not shown, ! why");
	screen_check(s, screen_shows(s, "1 task blocked"));
	screen_type(s, "=");
	screen_await_no_text(s, "(not shown");
	screen_check(s, screen_shows(s, "1 task blocked"));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Where nothing waits that is said, and nothing is opened; rows have what room there is. */
FINDINGS_TEST(says_nothing_waits)
{
	struct screen *s;
	pid_t pid;

	pid = e2e_load(NULL, "load_wait poll");
	assert_true(pid > 0);
	s = start_screen(pid, 24, "");
	screen_await_text(s, "no waits");
	screen_type(s, "!");
	screen_await_text(s, "no finding to open");
	screen_check(s, screen_find(s, "no waits", 0) < screen_find(s, "PID", 0));
	screen_check(s, !screen_shows(s, " more: n)"));
	screen_resize(s, 10, 80);
	screen_await_text(s, "no waits");
	screen_resize(s, 8, 80);
	screen_await_no_text(s, "no waits");
	screen_resize(s, 24, 80);
	screen_await_text(s, "no waits");
	screen_type(s, "t");
	screen_await_no_text(s, "no waits");
	screen_type(s, "tq");
	assert_int_equal(screen_end(s, 5), 0);
}
