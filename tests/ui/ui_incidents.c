// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Incidents whose cause is known, as a person finds them on the screen: what a task waits on in the
 * view of sites and on the site's page, and who hangs in the preset of hangs.
 */
#include "tests/lib/e2e.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/box.h"
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"

/* What is to be seen of an incident. A text that is NULL is not looked for. */
struct cause {
	pid_t pid;
	const char *state; /* at the beginning of the site's line */
	const char *on; /* in it, too: the end of a path, as paths are cut in front */
	const char *page[3]; /* on the site's page */
};

/* Starts a load; what it said behind "ready". */
static const char *start_load(const char *mode, pid_t *pid)
{
	*pid = e2e_load(NULL, "load_wait %s", mode);
	assert_true(*pid > 0);
	return e2e_load_line();
}

/* The same in a folder of the test. */
static const char *start_in_folder(const char *mode, pid_t *pid)
{
	return start_load(e2e_format("%s %s", mode, e2e_folder()), pid);
}

/* Starts the screen with some processes, in so many columns. */
static struct screen *start_screen(const char *pids, int cols)
{
	struct screen *s = screen_start(&(struct screen_how){
		.rows = 30, .cols = cols, .args = e2e_format("-d 1 -p %s", pids) });

	/* From the page of an only process to the table. */
	if (!strchr(pids, ',')) {
		screen_await_text(s, "Delays");
		screen_type(s, "\x1b");
	}

	screen_await(s, table_has_rows, NULL);
	return s;
}

/* The line of the cause's site; 0: none. */
static int site_line(struct screen *s, const struct cause *cause)
{
	for (int row = 1; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		if (!strncmp(line, cause->state, strlen(cause->state)) &&
		    (!cause->on || strstr(line, cause->on)))
			return row;
	}
	return 0;
}

static bool has_site(struct screen *s, const void *cause)
{
	return site_line(s, cause);
}

/* Finds the cause with the keys that a person would press, and opens its page. */
static void find_cause(const struct cause *cause)
{
	struct screen *s = start_screen(e2e_format("%d", (int)cause->pid), 120);

	screen_type(s, "w");
	screen_await(s, has_site, cause);
	screen_click(s, site_line(s, cause), 10, 1);
	screen_type(s, "\r");
	for (size_t i = 0; i < sizeof(cause->page) / sizeof(cause->page[0]) && cause->page[i]; i++)
		screen_await_text(s, cause->page[i]);
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

#define INCIDENT_TEST(name) E2E_TEST_WITH(name, set_up, tear_down)

/* Reads of one of four open files. */
INCIDENT_TEST(finds_file)
{
	struct cause cause = { .state = "io ",
			       .on = "/file2",
			       .page = { "io: waits for block I/O", "/file2", "p99" } };

	e2e_require_bpf();
	start_in_folder("files", &cause.pid);
	find_cause(&cause);
}

/* Writes to a file that another writes to: the lock of the file, and who has it. */
INCIDENT_TEST(finds_other_writer)
{
	struct cause cause = { .state = "dwait ",
			       .on = "wait_writer",
			       .page = { "dwait: ", "/shared", "woken by wait_writer" } };
	pid_t pid;

	e2e_require_bpf();
	cause.pid = atoi(start_in_folder("fsync", &pid));
	find_cause(&cause);
}

/* A frozen file system and its writer. */
INCIDENT_TEST(finds_frozen)
{
	struct cause cause = { .state = "dwait ",
			       .on = "/written",
			       .page = { "pwrite64", "/written", "1 thread waits right now" } };
	char mounted[512];

	e2e_require_bpf();
	e2e_need(frozen_mount(e2e_folder(), mounted, sizeof(mounted)), "no loop devices");
	start_load(e2e_format("write %s", mounted), &cause.pid);
	assert_int_equal(frozen_freeze(mounted), 0);
	e2e_await_hang(cause.pid);
	find_cause(&cause);
	assert_int_equal(frozen_thaw(mounted), 0);
	e2e_kill(cause.pid);
}

/* A file system in user space that does not answer. */
INCIDENT_TEST(finds_fuse)
{
	struct cause cause = { .state = "other ",
			       .on = "/silent-file",
			       .page = { "/silent-file", "request_wait_answer",
					 "1 thread waits right now" } };
	pid_t server;

	e2e_require_bpf();
	cause.pid = atoi(start_in_folder("fuse", &server));
	e2e_await_sleep(cause.pid);
	find_cause(&cause);
}

/* Eight threads that want one lock. */
INCIDENT_TEST(finds_lock)
{
	struct cause cause = { .state = "lock ",
			       .on = "futex",
			       .page = { "lock: ", "Woken by", "(lock released by)" } };

	e2e_require_bpf();
	start_load("futex", &cause.pid);
	find_cause(&cause);
}

/* A client and its slow server. */
INCIDENT_TEST(finds_server)
{
	struct cause cause = { .state = "net ", .page = { "net: ", "woken by wait_server" } };
	int port, server;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("net", &pid), "%d %d %d", &cause.pid, &server, &port),
			 3);
	cause.on = cause.page[2] = e2e_format("tcp 127.0.0.1:%d", port);
	find_cause(&cause);
}

