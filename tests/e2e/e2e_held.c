// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that hang with a lock that readers of their files in /proc need: whoever reads these
 * hangs, too. The program must go on, show who hangs, and end when it is told to. What hangs is let
 * go of after a while by itself (SILENT_SECONDS), or by the guard.
 */
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/screen.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

/* The most that a run of so many seconds may take longer. */
#define LATE 8.0

/* Runs beside each other, with what each must print; %d is the process. */
static const struct run {
	const char *options;
	const char *prints;
} runs[] = {
	{ "-b -n 2 -d 0.4 --source taskstats -F +command,syscall,where,on,read", "\n%7d " },
	{ "-b -n 2 -d 0.4 --source procfs -F +command,syscall,where,on,read", "\n%7d " },
	{ "-b -n 2 -d 0.4 --source bpf -F +command,syscall,where,on,read", "\n%7d " },
	{ "-b -n 2 -d 0.4 --trace -F +command,syscall", "\n%7d " },
	{ "-b -n 2 -d 0.4 -o json -H -p %d", "\"tgid\":%d," },
	{ "-b -n 2 -d 0.4 -o csv -F pid,command", "%d," },
	{ "-b -n 2 -d 0.4 -g cgroup", "\n" },
	{ "-b -n 2 -d 0.4 -g command", "\n" },
	{ "-b -n 2 -d 0.4 -F +command -m held", "\n%7d " },
	{ "-b -n 1 -d 1.2 --why", "\n" },
	{ "-b -n 2 -d 0.4 -o openmetrics", "# EOF" },
	{ "--doctor", "\n" },
};

/* Whether a read of the file hangs, by a child that does it. */
static bool hangs(const char *path)
{
	pid_t pid = fork();
	int status, fd;
	char byte;

	if (!pid) {
		fd = open(path, O_RDONLY);
		_exit(fd < 0 || read(fd, &byte, 1) < 0);
	}
	for (unsigned i = 0; i < 30; i++) {
		e2e_sleep(0.01);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return false;
	}
	/* Where it cannot be killed, init has it when what hangs is let go of. */
	kill(pid, SIGKILL);
	return true;
}

/* Waits until reading a file of the process hangs: then all is as it is to be. */
static void await_held(pid_t pid, const char *file)
{
	const char *path = e2e_format("/proc/%d/%s", (int)pid, file);

	for (unsigned i = 0; i < 50; i++) {
		if (hangs(path))
			return;
		e2e_sleep(0.1);
	}
	fail_msg("reading %s does not hang", path);
}

/* Starts a process that hangs in a file system that is silent. */
static pid_t start_held(const char *test, const char *way, const char *file)
{
	pid_t pid;

	if (!e2e_load(NULL, "load_held %s %s", way, e2e_folder()))
		e2e_skip_test(test, "no FUSE");
	pid = (pid_t)atoi(e2e_load_line());
	assert_true(pid > 0);
	await_held(pid, file);
	return pid;
}

/* Text with the process in place of %d. */
static const char *with_pid(const char *text, pid_t pid)
{
	const char *at = strchr(text, '%');
	char number[32];

	if (!at)
		return text;
	snprintf(number, sizeof(number), at[1] == '7' ? "%7d" : "%d", (int)pid);
	return e2e_format("%.*s%s%s", (int)(at - text), text, number, strchr(at, 'd') + 1);
}

/* All modes of output go on, and have the process. */
static void check_runs(pid_t pid)
{
	struct e2e_proc p[ARRAY_SIZE(runs)];
	struct e2e_result r;

	for (unsigned i = 0; i < ARRAY_SIZE(runs); i++)
		e2e_start_stalltop(&p[i], NULL, with_pid(runs[i].options, pid));
	for (unsigned i = 0; i < ARRAY_SIZE(runs); i++) {
		e2e_finish(&p[i], 60, &r);
		/* --why and --doctor say by it that something is the matter. */
		if (r.status > 3 || !strstr(r.out.data, with_pid(runs[i].prints, pid)))
			fail_msg("%s: status %d: %s%s", runs[i].options, r.status, r.out.data,
				 r.err.data);
		printf("# %.1f s: %s\n", r.seconds, runs[i].options);
		if (r.seconds > LATE * screen_slowness())
			fail_msg("%s: took %.1f s", runs[i].options, r.seconds);
	}
}

/* It ends at a signal while it reads what it can. */
static void check_end(const char *options, int number)
{
	struct e2e_result r;
	struct e2e_proc p;
	double told;

	e2e_start_stalltop(&p, NULL, options);
	assert_true(e2e_skip_line(&p, 20));
	told = e2e_now();
	kill(p.pid, number);
	e2e_finish(&p, 20, &r);
	if (e2e_now() - told > 1.0 * screen_slowness())
		fail_msg("%s: ended %.1f s after a signal", options, e2e_now() - told);
}

/* A recorder records the process, and ends. */
static void check_record(pid_t pid)
{
	const char *folder = e2e_path(e2e_format("recorded-%d", (int)pid));
	struct e2e_result r;
	struct samples s;

	assert_int_equal(mkdir(folder, 0700), 0);
	e2e_run(&r, NULL, "-b -n 2 -d 0.4 -w %s --keep 10M", folder);
	assert_int_equal(r.status, 0);
	e2e_run(&r, NULL, "-R %s -b -o json -p %d", folder, (int)pid);
	parse_json(&r, &s);
	assert_true(s.n >= 2);
	task_must(s.v[1], pid);
}

