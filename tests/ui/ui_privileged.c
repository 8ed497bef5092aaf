/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of a program that has privileges of its own: terminals are described by the system. */
#include <endian.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#define NOBODY 65534

/* A copy of the program that everybody may start. */
static const char *copy_program(void)
{
	const char *program = getenv("STALLTOP") ? getenv("STALLTOP") : "./stalltop";
	const char *copy = scratch_path("copy");

	assert_int_equal(system(scratch_format("cp %s %s", program, copy)), 0);
	assert_int_equal(chmod(copy, 0755), 0);
	assert_int_equal(chmod(scratch_folder(), 0755), 0);
	return copy;
}

/* Gives it those to read with, to send signals, to set nice values and to override files. */
static void give_capability(const char *path)
{
	const struct vfs_cap_data caps = {
		.magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
		.data = { { .permitted = htole32(1 << CAP_NET_ADMIN | 1 << CAP_KILL |
						 1 << CAP_SYS_NICE | 1 << CAP_DAC_OVERRIDE) } },
	};

	assert_int_equal(setxattr(path, "security.capability", &caps, XATTR_CAPS_SZ_2, 0), 0);
}

/* A user's own terminal is taken from him, but not with privileges that he has not. */
SCREEN_TEST(own_terminal)
{
	const char *home = scratch_folder(), *copy = copy_program();
	const char *source = scratch_file(scratch_format("%s/source", home),
					  "stalltop-own|a test,\n\tuse=xterm-256color,\n");
	const char *const variables[] = { scratch_format("TERMINFO=%s/.terminfo", home),
					  scratch_format("TERMINFO_DIRS=%s/.terminfo", home),
					  scratch_format("HOME=%s", home) };

	assert_int_equal(
		system(scratch_format("umask 022; tic -x -o %s/.terminfo %s", home, source)), 0);
	for (size_t i = 0; i < 6; i++) {
		const char *const env[] = { "HOME", variables[i % 3], NULL };
		struct screen *s;

		if (i == 3)
			give_capability(copy);
		s = screen_start(&(struct screen_how){
			.program = copy, .term = "stalltop-own", .uid = NOBODY, .env = env });
		if (i < 3) {
			screen_await(s, table_has_rows, NULL);
			screen_type(s, "q");
			assert_int_equal(screen_end(s, 3), 0);
		} else {
			assert_int_equal(screen_end(s, 3), 1);
			screen_check(s, screen_shows(s, "'stalltop-own' is unknown"));
		}
		screen_check_restored(s);
	}
}

/* A signal and a nice value are the caller's to give, and the configuration is not followed. */
SCREEN_TEST(acts_as_caller)
{
	const char *copy = copy_program();
	pid_t pid = crowd_sleeper("crowd");
	struct screen *s;

	give_capability(copy);
	assert_int_equal(mkdir(scratch_path("stalltop"), 0755), 0);
	scratch_file(scratch_path("stalltop/config"), "unit = ms\n");
	s = screen_start(&(struct screen_how){ .rows = 30,
					       .cols = 150,
					       .program = copy,
					       .uid = NOBODY,
					       .args = scratch_format("-d 60 -p %d", (int)pid) });
	/* From the page of the only process to the table. */
	screen_await_text(s, "Delays");
	screen_type(s, "\x1b");
	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_figures, NULL);
	screen_await(s, table_has_unit, "(%)");
	screen_type(s, "k");
	screen_await_text(s, "signal to");
	screen_type(s, "\x15KILL\r");
	screen_await_text(s, "send SIGKILL");
	screen_type(s, "y");
	screen_await_text(s, "no permission");
	assert_int_equal(kill(pid, 0), 0);
	screen_type(s, "r");
	screen_await_text(s, "nice of");
	screen_type(s, "\x15-5\r");
	screen_await_text(s, "to -5?");
	screen_type(s, "y");
	screen_await_text(s, "no permission");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 0);
	screen_type(s, "W");
	screen_await_text(s, "has privileges that its user has not");
	/* Nor is a preset written there. */
	screen_type(s, "A");
	screen_await_text(s, "as a preset, named");
	screen_type(s, "mine\r");
	screen_await_text(s, "preset mine: no configuration");
	assert_string_equal(scratch_read(scratch_path("stalltop/config")), "unit = ms\n");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}
