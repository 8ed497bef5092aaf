/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program does not take from who starts it: with privileges of its own, or half closed. */
#include "tests/lib/e2e.h"

#include <endian.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Gives the copy of the program that the tests have CAP_NET_ADMIN, for all who start it. */
static void give_capability(void)
{
	const struct vfs_cap_data caps = {
		.magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
		.data = { { .permitted = htole32(1 << CAP_NET_ADMIN) } },
	};

	assert_int_equal(setxattr(e2e_stalltop(), "security.capability", &caps, XATTR_CAPS_SZ_2, 0),
			 0);
}

/* Has libnl write what it sends and receives. */
static int trace_libnl(const char *arg)
{
	(void)arg;
	return setenv("NLCB", "debug", 1) || setenv("NLDBG", "5", 1);
}

/* With privileges of its own it does not take over what traces its libraries. */
E2E_TEST(test_environment)
{
	struct e2e_how how = { .hook = trace_libnl };
	struct e2e_result r;

	e2e_require();
	e2e_run(&r, &how, "-b -n 1 -d 0.1 -x --source taskstats");
	assert_int_equal(r.status, 0);
	assert_true(r.err.len > 0);
	how.uid = NOBODY;
	give_capability();
	e2e_run(&r, &how, "-b -n 1 -d 0.1 -x --source taskstats");
	removexattr(e2e_stalltop(), "security.capability");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err.data, "");
}

/* Closes descriptors: their digits. */
static int close_some(const char *digits)
{
	for (; *digits; digits++)
		close(*digits - '0');
	return 0;
}

/* What is closed stays so: the log does not get standard output's descriptor. */
E2E_TEST(test_closed)
{
	static const char *const closed[] = { "0", "1", "2", "01", "012" };

	e2e_require();
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
		const char *log = e2e_format("%s/log%zu", e2e_folder(), i);
		struct e2e_how how = { .hook = close_some, .hook_arg = closed[i] };
		struct e2e_result r;
		char text[65536];
		size_t len;
		FILE *file;

		e2e_run(&r, &how, "-b -n 1 -d 0.1 --debug-log %s", log);
		assert_int_equal(r.status, strchr(closed[i], '1') != NULL);
		if (r.status && !strchr(closed[i], '2'))
			assert_non_null(strstr(r.err.data, "cannot write to standard output"));
		file = fopen(log, "re");
		assert_non_null(file);
		len = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[len] = '\0';
		assert_non_null(strstr(text, " tick "));
		assert_null(strstr(text, "COMMAND"));
		assert_null(strstr(text, "cannot write"));
	}
}

/* Reads the command line of the child that has become the helper. Its length; 0: there is none. */
static size_t read_helper(pid_t parent, char *text, size_t size)
{
	FILE *children =
		fopen(e2e_format("/proc/%d/task/%d/children", (int)parent, (int)parent), "re");
	size_t len = 0;
	int child;

	/* Others are there for a moment: who asks for the names of users. */
	while (children && fscanf(children, "%d", &child) == 1) {
		FILE *file = fopen(e2e_format("/proc/%d/cmdline", child), "re");

		len = file ? fread(text, 1, size - 1, file) : 0;
		text[len] = '\0';
		if (file)
			fclose(file);
		if (!strcmp(text, "stalltop-reads"))
			break;
		len = 0;
	}
	if (children)
		fclose(children);
	return len;
}

/* A name of the program that is longer than a page: the helper still has a command line of its own.
 */
E2E_TEST(test_long_name)
{
	const char *const argv[] = {
		"/bin/bash", "-c",
		e2e_format("exec -a \"$(printf %%5000s x)\" %s -b -d 0.7", e2e_stalltop()), NULL
	};
	char text[8192];
	struct e2e_result r;
	struct e2e_proc p;
	size_t len = 0;

	e2e_require();
	e2e_start(&p, NULL, argv);
	for (double until = e2e_now() + 10; !len && e2e_now() < until; e2e_sleep(0.05))
		len = read_helper(p.pid, text, sizeof(text));
	assert_true(len > 5000);
	for (size_t i = strlen(text); i < len; i++)
		assert_int_equal(text[i], 0);
	assert_true(e2e_skip_line(&p, 20));
	kill(p.pid, SIGTERM);
	e2e_finish(&p, 20, &r);
	assert_int_equal(r.status, 0);
}