/* A pipe whose writer does not write. */
INCIDENT_TEST(finds_writer)
{
	struct cause cause = { .state = "pipe ", .page = { "1 thread waits right now" } };
	int writer;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("pipe", &pid), "%d %d", &cause.pid, &writer), 2);
	/* Of a long pid the list leaves less room for the name. */
	cause.on = e2e_format("pipe of %d wait_", writer);
	cause.page[1] = e2e_format("pipe of %d wait_writer", writer);
	find_cause(&cause);
}

/* Below few rows is where the selected one waits, and for whom: traced or not, without a key. */
INCIDENT_TEST(shows_selected)
{
	static const char *const options[] = { "", " --trace" };
	int reader, writer;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("talk", &pid), "%d %d", &reader, &writer), 2);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct screen *s =
			start_screen(e2e_format("%d,%d%s", reader, writer, options[i]), 120);
		const char *number = e2e_format("%d root", reader);

		screen_click(s, screen_word_line(s, number), 10, 1);
		screen_await_text(s, e2e_format("load_wait %d wait%s", reader,
						*options[i] ? "s, times in ms" : "ing now"));
		screen_await_text(s, e2e_format("pipe of %d wait_", writer));
		screen_check(s, screen_shows(s, *options[i] ? "WAKER" : "SYSCALL"));
		screen_click(s, screen_word_line(s, e2e_format("%d root", writer)), 10, 1);
		screen_await_text(s, e2e_format("wait_writer %d ", writer));
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}

/* A sentence about it is in the header, in one line or two, and in the room below. */
static bool says_twice(struct screen *s, const void *text)
{
	unsigned n = 0;

	for (int row = 0; row < screen_rows(s); row++)
		n += strstr(screen_line(s, row), text) != NULL;
	return n == 2;
}

/* Below few rows is what was found of one that wants a CPU, and of several threads which one waits.
 */
INCIDENT_TEST(shows_found)
{
	int victim, culprit;
	char found[64];
	struct screen *s;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("cpu", &pid), "%d %d", &victim, &culprit), 2);
	s = start_screen(e2e_format("%d,%d", victim, culprit), 120);
	screen_click(s, screen_word_line(s, e2e_format("%d root", victim)), 10, 1);
	snprintf(found, sizeof(found), "load_wait %d waits", victim);
	screen_await(s, says_twice, found);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	start_load("futex", &pid);
	s = start_screen(e2e_format("%d,%d", pid, victim), 120);
	screen_click(s, screen_word_line(s, e2e_format("%d root", pid)), 10, 1);
	screen_await_text(s, "waiting now in thread ");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Where it is not known what the selected one does, nothing is said of it: of a plain recording. */
INCIDENT_TEST(leaves_unknown_out)
{
	const char *file = e2e_path("plain.db");
	int reader, writer;
	struct e2e_result r;
	struct screen *s;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("pipe", &pid), "%d %d", &reader, &writer), 2);
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 -p %d,%d -w %s", reader, writer, file);
	assert_int_equal(r.status, 0);
	s = screen_start(
		&(struct screen_how){ .rows = 30, .cols = 120, .args = e2e_format("-R %s", file) });
	screen_await(s, table_has_rows, NULL);
	screen_click(s, screen_word_line(s, e2e_format("%d", reader)), 10, 1);
	screen_settle(s);
	screen_check(s, !screen_shows(s, e2e_format("load_wait %d ", reader)));
	screen_check(s, !screen_shows(s, "WHERE"));
}

/* A parent that waits for its child. */
INCIDENT_TEST(finds_child)
{
	struct cause cause = { .state = "child ", .page = { "wait4" } };

	e2e_require_bpf();
	cause.on = cause.page[1] = e2e_format("child %s", start_load("child", &cause.pid));
	find_cause(&cause);
}

/* Two that want one CPU. */
INCIDENT_TEST(finds_culprit)
{
	struct cause cause = { .state = "cpu ",
			       .on = "wait_culprit",
			       .page = { "Who ran instead" } };
	int culprit;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start_load("cpu", &pid), "%d %d", &cause.pid, &culprit), 2);
	cause.page[1] = e2e_format("behind %d wait_culprit", culprit);
	find_cause(&cause);
}

/* A group whose quota is used up. */
INCIDENT_TEST(finds_throttled)
{
	struct cause cause = { .state = "cpu ",
			       .on = "throttled",
			       .page = { "Who ran instead", "throttled" } };
	struct e2e_how how = { 0 };
	char path[512];

	e2e_require_bpf();
	e2e_need(box_quota(e2e_group_name("wait"), "20000", path, sizeof(path)), "no CPU quota");
	how.cgroup = path;
	cause.pid = e2e_load(&how, "load_wait cpu");
	assert_true(cause.pid > 0);
	find_cause(&cause);
}