/* Whether the screen has a row of the process. */
static bool shows_process(struct screen *s, const void *arg)
{
	char word[16];

	snprintf(word, sizeof(word), "%d", *(const int *)arg);
	return screen_word_line(s, word) >= 0;
}

/*
 * The screen shows its page, its sites and its row in the table, with command lines and what is
 * waited on, and ends at q and at TERM.
 */
static void check_screen(pid_t pid, const char *options)
{
	struct screen *s =
		screen_start(&(struct screen_how){ .rows = 30, .cols = 160, .args = options });
	const char *title = e2e_format("process %d ", (int)pid);
	int number = (int)pid;
	double told;

	screen_await_text(s, title);
	screen_type(s, "w");
	screen_pump(s, 0.5);
	screen_type(s, "\033");
	screen_await_text(s, title);
	screen_await_text(s, "Delays");
	screen_type(s, "\033");
	screen_await(s, shows_process, &number);
	told = e2e_now();
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 10), 0);
	if (e2e_now() - told > 1.0 * screen_slowness())
		fail_msg("%s: the screen ended after %.1f s", options, e2e_now() - told);
	s = screen_start(&(struct screen_how){ .args = options });
	screen_await_text(s, title);
	told = e2e_now();
	kill(screen_pid(s), SIGTERM);
	screen_end(s, 10);
	assert_true(e2e_now() - told <= 1.0 * screen_slowness());
}

static void check_all(pid_t pid)
{
	check_runs(pid);
	check_end("-b -d 0.3 -F +command,syscall,on,read", SIGTERM);
	check_end("-b -d 0.3 --source procfs -F +command,syscall,on,read", SIGTERM);
	check_record(pid);
	check_screen(pid, e2e_format("-d 0.5 -F +command,syscall,on -p %d", (int)pid));
	check_screen(pid,
		     e2e_format("-d 0.5 --source procfs -F +command,syscall,on -p %d", (int)pid));
}

static int set_up(void **state)
{
	return e2e_setup(state) || screen_setup(state);
}

static int tear_down(void **state)
{
	int err = screen_teardown(state);

	return e2e_teardown(state) || err;
}

#define HELD_TEST(name) E2E_TEST_WITH(name, set_up, tear_down)

/* exec_update_lock: since 6.x stat takes it, too. */
HELD_TEST(test_exec)
{
	struct e2e_result r;
	pid_t pid;

	e2e_require_bpf();
	pid = start_held(__func__, "exec", "io");
	check_all(pid);
	/* It is told by the first screen. */
	e2e_run(&r, NULL, "-b -n 3 -d 1 -p %d", (int)pid);
	assert_non_null(strstr(r.out.data, e2e_format("blocked: held %d", (int)pid)));
}

/* mmap_lock, which another thread waits for to have it for itself. */
HELD_TEST(test_unmap)
{
	struct e2e_result r;
	struct samples s;
	json_t *task;
	pid_t pid;

	e2e_require_bpf();
	pid = start_held(__func__, "unmap", "cmdline");
	check_all(pid);
	e2e_run(&r, NULL, "-b -n 2 -d 0.5 -o json -F +command,syscall -p %d", (int)pid);
	parse_json(&r, &s);
	task = task_must(s.v[1], pid);
	assert_string_equal(text_or_none(task, "comm"), "held");
	assert_true(member_u64(json_object_get(task, "waited"), "dwait") > UINT64_C(450000000));
	assert_true(json_is_null(json_object_get(task, "command")));
	assert_non_null(note_of(s.v[1], "reads-hang"));
}

/* ep->mtx, for which a reader waits beyond SIGKILL. */
HELD_TEST(test_epoll)
{
	e2e_require_bpf();
	check_all(start_held(__func__, "epoll", "fdinfo/100"));
}

/* Thaws a file system after a while, whatever becomes of the test. */
static pid_t start_watchdog(const char *mounted)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setsid();
	e2e_sleep(60);
	_exit(frozen_thaw(mounted) != 0);
}

/* The same as unmap by a file system that is frozen; and all goes on when it is thawed. */
HELD_TEST(test_fault)
{
	char mounted[400];
	struct e2e_result r;
	pid_t pid, watchdog;

	e2e_require_bpf();
	e2e_need(frozen_mount(e2e_folder(), mounted, sizeof(mounted)), "no loop devices");
	pid = e2e_load(NULL, "load_held fault %s/file", mounted);
	assert_true(pid > 0);
	watchdog = start_watchdog(mounted);
	assert_int_equal(frozen_freeze(mounted), 0);
	kill(pid, SIGUSR1);
	await_held(pid, "cmdline");
	check_all(pid);
	assert_int_equal(frozen_thaw(mounted), 0);
	e2e_kill(watchdog);
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -F +command -p %d", (int)pid);
	assert_non_null(strstr(r.out.data, "load_held fault"));
	e2e_kill(pid);
}
