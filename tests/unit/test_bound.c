// SPDX-License-Identifier: GPL-2.0-or-later
/* What changes or does not answer outside: directories of users, the time zone. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clocks.h"
#include "base/users.h"
#include "base/util.h"
#include "tests/lib/scratch.h"

/* Binds a file over another one. False: that cannot be had. */
static bool bind_over(const char *file, const char *over)
{
	return !mount(file, over, NULL, MS_BIND, NULL);
}

/* Runs a test in a mount namespace of its own, in a child. */
static void run_apart(const char *name, void (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		scratch_skip_test(name, "no mount namespace");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Ends the child with the number of the check that failed. */
#define CHECK(number, good) \
	do { \
		if (!(good)) \
			_exit(number); \
	} while (0)

/* Puts a directory in place of the machine's: what the script does. */
static void set_directory(const char *script)
{
	const char *file = scratch_file(scratch_path("getent"), script);

	CHECK(70, !chmod(file, 0755));
	CHECK(77, bind_over(file, "/usr/bin/getent"));
}

/* Whether a user has a name, once it was asked for. */
static bool is_named(struct users *users, uid_t uid, const char *name)
{
	return !strcmp(users_name(users, uid, NULL), name);
}

/* Refreshes until a user has a name; for so many seconds. */
static bool gets_name(struct users *users, uid_t uid, const char *name, unsigned seconds)
{
	for (unsigned i = 0; i < seconds * 50; i++) {
		users_refresh(users);
		if (is_named(users, uid, name))
			return true;
		users_ask(users);
		usleep(20000);
	}
	return false;
}

/* A slow directory: numbers at once, names when they come, one process for many users. */
static void slow(void)
{
	struct users *users;
	uint64_t began_ns;
	char name[32];

	set_directory(
		"#!/bin/sh\n"
		"shift 2\n"
		"sleep 0.25\n"
		"for uid; do [ $uid -ge 900000 ] && echo \"u$uid:x:$uid:1::/home:/bin/sh\"; done\n"
		"exit 0\n");
	users = users_open();
	began_ns = clock_ns(CLOCK_MONOTONIC);
	for (uid_t uid = 900000; uid < 900040; uid++) {
		snprintf(name, sizeof(name), "%u", uid);
		CHECK(1, is_named(users, uid, name));
	}
	/* One that is asked at the end of a sample has its name at the next. */
	users_ask(users);
	CHECK(2, clock_ns(CLOCK_MONOTONIC) - began_ns < 200 * NSEC_PER_MSEC);
	usleep(1000000);
	CHECK(6, users_refresh(users) && is_named(users, 900000, "u900000"));
	CHECK(3, gets_name(users, 900000, "u900000", 5));
	CHECK(4, gets_name(users, 900039, "u900039", 10));
	CHECK(5, is_named(users, 0, "root"));
	users_close(users);
}

/* One that does not answer: nothing waits, and its process goes. */
static void silent(void)
{
	struct users *users;
	uint64_t began_ns, took_ns = 0;
	struct rusage usage;

	set_directory("#!/bin/sh\nexec sleep 50\n");
	users = users_open();
	for (unsigned i = 0; i < 320; i++) {
		began_ns = clock_ns(CLOCK_MONOTONIC);
		users_refresh(users);
		users_name(users, 800000 + i, NULL);
		users_ask(users);
		took_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
		usleep(20000);
	}
	CHECK(1, took_ns < NSEC_PER_SEC);
	/* It was given up after five seconds: nobody is left. */
	users_refresh(users);
	CHECK(2, waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	CHECK(3, is_named(users, 800000, "800000"));
	/* As many as there are: known ones are forgotten in time. */
	for (unsigned i = 0; i < 100000; i++)
		users_name(users, 1000000 + i, NULL);
	getrusage(RUSAGE_SELF, &usage);
#ifndef __SANITIZE_ADDRESS__
	/* Freed memory is kept there for a while. */
	CHECK(4, usage.ru_maxrss < 100000);
#endif
	users_close(users);
}

/* A name that is changed, and a user that is added, are seen. */
static void changed(void)
{
	const char *passwd = scratch_file(scratch_path("passwd"), "root:x:0:0::/root:/bin/sh\n"
								  "old:x:4000:1::/home:/bin/sh\n");
	struct users *users;

	set_directory("#!/bin/sh\nexit 2\n");
	CHECK(77, bind_over(passwd, "/etc/passwd"));
	users = users_open();
	CHECK(1, is_named(users, 4000, "old"));
	CHECK(2, is_named(users, 4001, "4001"));
	users_refresh(users);
	users_ask(users);
	scratch_file(passwd, "root:x:0:0::/root:/bin/sh\nnewer:x:4000:1::/home:/bin/sh\n"
			     "added:x:4001:1::/home:/bin/sh\n");
	CHECK(3, gets_name(users, 4000, "newer", 5));
	CHECK(4, is_named(users, 4001, "added"));
	scratch_file(passwd, "root:x:0:0::/root:/bin/sh\n");
	CHECK(5, gets_name(users, 4000, "4000", 5));
	users_close(users);
}

/* Writes a file of a zone that has one offset, by tzfile(5). */
static const char *write_zone(const char *name, unsigned hours)
{
	const unsigned char type[10] = { 0, 0, (unsigned char)(hours * 3600 >> 8),
					 (unsigned char)(hours * 3600) };
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "w");
	unsigned char head[44] = "TZif2";

	CHECK(71, file);
	head[39] = 1; /* types of local time */
	head[43] = 4; /* bytes of their names */
	for (unsigned i = 0; i < 2; i++) {
		fwrite(head, 1, sizeof(head), file);
		fwrite(type, 1, sizeof(type), file);
	}
	fputs("\n\n", file);
	fclose(file);
	return path;
}

/* The hour at the epoch. */
static int hour(void)
{
	time_t epoch = 0;
	struct tm tm;

	return localtime_r(&epoch, &tm) ? tm.tm_hour : -1;
}

static void zone_changed(void)
{
	struct zone zone = { 0 };

	unsetenv("TZ");
	CHECK(77, bind_over(write_zone("east", 5), "/etc/localtime"));
	tzset();
	CHECK(1, hour() == 5);
	zone_refresh(&zone, 100 * NSEC_PER_SEC);
	CHECK(77, bind_over(write_zone("west", 7), "/etc/localtime"));
	zone_refresh(&zone, 101 * NSEC_PER_SEC);
	CHECK(2, hour() == 5);
	zone_refresh(&zone, 130 * NSEC_PER_SEC);
	CHECK(3, hour() == 7);
	CHECK(4, !getenv("TZ"));
}

SCRATCH_TEST(test_slow_directory)
{
	run_apart(__func__, slow);
}

SCRATCH_TEST(test_silent_directory)
{
	run_apart(__func__, silent);
}

SCRATCH_TEST(test_names_change)
{
	run_apart(__func__, changed);
}

SCRATCH_TEST(test_zone_changes)
{
	run_apart(__func__, zone_changed);
}