/*
 * A group with too little memory: its tasks reclaim for themselves, and the task's page says whose
 * limit that is.
 */
INCIDENT_TEST(finds_reclaim)
{
	struct cause cause = { .state = "reclaim ", .page = { "reclaim: overlaps" } };
	struct e2e_how how = { 0 };
	struct screen *s;
	char path[512];

	e2e_require_bpf();
	e2e_need(box_cgroup(32, path, sizeof(path)), "no memory cgroup");
	how.cgroup = path;
	cause.pid = e2e_load(&how, "load_kind -d %s reclaim", e2e_folder());
	if (!cause.pid)
		e2e_skip("no reclaim here");
	find_cause(&cause);
	s = start_screen(e2e_format("%d", (int)cause.pid), 80);
	screen_type(s, "\r");
	screen_await_text(s, "of 32.0 MiB of memory");
}

/* The row of a process. */
static bool has_row(struct screen *s, const void *pid)
{
	struct table t;

	return table_read(s, &t) && table_find_pid(s, &t, *(const pid_t *)pid) >= 0;
}

/* The path of the file that its server keeps silent about: in a chroot it may be as outside of it.
 */
static const char *silent_file(pid_t pid)
{
	static char path[PATH_MAX];

	for (int fd = 0; fd < 64; fd++) {
		ssize_t len = readlink(e2e_format("/proc/%d/fd/%d", (int)pid, fd), path,
				       sizeof(path) - 1);

		path[len > 0 ? len : 0] = '\0';
		if (strstr(path, "silent-file"))
			return path;
	}
	fail_msg("%d has no such file open", (int)pid);
	return path;
}

/*
 * Who is kept waiting is among those that hang, by the age of the wait, though it is not in state
 * D; who has nothing to do is not.
 */
INCIDENT_TEST(shows_who_hangs)
{
	pid_t reader, server, piped, pipes, parent, idle;
	struct screen *s;
	struct table t;
	int writer, line;

	reader = atoi(start_in_folder("fuse", &server));
	e2e_await_sleep(reader);
	assert_int_equal(sscanf(start_load("deaf", &pipes), "%d %d", &piped, &writer), 2);
	e2e_await_sleep(piped);
	start_load("child", &parent);
	start_load("poll", &idle);
	s = start_screen(e2e_format("%d,%d,%d,%d,%d,%d", (int)reader, (int)server, (int)piped,
				    writer, (int)parent, (int)idle),
			 140);
	screen_await(s, has_row, &idle);
	screen_type(s, "\t");
	screen_await_text(s, "preset hangs");
	screen_await(s, has_row, &reader);
	screen_await(s, has_row, &piped);
	screen_await(s, table_descends, "WAIT");
	screen_await_text(s, "request_wait_answer");
	table_must(s, &t);
	line = table_find_pid(s, &t, reader);
	screen_check(s, *table_cell(s, &t, line, "S") == 'S');
	screen_check(s, table_number(s, &t, line, "WAIT") >= 1);
	/* its path, as far as there is room for it */
	screen_check(s, strstr(screen_line(s, line),
			       e2e_format("read         %.16s", silent_file(reader))));
	line = table_find_pid(s, &t, piped);
	screen_check(s, strstr(screen_line(s, line), "tcp 127.0.0.1"));
	screen_check(s, !has_row(s, &server) && !has_row(s, &parent) && !has_row(s, &idle));
	screen_check(s, !has_row(s, &writer));
	/* It ends with who does not answer: what that has taken no signal takes back. */
	assert_int_equal(kill(server, SIGKILL), 0);
	screen_await_no_text(s, "request_wait_answer");
	screen_check(s, !has_row(s, &reader) && has_row(s, &piped));
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* Whose wait began at `since` hangs: there by the key, without the next sample, and so long. */
static void check_hangs_at_once(pid_t piped, int writer, double since)
{
	struct screen *s = screen_start(
		&(struct screen_how){ .args = e2e_format("-d 600 -p %d,%d", (int)piped, writer) });
	struct table t;
	double waited;

	screen_await(s, table_has_figures, NULL);
	screen_type(s, "\t");
	screen_await_text(s, "preset hangs");
	screen_await(s, has_row, &piped);
	screen_check(s, !has_row(s, &writer));
	table_must(s, &t);
	waited = table_number(s, &t, table_find_pid(s, &t, piped), "WAIT");
	/* It is rounded, and known to a tick. */
	screen_check(s, waited >= 1 && waited <= e2e_now() - since + 0.1);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* On whichever CPU it ran last, whose clock may be minutes from the others'. */
INCIDENT_TEST(shows_hangs_at_once)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		pid_t pipes, piped;
		double since;
		int writer;

		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		since = e2e_now();
		assert_int_equal(sscanf(start_load("deaf", &pipes), "%d %d", &piped, &writer), 2);
		assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
		e2e_await_sleep(piped);
		e2e_sleep(1.1); /* a shorter wait is none that hangs */
		check_hangs_at_once(piped, writer, since);
	}
}
