/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/test.h"
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * What the end-to-end tests share: starting the program and loads, with a limit
 * on every wait, and an end to all of it after each test.
 */

#define NOBODY 65534

/* How a program is started; all zero is the plain way. */
struct e2e_how {
	uid_t uid; /* 0: stays what it is */
	const char *out_path; /* standard output goes there; NULL: is caught */
	const char *cgroup; /* joined before the program starts */
	const char *locale; /* LC_ALL */
	bool ignore_sigpipe;
	int (*hook)(const char *arg); /* called before exec; not 0: gives up */
	const char *hook_arg;
};

struct e2e_text {
	char *data; /* with a NUL behind it */
	size_t len;
	size_t size; /* of the memory */
	size_t used; /* what e2e_line() has given out */
};

struct e2e_proc {
	pid_t pid;
	int out;
	int err;
	double started;
	struct e2e_text out_text;
	struct e2e_text err_text;
};

struct e2e_result {
	int status; /* exit status, or 128 + signal */
	double seconds;
	struct e2e_text out;
	struct e2e_text err;
};

/* cmocka's fixtures: the guard and delay accounting on; all that a test started ended. */
int e2e_group_setup(void **state);
int e2e_group_teardown(void **state);
int e2e_setup(void **state);
int e2e_teardown(void **state);

/* The same for what has more of its own around each test. */
#define E2E_TEST_WITH(name, set_up, tear_down) \
	TEST_IN(name, set_up, tear_down, e2e_group_setup, e2e_group_teardown)
#define E2E_TEST(name) E2E_TEST_WITH(name, e2e_setup, e2e_teardown)

/*
 * Says why in the form the build wants, and leaves the test. What every test
 * needs (root, taskstats) is asked for by e2e_require().
 */
#define e2e_skip(reason) e2e_skip_test(__func__, reason)
#define e2e_require() e2e_require_test(__func__)
void e2e_skip_test(const char *test, const char *reason);
void e2e_require_test(const char *test);

/* The same where the test needs the bpf source. */
#define e2e_require_bpf() e2e_require_bpf_test(__func__)
void e2e_require_bpf_test(const char *test);

/* Skips for -EOPNOTSUPP, fails for other errors. */
#define e2e_need(err, reason) e2e_need_test(__func__, err, reason)
void e2e_need_test(const char *test, int err, const char *reason);

/* Monotonic seconds, the wall clock's, and a sleep. */
double e2e_now(void);
double e2e_wall(void);
void e2e_sleep(double seconds);

/* Freed, or closed, after the test. */
void *e2e_keep(void *p);
char *e2e_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
json_t *e2e_keep_json(json_t *json);

/* A folder for the test's files, on a disk, that nobody can read into as well. */
const char *e2e_folder(void);
/* A path in it. */
char *e2e_path(const char *name);

/* The program, in a place that everybody may start it from. */
const char *e2e_stalltop(void);
/*
 * A copy of a program in the test's folder, which all may enter: the build tree may lie in a
 * private one.
 */
const char *e2e_reachable(const char *path);
/* The path of a load program. */
const char *e2e_load_path(const char *name);

/* Starts a program. */
void e2e_start(struct e2e_proc *p, const struct e2e_how *how, const char *const argv[]);
/* The same with the program under test and arguments parted by single spaces. */
void e2e_start_stalltop(struct e2e_proc *p, const struct e2e_how *how, const char *args);

/* The next line of standard output without its newline; NULL at the end. */
const char *e2e_line(struct e2e_proc *p, double timeout);

/* Reads a line and forgets it and what came before; false if none came. */
bool e2e_skip_line(struct e2e_proc *p, double timeout);

/* Reads what is left and waits; kills and fails when that takes too long. */
void e2e_finish(struct e2e_proc *p, double timeout, struct e2e_result *r);

/* Start to finish, within 60 seconds. */
void e2e_run(struct e2e_result *r, const struct e2e_how *how, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A cgroup of a v1 hierarchy that has no other effect: its path, and the name of the hierarchy.
 * Skips the test where there is none.
 */
const char *e2e_quiet_group(const char *test, const char *name, const char **hierarchy);

/* A name for a cgroup that no other run's has. */
const char *e2e_group_name(const char *suffix);

/* Starts a load, waits until it is ready and gives its pid; 0 if it cannot be had. */
pid_t e2e_load(const struct e2e_how *how, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* What the last load said behind "ready ". */
const char *e2e_load_line(void);
void e2e_kill(pid_t pid);

/* Waits until a process of one thread sleeps, as when all is done that it does at its start. */
void e2e_await_sleep(pid_t pid);

/* Waits until a process has a handler for a signal: before, the signal kills it. */
void e2e_await_caught(pid_t pid, int number);

/* Waits until a process blocks a signal, as batch mode does but while it waits for one. */
void e2e_await_blocked(pid_t pid, int number);

/* Waits until a thread of the process sleeps uninterruptibly and goes on to. */
void e2e_await_hang(pid_t pid);

/* Waits until a process has waited for all of these kinds (a bit each), and reads its record. */
struct reader_record;
void e2e_await_waits(pid_t pid, uint32_t kinds, struct reader_record *rec);

/*
 * Whether the kernel booked a block I/O wait of which it saw only the end, for which it takes the
 * time since boot: more than a test's task can have waited, and rightly left out of what is shown.
 */
bool e2e_booked_wrongly(uint64_t ns);

/* Stops a process and waits until all of its threads stand still. */
void e2e_stop(pid_t pid);

/* A hook: netlink is refused, as services are often run; with an argument bpf, too. */
int e2e_no_netlink(const char *arg);

/* A hook: the kernel does not say what a socket dropped, as usual 4.12. */
int e2e_no_meminfo(const char *arg);

/* The ids of a process's threads; their number, at most max. */
size_t e2e_threads(pid_t pid, pid_t *tids, size_t max);
